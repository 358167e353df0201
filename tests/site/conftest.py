"""The code that builds the site, and the browser in which pages are opened."""

import sys
from pathlib import Path

from tests.browser import browser, chromium

__all__ = ["browser", "chromium"]

sys.path.append(str(Path(__file__).parents[2] / "docs"))
