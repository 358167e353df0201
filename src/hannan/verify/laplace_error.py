"""Cost of the noise itself: the distribution of a learner's noise, and the Laplace complexity G."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from hannan import bounds
from hannan.core import Oracle
from hannan.core.oracle import Draw
from hannan.core.validation import FloatArray
from hannan.learners import ContextFTPL
from hannan.oracles import AllPolicies, FinitePolicies, Paths, Subsets, Thresholds
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import standard_error

_SIGMAS = 5.0  # a normal variable exceeds this with probability 6e-7, both sides
_LEVEL = 1e-6  # level of each goodness-of-fit test


class LaplaceCase(NamedTuple):
    """A class on a context set, and its G if that has a closed form."""

    name: str
    oracle: Oracle
    contexts: Sequence[Any]
    exact: float | None = None


@claim("noise-distribution", "Algorithm 2", "Kolmogorov–Smirnov, binomial: false alarm below 1e-5")
def noise_distribution(effort: Effort) -> Iterator[Check]:
    """Learners with parameter ε perturb every coordinate of every context by independent Laplace
    noise of scale 1/ε, drawn afresh in each round.

    The checks measure the fake losses that a learner adds, and the resulting actions.
    """
    epsilon = 0.4
    learner = ContextFTPL(AllPolicies(5, 4), epsilon=epsilon, seed=effort.seed)
    noise, _, scale = draw_of(learner)
    assert noise is not None
    draws = scale * np.array([noise.unit(i) for i in range(effort.pick(2500, 50_000))])
    cells = draws.ravel()
    yield _fits("fake losses: distance from Laplace(1/ε)", cells, 1.0 / epsilon)
    yield _fits("fake losses: distance from Laplace(1/2ε)", cells, 0.5 / epsilon, False)
    yield _fits("fake losses: distance from Laplace(2/ε)", cells, 2.0 / epsilon, False)
    alone = ContextFTPL(FinitePolicies([[0]], n_actions=1), epsilon=epsilon, seed=effort.seed + 1)
    projected = alone.oracle.objective().minima(draw_of(alone), effort.pick(60_000, 300_000))
    yield _fits("fake losses summed by the oracle: distance", projected, 1.0 / epsilon)
    yield Check("correlation of neighbours, in standard errors", _correlation(draws), _SIGMAS)
    oracles = AllPolicies(1, 2), FinitePolicies([0, 1])
    plays = max(_plays(effort, oracle, x) for oracle in oracles for x in (0.0, 1.0, 2.5))
    yield Check("actions: standard errors from their probability", plays, _SIGMAS)


def draw_of(learner: ContextFTPL, number: int = 0) -> Draw:
    """Return a draw of a learner's noise, at the learner's scale."""
    return Draw(learner.leader.noise, number, learner.step.scale)


def _fits(what: str, values: FloatArray, scale: float, at_most: bool = True) -> Check:
    """Check the Kolmogorov–Smirnov distance of values from a Laplace distribution."""
    far = float(stats.kstest(values, stats.laplace(scale=scale).cdf).statistic)
    return Check(what, far, float(stats.kstwo.isf(_LEVEL, values.size)), at_most)


def _correlation(draws: FloatArray) -> float:
    """Return the largest of three correlations: between rounds, contexts, actions."""
    signs = np.sign(draws) * np.log1p(np.abs(draws))  # light tails, so that the mean is normal
    found = []
    for axis in range(3):
        a = np.take(signs, range(signs.shape[axis] - 1), axis).ravel()
        b = np.take(signs, range(1, signs.shape[axis]), axis).ravel()
        found.append(abs(float(np.corrcoef(a, b)[0, 1])) * math.sqrt(a.size))
    return max(found)


def _plays(effort: Effort, oracle: Oracle, ahead: float) -> float:
    r"""Return the distance of a learner's actions from their distribution, in standard errors.

    One of two actions is ahead by x/ε. The difference of two unit Laplace variables exceeds x with
    probability :math:`(\frac12 + \frac x4) e^{-x}`.
    """
    epsilon = 0.7
    losses = (0.0, ahead / epsilon + 1.0)
    learner = ContextFTPL(oracle, epsilon=epsilon, seed=effort.seed, loss_range=losses)
    learner.act(0)
    learner.update([ahead / epsilon, 0.0])
    n = effort.pick(4000, 60_000)
    hits = 0
    for _ in range(n):
        hits += learner.act(0) == 0
        learner.update([0.0, 0.0])
    p = (0.5 + 0.25 * ahead) * math.exp(-ahead)
    return abs(hits - n * p) / math.sqrt(n * p * (1.0 - p))


@claim("laplace-error", "Lemma (Laplacian error)", "five standard errors: false alarm below 1e-5")
def complexity(effort: Effort) -> Iterator[Check]:
    """Pure noise lets the best policy gain G/ε with G ≤ 2√(dm log N) + log N. The error of Theorem
    1, 2G/ε, is therefore far below the printed 10 √(dm) log N/ε.

    Compare G, measured through the oracle and a learner's noise, with all its bounds. The proof of
    the printed lemma gives 4 + 2/log N in place of 10 (erratum 3).
    """
    points, apart = [], []
    for case in _cases(effort):
        d, m = len(case.contexts), case.oracle.max_chosen
        log_size = case.oracle.log_size(case.contexts)
        assert log_size is not None
        G, error = _measured(case, effort)
        chance = _SIGMAS * error
        given = bounds.laplace_complexity(case.oracle, case.contexts, seed=effort.seed)
        apart.append(abs(G - given.value) / math.hypot(error, given.standard_error))
        chernoff = bounds.chernoff_complexity(log_size, d, m)
        closed = bounds.closed_complexity(log_size, d, m)
        printed = bounds.printed_complexity(log_size, d, m)
        points.append((chernoff / closed, 2 * G / printed))
        if case.exact is not None:
            off = abs(G - case.exact)
            yield Check(f"{case.name}: distance from its closed form", off, chance)
        yield Check(f"{case.name}: G, against Chernoff", G, chernoff, True, chance)
    shares = np.max(points, axis=0)
    yield Check("all: Chernoff, as a share of the closed bound", float(shares[0]), 1.0)
    yield Check("all: 2G, as a share of 10 √(dm) log N", float(shares[1]), 1.0)
    yield Check("laplace_complexity: standard errors from this G", max(apart), 6.0)


def _cases(effort: Effort) -> Iterator[LaplaceCase]:
    rng = effort.rng("laplace-error")
    # All maps, listed one by one so that the estimate goes through their noise.
    maps = np.array(list(itertools.product(range(2), repeat=8)))
    yield LaplaceCase(
        "all 256 maps", FinitePolicies(maps), range(8), bounds.tabular_complexity(8, 2)
    )
    many = rng.integers(30, size=(effort.pick(2000, 20_000), 60))
    yield LaplaceCase("thousands of policies", FinitePolicies(many, n_actions=30), range(60))
    twins = np.zeros((2, 200), dtype=np.int64)
    twins[1, 0] = 1
    pair = FinitePolicies(twins)
    yield LaplaceCase("two that differ once", pair, range(200), bounds.tabular_complexity(1, 2))
    yield LaplaceCase("thresholds on 50 points", Thresholds(2), [float(x) for x in range(50)])
    items = Subsets(12, 4)
    yield LaplaceCase("4 items of 12", items, [None], items.complexity([None]))
    grid = [((i, j), to) for i in range(5) for j in range(5) for to in ((i + 1, j), (i, j + 1))]
    edges = [(a, b) for a, b in grid if max(b) < 5]
    yield LaplaceCase("paths in a 5×5 grid", Paths(edges, (0, 0), (4, 4)), [None])


def _measured(case: LaplaceCase, effort: Effort) -> tuple[float, float]:
    """Return ε times half the spread of the noise over policies, and its standard error."""
    pairs, epsilon = effort.pick(1000, 10_000), 0.25
    seed = effort.seed + 1
    learner = ContextFTPL(case.oracle, contexts=case.contexts, epsilon=epsilon, seed=seed)
    draw = draw_of(learner)
    empty = case.oracle.objective()
    low, high = (
        -empty.minima(draw._replace(scale=sign * draw.scale), pairs) for sign in (1.0, -1.0)
    )
    draws = 0.5 * epsilon * (low + high)
    return float(draws.mean()), standard_error(draws)
