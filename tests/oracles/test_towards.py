"""Routes on real graphs: cycles, two-way streets, several trips on one network."""

import csv
import gzip
import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import hannan as hn
from hannan.checks import check_oracle
from hannan.core import HannanError, InfeasibleError, ParameterError
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.oracles import Paths, PerContext
from hannan.perturbation import seed_key
from tests.for_each import for_each

ROADS = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("a", "c"), ("c", "d"), ("d", "c"),
         ("b", "d"), ("d", "b")]  # fmt: skip
TRIPS = {pair: Paths.towards(ROADS, *pair) for pair in [("a", "d"), ("d", "a"), ("b", "c")]}
CONTRACT = {
    "Paths, detours": Paths.towards(ROADS, "a", "d", detours=1),
    "PerContext, mapping": PerContext(TRIPS),
}
NETWORKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "networks"


def random_graph(kind, rng, n=6):
    """A connected graph with cycles, some streets twice, and minutes on every edge."""
    graph = kind()
    graph.add_nodes_from(range(n))
    ends = [(i, i + 1) for i in range(n - 1)] + [(i + 1, i) for i in range(n - 1)]
    ends += [tuple(rng.choice(n, size=2, replace=False).tolist()) for _ in range(8)]
    for u, v in ends:
        graph.add_edge(u, v, minutes=float(rng.integers(0, 4)))
    return graph


def simple_paths(edges, source, target, arrows):
    """Sets of edges of all paths without repeated nodes, along pairs (edge, tail, head)."""
    found, waiting = [], [(source, (), {source})]
    while waiting:
        node, path, seen = waiting.pop()
        if node == target:
            found.append(path)
            continue
        waiting += [
            (v, (*path, e), seen | {v}) for e, u, v in arrows if u == node and v not in seen
        ]
    return found


def distances(arrows, times, target, n):
    """(time, links) to the target by Bellman and Ford."""
    left = dict.fromkeys(range(n), (np.inf, 0))
    left[target] = (0.0, 0)
    for _ in range(2 * n):
        for e, u, v in arrows:
            left[u] = min(left[u], (left[v][0] + times[e], left[v][1] + 1))
    return left


@for_each(
    ("kind", "seed"),
    [(k, s) for k in (nx.DiGraph, nx.MultiDiGraph, nx.Graph, nx.MultiGraph) for s in range(8)],
)
def test_leaders_are_the_best_paths_that_lead_closer(kind, seed):
    """Against all paths, with signed totals and ties, with noise and without."""
    rng = np.random.default_rng(seed)
    graph = random_graph(kind, rng)
    source, target = rng.choice(6, size=2, replace=False).tolist()
    oracle = Paths.towards(graph, source, target, weight="minutes")
    ends = [edge[:2] for edge in graph.edges]
    times = [t for *_, t in graph.edges(data="minutes")]
    arrows = [(e, u, v) for e, (u, v) in enumerate(ends)]
    if not graph.is_directed():
        arrows += [(e, v, u) for e, (u, v) in enumerate(ends)]
    left = distances(arrows, times, target, 6)
    closer = [
        (e, u, v)
        for e, u, v in arrows
        if left[v][0] < left[u][0] or (times[e] == 0.0 and left[v] < left[u])
    ]
    paths = simple_paths(ends, source, target, closer)
    assert oracle.n_actions == graph.number_of_edges()
    assert oracle.exact
    assert np.exp(oracle.log_size([None])) == pytest.approx(len(paths))
    total = oracle.objective()
    losses = rng.integers(-3, 4, size=len(ends)).astype(float)
    total.add(None, losses)
    noise = oracle.noise([None], seed_key(seed), 0, 2**16)
    for scale in (0.0, 2.0):
        costs = losses + scale * noise.unit(3)[0]
        best = min(costs[list(path)].sum() for path in paths)
        action = np.atleast_1d(total.action(None, Draw(noise, 3, scale)))
        assert costs[action].sum() == pytest.approx(best, abs=1e-6)
        assert tuple(action.tolist()) in {tuple(sorted(path)) for path in paths}
    route = total.leader().route
    assert route[0] == source
    assert route[-1] == target
    assert nx.is_path(graph, route)


