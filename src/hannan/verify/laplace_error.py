"""What noise costs by itself: the law of a learner's noise, and the Laplace complexity G."""

from __future__ import annotations

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
from hannan.verify._games import let_play, noise_of, standard_error
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_SIGMAS = 5.0  # a normal variable is that far out with probability 6e-7, both sides
_LEVEL = 1e-6  # of each goodness-of-fit test


class Case(NamedTuple):
    """A class on a context set, and its G where that has a closed form."""

    name: str
    oracle: Oracle
    contexts: Sequence[Any]
    exact: float | None = None


@claim("noise-law", "Algorithm 2", "Kolmogorov–Smirnov, binomial: false alarm below 1e-5")
def noise_law(effort: Effort) -> Finding:
    """A learner with parameter ε perturbs every coordinate of every context by independent Laplace
    noise of scale 1/ε, drawn anew each round.

    The fake losses a learner adds up, and what it plays because of them.
    """
    epsilon = 0.4
    learner = ContextFTPL(AllPolicies(5, 4), epsilon=epsilon, seed=effort.seed)
    noise, scale = noise_of(learner)
    draws = scale * np.array([noise.unit(i) for i in range(effort.pick(2500, 50_000))])
    cells = draws.ravel()
    far = [_distance(cells, factor / epsilon) for factor in (1.0, 0.5, 2.0)]
    critical = float(stats.kstwo.isf(_LEVEL, cells.size))
    alone = ContextFTPL(FinitePolicies([[0]], n_actions=1), epsilon=epsilon, seed=effort.seed + 1)
    noise, scale = noise_of(alone)
    n = effort.pick(60_000, 300_000)
    projected = alone.oracle.objective().minima(Draw(noise, 0, scale), n)
    bound = float(stats.kstwo.isf(_LEVEL, n))
    plays = max(_plays(effort, oracle, x) for oracle in (0, 1) for x in (0.0, 1.0, 2.5))
    x = np.linspace(0.0, 9.0, 40)
    beyond = np.array([np.mean(np.abs(cells) * epsilon > size) for size in x])
    checks = [
        Check("fake losses: distance from Laplace(1/ε)", far[0], critical),
        Check("were the scale half of it", far[1], critical, False),
        Check("were it twice as much", far[2], critical, False),
        Check("as the oracle adds them up", _distance(projected, 1.0 / epsilon), bound),
        Check("correlation of neighbours, standard errors", _correlation(draws), _SIGMAS),
        Check("plays: standard errors from their probability", plays, _SIGMAS),
    ]
    series = [
        Series("measured", x[beyond > 0], beyond[beyond > 0], "points"),
        Series("Laplace", x, np.exp(-x), "dashed"),
        Series("with half the noise", x / 2, np.exp(-x), "dashed"),
    ]
    plot = Plot("size of a fake loss, times ε", "share of larger ones", series, log_y=True)
    return Finding(checks, plot)


def _distance(values: FloatArray, scale: float) -> float:
    """The statistic of Kolmogorov and Smirnov."""
    return float(stats.kstest(values, stats.laplace(scale=scale).cdf).statistic)


def _correlation(draws: FloatArray) -> float:
    """The largest of three correlations: between rounds, contexts, actions."""
    signs = np.sign(draws) * np.log1p(np.abs(draws))  # light tails, so that the mean is normal
    found = []
    for axis in range(3):
        a = np.take(signs, range(signs.shape[axis] - 1), axis).ravel()
        b = np.take(signs, range(1, signs.shape[axis]), axis).ravel()
        found.append(abs(float(np.corrcoef(a, b)[0, 1])) * math.sqrt(a.size))
    return max(found)


