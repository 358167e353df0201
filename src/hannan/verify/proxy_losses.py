"""The loss estimates of Algorithm 3: their mean, their second moment, their oracle calls."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from hannan.bounds import semi_bandit
from hannan.core import Action, Draw, Oracle
from hannan.core.validation import FloatArray
from hannan.learners import ContextSemiBanditFTPL, Resampling
from hannan.learners.perturbed_leader import Past
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.perturbation import seed_key
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import SIGMAS


class Separate(Resampling):
    """Weights as printed in Algorithm 3: one success, and separate draws for each element."""

    def __init__(self) -> None:
        super().__init__(successes=1, exact=False)

    def weights(
        self, past: Past, context: Any, action: Action, draw: Draw, limit: int, needed: Any
    ) -> tuple[Any, int]:
        """Draw for one element after the other."""
        if isinstance(action, int):
            return super().weights(past, context, action, draw, limit, needed)
        weights, used = np.zeros(len(action)), 0
        for i in range(len(action)) if needed is None else np.flatnonzero(needed):
            found, more = past.weights(context, action[i : i + 1], draw.later(used), limit, 1)
            weights[i] = found.item(0)
            used += more
        return weights, used


MODES: dict[str, Any] = {
    "separate": Separate(),
    "shared": "shared",
    "rao-blackwell, r = 2": 2,
    "rao-blackwell, r = 4": 4,
    "exact": "exact",
}
LIMITS = (2, 8)
_CAPS = (2, 4, 12, 120)  # values of L for counting calls


def estimates(
    learner: ContextSemiBanditFTPL, context: Any, losses: FloatArray, count: int
) -> FloatArray:
    """Return the loss estimates of `count` decisions in the present state of the learner."""
    found = np.zeros((count, len(losses)))
    for row in found:
        decision = learner.decide(context)
        chosen = np.atleast_1d(decision.action)
        learner.forget(decision)  # drawn weights are hidden until then
        row[chosen] = decision.weights * losses[chosen]
    return found


@claim(
    "proxy-mean",
    "Algorithm 3 and the proof of Theorem 3",
    f"false alarm below 1e-4: some hundred means, {SIGMAS} standard errors each",
)
def mean_and_bias(effort: Effort) -> Iterator[Check]:
    """Geometric resampling, in every mode, estimates losses with mean (1-(1-q)^L)ℓ, so truncation
    hides at most K/(eL) of a round's loss.

    Measured at some states reached by playing. For single actions q is computed; for sets it is
    estimated from many more draws. Elements expected fewer than 100 times in a sample are left out.
    The last case has K = L + 1 equally likely actions, where the bias is largest.
    """
    rng = effort.rng("proxy-mean")
    pairs = [(a, b) for a in range(5) for b in range(a)]
    tables = [[pairs[i] for i in rng.permutation(10)[:2]] for _ in range(12)]
    single, slates = AllPolicies(2, 4), FinitePolicies(tables, n_actions=5)
    highest = 0.0
    for name, mode in MODES.items():
        worst = 0.0
        oracles: list[Oracle] = [single] if name == "exact" else [single, slates]
        for oracle, L, state in product(oracles, LIMITS, range(effort.pick(1, 4))):
            options = {"max_resamples": L, "resampling": mode, "seed": 100 * effort.seed + state}
            learner = ContextSemiBanditFTPL(oracle, epsilon=0.5, **options)
            off, heaviest = _at_a_state(effort, learner, L, rng.random((8, 5)))
            worst, highest = max(worst, off), max(highest, heaviest / L)
        what = f"{name}: mean estimate less (1-(1-q)^L)ℓ, in standard errors"
        yield Check(what, worst, SIGMAS)
    yield Check("largest weight, as a multiple of L", highest, 1.0)
    yield from _largest_bias(effort)


def _at_a_state(
    effort: Effort, learner: ContextSemiBanditFTPL, L: int, warm: FloatArray
) -> tuple[float, float]:
    """Return the largest error of a mean estimate, in standard errors, and the largest weight."""
    K = int(learner.oracle.n_actions or 0)
    for t, losses in enumerate(warm[:, :K]):
        learner.update(losses[learner.act(t % 2)])
    context, n = 0, effort.pick(1200, 12_000)
    known = learner.propensities(context, draws=effort.pick(50_000, 1_000_000))
    q = known.probabilities
    found = estimates(learner, context, np.ones(K), n)
    from_q = L * (1.0 - q) ** (L - 1) * known.standard_errors
    error = np.sqrt(found.var(axis=0) / n + from_q**2)
    off, often = np.abs(found.mean(axis=0) - (1.0 - (1.0 - q) ** L)), n * q >= 100.0
    return float((off[often] / error[often]).max()), float(found.max())


def _largest_bias(effort: Effort) -> Iterator[Check]:
    """Measure the loss that truncation hides, for K = L + 1 equally likely actions with loss 1."""
    L, n = 8, effort.pick(4000, 60_000)
    K = L + 1
    learner = ContextSemiBanditFTPL(
        AllPolicies(1, K), epsilon=1.0, max_resamples=L, resampling="shared", seed=effort.seed
    )
    found = estimates(learner, None, np.ones(K), n)
    sums = found.sum(axis=1) / K
    hidden = 1.0 - float(sums.mean())
    chance = SIGMAS * float(sums.std()) / math.sqrt(n)
    bound = semi_bandit(1, d=1, n_actions=K, log_size=math.log(K), max_resamples=L)
    printed, sharp = bound.terms["truncation"], L**L / (L + 1) ** (L + 1)
    where = f"at q = 1/(L+1), L = {L}"
    what = f"{where}: q (ℓ - Eℓ̂) of an action, below L^L/(L+1)^(L+1)"
    yield Check(f"{where}: Σ q (ℓ - Eℓ̂), below K/(eL)", hidden, printed, allowance=chance)
    yield Check(what, hidden / K, sharp, allowance=chance / K)


@claim(
    "proxy-second-moment",
    "Proof of Theorem 3",
    f"false alarm below 1e-4: {SIGMAS} standard errors for each of 18 states",
)
def moments(effort: Effort) -> Iterator[Check]:
    """Weights have a second moment of at most (2-q)/q², and q E[W²] ≤ 2 E[W] for every cap L, less
    with several successes. The printed min{2/q, qL²} ≤ 2L is loose.

    Weights of an action with known q. With one success and a large L, the first inequality is an
    equality. The library uses the constant c in bounds and certificates: 2, 1.51 and 1.34 for 1, 2
    and 4 successes.
    """
    L, n = 100, effort.pick(4000, 60_000)
    first: FloatArray = np.zeros(0)
    for r in (1, 2, 4):
        q, mean, square, error = _weights(effort, L, r, n)
        c = Resampling(r, exact=False).second_moment
        ratio = q * square / mean
        slack = SIGMAS * float((q * error / mean).max())
        yield Check(f"r = {r}: q E[W²] / E[W]", float(ratio.max()), c, allowance=slack)
        if r == 1:
            first, scale = square, q**2 / (2.0 - q)
            what, slack = "E[J²] as a multiple of (2-q)/q²", SIGMAS * float((scale * error).max())
            yield Check(what, float((scale * square).max()), 1.0, allowance=slack)
            share = float((q * square).max()) / L
            what = "q E[J²] as a multiple of L (printed 2; √2 by the paper's own step)"
            yield Check(what, share, math.sqrt(2.0))
        else:
            what = f"r = {r}: E[W²] as a multiple of E[J²]"
            slack = SIGMAS * float((error / first).max())
            yield Check(what, float((square / first).max()), 1.0, allowance=slack)


def _weights(effort: Effort, L: int, r: int, n: int) -> FloatArray:
    """Return q, E W, E W² and its standard error for an action that is behind by some levels."""
    oracle = AllPolicies(1, 2)
    noise = oracle.noise([0], seed_key(effort.seed), 0, 2**20)
    rows, draw = [], 0
    # (2-q)/q² is attained for large qL, c near qL = 6, and √2 L nearest to qL = 2.
    for level in (0.0, 1.0, 2.0, 2.6, 3.2, 3.8):
        total = oracle.objective()
        total.add(0, np.array([level, 0.0]))
        q = float(total.distribution(0, Draw(noise, 0, 1.0))[0])
        W = np.empty(n)
        for i in range(n):
            found, used = total.weights(0, np.array([0]), Draw(noise, draw, 1.0), L, r)
            W[i] = found.item(0)
            draw += used
        rows.append((q, W.mean(), (W**2).mean(), (W**2).std() / math.sqrt(n)))
    return np.array(rows).T


def draws(
    oracle: Oracle,
    L: int,
    mode: str | Resampling,
    losses: FloatArray,
    T: int,
    seed: int,
    foresee: bool = False,
) -> tuple[FloatArray, FloatArray]:
    r"""Return the calls of each round besides the call for the action, and their expected number.

    The expected number is :math:`\sum_j 1-(1-q_j)^{L-1}`, if `foresee` is set and q can be
    computed.
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
    """Rounds need at most m(L-1) calls besides the call for the action (printed mL), and on average
    at most K for every L. A shared stream needs fewer calls, and a round without loss needs none.

    All losses are 1, so that every draw is needed; single actions, and sets of three.
    """
    K, m, T = 8, 3, effort.pick(1000, 25_000)
    single: Oracle = AllPolicies(1, K)
    sets: Oracle = FinitePolicies([[s] for s in combinations(range(K), m)], n_actions=K)
    ones = np.ones(K)
    foreseen = [draws(single, L, "shared", ones, T, effort.seed, foresee=True) for L in _CAPS]
    alone = [calls for calls, _ in foreseen]
    separate = [draws(sets, L, Separate(), ones, T, effort.seed)[0] for L in _CAPS]
    shared = [draws(sets, L, "shared", ones, T, effort.seed)[0] for L in _CAPS]
    # If the number of calls is certain, the only difference is rounding in q.
    gaps = [
        abs(float(gap.mean())) / max(float(gap.std()) / math.sqrt(T), 1e-6)
        for gap in (calls - expected for calls, expected in foreseen)
    ]
    saved = [float(a.mean() / b.mean()) for a, b in zip(shared, separate, strict=True)]
    yield from _few("one action", alone, K, 1)
    yield Check("one action: mean less Σ 1-(1-q)^(L-1), in standard errors", max(gaps), SIGMAS)
    yield from _few(f"sets of {m}", separate, K, m)
    yield Check(f"sets of {m}: shared stream, as a share of separate streams", max(saved), 1.0)
    yield Check(f"sets of {m}, shared: most in a round / (L-1)", _most(shared, 1), 1.0)
    nothing, _ = draws(sets, 120, Separate(), np.zeros(K), T, effort.seed)
    yield Check("no losses: calls in all rounds", float(nothing.sum()), 0.0)
    pairs = combinations(range(1, K), 2)
    with_first = FinitePolicies([[(0, *pair)] for pair in pairs], n_actions=K)
    some, _ = draws(with_first, 120, Separate(), np.eye(K)[0], T, effort.seed)
    what = "an element in all sets, the only one that costs: most in a round"
    yield Check(what, float(some.max()), 1.0)


def _few(what: str, found: list[FloatArray], K: int, m: int) -> Iterator[Check]:
    """Check the calls against two limits, and against the maximum of a round."""
    limits = np.array([min(K, m * (L - 1)) for L in _CAPS])
    means = np.mean(found, axis=1)
    chance = SIGMAS * np.std(found, axis=1) / math.sqrt(len(found[0]))
    share, slack = float((means / limits).max()), float((chance / limits).max())
    most = "L-1" if m == 1 else "m(L-1)"
    yield Check(f"{what}: mean / min{{K, {most}}}", share, 1.0, allowance=slack)
    last = f"{what}, L = {_CAPS[-1]}: mean, below K"
    yield Check(last, float(means[-1]), K, allowance=float(chance[-1]))
    yield Check(f"{what}: most in a round / {most}", _most(found, m), 1.0)


def _most(found: list[FloatArray], m: int) -> float:
    return max(float(calls.max()) / (m * (L - 1)) for L, calls in zip(_CAPS, found, strict=True))
