"""Statements about named policies that hold at all times at once."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hannan.core.validation import FloatArray
from hannan.off_policy import Statement, Watch
from hannan.verify._games import seeds
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_Z = 4.5  # standard errors; one-sided, 3e-6 for each check
_CONFIDENCE = 0.95
_NEVER = 10**9


@dataclass
class _Game:
    """What one game has shown, after each of its rounds."""

    low: FloatArray
    high: FloatArray
    truth: FloatArray
    wrong: bool
    width: float


@claim(
    "statements-at-all-times",
    "Statements at all times (beyond the paper)",
    "binomial counts with 4.5 standard errors; false alarms below 1e-4",
)
def at_all_times(effort: Effort) -> Finding:
    """With probability 0.95 the intervals of a Watch hold the mean loss of each policy and our
    regret against it after every round at once, whatever decides when losses come and whether they
    ever do; with exact weights and with geometric ones.

    Two actions; the law follows the losses that are known, and losses react to earlier actions.
    """
    T = effort.pick(250, 1000)
    numbers = seeds(effort, "watch", 60, 600)
    cases = {
        "losses at once, exact weights": ("at once", False),
        "losses at once, geometric weights": ("at once", True),
        "good news first, exact weights": ("good news first", False),
        "one action late, some never, geometric weights": ("by action", True),
    }
    checks, shown = [], None
    share = 1.0 - _CONFIDENCE
    for name, (late, geometric) in cases.items():
        played = [_play(T, number, late, geometric) for number in numbers]
        shown = played[0] if shown is None else shown
        chance = _Z * math.sqrt(share * _CONFIDENCE / len(played))
        wrong = sum(game.wrong for game in played) / len(played)
        what = f"{name}: share of games with a wrong interval"
        checks.append(Check(what, wrong, share, allowance=chance))
        if late == "at once":
            width = float(np.mean([game.width for game in played]))
            checks.append(Check(f"{name}: mean width for a mean loss, at the end", width, 0.75))
    assert shown is not None
    rounds = np.arange(1, T + 1)
    series = [
        Series("interval", rounds, np.array([shown.low, shown.high]), "band"),
        Series("regret against always playing action 0", rounds, shown.truth),
    ]
    note = "one game with losses at once; an interval is wrong if it is so after any round"
    return Finding(checks, Plot("round", "regret", series), note)


def _play(T: int, seed: int, late: str, geometric: bool) -> _Game:
    """A game with two actions, of which the watch is told."""
    rng = np.random.default_rng(seed)
    watch = Watch({"always 0": 0, "always 1": 1}, n_actions=2, confidence=_CONFIDENCE)
    known, lately, ours, theirs = np.zeros(2), 0.5, 0.0, np.zeros(2)
    due: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    low, high, truth = np.empty(T), np.empty(T), np.empty(T)
    wrong = False
    for t in range(T):
        q1 = 0.15 + 0.7 / (1.0 + math.exp(min(max(0.3 * (known[1] - known[0]), -50.0), 50.0)))
        q = np.array([1.0 - q1, q1])
        # Fixed before the action is drawn; what was popular lately fails more often.
        losses = (rng.random(2) < np.array([0.65 - 0.3 * lately, 0.25 + 0.3 * lately])) * 1.0
        action = int(rng.random() < q1)
        drawn = float(min(rng.geometric(q[action]), 40)) if geometric else None
        watch.decided(t, None, action, propensity=None if geometric else q[action], weight=drawn)
        lately = 0.9 * lately + 0.1 * action
        ours, theirs = ours + float(q @ losses), theirs + losses
        loss = float(losses[action])
        due[t + _delay(late, action, loss, rng)].append((t, action, loss))
        for number, a, cost in reversed(due.pop(t, [])):
            watch.answered(number, cost)
            known[a] += cost / 2.0
        found = list(watch.intervals().values())
        wrong = wrong or _is_wrong(found, watch.played(), ours, theirs)
        low[t], high[t] = found[0].regret
        truth[t] = ours - theirs[0]
    return _Game(low, high, truth, wrong, found[0].loss[1] - found[0].loss[0])


def _delay(late: str, action: int, loss: float, rng: np.random.Generator) -> int:
    if late == "good news first":
        return 0 if loss == 0.0 else 120
    if late == "by action" and action == 1:
        return _NEVER if rng.random() < 0.3 else 25
    return 0


def _is_wrong(
    found: Sequence[Statement], played: tuple[float, float], ours: float, theirs: FloatArray
) -> bool:
    """Whether an interval does not hold what it is about; sums are in floating point."""
    n, slack = found[0].rounds, 1e-9
    off = not played[0] - slack <= ours / n <= played[1] + slack
    for each, loss in zip(found, theirs, strict=True):
        off = off or not each.loss[0] - slack <= loss / n <= each.loss[1] + slack
        off = off or not each.regret[0] - slack <= ours - loss <= each.regret[1] + slack
    return off
