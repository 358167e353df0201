"""Oracles: their choice is a function of the total loss, and ties go to the first policy."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core import Objective, Oracle, Policy
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.validation import FloatArray
from hannan.oracles import (
    AllPolicies,
    Conjunctions,
    Disjunctions,
    FinitePolicies,
    InterceptClassifiers,
    PartitionMatroid,
    Paths,
    Stumps,
    Subsets,
    Thresholds,
)
from hannan.verify.claim import Check, Effort, claim


class ListedClass(NamedTuple):
    """A small class with all its policies in the documented order."""

    oracle: Oracle
    contexts: Sequence[Any]
    plays: NDArray[np.bool_]  # the elements that each policy chooses on each context, [N, d, K]


@claim("ties", "Definition (optimisation oracle)", "holds on every path")
def on_integer_losses(effort: Effort) -> Iterator[Check]:
    """Oracles choose a policy by the total losses alone, independent of the order of the rounds.
    Among several best policies, they return the first in the documented order.

    Runs with losses -1, 0, 1, in which many policies tie, against a list of all policies. Each
    history is repeated in another order, in halves, and without its zero rounds.
    """
    rng = effort.rng("ties")
    tied = []
    for listed in _classes(rng):
        wrong = 0
        for _ in range(effort.pick(40, 1500)):
            best, rank, agree = _game(listed, rng)
            tied.append(best)
            wrong += rank != 0 or not agree
        yield Check(f"{type(listed.oracle).__name__}: runs with a wrong leader", wrong, 0)
    yield Check("duplicates under noise: draws led by the later one", _twins(effort), 0)
    share = float(np.mean(np.array(tied) > 1))
    yield Check("share of runs with a tie", share, 0.5, at_most=False)


def _game(listed: ListedClass, rng: np.random.Generator) -> tuple[int, int, bool]:
    """Return the number of tied policies, the leader's rank, and whether all ways agree."""
    oracle, (_, d, K) = listed.oracle, listed.plays.shape
    T = int(rng.integers(0, 7))
    places = rng.integers(d, size=T)
    losses = rng.integers(-1, 2, size=(T, K)).astype(np.float64)
    total = _told(listed, places, losses)
    values = np.zeros(len(listed.plays))
    for x, loss in zip(places, losses, strict=True):
        values += listed.plays[:, x] @ loss
    ties = np.flatnonzero(values == values.min())
    leader: Any = total.leader()
    mine = _row(listed, leader)
    same = (listed.plays[ties] == mine).all(axis=(1, 2))
    if isinstance(oracle, FinitePolicies):
        same = ties == leader.index
    rank = int(np.argmax(same)) if same.any() else len(ties)
    order, used = rng.permutation(T), losses.any(axis=1)
    others = [
        _told(listed, places[order], losses[order]),
        _told(listed, np.repeat(places[order], 2), np.repeat(0.5 * losses[order], 2, axis=0)),
        _told(listed, places[used], losses[used]),
    ]
    agree = all(np.array_equal(mine, _row(listed, other.leader())) for other in others)
    for x, context in enumerate(listed.contexts):
        seen = oracle.check_context(context)
        agree &= np.array_equal(_elements(total.action(seen, WITHOUT_NOISE), K), mine[x])
        agree &= np.array_equal(total.chosen(seen, WITHOUT_NOISE, 1)[0], mine[x])
    return len(ties), rank, bool(agree)


def _told(listed: ListedClass, places: Iterable[Any], losses: FloatArray) -> Objective:
    oracle = listed.oracle
    total = oracle.objective()
    total.prepare(oracle.check_contexts(listed.contexts))
    for x, loss in zip(places, losses, strict=True):
        total.add(oracle.check_context(listed.contexts[x]), loss)
    return total


def _row(listed: ListedClass, policy: Policy) -> NDArray[np.bool_]:
    K = listed.plays.shape[2]
    return np.array([_elements(policy(context), K) for context in listed.contexts])


def _elements(action: Any, K: int) -> NDArray[np.bool_]:
    chosen = np.zeros(K, dtype=bool)
    chosen[action] = True
    return chosen


def _twins(effort: Effort) -> int:
    """Count the draws led by a later duplicate: under noise, only equal policies tie."""
    rng = effort.rng("ties", "twins")
    table = rng.integers(3, size=(20, 4))
    oracle = FinitePolicies(np.concatenate([table, table[::-1]]), n_actions=3)
    noise = oracle.noise(range(4), np.uint64(rng.integers(2**63)), 0, 2**20)
    draws: list[Any] = oracle.objective().leaders(Draw(noise, 0, 1.0), effort.pick(500, 20_000))
    return sum(leader.index >= len(table) for leader in draws)


def _classes(rng: np.random.Generator) -> Iterator[ListedClass]:
    """Yield one small instance of each class, policies in the order its documentation gives."""
    table = rng.integers(3, size=(17, 3))
    yield _single(FinitePolicies(table, n_actions=3), range(3), table, 3)
    yield _single(AllPolicies(3, 3), range(3), list(itertools.product(range(3), repeat=3)), 3)
    points = [0.0, 0.25, 0.5, 1.0]
    yield _single(Thresholds(3), points, _cuts(np.array([points]).T, points, 3), 3)
    # Two features with two cuts each.
    cuts = np.array([0.5, 1.5])
    pairs = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=2)))
    stumps = Stumps(2, edges=[cuts, cuts])
    yield _single(stumps, list(pairs), _cuts(pairs, [-np.inf, *cuts], 2), 2)
    rows = np.arange(8)[:, None] >> np.arange(3) & 1
    for formulas in (Disjunctions(3), Conjunctions(3)):
        plays = [[formulas.policy(np.flatnonzero(s))(x) for x in rows] for s in rows]
        yield _single(formulas, list(rows), plays, 2)
    classifiers = InterceptClassifiers(2, 0.5)
    grid = np.array(list(itertools.product([0.0, 0.6, 1.1], repeat=2)))
    intercepts = itertools.product([0.5, 1.0, np.inf], repeat=2)
    plays = [[int((x / a).sum() >= 1.0) for x in grid] for a in map(np.array, intercepts)]
    yield _single(classifiers, list(grid), plays, 2)
    edges = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("s", "t")]
    yield _sets(Paths(edges, "s", "t"), [[0, 2, 4], [0, 3], [1, 4], [5]])
    yield _sets(Subsets(5, 2), list(itertools.combinations(range(5), 2)))
    matroid = PartitionMatroid([0, 0, 0, 1, 1], [2, 1])
    firsts = itertools.combinations(range(3), 2)
    yield _sets(matroid, [[*first, last] for first in firsts for last in (3, 4)])


def _single(oracle: Oracle, contexts: Sequence[Any], plays: Any, K: int) -> ListedClass:
    return ListedClass(oracle, contexts, np.asarray(plays)[:, :, None] == np.arange(K))


def _sets(oracle: Oracle, actions: Sequence[Sequence[int]]) -> ListedClass:
    assert oracle.n_actions is not None
    plays = [[_elements(list(action), oracle.n_actions)] for action in actions]
    return ListedClass(oracle, [None], np.array(plays))


def _cuts(rows: FloatArray, cuts: Sequence[float], K: int) -> list[NDArray[np.int64]]:
    """List constants, then for each feature the largest cut first, then the smallest actions.

    The smallest cut splits no contexts.
    """
    pairs = list(itertools.permutations(range(K), 2))
    return [np.full(len(rows), a) for a in range(K)] + [
        np.where(x >= cut, above, below)
        for x, cut, (below, above) in itertools.product(rows.T, cuts[:0:-1], pairs)
    ]