@for_each(("detours", "seed"), [(d, s) for d in (1, 2, 3) for s in range(10)])
def test_detours_are_the_best_paths_where_totals_are_not_negative(detours, seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(nx.DiGraph, rng)
    source, target = rng.choice(6, size=2, replace=False).tolist()
    oracle = Paths.towards(graph, source, target, weight="minutes", detours=detours)
    direct = Paths.towards(graph, source, target, weight="minutes")
    assert not oracle.exact
    edges = list(graph.edges)
    arrows = [(e, u, v) for e, (u, v) in enumerate(edges)]
    paths = [
        path
        for path in simple_paths(edges, source, target, arrows)
        if (~direct.usable[list(path)]).sum() <= detours
    ]
    sets = {tuple(sorted(path)) for path in paths}
    noise = oracle.noise([None], seed_key(seed), 0, 2**16)
    for low in (0, -3):
        total = oracle.objective()
        losses = rng.integers(low, 5, size=len(edges)).astype(float)
        total.add(None, losses)
        best = min(losses[list(path)].sum() for path in paths)
        action = np.atleast_1d(total.action(None, WITHOUT_NOISE))
        assert tuple(action.tolist()) in sets
        value = total.minima()[0]
        if low == 0:
            assert losses[action].sum() == best == value
        else:
            assert value <= best <= losses[action].sum()
        one_by_one = [
            np.atleast_1d(total.action(None, Draw(noise, d, 2.0))).tolist() for d in range(40)
        ]
        leaders = [policy(None).tolist() for policy in total.leaders(Draw(noise, 0, 2.0), 40)]
        rows = [np.flatnonzero(row).tolist() for row in total.chosen(None, Draw(noise, 0, 2.0), 40)]
        assert one_by_one == leaders == rows
        assert all(tuple(path) in sets for path in leaders)
        given = (None, np.array(leaders[0]), Draw(noise, 0, 2.0), 30, 2)
        weights, used = total.weights(*given)
        expected, draws = hn.core.Objective.weights(total, *given)
        assert weights.tolist() == expected.tolist()
        assert used == draws


def test_frames_lists_and_numbers_may_be_weighted():
    roads = pd.DataFrame(ROADS, columns=["tail", "head"]).assign(km=np.arange(9.0))
    by_column = Paths.towards(roads, "a", "d", weight="km")
    by_numbers = Paths.towards(ROADS, "a", "d", weight=range(9))
    assert by_column.usable.tolist() == by_numbers.usable.tolist()
    network = hn.networks.RoadNetwork(*zip(*ROADS, strict=True), np.ones(9))
    assert Paths.towards(network, "a", "d", weight=range(9)).usable.tolist() == (
        by_numbers.usable.tolist()
    )


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (lambda: Paths(nx.DiGraph(ROADS), "a", "d"), ParameterError, "towards.*takes any"),
        (lambda: Paths(nx.Graph(ROADS), "a", "d"), HannanError, "towards"),
        (lambda: Paths.towards(nx.DiGraph(ROADS), "a", "d", weight="km"), ParameterError, "'km'"),
        (lambda: Paths.towards(ROADS, "a", "d", weight="km"), ParameterError, "9 numbers"),
        (lambda: Paths.towards(ROADS, "a", "d", weight=[1]), ParameterError, "9 weights"),
        (lambda: Paths.towards(ROADS, "a", "d", weight=[-1] * 9), ParameterError, "negative"),
        (
            lambda: Paths.towards(ROADS, "a", "d", weight=[1.0] * 8 + ["5 min"]),
            ParameterError,
            "that of edge .* is '5 min'",
        ),
        (lambda: Paths.towards(ROADS, "a", "d", weight=2.0), ParameterError, "got 2.0"),
        (lambda: Paths.towards(ROADS, "a", "d", zones=["x"]), ParameterError, "'x', which is no"),
        (lambda: Paths.towards(ROADS, "a", "d", zones=[["a"]]), ParameterError, "'zones'"),
        (lambda: Paths.towards(ROADS, "a", ["d"]), ParameterError, "'target'"),
        (lambda: PerContext(TRIPS).check_context("x"), hn.ContextError, "mapping has a problem"),
        (lambda: Paths.towards(ROADS, "a", "z"), ParameterError, "'z'"),
        (lambda: Paths.towards(ROADS, "z", "a"), ParameterError, "'z'"),
        (lambda: Paths.towards([("a", "b"), ("c", "a")], "b", "a"), InfeasibleError, "No path"),
        (
            lambda: Paths.towards(nx.Graph(ROADS), "a", "d", detours=1),
            ParameterError,
            "to_directed",
        ),
        (lambda: Paths.towards(ROADS, "a", "d", detours=-1), ParameterError, "detours"),
        (lambda: PerContext({}), ParameterError, "empty"),
        (lambda: PerContext(TRIPS, ["x"]), ParameterError, "keys"),
        (lambda: PerContext({"x": 3}), HannanError, "oracle"),
        (
            lambda: PerContext({"x": hn.oracles.Subsets(3, 1), "y": hn.oracles.Subsets(4, 1)}),
            ParameterError,
            "same elements",
        ),
    ],
)
def test_what_cannot_be_routed_is_refused_with_a_remedy(arguments, kind, words):
    with pytest.raises(kind, match=words):
        arguments()


