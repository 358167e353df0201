"""FinitePolicies whose actions are sets of elements."""

import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.perturbation import seed_key
from tests import naive_bandit, problems

CONTRACT = {"FinitePolicies, slates": problems.SLATES}


def random_sets(N, d, K, m, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([[rng.permutation(K)[:m] for _ in range(d)] for _ in range(N)])


def random_booleans(N, d, K, seed=0):
    return np.random.default_rng(seed).random((N, d, K)) < 0.4


def rows_of(table):
    """Rows for the slow twins, from either form of table."""
    if table.dtype == bool:
        return [[tuple(np.flatnonzero(cell)) for cell in row] for row in table]
    return [[tuple(sorted(cell)) for cell in row] for row in table]


def test_integers_and_booleans_describe_the_same_class():
    table = random_sets(12, 3, 5, 2)
    boolean = np.zeros((12, 3, 5), bool)
    np.put_along_axis(boolean, table, True, axis=2)
    one, other = hn.oracles.FinitePolicies(table), hn.oracles.FinitePolicies(boolean)
    for n, x in itertools.product(range(12), range(3)):
        action = one.policy(n)(x)
        assert action.tolist() == sorted(table[n, x].tolist()) == other.policy(n)(x).tolist()
    assert one.max_chosen == other.max_chosen == 2
    assert one.antichain
    assert other.antichain
    noises = [oracle.noise(range(3), seed_key(1), 0, 2**20) for oracle in (one, other)]
    found = [
        [p.index for p in oracle.objective().leaders(Draw(noise, 0, 1.0), 50)]
        for oracle, noise in zip((one, other), noises, strict=True)
    ]
    assert found[0] == found[1]
    assert len(set(found[0])) > 5


def test_an_action_handed_out_is_the_callers_own():
    oracle = hn.oracles.FinitePolicies([[[0, 2]], [[1, 2]]])
    oracle.policy(0)(None)[:] = 7
    assert oracle.policy(0)(None).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[[0, 0]], [[1, 2]]], {}, "different"),
        ([[[0, 3]], [[1, 2]]], {"n_actions": 3}, "0 to n_actions - 1"),
        ([[[0, -1]], [[1, 2]]], {}, "-1"),
        (np.zeros((2, 1, 3), bool), {"n_actions": 4}, "n_actions=3"),
        (np.zeros((2, 0, 3), bool), {}, "at least one"),
        (np.zeros((2, 1, 3, 1), int), {}, "shape"),
    ],
)
def test_bad_tables_of_sets_are_refused(table, options, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.oracles.FinitePolicies(table, **options)


def test_real_numbers_are_refused_as_elements():
    with pytest.raises(hn.InputTypeError, match="integer"):
        hn.oracles.FinitePolicies([[[0.0, 1.0]]])


@pytest.mark.parametrize("kind", ["m-sets", "any sets"])
@pytest.mark.parametrize(("N", "d", "K"), [(1, 1, 1), (7, 2, 4), (40, 5, 6), (300, 3, 9)])
def test_projected_noise_is_the_sum_over_chosen_cells(kind, N, d, K):
    table = random_sets(N, d, K, (K + 1) // 2) if kind == "m-sets" else random_booleans(N, d, K)
    oracle, rows = hn.oracles.FinitePolicies(table, n_actions=K), rows_of(table)
    X = list(range(d))[::-1]
    noise = oracle.noise(X, seed_key(3), 0, 2**20)
    for draw in (0, 5, 17, 40):
        row = noise.blocks.locate(draw)
        found = noise.blocks.block[row, :N]
        unit = noise.unit(draw)
        expected = [
            sum(naive_bandit.loss(unit[i], policy[x]) for i, x in enumerate(X)) for policy in rows
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["m-sets", "any sets"])
@pytest.mark.parametrize("scale", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_leaders_equal_brute_force(kind, scale, seed):
    table = random_sets(25, 3, 5, 2, seed) if kind == "m-sets" else random_booleans(25, 3, 5, seed)
    oracle, rows = hn.oracles.FinitePolicies(table, n_actions=5), rows_of(table)
    total, scores = oracle.objective(), np.zeros(25)
    rng = np.random.default_rng(seed)
    for _ in range(6):  # halves, so that sums are exact and ties occur
        x, losses = int(rng.integers(3)), rng.integers(-2, 3, size=5) / 2.0
        total.add(x, losses)
        scores += [naive_bandit.loss(losses, row[x]) for row in rows]
    noise = oracle.noise(range(3), seed_key(seed), 0, 2**20)
    for draw in range(20):
        zeta = noise.unit(draw)
        best = naive_bandit.leader(rows, scores, range(3), zeta, scale)
        found = total.leaders(Draw(noise, draw, scale), 1)[0]
        assert found.index == best
        for x in range(3):
            assert total.action(x, Draw(noise, draw, scale)).tolist() == list(rows[best][x])
            chosen = total.chosen(x, Draw(noise, draw, scale), 1)[0]
            assert np.flatnonzero(chosen).tolist() == list(rows[best][x])
        value = scores[best] + scale * sum(
            naive_bandit.loss(zeta[x], rows[best][x]) for x in range(3)
        )
        assert total.minima(Draw(noise, draw, scale), 1)[0] == pytest.approx(
            value, rel=1e-4, abs=1e-4
        )


def test_ties_go_to_the_first_set():
    oracle = hn.oracles.FinitePolicies([[[2, 3]], [[0, 1]], [[0, 2]]])
    total = oracle.objective()
    assert total.leader().index == 0
    total.add(0, np.array([0.0, 0.0, 0.5, 0.0]))
    assert total.leader().index == 1
    total.add(0, np.array([0.0, 1.0, -0.5, 0.0]))
    assert total.leader().index == 0


def test_settling_and_tilting_agree_with_adding():
    table = random_booleans(30, 2, 4, seed=5)
    oracle = hn.oracles.FinitePolicies(table)
    noise = oracle.noise(range(2), seed_key(0), 0, 2**20)
    losses = np.array([0.5, -1.0, 0.25, 2.0])
    plain, settled = oracle.objective(), oracle.objective()
    plain.add(1, losses)
    expected = plain.action(1, Draw(noise, 3, 0.4))
    assert settled.action(1, Draw(noise, 3, 0.4), losses).tolist() == expected.tolist()
    assert settled.settle(1, losses, Draw(noise, 3, 0.4)).tolist() == expected.tolist()
    np.testing.assert_array_equal(settled.scores, plain.scores)


@pytest.mark.parametrize(
    ("sets", "largest", "antichain"),
    [
        ([[1, 0, 0], [0, 1, 0]], 1, True),
        ([[1, 1, 0], [0, 1, 1]], 2, True),
        ([[1, 1, 0], [0, 1, 0]], 2, False),
        ([[0, 0, 0], [1, 1, 1]], 3, False),
    ],
)
def test_the_size_of_the_largest_set_and_antichains_are_known(sets, largest, antichain):
    oracle = hn.oracles.FinitePolicies(np.array(sets, bool)[:, None, :])
    assert (oracle.max_chosen, oracle.antichain) == (largest, antichain)


def test_the_empty_set_costs_nothing_whatever_the_noise():
    oracle = hn.oracles.FinitePolicies(np.array([[[0, 0]], [[1, 1]]], bool))
    noise = oracle.noise([0], seed_key(0), 0, 2**20)
    total = oracle.objective()
    total.add(0, np.array([100.0, 100.0]))
    for draw in range(20):
        assert total.action(0, Draw(noise, draw, 1.0)).tolist() == []
        assert total.minima(Draw(noise, draw, 1.0), 1)[0] == 0.0


def test_classes_of_sets_count_distinct_policies():
    oracle = hn.oracles.FinitePolicies([[[0, 1], [0, 1]], [[1, 0], [1, 0]], [[0, 1], [0, 2]]])
    assert oracle.log_size([0, 1]) == pytest.approx(np.log(2))
    assert oracle.log_size([0]) == 0.0
    assert oracle.separates([1])
    assert not oracle.separates([0])


@pytest.mark.parametrize("n_actions", [9, 70])
def test_elements_beyond_a_byte_are_kept_apart(n_actions):
    table = np.zeros((n_actions, 1, n_actions), bool)
    table[np.arange(n_actions), 0, np.arange(n_actions)] = True
    oracle = hn.oracles.FinitePolicies(table)
    assert [oracle.policy(n)(0).tolist() for n in range(n_actions)] == [
        [n] for n in range(n_actions)
    ]