def _plays(effort: Effort, listed: int, ahead: float) -> float:
    r"""How far a learner's plays are from their law, in standard errors.

    One of two actions is ahead by x/ε. The difference of two unit Laplace variables exceeds x
    with probability :math:`(\frac12 + \frac x4) e^{-x}`.
    """
    epsilon = 0.7
    oracle = FinitePolicies([0, 1]) if listed else AllPolicies(1, 2)
    losses = (0.0, ahead / epsilon + 1.0)
    learner = ContextFTPL(oracle, epsilon=epsilon, seed=effort.seed, loss_range=losses)
    let_play(learner, 0, [ahead / epsilon, 0.0])
    n = effort.pick(4000, 60_000)
    hits = 0
    for _ in range(n):
        hits += learner.act(0) == 0
        learner.update([0.0, 0.0])
    p = (0.5 + 0.25 * ahead) * math.exp(-ahead)
    return abs(hits - n * p) / math.sqrt(n * p * (1.0 - p))


@claim("laplace-error", "Lemma (Laplacian error)", "five standard errors: false alarm below 1e-5")
def complexity(effort: Effort) -> Finding:
    """The best policy for pure noise gains G/ε with G ≤ 2√(dm log N) + log N, so the error of
    Theorem 1, 2G/ε, is far below the printed 10 √(dm) log N/ε.

    G through the oracle and a learner's noise, against everything that bounds it.
    """
    checks, points, apart = [], [], []
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
        points.append((G, chernoff, closed, printed))
        if case.exact is not None:
            off = abs(G - case.exact)
            checks.append(Check(f"{case.name}: distance from its closed form", off, chance))
        checks.append(Check(f"{case.name}: G, against Chernoff", G, chernoff, True, chance))
    found = np.array(sorted(points)).T
    checks += [
        Check("all: Chernoff, as a share of the closed bound", (found[1] / found[2]).max(), 1.0),
        Check("all: 2G, as a share of 10 √(dm) log N", (2 * found[0] / found[3]).max(), 1.0),
        Check("laplace_complexity: standard errors from these", max(apart), 6.0),
    ]
    names = ("Chernoff", "2√(dm log N) + log N", "as printed, half of 10 √(dm) log N")
    limits = (found[1], found[2], found[3] / 2)
    series = [
        *(Series(name, found[0], y, "points") for name, y in zip(names, limits, strict=True)),
        Series("G itself", found[0], found[0], "dashed"),
    ]
    plot = Plot("G, through the oracle", "bounds on it", series, log_x=True, log_y=True)
    note = "the printed error is 2G/ε; its proof gives 4 + 2/log N in place of 10 (erratum 3)"
    return Finding(checks, plot, note)


def _cases(effort: Effort) -> Iterator[Case]:
    rng = effort.rng("laplace-error")
    # All maps, listed one by one so that the estimate goes through their noise.
    maps = np.array(list(itertools.product(range(2), repeat=8)))
    yield Case("all 256 maps", FinitePolicies(maps), range(8), bounds.tabular_complexity(8, 2))
    many = rng.integers(30, size=(effort.pick(2000, 20_000), 60))
    yield Case("thousands of policies", FinitePolicies(many, n_actions=30), range(60))
    twins = np.zeros((2, 200), dtype=np.int64)
    twins[1, 0] = 1
    pair = FinitePolicies(twins)
    yield Case("two that differ once", pair, range(200), bounds.tabular_complexity(1, 2))
    yield Case("thresholds on 50 points", Thresholds(2), [float(x) for x in range(50)])
    items = Subsets(12, 4)
    yield Case("4 items of 12", items, [None], items.complexity([None]))
    grid = [((i, j), to) for i in range(5) for j in range(5) for to in ((i + 1, j), (i, j + 1))]
    edges = [(a, b) for a, b in grid if max(b) < 5]
    yield Case("paths in a 5×5 grid", Paths(edges, (0, 0), (4, 4)), [None])


def _measured(case: Case, effort: Effort) -> tuple[float, float]:
    """ε times half of what the oracle makes of a learner's noise, and the standard error."""
    pairs, epsilon = effort.pick(1000, 10_000), 0.25
    seed = effort.seed + 1
    learner = ContextFTPL(case.oracle, contexts=case.contexts, epsilon=epsilon, seed=seed)
    noise, scale = noise_of(learner)
    empty = case.oracle.objective()
    low, high = (-empty.minima(Draw(noise, 0, sign * scale), pairs) for sign in (1.0, -1.0))
    draws = 0.5 * epsilon * (low + high)
    return float(draws.mean()), standard_error(draws)
