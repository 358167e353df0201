"""Distribution of the action, the loss estimates and the instability cost in every round.

Two actions on one context, where the leader under Laplace noise has a distribution in closed form.
Each quantity of a round is compared with its mean under that distribution, given the past. The
differences add up to a martingale. A sum over many rounds therefore shows mistakes that no regret
bound would show.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.bounds import semi_bandit
from hannan.core import Feedback
from hannan.core.validation import FloatArray
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL, SelfTuned
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.theorem_5 import Script
from hannan.verify.trial import SIGMAS, totals_of

_TWO = AllPolicies(1, 2)
_LISTED = FinitePolicies([[0], [1]])
_G = 0.75  # mean of the larger of two Laplace variates
_LAGS = (1, 2, 3)
_CAP, _LENGTH = 4, 60
_MODES: dict[str, Any] = {"one success": "shared", "two successes": 2, "exact weights": "exact"}
_CONFIDENCE = f"exact, or {SIGMAS} standard errors for each of some thirty sums: below 1e-5"


def first_leads(gap: float, scale: float) -> float:
    """Return the probability that action 0 leads although its total is larger by `gap`."""
    if scale == 0.0:
        return float(gap <= 0.0)
    x = abs(gap) / scale
    tail = math.exp(-x) * (2.0 + x) / 4.0
    return tail if gap > 0.0 else 1.0 - tail


def _scale(step: Any, t: int) -> float:
    """Return 1/ε of the round after t rounds whose losses were between 0 and 1."""
    if step.measures:
        return float(step.D) / _G
    return math.sqrt(2.0 * (t + 1) / _G) if step.schedules else 1.0 / step.epsilon


class Deviations:
    """Sums of differences from their means, in standard errors."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = defaultdict(float)
        self._variances: dict[str, float] = defaultdict(float)

    def add(self, what: str, difference: float, variance: float) -> None:
        """Add a round; `variance` is the variance of the difference, given the past."""
        self._sums[what] += difference
        self._variances[what] += variance

    def checks(self, where: str) -> Iterator[Check]:
        """Check that no sum is far from zero."""
        for what, total in self._sums.items():
            error = math.sqrt(self._variances[what])
            score = abs(total) / error if error > 0.0 else math.inf if total else 0.0
            yield Check(f"{where}: {what}, in standard errors", score, SIGMAS)


class Plays:
    """Actions compared with their distribution: overall, per side of a tie, and by past actions."""

    def __init__(self, sums: Deviations) -> None:
        self._sums = sums
        self._last = [0.0] * max(_LAGS)

    def add(self, action: int, p: float, gap: float) -> None:
        """Add a round in which action 0 had probability p."""
        surplus, variance = float(action == 0) - p, p * (1.0 - p)
        self._sums.add("actions played", surplus, variance)
        # Too much noise chooses the action that is behind too often, too little noise too rarely.
        side = math.copysign(1.0, gap)
        self._sums.add("actions played against the leader", side * surplus, variance)
        for lag in _LAGS:
            before = self._last[-lag]
            what = f"actions played like {lag} round{'s' * (lag > 1)} before"
            self._sums.add(what, before * surplus, before * before * variance)
        self._last = [*self._last[1:], surplus]


@claim("round-by-round", "Algorithm 2, self-tuning and Theorem 5", _CONFIDENCE)
def full_information(effort: Effort) -> Iterator[Check]:
    """Learners play in every round the leader of all past losses, the prediction and fresh Laplace
    noise of size 1/ε. Self-tuned, 1/ε = D/G, and D grows by the instability cost: the expected loss
    of this distribution less that of the next round's. By schedule, 1/ε = √(2t/G).
    """
    T = effort.pick(9000, 90_000)
    none = np.zeros((_LENGTH, 2))
    some = effort.rng("round by round").integers(2, size=none.shape).astype(np.float64)
    trusted = {"epsilon": SelfTuned(1.0), "predictor": Script(some), "trust": "always"}
    cases: dict[str, tuple[dict[str, Any], FloatArray]] = {
        "self-tuned": ({"epsilon": SelfTuned(1.0)}, none),
        "fixed ε, listed policies": ({"oracle": _LISTED, "epsilon": 0.5}, none),
        "schedule": ({"epsilon": "anytime"}, none),
        "predictions": (trusted, some),
    }
    for where, (options, guesses) in cases.items():
        learner = ContextFTPL(**{"oracle": _TWO, "seed": effort.seed, **options})
        yield from _games(where, learner, T, guesses)


