"""Statements about named policies that hold at all times at once."""

import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from hannan.off_policy import Watch
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.rules import Shares
from tests.statistics.means import SIGMAS

pytestmark = [pytest.mark.stat, pytest.mark.slow]
ROUNDS, GAMES = 250, 60
CONFIDENCE = 0.95
NEVER = 10**9
CASES = {
    "at once, exact": ("at once", False),
    "at once, geometric": ("at once", True),
    "good news first, exact": ("good news first", False),
    "by action, geometric": ("by action", True),
}


def delay(late, action, loss, rng):
    if late == "good news first":
        return 0 if loss == 0.0 else 120
    if late == "by action" and action == 1:
        return NEVER if rng.random() < 0.3 else 25
    return 0


def is_wrong(watch, ours, theirs):
    """Whether an interval does not hold its value; sums are in floating point."""
    statements, played = list(watch.intervals().values()), watch.played()
    n, slack = statements[0].rounds, 1e-9
    pairs = [(played, ours / n)]
    for each, loss in zip(statements, theirs, strict=True):
        pairs += [(each.loss, loss / n), (each.regret, ours - loss)]
    return any(not low - slack <= value <= high + slack for (low, high), value in pairs)


def play(seed, late, geometric):
    """Return whether an interval was wrong after any round, and the last width.

    Two actions; the distribution follows the losses that are known, and losses react to earlier
    actions.
    """
    rng = np.random.default_rng(seed)
    watch = Watch({"always 0": 0, "always 1": 1}, n_actions=2, confidence=CONFIDENCE)
    known, lately, ours, theirs = np.zeros(2), 0.5, 0.0, np.zeros(2)
    due = defaultdict(list)
    wrong = False
    for t in range(ROUNDS):
        q1 = 0.15 + 0.7 / (1.0 + math.exp(min(max(0.3 * (known[1] - known[0]), -50.0), 50.0)))
        q = np.array([1.0 - q1, q1])
        # Fixed before the action is drawn; what was popular lately fails more often.
        losses = (rng.random(2) < np.array([0.65 - 0.3 * lately, 0.25 + 0.3 * lately])) * 1.0
        action = int(rng.random() < q1)
        drawn = float(min(rng.geometric(q[action]), 40)) if geometric else None
        watch.add_decision(
            t, None, action, propensity=None if geometric else q[action], weight=drawn
        )
        lately = 0.9 * lately + 0.1 * action
        ours, theirs = ours + float(q @ losses), theirs + losses
        loss = float(losses[action])
        due[t + delay(late, action, loss, rng)].append((t, action, loss))
        for number, a, cost in reversed(due.pop(t, [])):
            watch.add_loss(number, cost)
            known[a] += cost / 2.0
        wrong = wrong or is_wrong(watch, ours, theirs)
    low, high = next(iter(watch.intervals().values())).loss
    return wrong, high - low


def wrong_share(case, count):
    """Return the share of games with a wrong interval, beyond what chance allows, and widths."""
    played = [play(seed, *CASES[case]) for seed in range(count)]
    share = 1.0 - CONFIDENCE
    allowed = share + SIGMAS * math.sqrt(share * CONFIDENCE / count)
    return np.mean([wrong for wrong, _ in played]) - allowed, np.mean([w for _, w in played])


@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_after_every_round_at_once(case):
    """Mean losses and regrets, whatever decides when losses come and whether they ever do.

    Binomial counts with 4.5 standard errors: a false alarm has probability below 1e-5.
    """
    beyond, width = wrong_share(case, GAMES)
    assert beyond <= 0.0
    if case.startswith("at once"):
        assert width <= 0.75


# What breaks it ------------------------------------------------------------------------------


@pytest.mark.nightly
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
    assert wrong_share("good news first, exact", 8)[0] > 0.0


def test_open_rounds_without_a_reserve_are_wrong(monkeypatch):
    """As if they had cost nothing and would not have cost anything."""
    monkeypatch.setattr(evidence, "RESERVES", np.zeros_like(evidence.RESERVES))
    assert wrong_share("good news first, exact", 8)[0] > 0.0


@pytest.mark.nightly
def test_weights_capped_from_the_wrong_side_are_wrong(monkeypatch):
    settle = Watch.settle

    def raised(self, key, loss, weight=None):
        held, known = self._open[key]
        ratios = held.played * (weight or known) + held.copied
        higher = Shares(0.0 * ratios, np.where(ratios > 1.0, np.maximum(ratios, 4.0), ratios))
        vars(higher)["kinds"] = held.kinds
        self._open[key] = higher, known
        settle(self, key, loss, weight)

    monkeypatch.setattr(Watch, "settle", raised)
    assert wrong_share("at once, exact", 24)[0] > 0.0


@pytest.mark.nightly
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
    assert wrong_share("at once, exact", GAMES)[0] > 0.0


def test_intervals_that_say_nothing_are_noticed(monkeypatch):
    lowest = evidence.lowest
    monkeypatch.setattr(evidence, "lowest", lambda *given: lowest(*given[:-1], 20.0 * given[-1]))
    assert wrong_share("at once, exact", 4)[1] > 0.75
