"""Policy classes with contexts that arrive and losses that follow."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core.oracle import context_at

Rng = np.random.Generator
TABLE = np.random.default_rng(1).integers(3, size=(40, 6))
SLATES = np.array([[[0, 1], [1, 2]], [[2, 3], [0, 3]], [[0, 2], [1, 3]]])
LINKS = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]


@dataclass(frozen=True)
class World:
    """A class of policies, and a distribution of contexts and losses."""

    oracle: Callable[[], hn.Oracle]
    n_actions: int
    context: Callable[[int, Rng], Any] = lambda t, rng: None
    known: dict[str, Any] = field(default_factory=dict)
    """What a learner must be given beside the class: its contexts or a separator."""
    losses: Callable[[int, Rng, int], Any] = lambda t, rng, K: cheaper_second(rng, K)
    options: dict[str, Any] = field(default_factory=dict)
    """Further parameters of full-information learners, such as loss_range."""

    def contexts(self, rounds: int) -> list[Any]:
        """The contexts in order of arrival."""
        rng = np.random.default_rng(8)
        return [self.context(t, rng) for t in range(rounds)]

    def loss(self, t: int, rng: Rng) -> Any:
        """The losses of round t."""
        return self.losses(t, rng, self.n_actions)

    def checked(self, contexts: list[Any]) -> Any:
        """A context as a policy takes it, for classes that change with time as well."""
        return context_at(self.oracle(), 0, contexts[0])


def cheaper_second(rng: Rng, K: int) -> Any:
    """Losses of which those of action 1 are smaller."""
    return rng.random(K) * (0.2 + 0.8 * (np.arange(K) != 1))


def number(d: int) -> Callable[[int, Rng], Any]:
    """Contexts 0, ..., d-1."""
    return lambda t, rng: int(rng.integers(d))


def row(d: int, digits: int | None = None) -> Callable[[int, Rng], Any]:
    """Rows of normal features."""

    def draw(t: int, rng: Rng) -> Any:
        found = rng.normal(size=d)
        return found if digits is None else found.round(digits)

    return draw


def bits(t: int, rng: Rng) -> tuple[int, ...]:
    """Four bits."""
    return tuple(int(bit) for bit in rng.integers(2, size=4))


def cheapest(contexts: list[Any], losses: Any) -> Callable[[Any], int]:
    """A user's optimiser: the action that is best on all contexts together."""
    best = int(losses.sum(axis=0).argmin()) if len(contexts) and losses.size else 0
    return lambda context: best


def cheapest_pair(contexts: list[Any], losses: Any) -> Callable[[Any], Any]:
    """The two elements that are best on all contexts together."""
    best = np.argsort(losses.sum(axis=0), kind="stable")[:2]
    return lambda context: best


def forest(elements: Any) -> bool:
    """Columns of a matrix that are linearly independent."""
    columns = np.array([[1, 0, 1, 2, 1], [0, 1, 1, 0, 3]])
    return bool(np.linalg.matrix_rank(columns[:, elements]) == len(elements))


MAIN = {
    "finite": World(lambda: hn.oracles.FinitePolicies(TABLE, 3), 3, number(6)),
    "all": World(lambda: hn.oracles.AllPolicies(4, 3), 3, number(4)),
    "linear-open": World(lambda: hn.oracles.LinearPolicies(n_actions=3), 3, row(3)),
    "stumps-open": World(lambda: hn.oracles.Stumps(n_actions=3), 3, row(2, 1)),
    "disjunctions": World(
        lambda: hn.oracles.Disjunctions(4), 2, bits, {"separator": np.eye(4, dtype=int)}
    ),
    "paths": World(lambda: hn.oracles.Paths(LINKS, 0, 3), 5),
    "subsets": World(lambda: hn.oracles.Subsets(5, 2), 5),
}
OPEN = ("linear-open", "stumps-open")
SETS = ("paths", "subsets")
UNSIZED = World(lambda: hn.oracles.FunctionOracle(cheapest), 3, number(4), {"contexts": range(4)})

LINE = [0.1, 0.3, 0.5, 0.7, 0.9]
ROWS = np.random.default_rng(2).normal(size=(12, 2)).round(1)


def on_line(t: int, rng: Rng) -> float:
    """One of a few points."""
    return LINE[int(rng.integers(len(LINE)))]


