"""Growth of the regret with the number of rounds: fitted exponents and those of the theorems."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from hannan import bounds
from hannan.baselines import FollowTheLeader
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextSemiBanditFTPL, PlayoutFTPL
from hannan.oracles import Disjunctions, FinitePolicies, Switching
from hannan.separators import conjunctions, disjunctions
from hannan.verify.adversaries import turns
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial

_CONFIDENCE = "95 % bootstrap interval below the exponent + 0.15; false alarms below 1e-4"
_TOLERANCE = 0.15  # finite horizons: lower-order terms bend the line
_PAIR = FinitePolicies([[0], [1]])
_SIZES: dict[str, Any] = {"d": 1, "n_actions": 2, "log_size": float(np.log(2.0))}


def _slope(
    effort: Effort,
    name: str,
    trial: Callable[[int], Trial],
    first: int,
    counts: list[int],
    **changes: Any,
) -> tuple[float, float]:
    """Return a 95 % bootstrap interval for the slope of log mean regret against log T.

    Horizons are first, 2 first, …, with `counts` runs each. A full experiment multiplies them by
    four.
    """
    more = effort.pick(1, 4 if trial(first).switches is None else 2)
    horizons = [more * first * 2**i for i in range(len(counts))]
    rng = effort.rng(name, "bootstrap")
    resampled = []
    for T, count in zip(horizons, counts, strict=True):
        tried, seeds = trial(T), effort.seeds(f"{name}, {T}", count, 4 * count)
        options = changes or {"epsilon": tried.bound(form="sharp").epsilon}
        regrets = tried.regrets(seeds, **options)
        resampled.append(rng.choice(regrets, (2000, len(regrets))).mean(axis=1))
    x = np.log(horizons) - np.mean(np.log(horizons))
    slopes: FloatArray = x @ np.log(np.maximum(resampled, 1e-9)) / (x @ x)
    low, high = np.quantile(slopes, [0.025, 0.975]).tolist()
    return low, high


def _below(slope: tuple[float, float], exponent: float, what: str) -> Check:
    limit = exponent + _TOLERANCE
    return Check(f"{what}: upper end of the slope's interval, {exponent} + 0.15", slope[1], limit)


def _settling(T: int, *contexts: Any) -> FromArrays:
    """Let the actions alternate for an eighth of the run."""
    return turns(T, T - T // 8, contexts or (0,), together=True)


@claim("growth-full-information", "Theorem 2, claim 2: exponent", _CONFIDENCE)
def full_information(effort: Effort) -> Iterator[Check]:
    """Regret with contexts known in advance grows like √T, in an environment where
    follow-the-leader and too much noise both lose linearly.

    Two actions alternate for a while, then one stays best. The two learners that fail are tried,
    too.
    """

    def trial(T: int) -> Trial:
        bound = partial(bounds.complete_information, T, **_SIZES)
        return Trial("two actions", _PAIR, _settling(T), T, bound)

    def follow(oracle: Any, seed: int, **options: Any) -> FollowTheLeader:
        return FollowTheLeader(oracle)

    yield _below(_slope(effort, "growth", trial, 64, [64, 48, 32, 24, 16]), 0.5, "tuned")
    drowned, _ = _slope(effort, "growth, drowned", trial, 64, [16, 8, 8], epsilon=1e-5)
    leader, _ = _slope(effort, "growth, leader", trial, 64, [2, 2, 2], learner=follow)
    what = "lower end of its slope's interval"
    yield Check(f"too much noise: {what}", drowned, 0.8, at_most=False)
    yield Check(f"follow-the-leader: {what}", leader, 0.8, at_most=False)


@claim("growth-separator", "Theorem 2, claim 3: exponent", _CONFIDENCE)
def small_separator(effort: Effort) -> Iterator[Check]:
    """Regret with noise on a small separator grows like √T.

    Disjunctions of three variables, on contexts without noise.
    """
    n = 3

    def trial(T: int) -> Trial:
        bound = partial(bounds.disjunctions, T, n_variables=n)
        options = {"separator": list(disjunctions(n))}
        world = _settling(T, *conjunctions(n))
        return Trial("disjunctions", Disjunctions(n), world, T, bound, options=options)

    slope = _slope(effort, "growth, separator", trial, 128, [24, 18, 12, 8, 6])
    yield _below(slope, 0.5, "tuned")


@claim("growth-bandit", "Theorem 3: exponent", _CONFIDENCE)
def bandit(effort: Effort) -> Iterator[Check]:
    """Regret with bandit feedback grows like √T.

    Two actions as with full information; the learner observes the loss of the chosen action.
    """

    def trial(T: int) -> Trial:
        bound, kind = partial(bounds.semi_bandit, T, **_SIZES), ContextSemiBanditFTPL
        return Trial("two actions", _PAIR, _settling(T), T, bound, kind, {"horizon": T})

    slope = _slope(effort, "growth, bandit", trial, 128, [32, 24, 16, 12, 8])
    yield _below(slope, 0.5, "tuned")


@claim("growth-switching", "Switching corollary: exponent", _CONFIDENCE)
def switching(effort: Effort) -> Iterator[Check]:
    """Regret against the best sequence of policies with one switch grows like T^(3/4). With noise
    on future rounds only, in the larger experiment, it grows like √T.
    """

    def trial(T: int) -> Trial:
        bound = partial(bounds.switching, T, switches=1, n_actions=2, log_size=_SIZES["log_size"])
        losses = np.array(_settling(T).losses)
        losses[T // 8 + (T - T // 8) // 2 :] = [1.0, 0.0]
        oracle = Switching(_PAIR, 1, sequence=[0] * T)
        return Trial("switch", oracle, FromArrays([0] * T, losses), T, bound, switches=1)

    slope = _slope(effort, "growth, switching", trial, 128, [16, 12, 8, 6])
    yield _below(slope, 0.75, "noise on all rounds")
    if effort.full:
        slope = _slope(effort, "growth, playout", trial, 128, [8, 6, 5, 4], learner=PlayoutFTPL)
        yield _below(slope, 0.5, "noise on future rounds")
