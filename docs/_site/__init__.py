"""Parts of the build of the site that Sphinx has no extension for."""