@for_each("seed", range(20))
def test_trips_on_one_network_are_solved_each_by_itself(seed):
    rng = np.random.default_rng(seed)
    oracle = PerContext(TRIPS)
    total, alone = oracle.objective(), {pair: p.objective() for pair, p in TRIPS.items()}
    for _ in range(6):
        pair = list(TRIPS)[rng.integers(3)]
        losses = rng.integers(-2, 3, size=9).astype(float)
        total.add(pair, losses)
        alone[pair].add(None, losses)
    leader = total.leader()
    values = [part.minima()[0] for part in alone.values()]
    assert total.minima()[0] == sum(values)
    for pair, part in alone.items():
        assert leader(pair).tolist() == np.atleast_1d(part.leader()(None)).tolist()
        assert oracle.problem(pair).route(leader(pair)) == part.leader().route


def test_a_problem_of_single_elements_plays_sets_beside_others():
    oracle = PerContext({"one": hn.oracles.Subsets(4, 1), "two": hn.oracles.Subsets(4, 2)})
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for t in range(30):
        action = learner.act(("one", "two")[t % 2])
        assert action.shape == (1 + t % 2,)
        learner.update(np.full(1 + t % 2, 0.5))
    check_oracle(oracle)


def test_trips_go_on_from_a_file(tmp_path):
    learner = hn.ContextSemiBanditFTPL(PerContext(TRIPS), seed=0)
    rng = np.random.default_rng(0)

    for t in range(12):
        action = learner.act(list(TRIPS)[t % 3])
        learner.update(rng.random(9)[action])
    learner.save(tmp_path / "trips")
    again = hn.load(tmp_path / "trips")
    for t in range(12):
        losses = rng.random(9)
        actions = [player.act(list(TRIPS)[t % 3]) for player in (learner, again)]
        assert actions[0].tolist() == actions[1].tolist()
        for player in (learner, again):
            player.update(losses[actions[0]])


