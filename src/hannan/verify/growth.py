"""How regret grows with the number of rounds: fitted exponents beside those of the theorems."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hannan import bounds
from hannan.baselines import FollowTheLeader
from hannan.core import Environment, Learner
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, PlayoutFTPL
from hannan.oracles import Disjunctions, FinitePolicies, Switching
from hannan.separators import conjunctions, disjunctions
from hannan.verify._games import regrets, seeded, seeds, turns
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_CONFIDENCE = "95 % bootstrap interval below the exponent + 0.15; false alarms below 1e-4"
_TOLERANCE = 0.15  # horizons are finite: lower-order terms bend the line
_PAIR = FinitePolicies([[0], [1]])
_SIZES: dict[str, Any] = {"d": 1, "n_actions": 2, "log_size": float(np.log(2.0))}

Game = Callable[[int], tuple[Callable[[int], Learner], Environment]]
"""For a horizon: how to make a learner from a seed, and the world it plays in."""


class _Fit:
    """The slope of log mean regret against log T, with an interval of 95 % by bootstrap.

    Horizons are first, 2 first, …, with so many games each; all four times as large if full.
    """

    def __init__(
        self,
        effort: Effort,
        name: str,
        game: Game,
        first: int,
        counts: list[int],
        switches: int | None = None,
    ) -> None:
        more = effort.pick(1, 4 if switches is None else 2)
        self.horizons = [more * first * 2**i for i in range(len(counts))]
        found = []
        for T, count in zip(self.horizons, counts, strict=True):
            make, world = game(T)
            numbers = seeds(effort, f"{name}, {T}", count, 4 * count)
            found.append(regrets(make, world, T, numbers, switches))
        rng = effort.rng(name, "bootstrap")
        again = np.array([rng.choice(r, (2000, len(r))).mean(axis=1) for r in found])
        self.means = np.array([r.mean() for r in found])
        self.slope = float(self._slope(self.means))
        self.low, self.high = np.quantile(self._slope(again), [0.025, 0.975]).tolist()

    def _slope(self, means: FloatArray) -> Any:
        x = np.log(self.horizons)
        x -= x.mean()
        return x @ np.log(np.maximum(means, 1e-9)) / (x @ x)

    def series(self, label: str = "measured") -> Series:
        return Series(f"{label}, slope {self.slope:.2f}", self.horizons, self.means)

    def bounded(self, label: str, bound: Callable[[int], bounds.Bound]) -> Series:
        return Series(label, self.horizons, [bound(T).value for T in self.horizons], "dashed")

    def below(self, exponent: float, label: str, what: str = "tuned") -> Check:
        what = f"{what}: upper end of the slope's interval, {label} + {_TOLERANCE:g}"
        return Check(what, self.high, exponent + _TOLERANCE)

    def finding(
        self, bound: Callable[[int], bounds.Bound], checks: list[Check], *others: Series
    ) -> Finding:
        series = [self.series(), self.bounded("sharp bound", bound), *others]
        note = f"slope {self.slope:.3f}, interval {self.low:.3f} to {self.high:.3f}"
        return Finding(checks, Plot("T", "mean regret", series, log_x=True, log_y=True), note)


def _settling(T: int, *contexts: Any) -> FromArrays:
    """Turns for an eighth of the game."""
    return turns(T, T - T // 8, contexts or (0,), together=True)


@claim("growth-full-information", "Theorem 2, claim 2: exponent", _CONFIDENCE)
def full_information(effort: Effort) -> Finding:
    """With the contexts known in advance regret grows like √T on a world where the plain leader and
    too much noise both lose linearly.

    Two actions that take turns for a while, then settle; and two learners that fail there.
    """

    def bound(T: int) -> bounds.Bound:
        return bounds.complete_information(T, form="sharp", **_SIZES)

    def tuned(T: int, epsilon: float | None = None) -> Any:
        make = seeded(ContextFTPL, _PAIR, epsilon=epsilon or bound(T).epsilon)
        return make, _settling(T)

    def follow(T: int) -> Any:
        return lambda seed: FollowTheLeader(_PAIR), _settling(T)

    fit = _Fit(effort, "growth", tuned, 64, [64, 48, 32, 24, 16])
    drowned = _Fit(effort, "growth, drowned", partial(tuned, epsilon=1e-5), 64, [16, 8, 8])
    leader = _Fit(effort, "growth, leader", follow, 64, [2, 2, 2])
    what = "lower end of its slope's interval"
    checks = [
        fit.below(0.5, "1/2"),
        Check(f"drowned in noise: {what}", drowned.low, 0.8, False),
        Check(f"the plain leader: {what}", leader.low, 0.8, False),
    ]
    others = drowned.series("drowned in noise"), leader.series("plain leader")
    return fit.finding(bound, checks, *others)


@claim("growth-separator", "Theorem 2, claim 3: exponent", _CONFIDENCE)
def small_separator(effort: Effort) -> Finding:
    """With noise on a small separator regret grows like √T.

    Disjunctions of three variables, on contexts without noise.
    """
    n = 3
    options = {"separator": list(disjunctions(n))}
    bound = partial(bounds.disjunctions, n_variables=n, form="sharp")

    def game(T: int) -> Any:
        make = seeded(ContextFTPL, Disjunctions(n), epsilon=bound(T).epsilon, **options)
        return make, _settling(T, *conjunctions(n))

    fit = _Fit(effort, "growth, separator", game, 128, [24, 18, 12, 8, 6])
    return fit.finding(bound, [fit.below(0.5, "1/2")])


@claim("growth-bandit", "Theorem 3: exponent", _CONFIDENCE)
def bandit(effort: Effort) -> Finding:
    """With bandit feedback regret grows like √T.

    The same two actions, of which one loss is seen.
    """

    def bound(T: int) -> bounds.Bound:
        return bounds.semi_bandit(T, form="sharp", **_SIZES)

    def game(T: int) -> Any:
        make = seeded(ContextSemiBanditFTPL, _PAIR, epsilon=bound(T).epsilon, horizon=T)
        return make, _settling(T)

    fit = _Fit(effort, "growth, bandit", game, 128, [32, 24, 16, 12, 8])
    return fit.finding(bound, [fit.below(0.5, "1/2")])


@claim("growth-switching", "Switching corollary: exponent", _CONFIDENCE)
def switching(effort: Effort) -> Finding:
    """Against the best sequence of policies with one switch regret grows like T^(3/4)."""

    def bound(T: int, form: str = "sharp") -> bounds.Bound:
        size = _SIZES["log_size"]
        return bounds.switching(T, switches=1, n_actions=2, log_size=size, form=form)

    def world(T: int) -> FromArrays:
        head = T // 8
        losses = np.array(_settling(T).losses)
        losses[head + (T - head) // 2 :] = [1.0, 0.0]
        return FromArrays([0] * T, losses)

    def game(T: int) -> Any:
        oracle = Switching(_PAIR, 1, sequence=[0] * T)
        return seeded(ContextFTPL, oracle, epsilon=bound(T).epsilon), world(T)

    def later(T: int) -> Any:
        return seeded(PlayoutFTPL, Switching(_PAIR, 1, sequence=[0] * T)), world(T)

    fit = _Fit(effort, "growth, switching", game, 128, [16, 12, 8, 6], switches=1)
    checks, others = [fit.below(0.75, "3/4", "noise on all rounds")], []
    if effort.full:
        late = _Fit(effort, "growth, playout", later, 128, [8, 6, 5, 4], switches=1)
        what = "noise on rounds to come"
        checks.append(late.below(0.5, "1/2", what))
        others = [
            late.series(what),
            late.bounded(f"bound for {what}", partial(bound, form="playout")),
        ]
    return fit.finding(bound, checks, *others)
