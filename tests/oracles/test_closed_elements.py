"""The best set among some elements only, for every class that knows how to find it."""

import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key
from tests import naive_combinatorial as naive

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
ROADS = [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("a", "d"), ("c", "e")]
PAIRS = [(0, 0), (0, 1), (1, 1), (1, 2), (0, 2)]


def paths():
    ways = [{0, 3}, {0, 2, 4}, {1, 4}, {5}]
    return hn.oracles.Paths(ROADS, "a", "d"), ways


CASES = {
    "subsets": (hn.oracles.Subsets(7, 3), naive.subsets(7, 3)),
    "subsets, fewer": (hn.oracles.Subsets(6, 3, exactly=False), naive.subsets(6, 3, False)),
    "groups": (
        hn.oracles.PartitionMatroid([0, 1, 0, 1, 1, 0], [2, 1]),
        naive.within_capacities([0, 1, 0, 1, 1, 0], [2, 1]),
    ),
    "groups, fewer": (
        hn.oracles.PartitionMatroid([0, 1, 0, 1, 1, 0], [2, 1], bases=False),
        naive.within_capacities([0, 1, 0, 1, 1, 0], [2, 1], bases=False),
    ),
    "trees": (hn.oracles.SpanningTrees(EDGES), naive.spanning_trees(5, EDGES)),
    "matchings": (hn.oracles.Matchings(2, 3), naive.matchings(2, 3)),
    "matchings, tall": (hn.oracles.Matchings(3, 2), naive.matchings(3, 2)),
    "matchings, some pairs": (
        hn.oracles.Matchings(2, 3, PAIRS),
        [{a, b} for a, b in itertools.combinations(range(5), 2)
         if PAIRS[a][0] != PAIRS[b][0] and PAIRS[a][1] != PAIRS[b][1]],
    ),
    "matchings, fewer": (
        hn.oracles.Matchings(2, 3, PAIRS, everyone=False),
        naive.partial_matchings(PAIRS),
    ),
    "paths": paths(),
    "matroid": (
        hn.oracles.Matroid(5, lambda chosen: len(chosen) <= 2 and chosen != [0, 1]),
        [c for c in naive.subsets(5, 2) if c != {0, 1}],
    ),
    "knapsack": (
        hn.oracles.LinearProgram([[4, 3, 5, 2, 6]], [9]),
        naive.points(5, [[4, 3, 5, 2, 6]], [9]),
    ),
    "cover": (
        hn.oracles.LinearProgram([[-1, -1, 0, -1], [0, -1, -1, 0]], [-1, -1]),
        naive.points(4, [[-1, -1, 0, -1], [0, -1, -1, 0]], [-1, -1]),
    ),
}  # fmt: skip

ORACLES = pytest.mark.parametrize("name", CASES)


def open_sets(name, mask):
    """Feasible sets of open elements; matchings pair everyone on the smaller side of today."""
    oracle, sets = CASES[name]
    if isinstance(oracle, hn.oracles.Matchings) and oracle.everyone:
        pairs = oracle.edges or list(itertools.product(range(oracle.n_left), range(oracle.n_right)))
        today = [pair for pair, is_open in zip(pairs, mask, strict=True) if is_open]
        size = min((len(set(side)) for side in zip(*today, strict=True)), default=np.inf)
        sets = [chosen for chosen in naive.partial_matchings(pairs) if len(chosen) == size]
    return [chosen for chosen in sets if all(mask[list(chosen)])]


def masks(K, rng, count):
    """Random ones, none of them whole; the empty one too."""
    found = [rng.random(K) < rng.choice([0.4, 0.7, 0.9]) for _ in range(count)]
    return [np.zeros(K, dtype=bool), *[mask for mask in found if not mask.all()]]


