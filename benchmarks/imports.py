"""`import hannan` beside `import numba`, each in a fresh interpreter."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from benchmarks.measure import Line, ratio, take_turns

_PROGRAM = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def run() -> list[Line]:
    """The interpreter's own start is left out, so the ratio is not flattered by it."""
    for module in ("hannan", "numba"):
        _seconds(module)
    ours, numba = take_turns([lambda: _seconds("hannan"), lambda: _seconds("numba")], 11)
    slower = ratio(ours, numba)
    times = " : ".join(f"{statistics.median(seconds):.3f} s" for seconds in (ours, numba))
    return [
        Line(
            "time of `import hannan` over `import numba`",
            slower,
            f"{slower:.2f} ({times})",
            1.3,
            at_least=False,
        )
    ]


def _seconds(module: str) -> float:
    # Both have their bytecode cached, as after any ordinary installation.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", _PROGRAM.format(module)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)
