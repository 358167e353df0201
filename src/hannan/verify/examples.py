"""The paper's examples: real learners on them, and the rates it states."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hannan import bounds
from hannan.bounds import Bound
from hannan.core import Environment, Oracle
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.losses import Cut
from hannan.oracles import Disjunctions, InterceptClassifiers, Paths, Submodular
from hannan.separators import conjunctions, disjunctions, intercept_classifiers
from hannan.verify._games import Listed, Means, regrets, seeded, seeds, turns
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_CONFIDENCE = "mean regrets; false alarms below 1e-4"

_FORMS = ("printed", "sharp")


class _Example:
    """A policy class, a world that hurts it, and the bound for it."""

    def __init__(
        self,
        name: str,
        effort: Effort,
        oracle: Oracle,
        world: Callable[[int], Environment],
        bound: Callable[..., Bound],
        **options: Any,
    ) -> None:
        self.oracle = oracle
        self.world = world
        self.bound = bound
        self.options = options
        self.top = effort.pick(800, 4800)
        self.seeds = seeds(effort, name, 5, 24)
        self.means = Means()

    def finding(self, *others: Check, feedback: str | None = None) -> Finding:
        """Full information, at three horizons; then that only chosen elements' losses are seen."""
        series = self._play([self.top // 4, self.top // 2, self.top])
        if feedback is not None:
            self._play([self.top], feedback=feedback)
        plot = Plot("T", "mean regret", series, log_x=True, log_y=True)
        return Finding([*self.means, *others], plot, self.means.note())

    def _play(self, horizons: list[int], **feedback: str) -> list[Series]:
        """The two bounds, each at its own ε."""
        series: list[Series] = []
        last = []
        for form in _FORMS:
            limits = [self.bound(T, form=form, **feedback) for T in horizons]
            found = [self._regrets(T, limit) for T, limit in zip(horizons, limits, strict=True)]
            last.append(limits[-1].value)
            what = ": ".join([*feedback.values(), f"regret at the {form} ε"])
            self.means.below(what, found[-1], last[-1])
            means, values = [r.mean() for r in found], [limit.value for limit in limits]
            series += [
                Series(f"regret at the {form} ε", horizons, means),
                Series(f"{form} bound", horizons, values, "dashed"),
            ]
        printed, sharp = last
        what = ", ".join([*feedback.values(), "sharp bound", "printed"])
        self.means.append(Check(what, sharp, printed))
        return series

    def _regrets(self, T: int, limit: Bound) -> FloatArray:
        kind: Any = ContextFTPL
        options = {"epsilon": limit.epsilon, **self.options}
        if limit.max_resamples is not None:
            kind, options["max_resamples"] = ContextSemiBanditFTPL, limit.max_resamples
        return regrets(seeded(kind, self.oracle, **options), self.world(T), T, self.seeds)


def _rates(
    size: str, bound: Callable[[int, str], Bound], rate: Callable[[int], float]
) -> list[Check]:
    """Erratum: the printed theorem grows by a quarter of a power more than the example states."""
    few, many = 2**16, 2**20

    def power(form: str) -> float:
        first, last = (bound(n, form).value / rate(n) for n in (few, many))
        return math.log(last / first) / math.log(many / few)

    what = f"bound over the stated rate: power of {size}"
    return [
        Check(f"printed {what}", power("printed"), 0.2, False),
        Check(f"sharp {what}", power("sharp"), 1e-3),
    ]


@claim("example-shortest-path", "Examples, online shortest path", _CONFIDENCE)
def shortest_path(effort: Effort) -> Finding:
    """Theorems 2 and 3 hold for paths; m is the number of edges of the longest path, not of the
    graph.

    All edges forward between six nodes; two paths without a common edge take turns.
    """
    V = 6
    graph = [(i, j) for i in range(V) for j in range(i + 1, V)]
    oracle = Paths(graph, 0, V - 1)
    K, m, size = len(graph), oracle.max_chosen, oracle.log_size([None])
    routes = np.ones((2, K))
    for row, nodes in zip(routes, ((0, 1, 3, 5), (0, 2, 4, 5)), strict=True):
        row[[graph.index(edge) for edge in pairwise(nodes)]] = 0.0

    def world(T: int) -> FromArrays:
        cheap = np.arange(T) % 2
        cheap[T // 4 :] = 0
        return FromArrays(None, routes[cheap])

    bound = partial(bounds.shortest_path, n_edges=K, longest_path=m, log_size=size)
    example = _Example("shortest path", effort, oracle, world, bound)
    longest = Check("edges of the longest path, |V| - 1", m, V - 1)
    return example.finding(longest, feedback="semi-bandit")


@claim("example-submodular", "Examples, submodular minimisation", _CONFIDENCE)
def submodular(effort: Effort) -> Finding:
    """Theorem 2 gives K^(5/4) H√T; the stated KH√(T log K) follows, without the logarithm, from the
    sharp bound.

    Three elements round a circle: all of them or none, in turns.
    """
    K = 3
    ring = np.arange(K)
    fors, against = (
        Cut(ring, np.roll(ring, 1), 0.05, K, np.full(K, w), directed=False) for w in (-0.28, 0.28)
    )

    def world(T: int) -> Listed:
        return Listed([against if t % 2 and t < T // 4 else fors for t in range(T)], K)

    bound = partial(bounds.submodular, n_elements=K)
    example = _Example("submodular", effort, Submodular(K), world, bound, loss_range=(-1.0, 1.0))
    rates = _rates(
        "K",
        lambda n, form: bounds.submodular(1000, n_elements=n, form=form),
        # The stated √log K is dropped: the point is the power.
        lambda n: bounds.claimed_rate("submodular", 1000, K=n, H=1.0) / math.sqrt(math.log(n)),
    )
    return example.finding(*rates)


@claim("example-disjunctions", "Examples, disjunctions", _CONFIDENCE)
def monotone_disjunctions(effort: Effort) -> Finding:
    """The unit vectors carry the noise and any contexts arrive. Theorem 2 gives (log N)^(5/4) √T;
    the stated √T log N follows from the sharp bound.

    Contexts with two variables on, none of which is perturbed.
    """
    n = 3

    def world(T: int) -> FromArrays:
        return turns(T, 3 * T // 4, list(conjunctions(n)), together=True)

    bound = partial(bounds.disjunctions, n_variables=n)
    options = {"separator": disjunctions(n)}
    example = _Example("disjunctions", effort, Disjunctions(n), world, bound, **options)
    rates = _rates(
        "n",
        lambda n, form: bounds.disjunctions(1000, n_variables=n, form=form),
        lambda n: bounds.claimed_rate("disjunctions", 1000, n=n),
    )
    return example.finding(*rates, feedback="bandit")


@claim("example-linear-classifiers", "Examples, discretised linear classifiers", _CONFIDENCE)
def linear_classifiers(effort: Effort) -> Finding:
    """Points on the axes carry the noise. Theorem 2 gives n^(5/4) in the number of axes; the stated
    n follows from the sharp bound.

    Random points of the square, away from the origin, and intercepts at quarters.
    """
    n, tau = 2, 0.25
    points = list(effort.rng("points").uniform(0.5, 1.0, size=(15, n)))

    def world(T: int) -> FromArrays:
        return turns(T, 3 * T // 4, points, together=True)

    oracle, options = InterceptClassifiers(n, tau), {"separator": intercept_classifiers(n, tau)}
    bound = partial(bounds.linear_classifiers, n_axes=n, tau=tau)
    example = _Example("classifiers", effort, oracle, world, bound, **options)
    rates = _rates(
        "n",
        lambda n, form: bounds.linear_classifiers(1000, n_axes=n, tau=tau, form=form),
        lambda n: bounds.claimed_rate("linear classifiers", 1000, n=n, tau=tau),
    )
    return example.finding(*rates, feedback="bandit")