@ORACLES
def test_leaders_among_some_elements_are_the_best_there_are(name):
    oracle, sets = CASES[name]
    rng, K = np.random.default_rng(0), oracle.n_actions
    total = oracle.objective()
    noise = oracle.noise([None], seed_key(3), 0, 2**16)
    seen = {True: 0, False: 0}
    assert total.scored
    for n, mask in enumerate(masks(K, rng, 60)):
        total.add(None, rng.integers(-2, 3, size=K).astype(float))
        feasible = open_sets(name, mask)
        seen[bool(feasible)] += 1
        totals = known_totals(total, oracle)
        before = totals.copy()
        plays = np.where(mask, np.arange(K), -1)
        for draw, scale in ((0, 0.0), (n, 0.7), (n + 1, 5.0)):
            if not feasible:
                with pytest.raises(hn.InfeasibleError, match=r"not available|possible|no pair"):
                    total.action(None, Draw(noise, draw, scale), None, plays)
                with pytest.raises(hn.InfeasibleError, match=r"not available|possible|no pair"):
                    total.chosen(None, Draw(noise, draw, scale), 3, None, plays)
                for more in (None, np.ones(K)):
                    with pytest.raises(hn.InfeasibleError, match=r"not available|possible|no pair"):
                        total.action(None, Draw(noise, draw, scale), more, plays)
                with pytest.raises(hn.InfeasibleError, match=r"not available|possible|no pair"):
                    total.settle(None, more, Draw(noise, draw, scale), plays)
                continue
            costs = totals + scale * noise.unit(draw)[0]
            found = naive.as_set(total.action(None, Draw(noise, draw, scale), None, plays))
            assert found in feasible
            best = naive.best_value(feasible, costs)
            assert abs(sum(costs[list(found)]) - best) < 1e-5
            several = total.chosen(None, Draw(noise, draw, scale), 4, None, plays)
            assert set(np.flatnonzero(several[0])) == found
            assert not several[:, ~mask].any()
            twice = total.action(None, Draw(noise, draw, scale), None, plays)
            assert naive.as_set(twice) == found
            more = rng.integers(-2, 3, size=K).astype(float)
            picked = naive.as_set(total.action(None, Draw(noise, draw, scale), more, plays))
            assert picked in feasible
            best = naive.best_value(feasible, costs + more)
            assert abs(sum((costs + more)[list(picked)]) - best) < 1e-5
            after = total.copy()
            after.add(None, more)
            later = after.action(None, Draw(noise, draw, scale), None, plays)
            assert naive.as_set(later) == picked
            twin = total.copy()
            settled = twin.settle(None, more, Draw(noise, draw, scale), plays)
            assert naive.as_set(settled) == picked
            assert np.array_equal(known_totals(twin, oracle), after_adding(total, more, oracle))
        assert np.array_equal(known_totals(total, oracle), before)
    assert seen[True]
    assert seen[False] or set() in sets


def known_totals(total, oracle):
    """Of all elements; those of edges on no path are not kept, and do not matter."""
    if not isinstance(oracle, hn.oracles.Paths):
        return total.totals.copy()
    found = np.zeros(oracle.n_actions)
    found[total._ids] = total.totals
    return found


def after_adding(total, losses, oracle):
    """The totals of a copy to which a round has been added."""
    twin = total.copy()
    twin.add(None, losses)
    return known_totals(twin, oracle)


@ORACLES
def test_weights_are_those_of_the_law_among_some_elements(name):
    oracle, _ = CASES[name]
    rng, K = np.random.default_rng(1), oracle.n_actions
    total = oracle.objective()
    total.add(None, rng.normal(size=K))
    noise = oracle.noise([None], seed_key(5), 0, 2**20)
    slow = isinstance(oracle, hn.oracles.LinearProgram)
    draws, repeats = (60, 15) if slow else (4000, 400)
    mask = next(
        mask for mask in masks(K, rng, 50)
        if mask.any() and len(open_sets(name, mask)) > 1
    )  # fmt: skip
    plays = np.where(mask, np.arange(K), -1)
    q = total.chosen(None, Draw(noise, 0, 1.0), draws, None, plays).mean(axis=0)
    likely = np.flatnonzero(q > 0.2)
    found = [
        total.weights(None, likely, Draw(noise, draws + 100 * i, 1.0), 50, 2, None, plays)[0]
        for i in range(repeats)
    ]
    error = np.std(found, axis=0) / np.sqrt(repeats) + 1.5 / q[likely] ** 1.5 / np.sqrt(draws)
    assert (np.abs(np.mean(found, axis=0) - 1.0 / q[likely]) < 5.0 * error).all()


