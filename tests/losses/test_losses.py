import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.checks import PARAMETER_CHECKS
from hannan.losses._terms import Terms
from hannan.losses.custom import require_submodular
from tests import naive_sets


@pytest.mark.parametrize("kind", naive_sets.ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("integer", [True, False])
def test_values_are_submodular_and_within_the_extremes(kind, integer):
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 5):
        for _ in range(10):
            f = kind(n, rng, naive_sets.Numbers(rng, integer))
            values = naive_sets.table(f, n)
            low, high = f.extremes()
            assert f.n_actions == n
            assert low <= values.min() + 1e-12
            assert values.max() <= high + 1e-12
            assert naive_sets.is_submodular(values, n)
            require_submodular(f, 40)


@pytest.mark.parametrize("kind", naive_sets.ALL, ids=lambda kind: kind.__name__)
def test_parameters_round_trip(kind):
    rng = np.random.default_rng(2)
    f = kind(4, rng, naive_sets.Numbers(rng, True))
    for check in PARAMETER_CHECKS:
        check(f)
    assert (naive_sets.table(f, 4) == naive_sets.table(f.clone(), 4)).all()


def test_a_cut_is_the_capacity_that_leaves():
    f = hn.losses.Cut([0, 0, 1, 2, 2], [1, 1, 2, 0, 2], [1, 2, 4, 8, 16], n=3)
    assert [f(A) for A in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2])] == [
        0, 3, 4, 8, 4, 3, 8, 0,
    ]  # fmt: skip
    both = hn.losses.Cut([0, 1], [1, 2], 1.0, n=3, directed=False)
    assert [both(A) for A in ([0], [1], [2], [0, 2], 1)] == [1, 2, 1, 2, 2]


def test_coverage_counts_an_item_once():
    f = hn.losses.Coverage([[0, 1], [1, 1], [], [3]], weights=[1, 2, 4, 8])
    assert [f(A) for A in ([0], [1], [0, 1], [2], [3], [0, 1, 2, 3])] == [3, 2, 3, 0, 8, 11]
    assert hn.losses.Coverage([[5], [5, 7]])([0, 1]) == 2.0
    assert hn.losses.Coverage([[], []])([0, 1]) == 0.0


def test_sums_and_multiples_add_up():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        parts = naive_sets.random_sum(naive_sets.ALL, n, rng, False) or [
            hn.losses.Linear([1.0] * n)
        ]
        scales = rng.uniform(0, 2, len(parts))
        total = hn.losses.Sum(parts, scales)
        expected = sum(s * naive_sets.table(f, n) for f, s in zip(parts, scales, strict=True))
        assert np.allclose(naive_sets.table(total, n), expected)
        low, high = total.extremes()
        assert low <= expected.min() + 1e-9
        assert expected.max() <= high + 1e-9
        order = rng.permutation(n)
        chain = [total(np.sort(order[:k])) for k in range(n + 1)]
        assert np.allclose(total.terms.chain(order), chain)


def test_equal_terms_are_counted_not_listed():
    total = Terms(3)
    root = hn.losses.ConcaveOfModular([1.0, 2.0, 0.0])
    again = hn.losses.ConcaveOfModular([1.0, 2.0, 0.0])
    own = hn.losses.Custom(lambda chosen: float(len(chosen) > 0), n=3)
    for f in (root, again, own, own, 0.5 * root + own):
        total.add(Terms.of(f))
    assert [count for _, count in total.bends.values()] == [2.5]
    assert [count for _, count in total.others.values()] == [3.0]
    assert total.value(np.array([True, False, False])) == 5.5


def test_totals_can_be_pickled_and_go_on():
    root = hn.losses.ConcaveOfModular([1.0, 2.0], abs)
    total = pickle.loads(pickle.dumps((root, root.terms)))
    again, terms = total
    terms.add(again.terms)
    assert [count for _, count in terms.bends.values()] == [2.0]


def test_a_function_of_ones_own_is_bounded_by_submodularity():
    rng = np.random.default_rng(4)
    for _ in range(30):
        n = int(rng.integers(1, 7))
        parts = naive_sets.random_sum(naive_sets.GRAPHS, n, rng, False)
        f = hn.losses.Sum(parts or [hn.losses.Linear([0.0] * n)])
        low, high = hn.losses.Custom(f, n).extremes()
        values = naive_sets.table(f, n)
        assert low <= values.min() + 1e-9
        assert values.max() <= high + 1e-9