def town(name):
    """A directed graph of networkx with two-way links, and its largest demands."""
    graph = nx.DiGraph()
    with gzip.open(NETWORKS / f"{name}_edges.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            numbers = {key: float(value) for key, value in row.items()}
            graph.add_edge(int(row["tail"]), int(row["head"]), **numbers)
    with gzip.open(NETWORKS / f"{name}_trips.csv.gz", "rt") as file:
        rows = [
            (float(row["demand"]), int(row["origin"]), int(row["destination"]))
            for row in csv.DictReader(file)
        ]
    rows.sort(reverse=True)
    return graph, [(u, v) for demand, u, v in rows if u != v][:80:4]


@pytest.mark.slow
@pytest.mark.skipif(not NETWORKS.exists(), reason="the networks are not here")
@pytest.mark.parametrize(("name", "zones"), [("sioux_falls", 0), ("anaheim", 38)])
def test_twenty_trips_through_a_real_town(name, zones):
    """Within 5 % of the best fixed routes among all simple paths; usual flows are mistaken."""
    T = 5000
    rng = np.random.default_rng(0)
    graph, pairs = town(name)
    shut = range(1, zones + 1)
    trips = PerContext(
        {
            pair: Paths.towards(graph, *pair, weight="free_flow_time", detours=2, zones=shut)
            for pair in pairs
        }
    )
    columns = [
        np.array([value for *_, value in graph.edges(data=key)])
        for key in ("free_flow_time", "capacity", "ue_flow", "b", "power")
    ]
    free, capacity, flow, b, power = columns
    usual = flow * np.exp(0.3 * rng.normal(size=len(flow)))
    phase = rng.random(len(flow))
    hours = np.arange(T)[:, None] / 200
    load = usual * (1.0 + 0.5 * np.sin(2.0 * np.pi * (hours + phase))) / capacity
    minutes = free * (1.0 + b * (load * np.exp(0.2 * rng.normal(size=load.shape))) ** power)
    most = float(np.quantile(minutes, 0.999))
    minutes = np.minimum(minutes, most)
    who = rng.integers(len(pairs), size=T)
    learner = hn.ContextFTPL(trips, loss_range=(0.0, most), seed=0)
    taken = 0.0
    for t in range(T):
        action = learner.act(pairs[who[t]])
        taken += minutes[t, action].sum()
        learner.update(minutes[t])
    best = 0.0
    for i, pair in enumerate(pairs):
        costs = minutes[who == i].sum(axis=0)
        allowed = nx.DiGraph()
        for (u, v), cost in zip(graph.edges, costs, strict=True):
            if (u in pair or u not in shut) and (v in pair or v not in shut):
                allowed.add_edge(u, v, cost=cost)
        best += nx.dijkstra_path_length(allowed, *pair, weight="cost")
    assert taken <= 1.05 * best
    assert any("inexact" in note for note in learner.certificate().notes)


def open_graph(graph, is_open, zones, ends, costs=None):
    """The open streets of a graph, in both directions if it is undirected, without zones inside."""
    left = nx.DiGraph()
    left.add_nodes_from(graph)
    costs = np.ones(len(is_open)) if costs is None else costs
    for (u, v), usable, cost in zip(graph.edges(), is_open, costs, strict=True):
        for a, b in [(u, v)] if graph.is_directed() else [(u, v), (v, u)]:
            inside = (a in ends or a not in zones) and (b in ends or b not in zones)
            if usable and inside and cost < left.get_edge_data(a, b, {"cost": np.inf})["cost"]:
                left.add_edge(a, b, cost=cost)
    return left


def routed(kind, detours, seed):
    """Compare one graph with networkx; count the rounds without a route, in the class, outside."""
    rng = np.random.default_rng(seed)
    graph = random_graph(kind, rng, n=9)
    source, target = rng.choice(9, size=2, replace=False).tolist()
    zones = {int(rng.integers(9))}
    try:
        oracle = Paths.towards(
            graph, source, target, weight="minutes", detours=detours, zones=zones
        )
    except HannanError:
        oracle = Paths.towards(graph, source, target, weight="minutes", detours=detours)
        zones = set()
    K = oracle.n_actions
    total, losses = oracle.objective(), rng.uniform(1.0, 9.0, size=K)
    total.add(None, losses)
    noise, counts = oracle.noise([None], seed_key(seed), 0, 2**16), [0, 0, 0]
    for n in range(60):
        is_open = rng.random(K) < 0.7
        plays = np.where(is_open, np.arange(K), -1)
        left = open_graph(graph, is_open, zones, {source, target}, losses)
        draw = Draw(noise, n, 2.0)
        if not nx.has_path(left, source, target):
            counts[0] += 1
            with pytest.raises(InfeasibleError, match="No path leads from"):
                total.action(None, draw, None, plays)
            continue
        action = np.atleast_1d(total.action(None, draw, None, plays))
        assert is_open[action].all()
        route = oracle.route(action)
        assert (route[0], route[-1], len(set(route))) == (source, target, len(route))
        assert len(route) == len(action) + 1
        assert all(left.has_edge(*pair) for pair in itertools.pairwise(route))
        outside = not oracle.has_available(None, plays)
        counts[1 + outside] += 1
        if outside:
            shortest = nx.dijkstra_path_length(left, source, target, weight="cost")
            assert losses[action].sum() == pytest.approx(shortest)
            rows = total.chosen(None, draw, 3, None, plays)
            assert all(np.flatnonzero(row).tolist() == action.tolist() for row in rows)
            weights, _ = total.weights(None, np.append(action, 0), draw, 30, 2, None, plays)
            assert weights.tolist() == [1.0] * len(action) + [1.0 if 0 in action else 30.0]
    return counts


@for_each(
    ("kind", "detours"),
    [
        (nx.DiGraph, 0), (nx.DiGraph, 1), (nx.MultiDiGraph, 0), (nx.MultiDiGraph, 2),
        (nx.Graph, 0), (nx.MultiGraph, 0),
    ],
)  # fmt: skip
def test_no_route_is_an_error_only_if_networkx_finds_none(kind, detours):
    """And a route outside the class is the shortest open one by the totals."""
    counts = [routed(kind, detours, seed) for seed in range(10)]
    assert np.sum(counts, axis=0).min() >= (30 if detours == 0 else 5)


def test_a_street_that_only_a_way_round_replaces():
    """Three links of it lead no closer, and two detours are too few."""
    street = [(0, 1), (1, 2), (2, 3), (3, 4)]
    way_round = [(0, "a"), ("a", "b"), ("b", "c"), ("c", 4)]
    town = nx.Graph(street + way_round).to_directed()
    edges = list(town.edges)
    is_open = [edge != (2, 3) for edge in edges]
    for detours in (0, 1, 2):
        minutes = [9.0 if {"c", 4} == set(edge) else 1.0 for edge in edges]
        routes = Paths.towards(town, 0, 4, weight=minutes, detours=detours)
        assert routes.exact == (detours == 0)
        for kind in (hn.ContextFTPL, hn.ContextSemiBanditFTPL):
            driver = kind(routes, seed=0)
            for n in range(6):
                action = driver.act(available=is_open if n % 2 else None)
                assert routes.route(action) == ([0, "a", "b", "c", 4] if n % 2 else [0, 1, 2, 3, 4])
                losses = np.full(16, 0.5)
                driver.update(losses if kind is hn.ContextFTPL else losses[action])
            notes = driver.certificate().notes
            assert any("in 3 rounds the policy class had no available set" in n for n in notes)
            assert driver.regret_bound() is None
            assert driver.propensities(draws=20, available=is_open).probabilities[action].all()
    with pytest.raises(InfeasibleError, match=r"2 edges .* not available, such as \(2, 3\)"):
        driver.act(available=[edge not in [(2, 3), ("a", "b")] for edge in edges])
    driver.act()
    driver.update(np.full(16, 0.5)[:4])


@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_a_learner_outside_its_class_continues_from_a_file(kind, tmp_path):
    """With open decisions, whose feedback comes out of order."""
    town = nx.Graph([(0, 1), (1, 2), (2, 3), (0, "a"), ("a", "b"), ("b", "c"), ("c", 3)])
    routes = Paths.towards(town, 0, 3)
    learner = kind(routes, loss_range=(0.0, 2.0), seed=0)
    closed = [edge != (1, 2) for edge in routes.edges]

    def play(each, seed):
        rng, actions = np.random.default_rng(seed), []
        for n in range(20):
            decisions = each.decide_many([None] * 2, available=[closed if n % 2 else None, closed])
            for decision in reversed(decisions):
                actions.append(decision.action.tolist())
                losses = rng.random(7)
                each.update(
                    losses if kind is hn.ContextFTPL else losses[actions[-1]], decision=decision
                )
        return actions

    play(learner, 0)
    waiting = learner.decide(available=closed)
    assert routes.route(waiting.action) == [0, "a", "b", "c", 3]
    learner.save(tmp_path / "learner")
    twin = hn.load(tmp_path / "learner")
    for each in (learner, twin):
        each.update(np.ones(7 if kind is hn.ContextFTPL else 4), decision=waiting.id)
    assert play(learner, 1) == play(twin, 1)
    assert twin.certificate().notes == learner.certificate().notes


def test_edges_that_are_not_usable_replace_closed_ones_only_if_they_may():
    roads, usable = [("a", "b"), ("b", "c"), ("a", "c")], [True, True, False]
    plays = np.array([-1, 1, 2])
    with pytest.raises(InfeasibleError, match=r"No path of usable edges.*astray"):
        Paths(roads, "a", "c", usable).objective().action(None, WITHOUT_NOISE, None, plays)
    routes = Paths(roads, "a", "c", usable, astray=[False, False, True])
    assert routes.objective().action(None, WITHOUT_NOISE, None, plays).tolist() == [2]
    with pytest.raises(ParameterError, match="one or two rows"):
        Paths(roads, "a", "c", usable, astray=np.ones((3, 3), dtype=bool))
    with pytest.raises(ParameterError, match="3 weights"):
        Paths(roads, "a", "c", weight=[1.0])


def test_unseen_links_count_at_their_weights_in_the_unit_of_the_totals():
    """Totals are in hours, weights in minutes: an unseen way round of 50 beats one of 70."""
    roads = [("s", "t"), ("s", "x"), ("x", "t"), ("s", "y"), ("y", "t")]
    routes = Paths.towards(roads, "s", "t", weight=[20.0, 25.0, 25.0, 35.0, 35.0])
    routes = Paths(roads, "s", "t", [True] + [False] * 4, astray=[True] * 5, weight=routes.weight)
    total = routes.objective()
    total.add(None, np.array([2.0, 0.0, 0.0, 3.6, 3.6]))  # the second way round was better so far
    plays = np.array([-1, 1, 2, 3, 4])
    assert total.action(None, WITHOUT_NOISE, None, plays).tolist() == [1, 2]
    total.add(None, np.array([2.0, 6.0, 6.0, 3.6, 3.6]))
    assert total.action(None, WITHOUT_NOISE, None, plays).tolist() == [1, 2]
    total.add(None, np.array([0.0, 6.0, 6.0, 0.0, 0.0]))
    assert total.action(None, WITHOUT_NOISE, None, plays).tolist() == [3, 4]


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph, nx.Graph, list, pd.DataFrame])
def test_many_pairs_are_read_like_each_by_itself(kind, tmp_path):
    both = ROADS if kind is not nx.Graph else ROADS[::2]
    network = kind(both, columns=["tail", "head"]) if kind is pd.DataFrame else kind(both)
    many = Paths.many(network, [["a", "d"], ("d", "a"), ("b", "c")], zones=["a"])
    assert list(many) == [("a", "d"), ("d", "a"), ("b", "c")]
    for pair, routes in many.items():
        alone = Paths.towards(network, *pair, zones=["a"])
        assert routes.edges == alone.edges
        assert routes.usable.tolist() == alone.usable.tolist()
    assert many["a", "d"].has_available(None, np.arange(many["a", "d"].n_actions))
    if kind is not nx.Graph:
        trips = PerContext(many, shared=True)
        driver = hn.ContextFTPL(trips, seed=0)
        for t in range(6):
            driver.act(list(many)[t % 3])
            driver.update(np.linspace(0.1, 0.9, 9))
        driver.save(tmp_path / "trips")
        twin = hn.load(tmp_path / "trips")
        assert all(
            routes.graph is twin.oracle.problem(("a", "d")).graph
            for routes in twin.oracle.problems()
        )
        for pair in many:
            assert twin.act(pair).tolist() == driver.act(pair).tolist()
    for bad in (3, [], [("a",)]):
        with pytest.raises(HannanError, match="pairs"):
            Paths.many(network, bad)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph, nx.Graph, nx.MultiGraph, list])
