import networkx as nx
import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.networks import RoadNetwork
from hannan.oracles import Paths


def random_network(seed, zones=()):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    graph = nx.gnp_random_graph(n, 0.4, seed=seed, directed=True)
    tail, head = zip(*graph.edges, strict=True)
    return RoadNetwork(tail, head, rng.integers(1, 6, size=len(tail)), zones=zones)


def test_times_follow_the_formula():
    roads = RoadNetwork(
        [1, 2], [2, 3], [2.0, 1.0], capacity=[10.0, 5.0], b=[0.15, 1.0], power=[4, 1]
    )
    np.testing.assert_allclose(roads.travel_time([10.0, 10.0]), [2.3, 3.0])
    np.testing.assert_allclose(roads.travel_time([0.0, 0.0]), [2.0, 1.0])
    assert roads.nodes == [1, 2, 3]
    assert roads.n_links == 2


def test_flow_costs_nothing_without_capacity():
    roads = RoadNetwork([1, 2], [2, 3], 1.0, capacity=[np.inf, 0.0], b=[0.15, 0.0])
    np.testing.assert_array_equal(roads.travel_time([5.0, 5.0]), [1.0, 1.0])


@pytest.mark.parametrize("seed", range(40))
def test_links_kept_lead_closer_to_the_target(seed):
    roads = random_network(seed)
    graph = nx.DiGraph()
    for (u, v), time in zip(roads.links, roads.free_flow_time, strict=True):
        graph.add_edge(v, u, weight=time)
    for target in roads.nodes:
        if target not in roads.head:
            continue
        left = nx.single_source_dijkstra_path_length(graph, target)
        expected = [u in left and v in left and left[v] < left[u] for u, v in roads.links]
        np.testing.assert_array_equal(roads.closer(target), expected)
        for source in set(left) - {target}:
            oracle = Paths.towards(roads, source, target)
            assert oracle.edges == roads.links
            total = oracle.objective()
            total.add(None, roads.free_flow_time)
            # A shortest route is never lost.
            assert total.minima()[0] == pytest.approx(left[source])


@pytest.mark.parametrize("seed", range(20))
def test_zones_are_not_passed_through(seed):
    zones = {0, 1, 2}
    roads = random_network(seed, zones)
    for source in roads.nodes:
        for target in zones & set(roads.head) - {source}:
            try:
                oracle = Paths.towards(roads, source, target)
            except hn.InfeasibleError:
                continue
            noise = oracle.noise([None], np.uint64(1), 0, 2**20)
            for policy in oracle.objective().leaders(Draw(noise, 0, 1.0), 30):
                assert not zones & set(policy.nodes[1:-1])


def test_zones_may_be_given_anew():
    roads = RoadNetwork([1, 2, 1, 4], [2, 3, 4, 3], [1.0, 1.0, 5.0, 5.0], zones=[2])
    assert Paths.towards(roads, 1, 3).objective().leader().nodes == [1, 4, 3]
    assert Paths.towards(roads, 1, 3, zones=()).objective().leader().nodes == [1, 2, 3]


def test_links_that_take_no_time_do_not_cut_off_the_target():
    roads = RoadNetwork([1, 2, 2, 3, 3], [2, 1, 3, 2, 4], [0.0, 0.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(roads.closer(4), [True, False, True, False, True])
    assert Paths.towards(roads, 1, 4).objective().leader().nodes == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"free_flow_time": [1.0, -1.0]}, "'free_flow_time'.*-1 for link 2 to 3"),
        ({"free_flow_time": [1.0, np.nan]}, "'free_flow_time'"),
        ({"free_flow_time": [1.0, 2.0, 3.0]}, "one for each of the 2 links"),
        ({"free_flow_time": "fast"}, "'free_flow_time'"),
        ({"capacity": [0.0, 1.0]}, "'capacity'.*link 1 to 2"),
        ({"b": np.inf}, "'b'"),
        ({"head": [2]}, "2 tails and 1 heads"),
        ({"tail": [], "head": []}, "0 tails"),
    ],
)
def test_bad_columns_are_refused(changes, message):
    good = {"tail": [1, 2], "head": [2, 3], "free_flow_time": [1.0, 1.0]}
    with pytest.raises(hn.ParameterError, match=message):
        RoadNetwork(**{**good, **changes})


def test_a_target_no_link_leads_to_is_refused():
    roads = RoadNetwork([1, 2], [2, 3], 1.0)
    with pytest.raises(hn.ParameterError, match="leads to the target 1"):
        Paths.towards(roads, 2, 1)
    with pytest.raises(hn.ParameterError, match="'source'"):
        Paths.towards(roads, 9, 3)