def test_the_largest_value_of_a_concave_function_is_bounded():
    for peak in (0.0, 0.3, 1.7, 3.0):
        f = hn.losses.ConcaveOfModular([1.0] * 3, lambda x, peak=peak: -abs(x - peak))
        low, high = f.extremes()
        assert low == min(-peak, peak - 3.0)
        assert 0.0 <= high < 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda L: L.Linear([]), "weights"),
        (lambda L: L.Linear([[1.0]]), "weights"),
        (lambda L: L.Linear([1.0, np.nan]), "position 1"),
        (lambda L: L.Linear(["a"]), "weights"),
        (lambda L: L.Linear([1.0], offset=np.inf), "offset"),
        (lambda L: L.Cut([0], [1], [1.0], n=0), "'n'"),
        (lambda L: L.Cut([0], [2], [1.0], n=2), "heads"),
        (lambda L: L.Cut([-1], [1], [1.0], n=2), "tails"),
        (lambda L: L.Cut([0.5], [1], [1.0], n=2), "tails"),
        (lambda L: L.Cut([0, 1], [1], [1.0], n=2), "heads"),
        (lambda L: L.Cut([0], [1], [1.0, 2.0], n=2), "capacities"),
        (lambda L: L.Cut([0], [1], [-1.0], n=2), "submodular"),
        (lambda L: L.Cut([0], [1], [np.nan], n=2), "finite"),
        (lambda L: L.Cut([0], [1], [1.0], n=2, modular=[1.0]), "modular"),
        (lambda L: L.Cut([0], [1], [1.0], n=2, directed=2), "directed"),
        (lambda L: L.Coverage([]), "covers"),
        (lambda L: L.Coverage(3), "covers|list"),
        (lambda L: L.Coverage([[0], [1.5]]), "covers"),
        (lambda L: L.Coverage([[0], [2]], weights=[1.0, 1.0]), "covers"),
        (lambda L: L.Coverage([[0]], weights=[-1.0]), "submodular"),
        (lambda L: L.ConcaveOfModular([1.0, -1.0]), "submodular"),
        (lambda L: L.ConcaveOfModular([]), "weights"),
        (lambda L: L.ConcaveOfModular([1.0], "square"), "'g'"),
        (lambda L: L.ConcaveOfModular([1.0], "cap"), "cap"),
        (lambda L: L.ConcaveOfModular([1.0], "sqrt", cap=1.0), "cap"),
        (lambda L: L.ConcaveOfModular([1.0], lambda x: x * x), "g is convex near"),
        (lambda L: L.ConcaveOfModular([1.0], lambda x: np.nan), "finite"),
        (lambda L: L.ConcaveOfCardinality([0.0]), "values"),
        (lambda L: L.ConcaveOfCardinality([0.0, 1.0, 3.0]), "from 1 to 2"),
        (lambda L: L.Custom(3, n=2), "function"),
        (lambda L: L.Custom(len, n=0), "'n'"),
        (lambda L: L.Custom(len, n=2, bounds=(1, 0)), "bounds"),
        (lambda L: L.Custom(len, n=2, bounds=3), "bounds"),
        (lambda L: L.Custom(len, n=2, bounds=(0, 1))([0, 1]), "outside the declared bounds"),
        (lambda L: L.Custom(lambda chosen: np.nan, n=2)([0]), "finite"),
        (lambda L: L.Sum([]), "Sum"),
        (lambda L: L.Sum([len]), "Sum"),
        (
            lambda L: L.Sum([L.Linear([1.0]), L.Linear([1.0, 2.0])]),
            "of 1 and of 2 elements cannot be added",
        ),
        (lambda L: L.Sum([L.Linear([1.0])], [1.0, 2.0]), "scales"),
        (lambda L: -1.0 * L.Linear([1.0]), "scales"),
        (lambda L: L.Linear([1.0])([1]), "from 0 to 0"),
        (lambda L: L.Linear([1.0])([0.5]), "from 0 to 0"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(hn.HannanError, match=message):
        make(hn.losses)