def _games(where: str, learner: Any, T: int, guesses: FloatArray) -> Iterator[Check]:
    """Play short runs, because the instability cost is largest while there is little noise.

    With full information, losses separate the totals by about 1.5/ε. With bandit feedback, the
    leading action costs 1 and the other action 0.3.
    """
    full = learner.feedback is Feedback.FULL
    apart, cheap = (1.5, 0.0) if full else (0.0, 0.3)
    sums, off = Deviations(), 0.0
    plays = Plays(sums)
    for t in range(T):
        number, n = divmod(t, _LENGTH)
        if n == 0:
            learner, totals = learner.fresh(number), np.zeros(2)
        step = learner.step
        D = step.D if step.measures else 0.0
        scale = _scale(step, n)
        gap, ahead = totals[0] - totals[1], guesses[n, 0] - guesses[n, 1]
        p = first_leads(gap + ahead, scale)
        if t % 16 == 0:
            off = max(off, abs(float(learner.propensities().probabilities[0]) - p))
        action = learner.act()
        plays.add(action, p, gap + ahead)
        target = apart * scale * (-1.0 if number % 2 and n else 1.0)
        losses = np.array([1.0, cheap] if gap <= target else [cheap, 1.0])
        learner.update(losses if full else losses[action])
        after = totals + losses if full else totals_of(learner)
        added, totals = after - totals, after
        if not full:
            right = (1.0 - (1.0 - np.array([p, 1.0 - p])) ** _CAP) * losses
            for a, error in enumerate((added - right).tolist()):
                sums.add(f"estimates of action {a}", error, error * error)
        if step.measures and scale > 0.0:
            width = added[0] - added[1] - ahead
            mean = width * (p - first_leads(gap + added[0] - added[1], scale))
            sums.add("growth of D", step.D - D - mean, mean * (abs(width) - mean))
    yield Check(f"{where}: stated probabilities, distance from closed form", off, 1e-9)
    yield from sums.checks(where)


@claim("round-by-round-bandit", "Algorithm 3 and self-tuning", _CONFIDENCE)
def bandit(effort: Effort) -> Iterator[Check]:
    """Learners with bandit feedback play from the same distribution, with estimated losses. Each
    estimate has mean (1-(1-q)^L)ℓ under the distribution of its round and is at most L times the
    loss, L = ⌈√(Kt)⌉ in round t. An independent noise draw measures the instability cost.
    """
    T = effort.pick(3000, 42_000)
    epsilons: dict[str, float | SelfTuned] = {"fixed ε": 1.0, "self-tuned": SelfTuned(1.0)}
    for name, mode in _MODES.items():
        for how, epsilon in epsilons.items():
            learner = ContextSemiBanditFTPL(
                _TWO, epsilon=epsilon, resampling=mode, max_resamples=_CAP, seed=effort.seed
            )
            yield from _games(f"{how}, {name}", learner, T, np.zeros((_LENGTH, 2)))
        yield from _caps(name, mode)


def _caps(name: str, mode: Any) -> Iterator[Check]:
    """Check that the weight of an action that is never chosen again is the cap, round by round."""
    K, T = 2, 30
    theorem = semi_bandit(T, d=1, n_actions=K, log_size=math.log(K), loss_bound=1.0)
    cases: dict[str, tuple[dict[str, Any], list[int]]] = {
        "⌈√(Kt)⌉": ({"epsilon": 50.0}, [math.ceil(math.sqrt(K * t)) for t in range(1, T + 1)]),
        "⌈√(KT)⌉": ({"epsilon": 50.0, "horizon": T}, [math.ceil(math.sqrt(K * T))] * T),
        "the theorem's": (
            {"epsilon": "theorem", "horizon": T},
            [int(theorem.max_resamples or 0)] * T,
        ),
        "given": ({"epsilon": 50.0, "max_resamples": 5}, [5] * T),
    }
    for what, (options, caps) in cases.items():
        learner = ContextSemiBanditFTPL(_TWO, resampling=mode, seed=0, **options)
        far = np.array([0.0, 1000.0 * learner.step.scale])
        learner.leader.total.add(0, far)
        off = 0.0
        for cap in caps:
            opened: Any = learner.begin(0)
            opened.action = 1
            learner.commit(opened, recorded=False)
            before = totals_of(learner)
            learner.close(opened, 1.0, recorded=False)
            off = max(off, abs(float(totals_of(learner)[1] - before[1]) - cap))
        yield Check(f"{name}, L {what}: weights of an unobserved action, off L", off, 1e-6)
        certified = learner.certificate().truncation
        assert certified is not None
        hidden = abs(certified - sum(K / (math.e * cap) for cap in caps))
        yield Check(f"{name}, L {what}: truncation certified, off ΣK/(eL)", hidden, 1e-9)