def test_a_graph_that_is_changed_later_is_kept_as_it_was_read(kind, tmp_path):
    roads = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    graph = kind(roads)
    trees = kind in (nx.Graph, nx.MultiGraph)
    oracle = hn.oracles.SpanningTrees(graph) if trees else Paths(graph, "a", "d")
    driver = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for _ in range(20):
        driver.update(np.linspace(0.1, 0.4, 4)[driver.act()])
    driver.save(tmp_path / "before")
    graph.remove(("a", "b")) if kind is list else graph.remove_edge("a", "b")
    driver.save(tmp_path / "after")
    plays = [action.tolist() for action in driver.would_play(copies=9)]
    for name in ("before", "after"):
        twin = hn.load(tmp_path / name)
        assert twin.oracle.edges == oracle.edges
        assert [action.tolist() for action in twin.would_play(copies=9)] == plays
        assert twin.best_policy().names == driver.best_policy().names


def test_a_mapping_that_is_changed_later_changes_no_trips():
    roads = [("a", "b"), ("b", "c"), ("a", "c")]
    trips = {"near": Paths(roads, "a", "b"), "far": Paths(roads, "a", "c")}
    routes = PerContext(trips)
    del trips["near"]
    assert hn.ContextFTPL(routes, seed=0).act("near").tolist() == [0]
