"""Paths beside enumeration, networkx and what the theory says of games with them."""

import itertools
import math
import tracemalloc

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.oracle import Draw, Objective
from hannan.core.storage import reread
from hannan.oracles import FinitePolicies, Paths, PerContext
from hannan.perturbation import seed_key
from tests import problems
from tests.for_each import for_each

DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d"), ("a", "d"), ("x", "a")]
CONTRACT = {"Paths": problems.PATHS}


def grid(n):
    """Streets of an n by n town, leading east or north."""
    corners = [(x, y) for x in range(n) for y in range(n)]
    east = [((x, y), (x + 1, y)) for x, y in corners if x + 1 < n]
    return east + [((x, y), (x, y + 1)) for x, y in corners if y + 1 < n]


def town(n):
    return Paths(grid(n), (0, 0), (n - 1, n - 1))


def listed(edges, source, target):
    """All paths as tuples of edge numbers, from the source on."""
    found, waiting = [], [(source, ())]
    while waiting:
        node, path = waiting.pop()
        if node == target:
            found.append(path)
        else:
            waiting += [(v, (*path, i)) for i, (u, v) in enumerate(edges) if u == node]
    return found


def enumerated(oracle):
    """The same class as a table of sets."""
    paths = listed(oracle.edges, oracle.source, oracle.target)
    table = np.zeros((len(paths), 1, oracle.n_actions), dtype=bool)
    for n, path in enumerate(paths):
        table[n, 0, list(path)] = True
    return FinitePolicies(table)


