"""The browser in which reports are opened."""

from tests.browser import browser, chromium

__all__ = ["browser", "chromium"]
