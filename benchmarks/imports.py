"""`import hannan` beside `import numba`, each in a fresh interpreter."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import hannan as hn
from benchmarks.measure import Line, ratio, take_turns

_PROGRAM = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def run() -> list[Line]:
    """The interpreter's own start is left out, so the ratio is not flattered by it.

    The target is for bytecode cached on both sides, as after any ordinary installation. The very
    first import of a checkout, or every import where Python may not write bytecode, has to
    compile Hannan's sources while Numba's are cached by its installer: the second line.
    """
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            Path(hn.__file__).parent,
            Path(folder, "hannan"),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        uncached = {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        for module in ("hannan", "numba"):
            _seconds(module)
        ours, numba, first = take_turns(
            [
                lambda: _seconds("hannan"),
                lambda: _seconds("numba"),
                lambda: _seconds("hannan", uncached),
            ],
            repetitions=15,
        )
    return [
        Line(
            "time of `import hannan` over `import numba`",
            ratio(ours, numba),
            _shown(ours, numba),
            1.3,
            at_least=False,
        ),
        Line(
            "the same where Hannan's bytecode is not cached",
            ratio(first, numba),
            _shown(first, numba),
        ),
    ]


def _shown(slow: list[float], fast: list[float]) -> str:
    times = " : ".join(f"{statistics.median(seconds):.3f} s" for seconds in (slow, fast))
    return f"{ratio(slow, fast):.2f} ({times})"


def _seconds(module: str, changes: dict[str, str] | None = None) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment.update(changes or {})
    command = [sys.executable, "-c", _PROGRAM.format(module)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)
