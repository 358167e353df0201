"""Depth two is compared with its enumeration in `test_stumps`; here is what only trees have."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.oracles import Stumps, Trees
from hannan.perturbation import seed_key
from tests import naive_cuts, problems
from tests.oracles.test_stumps import instance, total_of

CONTRACT = {
    "Trees": (Trees(2), problems.ROWS),
    "Trees, greedy": (Trees(2, depth=3), problems.ROWS),
}


def test_only_two_levels_are_exact():
    assert Trees.exact
    assert Trees(2, depth=1).exact
    assert Trees(2).exact
    assert not Trees(2, depth=3).exact
    learner = hn.ContextFTPL(Trees(2, depth=3), contexts=np.eye(3), seed=0)
    learner.act(np.eye(3)[0])
    learner.update([1.0, 0.0])
    assert "inexact" in str(learner.certificate().notes)


def test_depth_one_is_stumps():
    for seed in range(40):
        rows, K, history = instance(seed)
        totals = [total_of(o, rows, history) for o in (Stumps(K), Trees(K, depth=1))]
        noises = [o.noise(list(rows), seed_key(0), 0, 2**20) for o in (Stumps(K), Trees(K, 1))]
        assert (totals[0].minima() == totals[1].minima()).all()
        values = [t.minima(Draw(z, 0, 2.0), 9) for t, z in zip(totals, noises, strict=True)]
        assert (values[0] == values[1]).all()


def test_greedy_trees_are_at_least_as_good_as_depth_two():
    better = 0
    for seed in range(60):
        rows, K, history = instance(seed, small=seed % 2 == 0)
        pair, deep = Trees(K), Trees(K, depth=4)
        totals = [total_of(o, rows, history) for o in (pair, deep)]
        noises = [o.noise(list(rows), seed_key(seed), 0, 2**20) for o in (pair, deep)]
        shallow = totals[0].minima(Draw(noises[0], 0, 1.0), 4)
        found = totals[1].minima(Draw(noises[1], 0, 1.0), 4)
        assert (found <= shallow + 1e-4).all()
        better += (found < shallow - 0.1).any()
        sums = naive_cuts.sum_by_context(rows, history, K) + noises[1].unit(2)
        assert found[2] >= sums.min(axis=1).sum() - 1e-4
        leader = totals[1].leaders(Draw(noises[1], 2, 1.0), 1)[0]
        plays = np.array([leader(row) for row in rows])
        assert sums[np.arange(len(rows)), plays].sum() == pytest.approx(found[2], abs=1e-4)
    assert better > 5


def test_greedy_trees_of_two_levels_would_be_exact():
    # The kernel of deep trees finds the same depth-two tree as the table does.
    for seed in range(100):
        rows, K, history = instance(seed, small=True)
        deep = Trees(K, depth=3)
        total = total_of(deep, rows, history)
        total.oracle.depth = 2
        sums = naive_cuts.sum_by_context(rows, history, K)
        plays, value = naive_cuts.leader(naive_cuts.trees(rows, K), sums)
        assert total.minima()[0] == value
        assert [total.leader()(row) for row in rows] == plays


def test_three_levels_see_what_two_do_not():
    rows = np.array(np.meshgrid(*[[0.0, 1.0]] * 3)).reshape(3, -1).T
    labels = [int(x != y or (x, y, z) == (1, 1, 1)) for x, y, z in rows]
    totals = [Trees(2, depth=depth).objective() for depth in (2, 3)]
    for total in totals:
        for row, label in zip(rows, labels, strict=True):
            total.add(row, np.eye(2)[1 - label])
    assert [total.minima()[0] for total in totals] == [1.0, 0.0]
    assert [totals[1].leader()(row) for row in rows] == labels
    assert str(totals[1].leader()).count("if") == 4


def test_a_table_too_large_is_refused():
    oracle = Trees(20, n_bins=256)
    with pytest.raises(hn.ParameterError, match="smaller n_bins"):
        oracle.noise(list(np.random.default_rng(0).random((300, 60))), seed_key(0), 0, 1).onto(
            oracle.noise(list(np.random.default_rng(0).random((300, 60))), seed_key(0), 0, 1).grid
        )


@pytest.mark.parametrize("name", ["n_actions", "depth", "n_bins"])
def test_bad_parameters_are_refused(name):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of Trees"):
        Trees(**{"n_actions": 2, name: 0})


@pytest.mark.parametrize("depth", [101, 10**9])
def test_trees_are_not_deeper_than_functions_can_call_themselves(depth):
    with pytest.raises(hn.ParameterError, match="from 1 to 100"):
        hn.oracles.Trees(2, depth=depth)
