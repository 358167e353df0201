import networkx as nx
import numpy as np
import pytest

import hannan as hn
from hannan.core import HannanError
from tests import naive_combinatorial
from tests.for_each import for_each

CONTRACT = {
    "Matchings": hn.oracles.Matchings(2, 3),
    "Matchings, some pairs": hn.oracles.Matchings(2, 3, [(1, 2), (0, 0), (0, 1), (1, 1)]),
    "Matchings, fewer": hn.oracles.Matchings(2, 3, everyone=False),
    "Matchings, fewer of some pairs": hn.oracles.Matchings(2, 2, [(1, 1), (0, 1)], everyone=False),
}


@for_each("seed", range(100))
def test_equals_permutations(seed):
    rng = np.random.default_rng(seed)
    left, right = (int(n) for n in rng.integers(1, 5, size=2))
    oracle = hn.oracles.Matchings(left, right)
    sets = naive_combinatorial.matchings(left, right)
    assert oracle.log_size([None]) == pytest.approx(np.log(len(sets)), abs=1e-9)
    naive_combinatorial.agrees(oracle, sets, rng)


def test_pairs_are_read_off_an_action():
    oracle = hn.oracles.Matchings(3, 2)
    assert oracle.pairs(np.array([1, 4])) == [(0, 1), (2, 0)]
    assert hn.oracles.Matchings(1, 3).pairs(2) == [(0, 2)]


@pytest.mark.parametrize("arguments", [(0, 2), (2, 0), (2, 1.5), ("2", 2), (None, 1)])
def test_bad_sizes_are_refused(arguments):
    with pytest.raises(HannanError, match="Matchings"):
        hn.oracles.Matchings(*arguments)


def test_losses_come_flat():
    learner = hn.ContextFTPL(hn.oracles.Matchings(2, 3))
    learner.act()
    with pytest.raises(HannanError, match="6 numbers"):
        learner.update(np.zeros((2, 3)))


@for_each("seed", range(60))
def test_edges_leave_only_the_assignments_along_them(seed):
    rng = np.random.default_rng(seed)
    left, right = (int(n) for n in rng.integers(1, 5, size=2))
    pairs = [(i, j) for i in range(left) for j in range(right) if rng.random() < 0.7]
    rng.shuffle(pairs)
    number = {tuple(pair): e for e, pair in enumerate(pairs)}
    everywhere = [
        [divmod(cell, right) for cell in cells]
        for cells in naive_combinatorial.matchings(left, right)
    ]
    sets = [
        {number[pair] for pair in chosen}
        for chosen in everywhere
        if all(pair in number for pair in chosen)
    ]
    if not sets:
        with pytest.raises(HannanError):
            hn.oracles.Matchings(left, right, pairs)
        return
    oracle = hn.oracles.Matchings(left, right, pairs)
    assert oracle.n_actions == len(pairs)
    assert oracle.log_size([None]) >= np.log(len(sets)) - 1e-9
    naive_combinatorial.agrees(oracle, sets, rng)
    chosen = oracle.objective().leader()(None)
    assert oracle.pairs(chosen) == [tuple(pairs[j]) for j in np.atleast_1d(chosen)]
    assert oracle.clone().edges is oracle.edges


@for_each("seed", range(60))
def test_fewer_may_be_paired(seed):
    rng = np.random.default_rng(seed)
    left, right = (int(n) for n in rng.integers(1, 4, size=2))
    pairs = [(i, j) for i in range(left) for j in range(right)]
    every = hn.oracles.Matchings(left, right, everyone=False)
    sets = naive_combinatorial.partial_matchings(pairs)
    assert every.log_size([None]) == pytest.approx(np.log(len(sets)), abs=1e-9)
    naive_combinatorial.agrees(every, sets, rng)
    some = [pair for pair in pairs if rng.random() < 0.6] or pairs[:1]
    rng.shuffle(some)
    oracle = hn.oracles.Matchings(left, right, some, everyone=False)
    sets = naive_combinatorial.partial_matchings([tuple(pair) for pair in some])
    assert oracle.log_size([None]) >= np.log(len(sets)) - 1e-9
    naive_combinatorial.agrees(oracle, sets, rng)


