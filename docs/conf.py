"""Configuration of the site: `make docs` builds it into site/."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]  # for workers that run examples, too

from _site import api, gallery, links, playground  # noqa: E402

from hannan._version import __version__  # noqa: E402

project = "Hannan"
author = "The Hannan developers"
copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
    "numpydoc",
]
nitpicky = False  # names in backticks link where there is a page, and are plain code elsewhere
default_role = "autolink"
exclude_patterns = ["_site", "_examples", "examples/**/*.ipynb"]
suppress_warnings = ["config.cache"]  # the order of the gallery is a class of our own

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # numpydoc entries name the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# numpydoc also parses docstrings in which `api.keep_guarantee` has not replaced the section yet.
warnings.filterwarnings("ignore", "Unknown section Guarantee", UserWarning)

sphinx_gallery_conf = gallery.CONFIGURATION

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "Hannan"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_start": ["navbar-logo"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "logo": {"text": "Hannan"},
}
html_sidebars = {"index": [], "playground": [], "start/*": ["sidebar-nav-bs"]}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

api.write_pages(Path(__file__).parent / "reference" / "api")
gallery.stage(Path(__file__).parent)


def setup(app):
    """Rewrite links that lead out of docs/, and record the runs of the playground."""
    app.connect("source-read", links.rewrite)
    app.connect("include-read", links.rewrite_included)
    app.connect("autodoc-skip-member", api.hidden)
    app.connect("autodoc-process-docstring", api.keep_guarantee, priority=400)  # numpydoc: 500
    app.connect("autodoc-process-docstring", api.name_guarantee, priority=600)
    app.connect("builder-inited", gallery.draw_thumbnails, priority=900)  # the gallery: 500
    app.connect("build-finished", playground.add_data)
