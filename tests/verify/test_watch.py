"""Statements at all times, and ways to state too much."""

import numpy as np
import pytest
from scipy import stats

from hannan.off_policy import Watch
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.rules import Shares
from hannan.verify import watch
from tests.verify.breaks import failures, few_games, refuted, says_something, tried

NAME = "statements-at-all-times"


@pytest.mark.slow
def test_the_claim_stands():
    finding = tried(watch, NAME)
    assert failures(finding) == []
    says_something(finding, 6)


def test_intervals_over_answered_rounds_alone_are_wrong(monkeypatch):
    """Good news comes first: what has been answered is better than what was decided."""
    bounds = Watch._bounds

    def answered(self):
        kinds, rounds = self._kinds, self.rounds
        self._kinds = np.zeros_like(kinds)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Watch, "rounds", property(lambda self: self.progress[0]))
            losses, regrets, own = bounds(self)
        self._kinds = kinds
        scale = rounds / max(self.progress[0], 1)
        wider = [[(scale * a, scale * b) for a, b in each] for each in (losses, regrets)]
        return *wider, (scale * own[0], scale * own[1])

    monkeypatch.setattr(Watch, "_bounds", answered)
    few_games(monkeypatch, watch, 8)
    refuted(watch, NAME, "good news first, exact weights: share")


def test_open_rounds_without_a_reserve_are_wrong(monkeypatch):
    """As if they had cost nothing and would not have cost anything."""
    monkeypatch.setattr(evidence, "RESERVES", np.zeros_like(evidence.RESERVES))
    few_games(monkeypatch, watch, 8)
    refuted(watch, NAME, "good news first, exact weights: share")


def test_weights_capped_from_the_wrong_side_are_wrong(monkeypatch):
    settle = Watch.settle

    def raised(self, key, loss, weight=None):
        waiting = self._open[key]
        held = waiting.shares
        ratios = held.played * (weight or waiting.weight) + held.copied
        higher = Shares(0.0 * ratios, np.where(ratios > 1.0, np.maximum(ratios, 2.5), ratios))
        vars(higher)["kinds"] = held.kinds
        waiting.shares = higher
        settle(self, key, loss, weight)

    monkeypatch.setattr(Watch, "settle", raised)
    few_games(monkeypatch, watch, 8)
    refuted(watch, NAME, "losses at once, exact weights: share")


@pytest.mark.slow
def test_an_interval_for_one_time_does_not_hold_at_all_times(monkeypatch):
    """The normal interval of the same level, by the sums of x and of its square."""

    def normal(sums, kinds, columns, log_odds):
        low, high = evidence.REGRET if columns == evidence.REGRET else (14, 28)
        assert (evidence.GUESS[low:high] == 0.0).all()
        V = (
            sums[:, :, [high - 2, high - 1]]
            + (kinds @ evidence.RESERVES)[: len(sums), None, high - 2 : high]
        )
        psi, rate = evidence.PSI[high - 2 : high], evidence.RATE[high - 2 : high]
        found = np.linalg.solve(np.array([psi, -rate]).T, V[..., None])[..., 0]
        squares, totals = found[..., 0], found[..., 1]
        z = stats.norm.isf(np.exp(-log_odds))
        return totals - z * np.sqrt(np.maximum(squares, 0.0))

    monkeypatch.setattr(evidence, "lowest", normal)
    refuted(watch, NAME, "losses at once, exact weights: share")


def test_intervals_that_say_nothing_are_noticed(monkeypatch):
    lowest = evidence.lowest
    few_games(monkeypatch, watch, 8)
    monkeypatch.setattr(evidence, "lowest", lambda *given: lowest(*given[:-1], 20.0 * given[-1]))
    refuted(watch, NAME, "mean width")
