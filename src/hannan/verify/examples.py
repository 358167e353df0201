"""The paper's examples: regret of learners, and the stated rates."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hannan import bounds
from hannan.bounds import Bound
from hannan.core import Environment, Oracle
from hannan.environments import FromArrays
from hannan.learners import ContextSemiBanditFTPL
from hannan.losses import Cut
from hannan.oracles import Disjunctions, InterceptClassifiers, Paths, Submodular
from hannan.separators import conjunctions, disjunctions, intercept_classifiers
from hannan.verify.adversaries import Listed, turns
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial

_CONFIDENCE = "mean regrets; false alarms below 1e-4"


def _play(
    seeds: list[int],
    T: int,
    oracle: Oracle,
    environment: Environment,
    bound: Callable[..., Bound],
    feedback: str | None = None,
    **options: Any,
) -> Iterator[Check]:
    """Check full information, then partial feedback."""
    trial = Trial("full", oracle, environment, T, partial(bound, T), options=options)
    yield from trial.theorem(seeds, same=False)
    if feedback is not None:
        seen = partial(bound, T, feedback=feedback)
        trial = replace(trial, what=feedback, bound=seen, learner=ContextSemiBanditFTPL)
        yield from trial.theorem(seeds, same=False)


def _rates(
    size: str, bound: Callable[[int, str], Bound], rate: Callable[[int], float]
) -> Iterator[Check]:
    """Check the erratum: the printed bound grows by a quarter of a power more than stated."""
    few, many = 2**16, 2**20

    def power(form: str) -> float:
        first, last = (bound(n, form).value / rate(n) for n in (few, many))
        return math.log(last / first) / math.log(many / few)

    what = f"bound over the stated rate: power of {size}"
    yield Check(f"printed {what}", power("printed"), 0.2, False)
    yield Check(f"sharp {what}", power("sharp"), 1e-3)


@claim("example-shortest-path", "Examples, online shortest path", _CONFIDENCE)
def shortest_path(effort: Effort) -> Iterator[Check]:
    """Paths satisfy Theorems 2 and 3, with m the number of edges of the longest path, not of the
    graph.

    A graph with all forward edges between six nodes; two paths without a common edge alternate.
    """
    T, seeds = effort.pick(800, 4800), effort.seeds("shortest path", 5, 24)
    V = 6
    graph = [(i, j) for i in range(V) for j in range(i + 1, V)]
    oracle = Paths(graph, 0, V - 1)
    K, m, size = len(graph), oracle.max_chosen, oracle.log_size([None])
    routes = np.ones((2, K))
    for row, nodes in zip(routes, ((0, 1, 3, 5), (0, 2, 4, 5)), strict=True):
        row[[graph.index(edge) for edge in pairwise(nodes)]] = 0.0

    cheap = np.where(np.arange(T) < T // 4, np.arange(T) % 2, 0)
    bound = partial(bounds.shortest_path, n_edges=K, longest_path=m, log_size=size)
    yield from _play(seeds, T, oracle, FromArrays(None, routes[cheap]), bound, "semi-bandit")
    yield Check("edges of the longest path, |V| - 1", m, V - 1)


@claim("example-submodular", "Examples, submodular minimisation", _CONFIDENCE)
def submodular(effort: Effort) -> Iterator[Check]:
    """Theorem 2 gives K^(5/4) H√T for submodular losses. The stated KH√(T log K) follows, without
    the logarithm, from the sharp bound.

    Three elements in a circle: all elements and none alternate as the best set.
    """
    T, seeds = effort.pick(800, 4800), effort.seeds("submodular", 5, 24)
    K = 3
    ring = np.arange(K)
    fors, against = (
        Cut(ring, np.roll(ring, 1), 0.05, K, np.full(K, w), directed=False) for w in (-0.28, 0.28)
    )
    world = Listed([against if t % 2 and t < T // 4 else fors for t in range(T)], K)
    bound = partial(bounds.submodular, n_elements=K)
    yield from _play(seeds, T, Submodular(K), world, bound, loss_range=(-1.0, 1.0))
    yield from _rates(
        "K",
        lambda n, form: bounds.submodular(1000, n_elements=n, form=form),
        # The stated √log K is dropped, because only the power matters.
        lambda n: bounds.claimed_rate("submodular", 1000, K=n, H=1.0) / math.sqrt(math.log(n)),
    )


@claim("example-disjunctions", "Examples, disjunctions", _CONFIDENCE)
def monotone_disjunctions(effort: Effort) -> Iterator[Check]:
    """Noise on the unit vectors suffices for any contexts. Theorem 2 gives (log N)^(5/4) √T; the
    stated √T log N follows from the sharp bound.

    Contexts have two variables on, and none of these contexts is perturbed.
    """
    T, seeds = effort.pick(800, 4800), effort.seeds("disjunctions", 5, 24)
    n = 3
    world = turns(T, 3 * T // 4, list(conjunctions(n)), together=True)
    bound = partial(bounds.disjunctions, n_variables=n)
    oracle, points = Disjunctions(n), disjunctions(n)
    yield from _play(seeds, T, oracle, world, bound, "bandit", separator=points)
    yield from _rates(
        "n",
        lambda n, form: bounds.disjunctions(1000, n_variables=n, form=form),
        lambda n: bounds.claimed_rate("disjunctions", 1000, n=n),
    )


@claim("example-linear-classifiers", "Examples, discretised linear classifiers", _CONFIDENCE)
def linear_classifiers(effort: Effort) -> Iterator[Check]:
    """Noise on points of the axes suffices. Theorem 2 gives n^(5/4) in the number n of axes; the
    stated n follows from the sharp bound.

    Random points of the square, away from the origin, and intercepts at quarters.
    """
    T, seeds = effort.pick(800, 4800), effort.seeds("classifiers", 5, 24)
    n, tau = 2, 0.25
    points = list(effort.rng("points").uniform(0.5, 1.0, size=(15, n)))
    world = turns(T, 3 * T // 4, points, together=True)
    bound = partial(bounds.linear_classifiers, n_axes=n, tau=tau)
    oracle, axes = InterceptClassifiers(n, tau), intercept_classifiers(n, tau)
    yield from _play(seeds, T, oracle, world, bound, "bandit", separator=axes)
    yield from _rates(
        "n",
        lambda n, form: bounds.linear_classifiers(1000, n_axes=n, tau=tau, form=form),
        lambda n: bounds.claimed_rate("linear classifiers", 1000, n=n, tau=tau),
    )
