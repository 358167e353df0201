"""The separator property by brute force, and how small separators get."""

import itertools

import numpy as np
import pytest

import hannan as hn
from hannan import separators
from tests import naive_formulas as naive


def separates(rows):
    """Whether all rows differ, from the definition: pair by pair."""
    return all(a != b for a, b in itertools.combinations([tuple(row) for row in rows], 2))


def distinguish(table, contexts):
    """Whether rows that differ at all differ on these columns, pair by pair."""
    table = np.asarray(table)
    return all(
        (a[contexts] != b[contexts]).any()
        for a, b in itertools.combinations(table, 2) if (a != b).any()
    )  # fmt: skip


def by_size(table):
    """The smallest separator, by trying all sets."""
    d = np.shape(table)[1]
    for size in range(d + 1):
        for columns in itertools.combinations(range(d), size):
            if distinguish(table, list(columns)):
                return size
    raise AssertionError


@pytest.mark.parametrize("n", range(1, 7))
def test_sparse_vectors_separate_monotone_formulas(n):
    for kind, points in (
        ("Disjunctions", separators.disjunctions(n)),
        ("Conjunctions", separators.conjunctions(n)),
    ):
        play = naive.PLAYS[kind]
        assert points.shape == (n, n)
        rows = [[play(S, row) for row in points] for S in naive.subsets(n)]
        assert separates(rows)
        for i in range(n):  # and none of them can be spared
            assert not separates([row[:i] + row[i + 1 :] for row in rows])
        assert separators.is_separator(getattr(hn.oracles, kind)(n), points)
        if n > 1:
            assert not separators.is_separator(getattr(hn.oracles, kind)(n), points[1:])


def test_the_separators_of_the_two_classes_are_not_interchangeable():
    assert not separators.is_separator(hn.oracles.Conjunctions(3), separators.disjunctions(3))
    assert not separators.is_separator(hn.oracles.Disjunctions(3), separators.conjunctions(3))


def test_unit_vectors_do_not_separate_formulas_with_negations():
    # As printed the example speaks of disjunctions without saying that they are monotone.
    everywhere = list(itertools.product([0, 1], repeat=3))
    first = [int(not x[0] or not x[1]) for x in everywhere]
    second = [int(not x[0] or not x[2]) for x in everywhere]
    units = [everywhere.index(tuple(row)) for row in separators.disjunctions(3)]
    assert first != second
    assert [first[i] for i in units] == [second[i] for i in units]
    assert not separators.is_separator([first, second], units)


@pytest.mark.parametrize(("n", "steps"), [(1, 1), (1, 4), (2, 3), (3, 2), (2, 5)])
def test_axis_points_separate_intercept_classifiers(n, steps):
    points = separators.intercept_classifiers(n, 1 / steps)
    oracle = hn.oracles.InterceptClassifiers(n, 1 / steps)
    assert points.shape == (n * steps, n)
    classifiers = naive.classifiers(n, steps)
    assert separates([[naive.far(a, row) for row in points] for a in classifiers])
    assert separators.is_separator(oracle, points)

    # As printed, with points between neighbouring intercepts only, it does not separate.
    printed = points[points.max(axis=1) < 1.0]
    assert not separates([[naive.far(a, row) for row in printed] for a in classifiers])
    if len(printed):
        assert not separators.is_separator(oracle, printed)

    # Below the smallest intercept every classifier plays 0: nothing is gained there.
    low = np.eye(n) / (2 * steps)
    assert not any(naive.far(a, row) for a in classifiers for row in low)


def test_separators_off_the_axes_are_recognised_too():
    oracle = hn.oracles.InterceptClassifiers(2, 0.5)
    points = separators.intercept_classifiers(2, 0.5) + 1e-3
    rows = [[naive.far(a, row) for row in points] for a in naive.classifiers(2, 2)]
    assert separators.is_separator(oracle, points) == separates(rows)
    grid = np.array(list(itertools.product(np.arange(0.0, 1.3, 0.26), repeat=2)))
    rows = [[naive.far(a, row) for row in grid] for a in naive.classifiers(2, 2)]
    assert separators.is_separator(oracle, grid) == separates(rows)


def test_a_class_that_cannot_tell_says_so():
    with pytest.raises(hn.ParameterError, match="cannot decide"):
        separators.is_separator(hn.oracles.InterceptClassifiers(20, 0.1), np.ones((1, 20)))


def test_small_separators_of_random_tables():
    rng = np.random.default_rng(0)
    for _ in range(120):
        N, d, K = int(rng.integers(1, 12)), int(rng.integers(1, 7)), int(rng.integers(1, 4))
        table = rng.integers(K, size=(N, d))
        some, fewest = separators.greedy(table), separators.smallest(table)
        assert distinguish(table, some)
        assert distinguish(table, fewest)
        assert separators.is_separator(table, some) or not some
        assert len(fewest) == by_size(table) <= len(some)
        assert some == sorted(set(some))
        assert separators.greedy(hn.oracles.FinitePolicies(table)) == some
        points = sorted(rng.choice(d, int(rng.integers(1, d + 1)), replace=False).tolist())
        assert separators.is_separator(table, points) == distinguish(table, points)
        if len(fewest) > 1:
            with pytest.raises(hn.ParameterError, match="separator"):
                hn.ContextFTPL(hn.oracles.FinitePolicies(table), separator=fewest[1:])


def test_listed_disjunctions_need_the_unit_vectors():
    n = 4
    everywhere = list(itertools.product([0, 1], repeat=n))
    table = [[naive.disjunction(S, row) for row in everywhere] for S in naive.subsets(n)]
    units = sorted(everywhere.index(tuple(row)) for row in separators.disjunctions(n))
    assert separators.smallest(table) == units
    assert separators.greedy(table) == units


def test_sets_are_told_apart_as_well():
    slates = np.array([[[0, 1], [1, 2]], [[0, 1], [0, 2]], [[0, 1], [2, 3]]])
    assert separators.greedy(slates) == separators.smallest(slates) == [1]


def test_one_policy_needs_no_context():
    assert separators.greedy([[0, 1], [0, 1]]) == separators.smallest([[0, 1], [0, 1]]) == []


def test_greedy_goes_through_thousands_of_policies():
    table = np.random.default_rng(1).integers(2, size=(4000, 200))
    found = separators.greedy(table)
    assert len(np.unique(table[:, found], axis=0)) == len(np.unique(table, axis=0))
    assert 12 <= len(found) <= 26
