"""The loss estimates of Algorithm 3: their mean and their second moment."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from hannan.bounds import semi_bandit
from hannan.core import Oracle
from hannan.core.oracle import Draw
from hannan.core.validation import FloatArray
from hannan.learners import ContextSemiBanditFTPL, Resampling
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.perturbation import seed_key
from hannan.verify._bandits import SIGMAS, Separate
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

MODES: dict[str, Any] = {
    "separate": Separate(),
    "shared": "shared",
    "rao-blackwell, r = 2": 2,
    "rao-blackwell, r = 4": 4,
    "exact": "exact",
}
LIMITS = (2, 8)


def estimates(
    learner: ContextSemiBanditFTPL, context: Any, losses: FloatArray, count: int
) -> FloatArray:
    """Loss estimates of many decisions, all made in the state the learner is in."""
    found = np.zeros((count, len(losses)))
    for row in found:
        decision = learner.decide(context)
        chosen = np.atleast_1d(decision.action)
        learner.forget(decision)  # drawn weights are shown only then
        row[chosen] = decision.weights * losses[chosen]
    return found


@claim(
    "proxy-mean",
    "Algorithm 3 and the proof of Theorem 3",
    f"false alarm below 1e-4: some hundred means, {SIGMAS} standard errors each",
)
def mean_and_bias(effort: Effort) -> Finding:
    """Geometric resampling estimates losses with mean (1-(1-q)^L)ℓ, however it is done, so
    truncation hides at most K/(eL) of a round's loss.

    At some states reached by playing. q is computed for single actions, and found from many more
    draws for sets. Then K = L + 1 equally likely actions, where the bias is largest.
    """
    rng = effort.rng("proxy-mean")
    pairs = [(a, b) for a in range(5) for b in range(a)]
    tables = [[pairs[i] for i in rng.permutation(10)[:2]] for _ in range(12)]
    single, slates = AllPolicies(2, 4), FinitePolicies(tables, n_actions=5)
    checks, clouds, highest = [], [], 0.0
    for name, mode in MODES.items():
        worst, seen = 0.0, []
        oracles: list[Oracle] = [single] if name == "exact" else [single, slates]
        for oracle, L, state in product(oracles, LIMITS, range(effort.pick(1, 4))):
            found = _at_a_state(effort, oracle, L, mode, rng.random((8, 5)), state)
            q, mean, error, heaviest = found
            highest = max(highest, heaviest / L)
            right = 1.0 - (1.0 - q) ** L
            worst = max(worst, float((np.abs(mean - right) / error).max()))
            seen.append(np.stack([q, mean]))
        what = f"{name}: mean estimate less (1-(1-q)^L)ℓ, in standard errors"
        checks.append(Check(what, worst, SIGMAS))
        q, mean = np.concatenate(seen, axis=1)
        clouds.append(Series(name, q, mean, "points"))
    checks.append(Check("largest weight, as a multiple of L", highest, 1.0))
    checks += _largest_bias(effort)
    q = np.linspace(0.0, 1.0, 101)
    curves = [Series(f"1-(1-q)^{L}", q, 1.0 - (1.0 - q) ** L, "dashed") for L in LIMITS]
    plot = Plot("q, probability of being chosen", "mean estimate / loss", [*clouds, *curves])
    note = "elements chosen fewer than 100 times in a sample, on average, are left out"
    return Finding(checks, plot, note)


def _at_a_state(
    effort: Effort, oracle: Oracle, L: int, mode: Any, warm: FloatArray, state: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """For each element q, mean estimate / loss and its standard error; and the largest weight."""
    K = int(oracle.n_actions or 0)
    learner = ContextSemiBanditFTPL(
        oracle, epsilon=0.5, max_resamples=L, resampling=mode, seed=100 * effort.seed + state
    )
    for t, losses in enumerate(warm[:, :K]):
        learner.update(losses[learner.act(t % 2)])
    context, n = 0, effort.pick(1200, 12_000)
    known = learner.propensities(context, draws=effort.pick(50_000, 1_000_000))
    q = known.probabilities
    found = estimates(learner, context, np.ones(K), n)
    from_q = L * (1.0 - q) ** (L - 1) * known.standard_errors
    error = np.sqrt(found.var(axis=0) / n + from_q**2)
    often = n * q >= 100.0
    return q[often], found.mean(axis=0)[often], error[often], float(found.max())


def _largest_bias(effort: Effort) -> list[Check]:
    """K = L + 1 even actions with loss 1: what truncation hides of the learner's own loss."""
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
    return [
        Check(f"{where}: Σ q (ℓ - Eℓ̂), below K/(eL)", hidden, printed, allowance=chance),
        Check(what, hidden / K, sharp, allowance=chance / K),
    ]