@ORACLES
def test_all_elements_are_no_restriction(name):
    oracle, _ = CASES[name]
    rng = np.random.default_rng(2)
    total = oracle.objective()
    noise = oracle.noise([None], seed_key(5), 0, 2**16)
    total.add(None, rng.normal(size=oracle.n_actions))
    whole = None, np.arange(oracle.n_actions)
    for draw in range(5):
        asked = None, Draw(noise, draw, 1.0)
        assert naive.as_set(total.action(*asked, *whole)) == naive.as_set(total.action(*asked))


def test_ties_among_some_elements_go_where_they_always_go():
    total = hn.oracles.Subsets(5, 2).objective()
    some = np.array([-1, 1, -1, 3, 4])
    assert total.action(None, WITHOUT_NOISE, None, some).tolist() == [1, 3]
    trees = hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2), (0, 2)]).objective()
    some = np.array([0, -1, 2, 3])
    assert trees.action(None, WITHOUT_NOISE, None, some).tolist() == [0, 2]
    roads = hn.oracles.Paths([(0, 1), (0, 1), (0, 1), (1, 2)], 0, 2).objective()
    some = np.array([-1, 1, 2, 3])
    assert roads.action(None, WITHOUT_NOISE, None, some).tolist() == [1, 3]


def test_one_of_several_contexts_is_restricted():
    oracle = hn.oracles.PerContext(hn.oracles.Subsets(4, 2), ["day", "night"])
    total = oracle.objective()
    assert total.scored
    total.add("day", np.array([0.0, 1.0, 2.0, 3.0]))
    some = np.array([-1, 1, 2, 3])
    assert total.action("day", WITHOUT_NOISE, None, some).tolist() == [1, 2]
    assert total.action("night", WITHOUT_NOISE, None, some).tolist() == [1, 2]
    assert total.action("day", WITHOUT_NOISE).tolist() == [0, 1]


def test_classes_say_whether_elements_can_be_closed():
    assert all(oracle.closes for oracle, _ in CASES.values())
    assert hn.oracles.PerContext(hn.oracles.Subsets(4, 2), 3).closes
    others = [
        hn.oracles.Submodular(3),
        hn.oracles.AllPolicies(2, 3),
        hn.oracles.FinitePolicies([[[0, 1]], [[1, 2]]]),
        hn.oracles.PerContext(hn.oracles.Submodular(3), 2),
    ]
    assert not any(oracle.closes for oracle in others)
    assert not any(oracle.objective().scored for oracle in others if oracle.chooses_sets)


def test_single_actions_keep_their_substitutes():
    for oracle in (
        hn.oracles.Subsets(4, 1),
        hn.oracles.Paths([(0, 1), (0, 1)], 0, 1),
        hn.oracles.PerContext(hn.oracles.AllPolicies(1, 3), 2),
    ):
        assert not oracle.objective().scored


def test_a_program_that_ran_out_of_time_plays_what_it_knows_if_that_is_open():
    program = hn.oracles.LinearProgram([[3, 5, 4, 2]], [8], time_limit=10.0)
    program._known = np.array([1, 3])
    for closed, found in (([0], [1, 3]), ([3], None)):
        costs = np.array([-1.0, -2.0, -3.0, -1.0])
        costs[closed] = np.inf

        class NotFound:
            x, status, mip_gap = np.array([1.0, 0.0, 0.0, 1.0]), 1, 0.5

        program._highs = lambda costs, integral, point=NotFound: point()
        if found is None:
            with pytest.raises(hn.InfeasibleError, match="not available"):
                program.solve(costs)
        else:
            assert program.solve(costs).chosen.tolist() == found
            assert program.solve(costs).gap == np.inf


def test_closed_elements_of_a_program_are_left_out_exactly():
    rng = np.random.default_rng(4)
    weights = rng.integers(1, 9, size=8)
    oracle, sets = hn.oracles.LinearProgram([weights], [15]), naive.points(8, [weights], [15])
    for size in (1e-6, 1.0, 1e9):
        for _ in range(10):
            costs, mask = size * rng.normal(size=8), rng.random(8) < 0.6
            found = oracle.solve(np.where(mask, costs, np.inf)).chosen
            feasible = [chosen for chosen in sets if all(mask[list(chosen)])]
            assert mask[found].all()
            assert costs[found].sum() <= naive.best_value(feasible, costs) + 1e-6 * size
