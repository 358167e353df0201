"""The switching corollary can be refuted: by sequences that never switch, or switch elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hannan.oracles import Switching
from hannan.oracles import switching as module
from hannan.perturbation import FuturePlayout
from hannan.verify import Effort, switching
from tests.verify.breaks import experiments

FINDINGS = experiments(switching)


def failed(name: str) -> list[str]:
    return [check.what for check in FINDINGS[name](Effort()).checks if not check.passed]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "checks"),
    [("switching-regret", 31), ("switching-sequences", 4), ("switching-oracle", 6)],
)
def test_the_claims_stand(name, checks):
    finding = FINDINGS[name](Effort())
    assert [check for check in finding.checks if not check.passed] == []
    assert len(finding.checks) == checks
    assert all(np.size(s.y) and np.isfinite(np.asarray(s.y)).all() for s in finding.plot.series)


def test_bounds_are_not_vacuous():
    for problem in switching.problems(300, np.random.default_rng(0)):
        assert problem.bound("sharp").value < problem.T
        assert problem.bound("playout").value < problem.T / 2


def test_sequences_are_listed_by_definition():
    assert switching.sequences(2, 2, 0).tolist() == [[0, 0], [1, 1]]
    assert len(switching.sequences(2, 3, 1)) == 9
    assert switching.sequences(3, 2, 1, grid=2).tolist() == [
        [0, 0, 0],
        [0, 0, 1],
        [1, 1, 0],
        [1, 1, 1],
    ]


@pytest.mark.slow
def test_sequences_that_never_switch(monkeypatch):
    """Those of the learners: the comparator is not told a sequence, and still switches."""
    init = Switching.__init__

    def still(self, *args, sequence=None, **options):
        init(self, *args, sequence=sequence, **options)
        self.levels = self.levels if sequence is None else 1

    monkeypatch.setattr(Switching, "__init__", still)
    assert failed("switching-oracle") == [
        "largest error of a minimum, listed policies",
        "largest error of a minimum, intervals",
        "largest error of a minimum on a grid",
        "largest price of a grid beyond k⌊b/2⌋R",
    ]
    assert {
        f"{name}: regret without sequences, as a multiple of that with"
        for name in ("steady halves", "tied, then steady", "random losses")
    } <= set(failed("switching-regret"))
    assert failed("switching-sequences") == []


def test_a_grid_in_the_wrong_place(monkeypatch):
    monkeypatch.setattr(Switching, "cell", lambda self, context: (context[0] + 1) // self.grid)
    monkeypatch.setattr(
        Switching,
        "cells",
        lambda self, contexts: (np.array([t for t, _ in contexts], np.int64) + 1) // self.grid,
    )
    assert "largest error of a minimum on a grid" in failed("switching-oracle")
    assert failed("switching-sequences") == []


def test_the_printed_count(monkeypatch):
    def printed(cells: int, switches: int, log_size: float) -> float:
        return switches * (math.log(cells) + log_size)

    monkeypatch.setattr(module, "log_sequences", printed)
    assert failed("switching-sequences") == ["largest relative error of the oracle's size"]
    assert failed("switching-oracle") == []


@pytest.mark.slow
def test_playout_without_noise(monkeypatch):
    monkeypatch.setattr(
        FuturePlayout, "_to_come", lambda self, time, rng: np.zeros(len(self.contexts), np.intp)
    )
    assert failed("switching-regret") == ["adaptive adversary: regret, noise on the future only"]
