import itertools

import networkx as nx
import numpy as np
import pandas
import polars
import pytest

import hannan as hn
from hannan.core import HannanError, InfeasibleError
from tests import naive_combinatorial
from tests.for_each import for_each

CONTRACT = {"SpanningTrees": hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2), (2, 3)])}


def random_graph(rng):
    """A connected graph, with parallel edges and loops now and then."""
    n = int(rng.integers(2, 6))
    edges = [(int(rng.integers(v)), v) for v in range(1, n)]
    edges += [tuple(map(int, rng.integers(n, size=2))) for _ in range(int(rng.integers(0, 5)))]
    order = rng.permutation(len(edges))
    return n, [edges[i] for i in order]


@for_each("seed", range(120))
def test_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    n, edges = random_graph(rng)
    oracle = hn.oracles.SpanningTrees(edges)
    number = {node: i for i, node in enumerate(oracle.nodes)}
    sets = naive_combinatorial.spanning_trees(n, [(number[a], number[b]) for a, b in edges])
    assert oracle.edges == edges
    assert oracle.log_size([None]) == pytest.approx(np.log(len(sets)), abs=1e-9)
    naive_combinatorial.agrees(oracle, sets, rng)


@for_each("seed", range(20))
def test_equals_networkx(seed):
    graph = nx.gnm_random_graph(30, 120, seed=seed)
    if not nx.is_connected(graph):
        graph = graph.subgraph(max(nx.connected_components(graph), key=len)).copy()
    oracle = hn.oracles.SpanningTrees(graph)
    costs = np.random.default_rng(seed).normal(size=oracle.n_actions)
    for (u, v), cost in zip(oracle.edges, costs, strict=True):
        graph[u][v]["weight"] = cost
    expected = {frozenset(e) for e in nx.minimum_spanning_edges(graph, data=False)}
    total = oracle.objective()
    total.add(None, costs)
    assert {frozenset(oracle.edges[j]) for j in total.leader()(None)} == expected


def test_all_forms_of_a_graph_are_the_same():
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]

    tails, heads = (np.array(side) for side in zip(*pairs, strict=True))
    forms = [nx.Graph(pairs), nx.MultiGraph(pairs), pairs, np.array(pairs), (tails, heads)]
    for first, second in (("tail", "head"), ("source", "target"), ("u", "v")):
        table = {"length": [1.0] * 4, first: tails.tolist(), second: heads.tolist()}
        forms += [pandas.DataFrame(table), polars.DataFrame(table)]
    for form in forms:
        oracle = hn.oracles.SpanningTrees(form)
        assert set(map(frozenset, oracle.edges)) == set(map(frozenset, pairs))
        assert oracle.rank == 3
    assert hn.oracles.SpanningTrees(forms[2]).edges == pairs


def test_ties_go_to_the_first_edges():
    oracle = hn.oracles.SpanningTrees(list(itertools.combinations(range(4), 2)))
    assert oracle.objective().leader()(None).tolist() == [0, 1, 2]


def test_the_size_of_a_large_graph_is_bounded():
    graph = nx.circulant_graph(2500, [1, 2])
    size = hn.oracles.SpanningTrees(graph).log_size([None])
    assert 2400 < size <= 2499 * np.log(4) + 1e-6


@pytest.mark.parametrize(
    ("graph", "kind", "words"),
    [
        ([(0, 1), (2, 3)], InfeasibleError, "from 0 to 2"),
        (nx.empty_graph(2), HannanError, "at least one edge"),
        ([], HannanError, "at least one edge"),
        (nx.DiGraph([(0, 1)]), HannanError, "undirected"),
        ([(0, 1, 2)], HannanError, "pair"),
        ([(0, None)], HannanError, "missing end"),
        (7, HannanError, "needs a graph"),
        ([([0], 1)], HannanError, "hashable"),
        ((np.arange(3), np.arange(2)), HannanError, "two ends"),
    ],
)
def test_bad_graphs_are_refused(graph, kind, words):
    with pytest.raises(kind, match=words):
        hn.oracles.SpanningTrees(graph)


def test_a_lonely_node_is_named():
    graph = nx.Graph([("a", "b")])
    graph.add_node("island")
    with pytest.raises(InfeasibleError, match="'island'"):
        hn.oracles.SpanningTrees(graph)


def test_a_table_without_ends_is_refused():
    with pytest.raises(HannanError, match="'length', 'toll'"):
        hn.oracles.SpanningTrees(pandas.DataFrame({"length": [1.0], "toll": [2.0]}))
