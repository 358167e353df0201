"""How regret grows with the number of rounds: fitted exponents beside those of the theorems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from hannan.verify._games import regrets, seeds, turns
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_CONFIDENCE = "95 % bootstrap interval below the exponent + 0.15; false alarms below 1e-4"

_TOLERANCE = 0.15  # horizons are finite: lower-order terms bend the line
_PAIR = FinitePolicies([[0], [1]])
_SIZES: dict[str, Any] = {"d": 1, "n_actions": 2, "log_size": float(np.log(2.0))}

Game = Callable[[int], tuple[Callable[[int], Learner], Environment]]
"""For a horizon: how to make a learner from a seed, and the world it plays in."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """The slope of log mean regret against log T, with an interval of 95 % by bootstrap."""

    horizons: list[int]
    means: FloatArray
    slope: float
    low: float
    high: float

    @property
    def series(self) -> Series:
        return Series(f"measured, slope {self.slope:.2f}", self.horizons, self.means)

    @property
    def note(self) -> str:
        return f"slope {self.slope:.3f}, interval {self.low:.3f} to {self.high:.3f}"


def _fit(
    effort: Effort,
    name: str,
    game: Game,
    first: int,
    counts: list[int],
    switches: int | None = None,
) -> _Fit:
    """Play horizons first, 2 first, …, so many games each; all four times as large if full."""
    more = effort.pick(1, 4 if switches is None else 2)
    horizons = [more * first * 2**i for i in range(len(counts))]
    found = []
    for T, count in zip(horizons, counts, strict=True):
        make, world = game(T)
        numbers = seeds(effort, f"{name}, {T}", count, 4 * count)
        found.append(regrets(make, world, T, numbers, switches))
    rng = effort.rng(name, "bootstrap")
    again = np.array([rng.choice(r, (2000, len(r))).mean(axis=1) for r in found])
    means = np.array([r.mean() for r in found])
    low, high = np.quantile(_slope(horizons, again), [0.025, 0.975])
    return _Fit(horizons, means, float(_slope(horizons, means)), float(low), float(high))


def _slope(horizons: list[int], means: FloatArray) -> Any:
    x = np.log(horizons)
    x -= x.mean()
    return x @ np.log(np.maximum(means, 1e-9)) / (x @ x)


def _below(fit: _Fit, what: str, exponent: float, label: str) -> Check:
    return Check(
        f"{what}: upper end of the slope's interval, {label} + {_TOLERANCE:g}",
        fit.high,
        exponent + _TOLERANCE,
    )


def _plot(fit: _Fit, limit: Callable[[int], float], *others: Series) -> Plot:
    bound = Series("sharp bound", fit.horizons, [limit(T) for T in fit.horizons], "dashed")
    return Plot("T", "mean regret", [fit.series, bound, *others], log_x=True, log_y=True)


@claim("growth-full-information", "Theorem 2, claim 2: exponent", _CONFIDENCE)
def full_information(effort: Effort) -> Finding:
    """With the contexts known in advance regret grows like √T on a world where the plain leader and
    too much noise both lose linearly.

    Two actions that take turns for a while, then settle; and two learners that fail there.
    """

    def bound(T: int) -> bounds.Bound:
        return bounds.complete_information(T, form="sharp", **_SIZES)

    def tuned(epsilon: float | None) -> Game:
        return lambda T: (
            lambda seed: ContextFTPL(_PAIR, epsilon=epsilon or bound(T).epsilon, seed=seed),
            turns(T, T - T // 8),
        )

    fit = _fit(effort, "growth", tuned(None), 64, [64, 48, 32, 24, 16])
    drowned = _fit(effort, "growth, drowned", tuned(1e-5), 64, [16, 8, 8])
    leader = _fit(
        effort,
        "growth, leader",
        lambda T: (lambda seed: FollowTheLeader(_PAIR), turns(T, T - T // 8)),
        64,
        [2, 2, 2],
    )
    checks = [
        _below(fit, "tuned", 0.5, "1/2"),
        Check("drowned in noise: lower end of its slope's interval", drowned.low, 0.8, False),
        Check("the plain leader: lower end of its slope's interval", leader.low, 0.8, False),
    ]
    return Finding(
        checks,
        _plot(
            fit,
            lambda T: bound(T).value,
            Series(f"drowned in noise, slope {drowned.slope:.2f}", drowned.horizons, drowned.means),
            Series(f"plain leader, slope {leader.slope:.2f}", leader.horizons, leader.means),
        ),
        fit.note,
    )


@claim("growth-separator", "Theorem 2, claim 3: exponent", _CONFIDENCE)
def small_separator(effort: Effort) -> Finding:
    """With noise on a small separator regret grows like √T.

    Disjunctions of three variables, on contexts without noise.
    """
    n = 3
    oracle, separator = Disjunctions(n), list(disjunctions(n))

    def bound(T: int) -> bounds.Bound:
        return bounds.disjunctions(T, n_variables=n, form="sharp")

    def game(T: int) -> Any:
        epsilon = bound(T).epsilon
        return (
            lambda seed: ContextFTPL(oracle, separator=separator, epsilon=epsilon, seed=seed),
            turns(T, T - T // 8, list(conjunctions(n)), together=True),
        )

    fit = _fit(effort, "growth, separator", game, 128, [24, 18, 12, 8, 6])
    checks = [_below(fit, "tuned", 0.5, "1/2")]
    return Finding(checks, _plot(fit, lambda T: bound(T).value), fit.note)


@claim("growth-bandit", "Theorem 3: exponent", _CONFIDENCE)
def bandit(effort: Effort) -> Finding:
    """With bandit feedback regret grows like √T.

    The same two actions, of which one loss is seen.
    """

    def bound(T: int) -> bounds.Bound:
        return bounds.semi_bandit(T, form="sharp", **_SIZES)

    def game(T: int) -> Any:
        epsilon = bound(T).epsilon
        return (
            lambda seed: ContextSemiBanditFTPL(_PAIR, epsilon=epsilon, horizon=T, seed=seed),
            turns(T, T - T // 8),
        )

    fit = _fit(effort, "growth, bandit", game, 128, [32, 24, 16, 12, 8])
    checks = [_below(fit, "tuned", 0.5, "1/2")]
    return Finding(checks, _plot(fit, lambda T: bound(T).value), fit.note)


@claim("growth-switching", "Switching corollary: exponent", _CONFIDENCE)
def switching(effort: Effort) -> Finding:
    """Against the best sequence of policies with one switch regret grows like T^(3/4).

    Turns, then one action, then the other; against the best sequence with one switch.
    """

    def bound(T: int, form: str = "sharp") -> bounds.Bound:
        size = _SIZES["log_size"]
        return bounds.switching(T, switches=1, n_actions=2, log_size=size, form=form)

    def game(form: str) -> Game:
        return lambda T: (
            _sequences(T, None if form == "playout" else bound(T).epsilon),
            _halves(T),
        )

    fit = _fit(effort, "growth, switching", game("sharp"), 128, [16, 12, 8, 6], switches=1)
    checks = [_below(fit, "noise on all rounds", 0.75, "3/4")]
    others = []
    if effort.full:
        late = _fit(effort, "growth, playout", game("playout"), 128, [8, 6, 5, 4], switches=1)
        checks.append(_below(late, "noise on rounds to come", 0.5, "1/2"))
        others = [
            Series(f"noise on rounds to come, slope {late.slope:.2f}", late.horizons, late.means),
            Series(
                "bound for noise on rounds to come",
                late.horizons,
                [bound(T, "playout").value for T in late.horizons],
                "dashed",
            ),
        ]
    return Finding(checks, _plot(fit, lambda T: bound(T).value, *others), fit.note)


def _sequences(T: int, epsilon: float | None) -> Callable[[int], Learner]:
    oracle = Switching(_PAIR, 1, sequence=[0] * T)
    if epsilon is None:
        return lambda seed: PlayoutFTPL(oracle, seed=seed)
    return lambda seed: ContextFTPL(oracle, epsilon=epsilon, seed=seed)


def _halves(T: int) -> FromArrays:
    head = T // 8
    losses = np.array(turns(T, T - head).losses)
    losses[head + (T - head) // 2 :] = [1.0, 0.0]
    return FromArrays([0] * T, losses)