def of_rows(t: int, rng: Rng) -> Any:
    """One of a few rows."""
    return ROWS[int(rng.integers(len(ROWS)))]


def weather(t: int, rng: Rng) -> str:
    """A context with a name."""
    return ("rain", "sun")[int(rng.integers(2))]


def signed(t: int, rng: Rng, K: int) -> Any:
    """Losses of both signs."""
    return rng.random(K) - 0.6 * (np.arange(K) % 2) - 0.2


def drifting(t: int, rng: Rng, K: int) -> Any:
    """Another action is good after the first half of a hundred rounds."""
    return np.clip(rng.random(K) * 0.5 + 0.5 * (np.arange(K) != (t // 50) % K), 0.0, 1.0)


OTHER = {
    "thresholds": World(lambda: hn.oracles.Thresholds(n_actions=2), 2, on_line, {"contexts": LINE}),
    "stumps": World(lambda: hn.oracles.Stumps(n_actions=3), 3, of_rows, {"contexts": ROWS}),
    "trees": World(lambda: hn.oracles.Trees(n_actions=2), 2, of_rows, {"contexts": ROWS}),
    "linear": World(lambda: hn.oracles.LinearPolicies(n_actions=3), 3, of_rows, {"contexts": ROWS}),
    "linear-pool": World(lambda: hn.oracles.LinearPolicies(n_actions=3), 3, row(2), {"pool": ROWS}),
    "conjunctions": World(
        lambda: hn.oracles.Conjunctions(4), 2, bits, {"separator": 1 - np.eye(4, dtype=int)}
    ),
    "intercepts": World(
        lambda: hn.oracles.InterceptClassifiers(2, 0.5), 2, of_rows, {"contexts": ROWS}
    ),
    "sklearn": World(
        lambda: hn.oracles.SklearnPolicies(
            DecisionTreeClassifier(max_depth=2, random_state=0), n_actions=2
        ),
        2,
        of_rows,
        {"contexts": ROWS},
    ),
    "function": World(
        lambda: hn.oracles.FunctionOracle(cheapest, n_actions=3),
        3,
        number(4),
        {"contexts": range(4)},
    ),
    "function-sets": World(
        lambda: hn.oracles.FunctionOracle(cheapest_pair, n_actions=4, max_chosen=2),
        4,
        number(2),
        {"contexts": range(2)},
    ),
    "one-context": World(lambda: hn.oracles.FinitePolicies([2, 1, 0]), 3),
    "slates": World(lambda: hn.oracles.FinitePolicies(SLATES, n_actions=4), 4, number(2)),
    "per-context": World(
        lambda: hn.oracles.PerContext(
            hn.oracles.FinitePolicies([[[0, 1]], [[2, 3]]]), ["rain", "sun"]
        ),
        4,
        weather,
    ),
    "matchings": World(lambda: hn.oracles.Matchings(2, 3), 6),
    "matroid": World(lambda: hn.oracles.Matroid(5, forest), 5),
    "partition-matroid": World(
        lambda: hn.oracles.PartitionMatroid(["a", "a", "b", "b", "b"], {"a": 1, "b": 2}), 5
    ),
    "spanning-trees": World(lambda: hn.oracles.SpanningTrees(LINKS), 5),
    "linear-program": World(
        lambda: hn.oracles.LinearProgram([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]], [1, 1, 1]),
        4,
        losses=signed,
        options={"loss_range": (-1.0, 1.0)},
    ),
    "predict-then-optimise": World(
        lambda: hn.oracles.PredictThenOptimise(
            hn.oracles.LinearPolicies(3), hn.oracles.Subsets(3, 2)
        ),
        3,
        of_rows,
        {"contexts": ROWS},
    ),
    "multi-label-all": World(
        lambda: hn.oracles.MultiLabel(hn.oracles.AllPolicies(2, 2), 3),
        3,
        number(2),
        losses=signed,
        options={"loss_range": (-1.0, 1.0)},
    ),
    "multi-label-finite": World(
        lambda: hn.oracles.MultiLabel(hn.oracles.FinitePolicies(TABLE % 2), 3),
        3,
        number(6),
        losses=signed,
        options={"loss_range": (-1.0, 1.0)},
    ),
}
