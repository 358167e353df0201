"""The pages here are tests, the code that builds the site is not."""

collect_ignore_glob = ["*.py"]
