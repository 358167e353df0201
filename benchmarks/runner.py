"""What the runner itself costs on the quickstart, beside the learners it runs."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.measure import Line
from hannan.experiments import read_plan
from hannan.experiments.cell import Cell, play_cell

QUICKSTART = Path(__file__).parents[1] / "src" / "hannan" / "data" / "quickstart.toml"


def run() -> list[Line]:
    """Every game of one seed: all its seconds, less the learner's and the world's own."""
    cells = [cell for cell in read_plan(QUICKSTART).cells if cell.seed == 0 and cell.learner]
    for cell in cells:
        play_cell(replace(cell, horizon=200))  # kernels are compiled here
    learners = overhead = 0.0
    for cell in cells:
        made = _making_seconds(cell)
        with _timed(cell) as world:
            _, times = play_cell(cell)
        learners += times["learner"]
        overhead += times["seconds"] - times["learner"] - world.seconds - made
    share = overhead / learners
    growth = _peak(40_000) / _peak(4_000)
    return [
        Line(
            f"runner's own time over the learners' on the quickstart ({learners:.0f} s)",
            share,
            f"{share:.1%}",
            0.05,
            at_least=False,
        ),
        Line(
            "peak memory of a game of 40,000 rounds over one of 4,000",
            growth,
            f"{growth:.2f}x",
            1.1,
            at_least=False,
        ),
    ]


class Clock:
    """Seconds added up."""

    seconds = 0.0


@contextmanager
def _timed(cell: Cell) -> Iterator[Clock]:
    """Time the world's own work where it happens: between the learner's, in a cold cache."""
    kind, clock = type(cell.world()[0]), Clock()
    rounds = kind.rounds

    def timed(self: Any, horizon: int, rng: np.random.Generator) -> Iterator[Any]:
        inner = rounds(self, horizon, rng)
        while True:
            started = time.perf_counter()
            this_round = next(inner, None)
            clock.seconds += time.perf_counter() - started
            if this_round is None:
                return
            yield this_round

    with patch.object(kind, "rounds", timed):
        yield clock


def _making_seconds(cell: Cell) -> float:
    """What it takes to make the learner and the world."""
    started = time.perf_counter()
    replace(cell).player()
    return time.perf_counter() - started


def _peak(horizon: int) -> float:
    """Bytes that Python held at most; of a learner without the noise thread."""
    cells = read_plan(QUICKSTART).cells
    cell = next(c for c in cells if c.learner and c.learner["name"] == "FollowTheLeader")
    cell = replace(cell, horizon=horizon)
    cell.player()
    tracemalloc.start()
    play_cell(cell)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak)
