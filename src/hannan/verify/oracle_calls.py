"""What geometric resampling costs in oracle calls."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from hannan.core import Oracle
from hannan.core.validation import FloatArray
from hannan.learners import ContextSemiBanditFTPL, Resampling
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.proxy_losses import Separate
from hannan.verify.trial import SIGMAS

LIMITS = (2, 4, 12, 120)


def draws(
    oracle: Oracle,
    L: int,
    mode: str | Resampling,
    losses: FloatArray,
    T: int,
    seed: int,
    foresee: bool = False,
) -> tuple[FloatArray, FloatArray]:
    r"""Return the calls of each round beside the one for playing, and those to be expected.

    The latter, :math:`\sum_j 1-(1-q_j)^{L-1}`, where q can be computed.
    """
    options: Any = {"epsilon": 0.02, "max_resamples": L, "resampling": mode}
    learner = ContextSemiBanditFTPL(oracle, seed=seed, **options)
    calls, expected = np.empty(T), np.zeros(T)
    for t in range(T):
        if foresee:
            q = learner.propensities().probabilities
            expected[t] = (1.0 - (1.0 - q) ** (L - 1)).sum()
        before = learner.oracle_calls
        learner.update(losses[learner.act()])
        calls[t] = learner.oracle_calls - before - 1
    return calls, expected


@claim(
    "oracle-calls",
    "Section 4, cost of Algorithm 3",
    f"false alarm below 1e-4: {SIGMAS} standard errors for means, the rest on every path",
)
def price(effort: Effort) -> Iterator[Check]:
    """Besides the call for playing a round needs at most m(L-1) calls (printed mL), and at most K
    on average however large L is; fewer from a shared stream, none without a loss.

    Losses of 1 everywhere, so that every draw is needed; single actions, and sets of three.
    """
    K, m, T = 8, 3, effort.pick(1000, 25_000)
    single: Oracle = AllPolicies(1, K)
    sets: Oracle = FinitePolicies([[s] for s in combinations(range(K), m)], n_actions=K)
    ones = np.ones(K)
    foreseen = [draws(single, L, "shared", ones, T, effort.seed, foresee=True) for L in LIMITS]
    alone = [calls for calls, _ in foreseen]
    separate = [draws(sets, L, Separate(), ones, T, effort.seed)[0] for L in LIMITS]
    shared = [draws(sets, L, "shared", ones, T, effort.seed)[0] for L in LIMITS]
    # Where the number of calls is certain, rounding in q is all there is.
    gaps = [
        abs(float(gap.mean())) / max(float(gap.std()) / math.sqrt(T), 1e-6)
        for gap in (calls - expected for calls, expected in foreseen)
    ]
    saved = [float(a.mean() / b.mean()) for a, b in zip(shared, separate, strict=True)]
    yield from _few("one action", alone, K, 1)
    yield Check("one action: mean less Σ 1-(1-q)^(L-1), in standard errors", max(gaps), SIGMAS)
    yield from _few(f"sets of {m}", separate, K, m)
    yield Check(f"sets of {m}: shared stream, as a share of separate ones", max(saved), 1.0)
    yield Check(f"sets of {m}, shared: most in a round / (L-1)", _most(shared, 1), 1.0)
    nothing, _ = draws(sets, 120, Separate(), np.zeros(K), T, effort.seed)
    yield Check("no losses: calls in all rounds", float(nothing.sum()), 0.0)
    pairs = combinations(range(1, K), 2)
    with_first = FinitePolicies([[(0, *pair)] for pair in pairs], n_actions=K)
    some, _ = draws(with_first, 120, Separate(), np.eye(K)[0], T, effort.seed)
    what = "an element in all sets, the only one that costs: most in a round"
    yield Check(what, float(some.max()), 1.0)


def _few(what: str, found: list[FloatArray], K: int, m: int) -> Iterator[Check]:
    """Hold the calls to two limits, and to the most that a round may cost."""
    limits = np.array([min(K, m * (L - 1)) for L in LIMITS])
    means = np.mean(found, axis=1)
    chance = SIGMAS * np.std(found, axis=1) / math.sqrt(len(found[0]))
    share, slack = float((means / limits).max()), float((chance / limits).max())
    most = "L-1" if m == 1 else "m(L-1)"
    yield Check(f"{what}: mean / min{{K, {most}}}", share, 1.0, allowance=slack)
    last = f"{what}, L = {LIMITS[-1]}: mean, below K"
    yield Check(last, float(means[-1]), K, allowance=float(chance[-1]))
    yield Check(f"{what}: most in a round / {most}", _most(found, m), 1.0)


def _most(found: list[FloatArray], m: int) -> float:
    return max(float(calls.max()) / (m * (L - 1)) for L, calls in zip(LIMITS, found, strict=True))
