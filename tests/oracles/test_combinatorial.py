"""What all classes of sets without contexts have in common."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import hannan as hn
from hannan.checks import check_oracle
from hannan.core import ContextError, Objective
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.oracles._combinatorial import SetObjective
from hannan.perturbation import seed_key
from tests import naive_combinatorial
from tests.for_each import for_each

K5 = list(itertools.combinations(range(5), 2))
ROW = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]])


def at_most_two(elements):
    """The uniform matroid of rank two."""
    return len(elements) <= 2


CASES = {
    "Subsets": (hn.oracles.Subsets(8, 3), naive_combinatorial.subsets(8, 3)),
    "Subsets, one": (hn.oracles.Subsets(4, 1), naive_combinatorial.subsets(4, 1)),
    "Subsets, all": (hn.oracles.Subsets(3, 3), naive_combinatorial.subsets(3, 3)),
    "Subsets, at most": (
        hn.oracles.Subsets(5, 2, exactly=False),
        naive_combinatorial.subsets(5, 2, exactly=False),
    ),
    "Subsets, at most one": (
        hn.oracles.Subsets(3, 1, exactly=False),
        naive_combinatorial.subsets(3, 1, exactly=False),
    ),
    "PartitionMatroid": (
        hn.oracles.PartitionMatroid([0, 1, 0, 1, 1, 2], [1, 2, 1]),
        naive_combinatorial.within_capacities([0, 1, 0, 1, 1, 2], [1, 2, 1]),
    ),
    "PartitionMatroid, independent": (
        hn.oracles.PartitionMatroid([0, 1, 0, 1], [1, 2], bases=False),
        naive_combinatorial.within_capacities([0, 1, 0, 1], [1, 2], bases=False),
    ),
    "SpanningTrees": (hn.oracles.SpanningTrees(K5), naive_combinatorial.spanning_trees(5, K5)),
    "Matroid": (hn.oracles.Matroid(5, at_most_two), naive_combinatorial.subsets(5, 2)),
    "Matroid, independent": (
        hn.oracles.Matroid(4, at_most_two, bases=False),
        naive_combinatorial.subsets(4, 2, exactly=False),
    ),
    "Matchings": (hn.oracles.Matchings(3, 4), naive_combinatorial.matchings(3, 4)),
    "Matchings, fewer": (
        hn.oracles.Matchings(2, 3, everyone=False),
        naive_combinatorial.partial_matchings(list(itertools.product(range(2), range(3)))),
    ),
    "LinearProgram": (
        hn.oracles.LinearProgram(ROW, np.ones(4)),
        naive_combinatorial.points(5, ROW, np.ones(4)),
    ),
    "LinearProgram, equations": (
        hn.oracles.LinearProgram(A_eq=[[1, 1, 1, 1]], b_eq=[2]),
        naive_combinatorial.subsets(4, 2),
    ),
}
EXACTLY = [
    name
    for name, (oracle, sets) in CASES.items()
    if oracle.antichain and oracle.rank > 1 and len(sets) > 1
]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_contract_holds(name):
    check_oracle(CASES[name][0])


@pytest.mark.parametrize("name", CASES)
def test_both_learners_play_feasible_sets(name):
    naive_combinatorial.play_short_games(*CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_several_contexts_come_through_per_context(name):
    oracle, sets = CASES[name]
    learner = hn.ContextSemiBanditFTPL(hn.oracles.PerContext(oracle, ["rain", "sun"]), seed=0)
    rng = np.random.default_rng(1)
    for t in range(12):
        action = learner.act("rain" if t % 3 else "sun")
        assert naive_combinatorial.as_set(action) in sets
        learner.update(rng.random(oracle.n_actions)[action])


@pytest.mark.parametrize("name", CASES)
def test_only_none_is_a_context(name):
    oracle = CASES[name][0]
    assert oracle.contexts == (None,)
    with pytest.raises(ContextError, match="PerContext"):
        oracle.check_context(0)
    with pytest.raises(ContextError):
        hn.ContextFTPL(oracle).act("rain")


@pytest.mark.parametrize("name", CASES)
def test_the_size_and_the_complexity_are_right(name):
    oracle, sets = CASES[name]
    assert oracle.log_size([None]) >= np.log(len(sets)) - 1e-9
    if not name.startswith(("LinearProgram", "Matroid")):
        assert oracle.log_size([None]) == pytest.approx(np.log(len(sets)))
    exact = oracle.complexity([None])
    if exact is not None:
        table = np.zeros((len(sets), oracle.n_actions))
        for row, chosen in zip(table, sets, strict=True):
            row[list(chosen)] = 1.0
        zeta = np.random.default_rng(0).laplace(size=(20_000, oracle.n_actions))
        highest = (zeta @ table.T).max(axis=1)
        assert abs(highest.mean() - exact) < 4.5 * highest.std() / np.sqrt(len(zeta)) + 1e-9


# Programs are too slow for so many draws, and have no resampling of their own.
@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("LinearProgram")])
def test_resampling_weights_have_the_right_mean(name):
    """Means of 300 weights, within 4.5 standard errors."""
    oracle, _ = CASES[name]
    total = oracle.objective()
    total.add(None, np.linspace(-1.0, 1.0, oracle.n_actions))
    noise = oracle.noise([None], seed_key(0), 0, 2**20)
    q = total.chosen(None, Draw(noise, 0, 2.0), 8000).mean(axis=0)
    likely = np.flatnonzero(q > 0.1)
    weights = np.array(
        [
            total.weights(None, likely, Draw(noise, 10_000 + 40 * i, 2.0), 30, 2)[0]
            for i in range(300)
        ]
    )
    expected = (1.0 - (1.0 - q[likely]) ** 30) / q[likely]
    error = weights.std(axis=0) / np.sqrt(300) + expected / np.sqrt(8000 * q[likely])
    assert (np.abs(weights.mean(axis=0) - expected) < 4.5 * error).all()


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("name", EXACTLY)
def test_average_regret_falls_and_stays_under_the_bound(name):
    slow = name.startswith("LinearProgram")
    oracle = CASES[name][0]
    means, bounds = naive_combinatorial.average_regrets(
        oracle, 30 if slow else 200, 2 if slow else 4
    )
    assert means[1] / 4 < means[0]
    assert means[0] < bounds[0]
    assert means[1] < bounds[1]


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("name", [n for n in EXACTLY if not n.startswith("Linear")])
def test_average_semi_bandit_regret_falls(name):
    means, _ = naive_combinatorial.average_regrets(
        CASES[name][0], 250, 4, hn.ContextSemiBanditFTPL, hn.environments.PlantedPolicy
    )
    assert means[1] / 4 < means[0]


def test_a_failed_solver_changes_nothing():
    calls = []

    def independent(elements):
        calls.append(elements)
        if len(calls) > 200:
            raise RuntimeError("out of service")
        return len(elements) <= 2

    oracle = hn.oracles.Matroid(4, independent, checks=0)
    total = oracle.objective()
    total.add(None, np.ones(4))
    calls += [[]] * 500
    with pytest.raises(RuntimeError):
        total.settle(None, np.ones(4), WITHOUT_NOISE)
    assert (total.totals == 1.0).all()


def test_networkx_graphs_are_taken_as_they_are():
    graph = nx.Graph([("a", "b"), ("b", "c"), ("a", "c")])
    assert hn.oracles.SpanningTrees(graph).edges == list(graph.edges)


RESAMPLED = {
    "subsets": lambda: hn.oracles.Subsets(90, 70),
    "partition": lambda: hn.oracles.PartitionMatroid([0, 1, 0, 1, 2, 2, 0, 1, 2, 2], [1, 2, 2]),
    "independent": lambda: hn.oracles.PartitionMatroid([0, 1, 0, 1, 2], [1, 2, 1], bases=False),
    "trees": lambda: hn.oracles.SpanningTrees(
        [(i, j) for i in range(7) for j in range(i)] + [(0, 1), (2, 2)]
    ),
    "square": lambda: hn.oracles.Matchings(5, 5),
    "wide": lambda: hn.oracles.Matchings(3, 6),
    "tall": lambda: hn.oracles.Matchings(6, 3),
    "all edges": lambda: hn.oracles.Matchings(3, 3, [(j, i) for i in range(3) for j in range(3)]),
    "edges": lambda: hn.oracles.Matchings(
        4, 4, [(i, j) for i in range(4) for j in range(4) if (i + j) % 3]
    ),
    "fewer": lambda: hn.oracles.Matchings(4, 4, everyone=False),
    "fewer of edges": lambda: hn.oracles.Matchings(
        5, 4, [(i, j) for i in range(4) for j in range(4) if (i + j) % 3], everyone=False
    ),
    "one edge each": lambda: hn.oracles.Matchings(3, 3, [(2, 0), (0, 1), (1, 2), (0, 0)]),
}


@for_each("name", RESAMPLED)
def test_compiled_resampling_equals_one_draw_after_the_other(name):
    """The same weights and the same number of draws, as `Objective.weights` is written."""
    oracle = RESAMPLED[name]()
    assert oracle._resampling(np.zeros(oracle.n_actions)) is not None
    rng = np.random.default_rng(len(name))
    for trial in range(12):
        total = oracle.objective()
        total.add(None, rng.integers(-3, 9, size=oracle.n_actions).astype(float))
        some = rng.integers(1, min(oracle.n_actions, 8))
        elements = np.sort(rng.choice(oracle.n_actions, size=some, replace=False))
        first, limit = int(rng.integers(100)), int(rng.integers(1, 80))
        successes, scale = int(rng.integers(1, 4)), float(rng.choice([0.5, 3.0, 20.0]))
        found = []
        for resample in (SetObjective.weights, Objective.weights):
            noise = oracle.noise([None], seed_key(trial), 0, 2**16)
            given = (None, elements, Draw(noise, first, scale), limit, successes)
            found.append(resample(total, *given))
        assert found[0][0].tolist() == found[1][0].tolist()
        assert found[0][1] == found[1][1]


def test_names_are_kept_in_actions_and_policies(tmp_path):
    menu = hn.oracles.PartitionMatroid(["a", "a", "b"], 1, labels=["tea", "milk", "rice"])
    shelf = hn.oracles.Subsets(3, 2, labels=pd.Series(["tea", "milk", "rice"]))
    rides = hn.oracles.Matchings(2, 2, left=["Ann", "Bob"], right=["early", "late"])
    trees = hn.oracles.SpanningTrees([("x", "y"), ("y", "z"), ("x", "z")])
    roads = hn.oracles.Paths(nx.MultiDiGraph([("x", "y"), ("x", "y"), ("y", "z")]), "x", "z")
    losses = {4: [3.0, 1.0, 2.0, 5.0], 3: [3.0, 1.0, 2.0]}
    for oracle, expected in [
        (menu, ["milk", "rice"]),
        (shelf, ["milk", "rice"]),
        (rides, [("Ann", "late"), ("Bob", "early")]),
        (trees, [("y", "z"), ("x", "z")]),
        (roads, [("x", "y", 1), ("y", "z", 0)]),
    ]:
        learner = hn.ContextFTPL(oracle, loss_range=(0.0, 9.0), seed=0)
        for _ in range(30):
            learner.act()
            learner.update(losses[oracle.n_actions])
        learner.save(tmp_path / "named")
        for player in (learner, hn.load(tmp_path / "named")):
            best = player.best_policy()
            assert best.names == expected
            assert player.oracle.named(best()) == expected
    assert hn.oracles.Subsets(3, 2).items([0, 2]) == [0, 2]
    assert shelf.items(np.empty(0, int)) == []
    assert shelf.items([]) == rides.pairs([]) == trees.named([]) == []


def test_what_is_no_action_has_no_names():
    named = {
        hn.oracles.Subsets(3, 2, labels=["x", "y", "z"]): "items",
        hn.oracles.Subsets(3, 2): "items",
        hn.oracles.PartitionMatroid([0, 0, 1], 1, labels=["x", "y", "z"]): "items",
        hn.oracles.Matchings(1, 3): "pairs",
        hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2)]): "named",
        hn.oracles.LinearProgram([[1, 1, 1]], [2]): "named",
        hn.oracles.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c"): "route",
    }
    wrong = [[3], [-1], [0, 0], 0.5, ["x"], None, [True, False, True], [[0, 1]], [0, [1]], "x"]
    for oracle, name in named.items():
        for action in wrong:
            with pytest.raises(hn.ParameterError, match="integers from 0 to 2"):
                getattr(oracle, name)(action)


@pytest.mark.parametrize("labels", [["a"], ["a", "a", "b"], "abc", [["a"], ["b"], ["c"]], 3])
def test_labels_must_be_different_names(labels):
    with pytest.raises(hn.HannanError, match="labels"):
        hn.oracles.Subsets(3, 1, labels=labels)
    with pytest.raises(hn.HannanError, match="labels"):
        hn.oracles.PartitionMatroid([0, 0, 0], 1, labels=labels)


def test_a_table_of_drivers_becomes_matchings():
    table = pd.DataFrame({"driver": ["Ann", "Ann", "Bob"], "ride": ["A1", "B2", "A1"]})
    for given in (table, list(table.itertuples(index=False, name=None)), pl.DataFrame(table)):
        rides = hn.oracles.Matchings.of(given)
        assert rides.n_actions == 3
        assert rides.pairs(np.array([1, 2])) == [("Ann", "B2"), ("Bob", "A1")]
    for wrong in ([("a", "b", "c")], [1, 2], [], table.assign(more=1), [([], "b")]):
        with pytest.raises(hn.HannanError, match=r"pair|hashable"):
            hn.oracles.Matchings.of(wrong)
