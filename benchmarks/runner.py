"""What the runner itself costs on the quickstart, beside the learners it runs."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Line
from hannan.experiments import read_plan
from hannan.experiments.cell import Cell, play_cell
from hannan.experiments.game import world_rng

QUICKSTART = Path(__file__).parents[1] / "examples" / "quickstart.toml"


def run() -> list[Line]:
    """Every game of one seed: all its seconds, less the learner's and the world's own."""
    cells = [cell for cell in read_plan(QUICKSTART).cells if cell.seed == 0 and cell.learner]
    for cell in cells:
        play_cell(replace(cell, horizon=200))  # kernels are compiled here
    learners = overhead = 0.0
    for cell in cells:
        world = min(_world_seconds(cell) for _ in range(2))
        _, times = play_cell(cell)
        learners += times["learner"]
        overhead += times["seconds"] - times["learner"] - world
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


def _world_seconds(cell: Cell) -> float:
    """The same things made and the same rounds drawn, with nobody who learns."""
    started = time.perf_counter()
    fresh = replace(cell)
    fresh.player()
    environment, _ = fresh.world()
    assert cell.horizon is not None
    for this_round in environment.rounds(cell.horizon, world_rng(cell.seed)):
        this_round.reveal(0)
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
