"""κ against the stability of small classes, measured with the noise it is about."""

import itertools

import numpy as np
import pytest

import hannan as hn
from hannan.bounds import kappa


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1),
        ({"m": 4, "n_actions": 9, "d": 7, "antichain": False}, 1),
        ({"nonnegative": False}, 1),
        ({"m": 4, "nonnegative": False}, 4),
        ({"m": 4, "n_actions": 9, "nonnegative": False, "antichain": False}, 9),
        ({"setting": "separator", "d": 7}, 7),
        ({"setting": "separator", "d": 7, "m": 4}, 28),
        ({"setting": "separator", "d": 7, "m": 4, "n_actions": 9, "antichain": False}, 63),
    ],
)
def test_values(options, expected):
    assert kappa(**options) == expected


def test_it_is_what_the_learners_use():
    sets = hn.oracles.Subsets(5, 2)
    assert hn.ContextFTPL(sets).leader.kappa == kappa(m=2)
    assert hn.ContextFTPL(sets, loss_range=(-1, 1)).leader.kappa == kappa(m=2, nonnegative=False)
    formulas = hn.oracles.Disjunctions(4)
    learner = hn.ContextSemiBanditFTPL(formulas, separator=hn.separators.disjunctions(4))
    assert learner.leader.kappa == kappa(setting="separator", d=4)


def actions(K, m, antichain):
    sizes = [m] if antichain else range(m + 1)
    chosen = [c for size in sizes for c in itertools.combinations(range(K), size)]
    return np.array([[j in c for j in range(K)] for c in chosen], dtype=float)


def stability(table, contexts, now, before, loss, epsilon, rng, draws=40_000):
    """Draws of f(π_t) - f(π_{t+1}) and of f(π_t)."""
    noise = rng.laplace(scale=1 / epsilon, size=(draws, len(contexts), table.shape[2]))
    totals = np.einsum("nxj,sxj->sn", table[:, contexts], noise) + before
    f = table[:, now] @ loss
    first = totals.argmin(1)
    second = (totals + f).argmin(1)
    return f[first] - f[second], f[first]


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("antichain", [True, False])
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("separator", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_instability_is_at_most_epsilon_kappa_v_squared(antichain, m, separator, signed):
    # 6 random classes each; a true inequality fails its five standard errors with p < 1e-6.
    K, d, N = 4, 2, 8
    rng = np.random.default_rng([antichain, m, separator, signed])
    A = actions(K, m, antichain)
    for _ in range(6):
        rows = rng.integers(len(A), size=(N, d + 1))
        table = A[rows]  # [policy, context, element]; the last context is not perturbed
        _, distinct = np.unique(rows[:, :d], axis=0, return_index=True)
        table = table[np.sort(distinct)]
        now = d if separator else int(rng.integers(d))
        loss = rng.uniform(-1.0 if signed else 0.0, 1.0, size=K)
        before = rng.normal(size=len(table))
        epsilon = float(rng.choice([0.05, 0.3, 1.0]))
        cost, f = stability(table, range(d), now, before, loss, epsilon, rng)
        spread = f - (A @ loss).min() if signed or separator else f
        bound = epsilon * spread**2 * kappa(
            setting="separator" if separator else "transductive",
            d=d, n_actions=K, m=m, nonnegative=not signed, antichain=antichain,
        )  # fmt: skip
        slack = bound - cost
        assert slack.mean() >= -5 * slack.std() / np.sqrt(len(slack))


@pytest.mark.stat
def test_the_range_in_place_of_the_loss_needs_the_larger_constant_for_sets():
    # A set of m elements, and m others that exchange one element each: with κ = 1 the lemma holds
    # for v = f but not for v = f - min f, although losses are linear and not negative.
    m, epsilon, rng = 8, 0.02, np.random.default_rng(0)
    table = np.zeros((m + 1, 1, 2 * m))
    table[:, 0, :m] = 1.0
    for i in range(m):
        table[i + 1, 0, [i, m + i]] = 0.0, 1.0
    loss = np.where(np.arange(2 * m) < m, 1.0 + 1.0 / m, 1.0 / m)
    cost, f = stability(table, range(1), 0, np.zeros(m + 1), loss, epsilon, rng, draws=400_000)
    excess = f - (table[:, 0] @ loss).min()
    assert cost.mean() > 2 * epsilon * (excess**2).mean()
    assert cost.mean() < epsilon * kappa(m=m, nonnegative=False) * (excess**2).mean()
    assert cost.mean() < epsilon * kappa(m=m) * (f**2).mean()
