import numpy as np
import pytest

import hannan as hn
from hannan.core import HannanError
from tests import naive_combinatorial
from tests.for_each import for_each

CONTRACT = {"PartitionMatroid": hn.oracles.PartitionMatroid([0, 1, 0, 1, 1], [1, 2])}


@for_each("seed", range(120))
def test_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 8))
    n_groups = int(rng.integers(1, K + 1))
    groups = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=K - n_groups)])
    rng.shuffle(groups)
    capacities = rng.integers(0, 4, size=n_groups)
    capacities[0] = max(1, capacities[0])
    bases = bool(rng.integers(2))
    oracle = hn.oracles.PartitionMatroid(groups.tolist(), capacities.tolist(), bases)
    naive_combinatorial.agrees(
        oracle, naive_combinatorial.within_capacities(groups, capacities, bases), rng
    )


def test_groups_may_have_names():
    named = hn.oracles.PartitionMatroid(["b", "a", "b"], {"a": 1, "b": 1})
    numbered = hn.oracles.PartitionMatroid(np.array([1, 0, 1]), 1)
    losses = np.array([2.0, 5.0, 1.0])
    for oracle in (named, numbered):
        total = oracle.objective()
        total.add(None, losses)
        assert total.leader()(None).tolist() == [1, 2]
    assert named.names == ["b", "a"]
    assert numbered.names == [0, 1]


def test_ties_go_to_the_smallest_element():
    oracle = hn.oracles.PartitionMatroid([0, 1, 0, 1, 0], [2, 1])
    assert oracle.objective().leader()(None).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("groups", "capacities", "words"),
    [
        ([], 1, "non-empty"),
        ([0, 1], [1, 1, 1], "group 2 is empty"),
        ([0, 2], [1, 1, 1], "group 1 is empty"),
        (["a"], {"a": 1, "b": 1}, "'b' is empty"),
        (["a", "b"], {"a": 1}, "'b' has none"),
        (["a", "b"], [1, 1], "groups are"),
        ([0, 1], [1, -1], "integers >= 0"),
        ([0, 1], [1, 1.5], "integers >= 0"),
        ([0, 1], 0, "positive"),
        ([[0], [1]], 1, "one group for each element"),
    ],
)
def test_bad_groups_are_refused(groups, capacities, words):
    with pytest.raises(HannanError, match=words):
        hn.oracles.PartitionMatroid(groups, capacities)


def test_bases_is_a_flag():
    with pytest.raises(HannanError, match="bases"):
        hn.oracles.PartitionMatroid([0], 1, bases=2)