def test_whoever_is_left_alone_is_named():
    names = {"left": ["Ann", "Bob"], "right": ["airport", "centre"]}
    rides = hn.oracles.Matchings(2, 2, **names)
    dispatcher = hn.ContextFTPL(rides, seed=0)
    assert len(dispatcher.act(available=[0, 1])) == 1  # only Ann is here today
    with pytest.raises(hn.InfeasibleError, match="no pair is available"):
        dispatcher.act(available=[])
    three = hn.oracles.Matchings(3, 3, left=["Ann", "Bob", "Cem"])
    dispatcher = hn.ContextFTPL(three, seed=0)
    with pytest.raises(
        hn.InfeasibleError, match=r"4 pairs .* for '(Bob|Cem)'\..*everyone=False.*\(-R, 0\)"
    ):
        dispatcher.act(available=[0, 1, 2, 3, 6])
    with pytest.raises(hn.InfeasibleError, match=r"left for [12]\."):
        hn.oracles.Matchings(3, 3, [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)])
    fewer = hn.oracles.Matchings(2, 2, everyone=False, **names)
    dispatcher = hn.ContextFTPL(fewer, loss_range=(-1.0, 0.0), epsilon=1e6, seed=0)
    dispatcher.act()
    dispatcher.update([-0.5, -0.9, -0.4, -0.1])
    assert fewer.pairs(dispatcher.act(available=[0, 1])) == [("Ann", "centre")]
    assert fewer.pairs(dispatcher.act(available=[])) == []
    with pytest.raises(HannanError, match="'left' parameter"):
        hn.oracles.Matchings(2, 2, left=["Ann"])
    with pytest.raises(HannanError, match="a table of two columns"):
        hn.oracles.Matchings.of({"Ann": "airport"})
    with pytest.raises(HannanError, match=r"different pairs.*Got \('Ann', 'centre'\)"):
        hn.oracles.Matchings.of([("Ann", "centre"), ("Bob", "airport"), ("Ann", "centre")])


@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_a_day_with_fewer_jobs_or_drivers_works(kind):
    """Six jobs and eight drivers, of whom some are here; each present one on the smaller side."""
    rng = np.random.default_rng(0)
    oracle = hn.oracles.Matchings(6, 8)
    dispatcher = kind(oracle, seed=0)
    for _ in range(60):
        jobs, drivers = rng.random(6) < 0.5, rng.random(8) < 0.4
        jobs[0] = drivers[1] = True
        action = dispatcher.act(available=np.outer(jobs, drivers).ravel())
        pairs = oracle.pairs(action)
        assert len(pairs) == min(jobs.sum(), drivers.sum())
        assert all(jobs[i] and drivers[j] for i, j in pairs)
        losses = rng.random(48)
        dispatcher.update(losses if kind is hn.ContextFTPL else losses[action])


def test_a_bipartite_graph_is_read_from_its_attribute_or_from_one_side():
    graph = nx.Graph()
    graph.add_nodes_from(["late", "early"], bipartite=1)
    graph.add_nodes_from(["Ann", "Bob", "Cid"], bipartite=0)
    graph.add_edges_from([("late", "Ann"), ("Bob", "early"), ("Cid", "early")])
    oracle = hn.oracles.Matchings.of(graph)
    assert (oracle.n_left, oracle.n_right) == (3, 2)
    assert [
        (list(graph.edges)[e], pair) for e, pair in enumerate(oracle.edges)
    ] == [
        (("late", "Ann"), (0, 0)),
        (("early", "Bob"), (1, 1)),
        (("early", "Cid"), (2, 1)),
    ]  # fmt: skip
    other = hn.oracles.Matchings.of(graph, left=["late", "early"])
    assert other.edges == [(j, i) for i, j in oracle.edges]
    total = oracle.objective()
    total.add(None, np.array([0.5, 0.9, 0.1]))
    assert total.leader()(None).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("edges", "told"),
    [
        ([(0, 0), (1, 2)], r"below \(2, 2\). Got \(1, 2\)"),
        ([(0, 0), (0, 0), (1, 1)], "different pairs"),
        ([(0, 0), (1, 0)], "No assignment"),
        ([], "pairs of integers"),
        ([(0.5, 1)], "pairs of integers"),
        ([(0, 1), (1,)], "pairs of integers"),
        ("ab", "pairs of integers"),
    ],
)
def test_bad_edges_are_refused(edges, told):
    with pytest.raises(HannanError, match=told):
        hn.oracles.Matchings(2, 2, edges)


def test_graphs_that_are_not_bipartite_are_refused():
    graph = nx.Graph([("a", "b"), ("b", "c")])
    with pytest.raises(HannanError, match="'a' and 'b' are both on the left"):
        hn.oracles.Matchings.of(graph, left=["a", "b"])
    with pytest.raises(HannanError, match="both on the right"):
        hn.oracles.Matchings.of(graph)
    with pytest.raises(HannanError, match="'z', which is not a node"):
        hn.oracles.Matchings.of(graph, left=["a", "z"])
    with pytest.raises(HannanError, match="different pairs"):
        hn.oracles.Matchings.of(nx.MultiGraph([("a", "b"), ("a", "b")]), left=["a"])
