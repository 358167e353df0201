import gc

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fixed")


NO_BROWSER = (
    "THE REPORT WAS NOT TESTED IN A BROWSER: install chromium and chromedriver, on Debian with "
    "apt-get install chromium chromium-driver."
)


def pytest_terminal_summary(terminalreporter):
    """Say loudly what a quiet "s" would hide."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(NO_BROWSER, red=True, bold=True)


def pytest_collection(session):
    """Thousands of tests stay till the end: nothing of them is to be searched for garbage."""
    gc.disable()


def pytest_collection_finish(session):
    gc.collect()
    gc.freeze()
    gc.enable()