@claim(
    "proxy-second-moment",
    "Proof of Theorem 3",
    f"false alarm below 1e-4: {SIGMAS} standard errors for each of 18 states",
)
def moments(effort: Effort) -> Finding:
    """Weights have a second moment of at most (2-q)/q², and q E[W²] ≤ 2 E[W] for every cap L, less
    with several successes (the printed min{2/q, qL²} ≤ 2L is loose).

    Weights of an action with known q. With one success and L large the first is an equality; c
    is what the library uses in bounds and certificates: 2, 1.51 and 1.34 for 1, 2 and 4 successes.
    """
    L, n = 100, effort.pick(4000, 60_000)
    checks, curves = [], []
    first: FloatArray = np.zeros(0)
    for r in (1, 2, 4):
        q, mean, square, error = _weights(effort, L, r, n)
        c = Resampling(r, exact=False).second_moment
        ratio = q * square / mean
        slack = SIGMAS * float((q * error / mean).max())
        checks.append(Check(f"r = {r}: q E[W²] / E[W]", float(ratio.max()), c, allowance=slack))
        curves.append(Series(f"r = {r}", q, ratio, "points"))
        curves.append(Series(f"c = {c:g}", [q.min(), q.max()], [c, c], "dashed"))
        if r == 1:
            first, scale = square, q**2 / (2.0 - q)
            what, slack = "E[J²] as a multiple of (2-q)/q²", SIGMAS * float((scale * error).max())
            checks.append(Check(what, float((scale * square).max()), 1.0, allowance=slack))
            share = float((q * square).max()) / L
            what = "q E[J²] as a multiple of L (printed 2; √2 by the paper's own step)"
            checks.append(Check(what, share, math.sqrt(2.0)))
        else:
            what = f"r = {r}: E[W²] as a multiple of E[J²]"
            slack = SIGMAS * float((error / first).max())
            checks.append(Check(what, float((square / first).max()), 1.0, allowance=slack))
    note = f"L = {L}, q computed"
    return Finding(checks, Plot("q", "q E[W²] / E[W]", curves, log_x=True), note)


def _weights(effort: Effort, L: int, r: int, n: int) -> FloatArray:
    """q, E W, E W² and its standard error for an action that is behind by some levels."""
    oracle = AllPolicies(1, 2)
    noise = oracle.noise([0], seed_key(effort.seed), 0, 2**20)
    rows, draw = [], 0
    # (2-q)/q² is attained where qL is large, c near qL = 6 and √2 L nearest to qL = 2.
    for level in (0.0, 1.0, 2.0, 2.6, 3.2, 3.8):
        total = oracle.objective()
        total.add(0, np.array([level, 0.0]))
        q = float(total.law(0, Draw(noise, 0, 1.0))[0])
        W = np.empty(n)
        for i in range(n):
            W[i], used = total.resample_one(0, 0, Draw(noise, draw, 1.0), L, r)
            draw += used
        rows.append((q, W.mean(), (W**2).mean(), (W**2).std() / math.sqrt(n)))
    return np.array(rows).T