@st.composite
def instances(draw):
    """A small random graph, a source and a target it may not reach, and integer losses."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 8))
    names = rng.permutation(n).tolist()
    count = draw(st.integers(1, 16))
    edges = []
    for _ in range(count):
        low, high = sorted(rng.choice(n, 2, replace=False))
        edges.append((names[low], names[high]))
    high = draw(st.integers(0, 3))
    return edges, names[0], names[-1], rng.integers(-high, high + 1, size=(4, count)).astype(float)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(instances(), st.integers(0, 1000))
def test_leaders_are_those_of_enumeration(instance, first):
    edges, source, target, losses = instance
    paths = listed(edges, source, target)
    if not paths:
        with pytest.raises(hn.HannanError):
            Paths(edges, source, target)
        return
    oracle = Paths(edges, source, target)
    assert oracle.max_chosen == max(map(len, paths))
    assert oracle.log_size([None]) == pytest.approx(math.log(len(paths)), abs=1e-12)
    total = oracle.objective()
    for row in losses:
        total.add(None, row)
    sums = losses.sum(axis=0)
    best = min(paths, key=lambda path: (sums[list(path)].sum(), path))
    np.testing.assert_array_equal(np.atleast_1d(total.leader()(None)), sorted(best))
    assert total.minima()[0] == sums[list(best)].sum()

    noise = oracle.noise([None], seed_key(3), 0, 2**20)
    leaders = total.leaders(Draw(noise, first, 1.5), 20)
    values = total.minima(Draw(noise, first, 1.5), 20)
    inclusion = total.chosen(None, Draw(noise, first, 1.5), 20)
    for i in range(20):
        costs = sums + 1.5 * noise.unit(first + i)[0]
        expected = min(paths, key=lambda path: costs[list(path)].sum())
        found = np.atleast_1d(leaders[i](None))
        np.testing.assert_array_equal(found, sorted(expected))
        np.testing.assert_array_equal(np.flatnonzero(inclusion[i]), found)
        assert values[i] == pytest.approx(costs[found].sum(), rel=1e-9, abs=1e-9)
        single = total.action(None, Draw(noise, first + i, 1.5))
        np.testing.assert_array_equal(np.atleast_1d(single), found)


@for_each("seed", range(100))
def test_lengths_are_those_of_bellman_ford(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    graph = nx.DiGraph()
    for u in range(n):
        for v in range(u + 1, n):
            if v == u + 1 or rng.random() < 0.3:
                graph.add_edge(u, v)
    oracle = Paths(graph, 0, n - 1)
    assert oracle.edges == list(graph.edges)
    losses = rng.integers(-5, 6, size=oracle.n_actions).astype(float)
    total = oracle.objective()
    total.add(None, losses)
    noise = oracle.noise([None], seed_key(seed), 0, 2**20)
    for scale in (0.0, 2.0):
        costs = losses + scale * noise.unit(5)[0]
        for edge, cost in zip(oracle.edges, costs, strict=True):
            graph.edges[edge]["weight"] = cost
        expected = nx.bellman_ford_path_length(graph, 0, n - 1)
        assert total.minima(Draw(noise, 5, scale), 1)[0] == pytest.approx(expected, abs=1e-9)
        path = np.atleast_1d(total.leaders(Draw(noise, 5, scale), 1)[0](None))
        assert costs[path].sum() == pytest.approx(expected, abs=1e-9)


def test_ties_go_to_the_edge_listed_first_at_every_node():
    oracle = Paths(DIAMOND, "a", "d")
    np.testing.assert_array_equal(oracle.objective().leader()(None), [0, 2])
    total = oracle.objective()
    total.add(None, np.array([1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(total.leader()(None), [0, 2])
    total.add(None, np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_array_equal(total.leader()(None), [4])
    assert total.leader().nodes == ["a", "d"]


def test_edges_on_no_path_keep_their_place_and_are_never_chosen():
    edges = [("x", "a"), ("a", "b"), ("b", "y"), ("b", "c"), ("a", "c")]
    oracle = Paths(edges, "a", "c")
    assert oracle.edges == edges
    total = oracle.objective()
    total.add(None, np.array([-9.0, 0.0, -9.0, 0.0, 1.0]))
    np.testing.assert_array_equal(total.leader()(None), [1, 3])
    noise = oracle.noise([None], seed_key(0), 0, 2**20)
    assert not total.chosen(None, Draw(noise, 0, 50.0), 200)[:, [0, 2]].any()
    weights, used = total.weights(None, np.array([0, 1]), Draw(noise, 0, 5.0), 30, 1)
    assert weights[0] == 30.0
    assert used == 29


@for_each("first", [0, 1, 7, 15, 16, 2**40 + 3])
@for_each("limit", [1, 2, 3, 20, 400])
@for_each("successes", [1, 2, 5])
@for_each("scale", [0.0, 2.0])
def test_resampling_is_that_of_the_definition(first, limit, successes, scale):
    oracle = town(4)
    total = oracle.objective()
    total.add(None, np.random.default_rng(0).random(oracle.n_actions) * 3.0)
    noise = oracle.noise([None], seed_key(0), 0, 1)
    elements = total.action(None, Draw(noise, first + 1000, scale))
    expected = Objective.weights(total, None, elements, Draw(noise, first, scale), limit, successes)
    weights, used = total.weights(None, elements, Draw(noise, first, scale), limit, successes)
    np.testing.assert_array_equal(weights, expected[0])
    assert used == expected[1]


@pytest.mark.parametrize(
    "oracle",
    [
        Paths(DIAMOND, "a", "d"),
        Paths(DIAMOND, "x", "d"),
        Paths([(0, 1)], 0, 1),
        Paths([(0, 1)] * 5, 0, 1),
        Paths((np.array([0, 1, 0]), np.array([1, 2, 2])), 0, 2),
        Paths(pd.DataFrame({"tail": [0, 1, 0], "head": [1, 2, 2]}), 0, 2),
        Paths(nx.DiGraph(DIAMOND), "a", "d"),
        town(4),
        PerContext(town(3), ["morning", "evening"]),
    ],
    ids=repr,
)
def test_the_contract_is_kept(oracle):
    base = oracle.base if isinstance(oracle, PerContext) else oracle
    everything = []
    if base is oracle:
        single = base.max_chosen == 1  # actions are ints then
        table = FinitePolicies(range(base.n_actions)) if single else enumerated(base)
        everything = [table.policy(n) for n in range(table.n_policies)]
    hn.checks.check_oracle(oracle, policies=everything)


def test_draws_are_the_same_whatever_memory_and_number_of_draws_at_once():
    oracle = town(6)
    total = oracle.objective()
    small, large = (oracle.noise([None], seed_key(1), 0, memory) for memory in (1, 2**26))
    together = total.leaders(Draw(large, 5, 1.0), 700)
    for i in (0, 1, 10, 11, 12, 27, 300, 699):
        alone = total.leaders(Draw(small, 5 + i, 1.0), 1)[0]
        np.testing.assert_array_equal(alone(None), together[i](None))


def test_unit_noise_is_laplace_and_fresh():
    oracle = Paths(DIAMOND, "a", "d")
    noise = oracle.noise([None], seed_key(1), 0, 2**20)
    draws = np.array([noise.unit(n)[0] for n in range(4000)])
    assert draws.shape == (4000, 7)
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=5 * math.sqrt(2 / 4000))
    np.testing.assert_allclose(draws.var(axis=0), 2.0, atol=5 * math.sqrt(20 / 4000))
    assert np.abs(np.corrcoef(draws.T) - np.eye(7)).max() < 0.1


def as_inputs():
    tails, heads = zip(*DIAMOND[:5], strict=True)
    table = {"tail": list(tails), "head": list(heads), "time": [1.0] * 5}
    return {
        "pairs": DIAMOND[:5],
        "lists as pairs": [list(pair) for pair in DIAMOND[:5]],
        "array of pairs": np.array(DIAMOND[:5]),
        "two lists": (list(tails), list(heads)),
        "two arrays": (np.array(tails), np.array(heads)),
        "pandas": pd.DataFrame(table),
        "polars": pl.DataFrame(table),
        "networkx": nx.DiGraph(DIAMOND[:5]),
        "roads": hn.networks.RoadNetwork(tails, heads, 1.0),
    }


@pytest.mark.parametrize("kind", as_inputs())
def test_graphs_come_in_many_forms(kind):
    oracle = Paths(as_inputs()[kind], "a", "d")
    assert sorted(oracle.edges) == sorted(DIAMOND[:5])
    losses = np.array([0.0 if "c" in edge else 1.0 for edge in oracle.edges])
    total = oracle.objective()
    total.add(None, losses)
    assert [oracle.edges[e] for e in total.leader()(None)] == [("a", "c"), ("c", "d")]
    assert oracle.clone().edges == oracle.edges
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    assert reread(learner).act().tolist() == learner.act().tolist()


def test_the_edges_of_a_multigraph_have_keys():
    graph = nx.MultiDiGraph([(0, 1), (0, 1)])
    oracle = Paths(graph, 0, 1)
    assert oracle.edges == [(0, 1, 0), (0, 1, 1)]
    total = oracle.objective()
    total.add(None, np.array([1.0, 0.0]))
    assert total.leader()(None) == 1  # a single edge: an int, as for other single actions


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([(1, 2), (2, 3), (3, 1), (3, 4)], 1, 4), hn.ParameterError, "cycle.* → "),
        (([(1, 1), (1, 2)], 1, 2), hn.ParameterError, "cycles; this graph has the cycle 1 → 1"),
        (
            ([(1, 2), (5, 6), (6, 5)], 1, 2),
            hn.ParameterError,
            "has the cycle (5 → 6 → 5|6 → 5 → 6)",
        ),
        (([(1, 2), (3, 4)], 1, 4), hn.InfeasibleError, "No path leads from 1 to 4"),
        (([(1, 2)], 2, 1), hn.InfeasibleError, "No path"),
        (([(1, 2)], 1, 7), hn.ParameterError, "'target'.* Got 7"),
        (([(1, 2)], [1], 2), hn.ParameterError, "'source'"),
        (([(1, 2)], 1, 1), hn.ParameterError, "differ"),
        (([], 1, 2), hn.ParameterError, "at least one edge"),
        ((nx.DiGraph(), 1, 2), hn.ParameterError, "at least one edge"),
        ((nx.Graph([(1, 2)]), 1, 2), hn.InputTypeError, "directed"),
        ((5, 1, 2), hn.InputTypeError, "networkx.DiGraph"),
        (([(1, 2, 3)], 1, 2), hn.ParameterError, "pair"),
        (([([1], 2)], 1, 2), hn.InputTypeError, "hashable"),
        ((([1, 2], [2]), 1, 2), hn.ParameterError, "2 tails and 1 heads"),
        ((pd.DataFrame({"u": [1], "v": [2]}), 1, 2), hn.ParameterError, "'tail' and 'head'"),
        ((pl.DataFrame({"tail": [1, None], "head": [2, 3]}), 1, 2), hn.ParameterError, "Edge 1"),
        (([(1, 2)], 1, 2, [1]), hn.ParameterError, "'usable'.*booleans"),
        (([(1, 2)], 1, 2, [False]), hn.InfeasibleError, "No path"),
    ],
)
def test_bad_graphs_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Paths(*arguments)


def test_a_cycle_is_named_as_it_runs():
    rng = np.random.default_rng(0)
    for _ in range(50):
        edges = [tuple(pair) for pair in rng.integers(0, 12, size=(25, 2)).tolist()]
        try:
            Paths(edges, *edges[0])
        except hn.InfeasibleError:
            continue
        except hn.ParameterError as error:
            if "cycle" in str(error):
                words = str(error).partition("has the cycle ")[2].partition(".")[0].split(" → ")
                assert words[0] == words[-1]
                cycle = [int(word) for word in words]
                assert all(pair in edges for pair in itertools.pairwise(cycle))


def test_the_only_context_is_none():
    oracle = Paths(DIAMOND, "a", "d")
    assert oracle.contexts == (None,)
    with pytest.raises(hn.ContextError, match="PerContext"):
        oracle.check_context(0)
    with pytest.raises(hn.ContextError):
        oracle.objective().leader()("x")
    learner = hn.ContextFTPL(oracle, seed=0)
    learner.act()
    learner.update(np.zeros(7))


def test_routes_are_nodes_in_order():
    oracle = town(3)
    action = oracle.objective().leader()(None)
    assert oracle.route(action[::-1])[0] == (0, 0)
    assert oracle.route(action) == oracle.objective().leader().nodes
    with pytest.raises(hn.ParameterError, match="must be the edges of a path"):
        oracle.route(action[:-1])
    with pytest.raises(hn.ParameterError, match="must be the edges of a path"):
        oracle.route([0, 1, 2])
    parallel = hn.oracles.Paths([("a", "b"), ("a", "b"), ("b", "c")], "a", "c")
    with pytest.raises(hn.ParameterError, match="must be the edges of a path"):
        parallel.route([0, 1, 2])


@pytest.mark.parametrize("contexts", [None, 3])
@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_every_action_of_a_game_is_a_path(kind, contexts):
    base = town(4)
    oracle = base if contexts is None else PerContext(base, contexts)
    paths = {tuple(sorted(path)) for path in listed(base.edges, base.source, base.target)}
    world = hn.environments.LeaderPunisher(oracle)
    trace = hn.play(kind(oracle, seed=0), world, 150, seed=0)
    assert {tuple(action.tolist()) for action in trace.actions} <= paths
    assert len({tuple(action.tolist()) for action in trace.actions}) > 3


def test_decisions_may_be_answered_late():
    oracle = town(3)
    learner = hn.ContextSemiBanditFTPL(oracle, epsilon="anytime", seed=0)
    for t in range(40):
        first, second = learner.decide_many([None, None])
        for decision in (second, first):
            chosen = decision.action
            learner.update(np.full(len(chosen), 0.1 + 0.02 * t), decision=decision)
            assert len(decision.weights) == len(chosen)
    assert learner.propensities(draws=500).probabilities.sum() == pytest.approx(4.0)


def sharp_bound(learner, trace):
    """2 sqrt(2 κ G V) + 2 R with κ = 1: losses are not negative."""
    V = float((trace.losses**2).sum())
    return 2 * math.sqrt(2 * learner.complexity.upper * V) + 2 * learner.oracle.max_chosen


@pytest.mark.stat
@pytest.mark.parametrize("world", [hn.environments.LeaderPunisher, hn.environments.PlantedPolicy])
def test_regret_with_full_information_falls_and_stays_under_the_bound(world):
    oracle = town(4)
    T, average = 500, []
    for horizon in (T, 4 * T):
        regrets = []
        for seed in range(5):
            learner = hn.ContextFTPL(oracle, seed=seed)
            trace = hn.play(learner, world(oracle), horizon, seed=100 + seed)
            regrets.append(trace.regret())
            assert trace.regret() <= sharp_bound(learner, trace)
        average.append(np.mean(regrets) / horizon)
    assert average[1] < 0.75 * average[0]


@pytest.mark.slow
@pytest.mark.stat
def test_regret_with_semi_bandit_feedback_falls_and_stays_under_the_bound():
    oracle = town(3)
    T, average = 500, []
    for horizon in (T, 4 * T):
        regrets = []
        for seed in range(6):
            learner = hn.ContextSemiBanditFTPL(oracle, seed=seed)
            world = hn.environments.LeaderPunisher(oracle)
            trace = hn.play(learner, world, horizon, seed=100 + seed)
            regrets.append(trace.regret())
        K, m, G = oracle.n_actions, oracle.max_chosen, learner.complexity.upper
        limits = np.ceil(np.sqrt(K * np.arange(1, horizon + 1)))
        bound = 2 * math.sqrt((2 * G + 1) * 2 * m * K * horizon) + (K / (math.e * limits)).sum()
        average.append(np.mean(regrets) / horizon)
        assert np.mean(regrets) <= bound
    assert average[1] < 0.8 * average[0]


@pytest.mark.slow
@pytest.mark.stat
def test_regret_is_that_of_the_paths_listed_one_by_one():
    oracle = town(4)
    table = enumerated(oracle)
    world = hn.environments.LeaderPunisher(oracle)
    regrets = {"paths": [], "table": [], "hedge": []}
    for seed in range(4):
        for name, learner in (
            ("paths", hn.ContextFTPL(oracle, seed=seed)),
            ("table", hn.ContextFTPL(table, seed=seed)),
            ("hedge", hn.baselines.Hedge(table, seed=seed)),
        ):
            trace = hn.play(learner, world, 1500, seed=seed, oracle=oracle)
            regrets[name].append(trace.regret())
    means = {name: np.mean(values) for name, values in regrets.items()}
    # The two learners differ in their noise only; Hedge is tuned for the worst case.
    assert means["paths"] == pytest.approx(means["table"], rel=0.25)
    assert means["paths"] < 1.5 * means["hedge"]


def test_a_hundred_thousand_edges_fit_in_little_memory():
    rng = np.random.default_rng(0)
    n = 30_000
    tails = np.concatenate([np.arange(n - 1), rng.integers(0, n - 40, size=70_001)])
    steps = np.concatenate([np.ones(n - 1, int), rng.integers(1, 40, size=70_001)])
    oracle = Paths((tails, tails + steps), 0, n - 1)
    assert oracle.n_actions == 100_000
    total = oracle.objective()
    total.add(None, rng.random(oracle.n_actions))
    tracemalloc.start()
    noise = oracle.noise([None], seed_key(0), 0, 2**24)
    assert len(total.leaders(Draw(noise, 0, 0.1), 40)) == 40
    total.weights(None, total.action(None, Draw(noise, 40, 0.1)), Draw(noise, 41, 0.1), 40, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    assert noise.blocks.block.nbytes <= 2**24
