import fcntl
import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

import hannan
from tests.stale_kernels import drop_stale

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


def pytest_configure(config):
    """Workers that need the same kernel: one compiles it, the others read it from the disk."""
    if not hasattr(config, "workerinput"):
        drop_stale(Path(hannan.__file__).parent / "kernels")
        return
    folder = config.cache.mkdir("compiling")
    compile_now = Dispatcher.compile

    def compile_once(kernel, signature):
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        if not name.startswith("hannan."):  # of the compiler itself, and never on the disk
            return compile_now(kernel, signature)
        # The compiler's own lock comes first, or two threads could wait for each other.
        with global_compiler_lock, open(folder / name, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                return compile_now(kernel, signature)
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)  # a forked process may hold the file open

    Dispatcher.compile = compile_once


def pytest_terminal_summary(terminalreporter):
    """Say loudly what a quiet "s" would hide."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any(NO_BROWSER in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(NO_BROWSER, red=True, bold=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Pages of the documentation tell longer stories than the README; the longest tests begin.

    Files stay together, as their tests share what is expensive to make.
    """
    longest = {}
    for item in items:
        if item.path.suffix == ".md" and "docs" in item.path.parts:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.slow)  # `-m "not slow"` leaves them out, too
        for mark in item.iter_markers("slow"):
            minutes = mark.kwargs.get("minutes", 0.0)
            longest[item.path] = max(minutes, longest.get(item.path, 0.0))
    items.sort(key=lambda item: -longest.get(item.path, 0.0))


def pytest_collection(session):
    """Thousands of tests stay till the end: nothing of them is to be searched for garbage."""
    gc.disable()


def pytest_collection_finish(session):
    gc.collect()
    gc.freeze()
    gc.enable()
