"""A real browser: Debian's chromium with its driver, installed when a test first asks for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.conftest import NO_BROWSER

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


def find():
    """Where browser and driver are; None for what is missing."""
    return shutil.which("chromium"), shutil.which("chromedriver")


def install():
    """Install both with apt-get; processes that want the same wait for each other."""
    import fcntl

    with open(Path(tempfile.gettempdir()) / "hannan-chromium.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if all(find()):
            return
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = ["apt-get", "install", "-y", "chromium", "chromium-driver"]
        for command in (["apt-get", "update"], packages):
            subprocess.run(command, env=environment, capture_output=True, timeout=600, check=False)


@pytest.fixture(scope="session")
def chromium():
    """Paths of browser and driver. Without them tests are skipped, in CI they fail."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not all(find()) and root and shutil.which("apt-get"):
        install()
    if not all(find()):
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    return find()


@pytest.fixture(scope="session")
def browser(chromium, tmp_path_factory):
    """One browser for the session, with a profile and a port of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    binary, driver = chromium
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    profile = tmp_path_factory.mktemp("profile")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # With the driver named selenium never looks for one to download.
    opened = webdriver.Chrome(options=options, service=Service(driver))
    yield opened
    opened.quit()


DESKTOP, PHONE = (1280, 900), (390, 844)


class Page:
    """A page that is open."""

    def __init__(self, browser, path):
        self.browser, self.path = browser, path

    def open(self, size=DESKTOP, scheme="light"):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.browser.get_log("browser"), self.browser.get_log("performance")
        self.browser.get(self.path.as_uri())
        return self

    def __call__(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def requests(self):
        """Return the addresses that the page asked for since it was opened, data left out."""
        entries = self.browser.get_log("performance")
        events = [json.loads(entry["message"])["message"] for entry in entries]
        asked = [
            e["params"]["request"]["url"] for e in events if e["method"].endswith("WillBeSent")
        ]
        return [url for url in asked if not url.startswith("data:")]

    def width(self):
        """Return the width of the content. (On a phone innerWidth grows with the content.)"""
        return self("return document.scrollingElement.scrollWidth")
