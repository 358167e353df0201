import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.environments import Bait
from tests import naive, problems

CONTRACT = {
    "Bait": Bait(problems.FINITE),
    "Bait, means": Bait(problems.ALL, noisy=False),
}


def rounds(world, horizon, seed=0):
    rng = np.random.default_rng(seed)
    return [(r.context, r.reveal(0)) for r in world.rounds(horizon, rng)]


def test_the_means_are_those_declared_and_change_after_the_first_part():
    oracle, rows = problems.make("FinitePolicies", d=3, K=3, N=8, seed=4)
    world = Bait(oracle, early=0.8, late=0.2, other=0.6, part=0.3, noisy=False)
    found = rounds(world, 200)
    planted = rows[naive.leader(rows, found[60:])]
    for t, (context, losses) in enumerate(found):
        expected = np.full(3, 0.6)
        expected[planted[context]] = 0.8 if t < 60 else 0.2
        assert losses.tolist() == expected.tolist()


@pytest.mark.stat
def test_losses_are_coins_with_these_means():
    # Eight exact tests at 1e-4: two contexts, early and late, the bait and the others.
    oracle = hn.oracles.AllPolicies(2, 3)
    found = rounds(Bait(oracle), 10_000, seed=1)
    planted = rounds(Bait(oracle, noisy=False), 10_000, seed=1)
    assert set(np.ravel([v for _, v in found]).tolist()) == {0.0, 1.0}
    bait = [int(np.argmin(next(v for x, v in planted[2000:] if x == c))) for c in range(2)]
    for some, rate in ((found[:2000], 0.9), (found[2000:], 0.1)):
        for c in range(2):
            here = np.array([losses for x, losses in some if x == c])
            ones = int(here[:, bait[c]].sum())
            assert stats.binomtest(ones, len(here), rate).pvalue > 1e-4
            others = np.delete(here, bait[c], axis=1)
            assert stats.binomtest(int(others.sum()), others.size, 0.5).pvalue > 1e-4


def test_the_best_policy_is_the_bait_and_pays_a_quarter():
    oracle, rows = problems.make("FinitePolicies", d=20, K=3, N=50, seed=0)
    found = rounds(Bait(oracle, noisy=False), 5000)
    assert naive.best_value(rows, found) / 5000 == pytest.approx(0.26)


def test_every_seed_has_its_own_bait():
    world = Bait(hn.oracles.AllPolicies(1, 50), noisy=False)
    assert len({int(rounds(world, 10, seed)[-1][1].argmin()) for seed in range(10)}) > 5


def test_nothing_depends_on_what_is_played():
    assert Bait(hn.oracles.AllPolicies(2, 2)).oblivious


@pytest.mark.parametrize("part", [0.0, 1.0])
def test_a_part_may_be_empty(part):
    found = rounds(Bait(hn.oracles.AllPolicies(1, 2), part=part, noisy=False), 20)
    value = 0.9 if part else 0.1
    assert all(sorted(losses.tolist()) == sorted([value, 0.5]) for _, losses in found)


@pytest.mark.parametrize("name", ["early", "late", "other", "part"])
def test_numbers_that_are_no_probabilities_are_refused(name):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of Bait"):
        Bait(hn.oracles.AllPolicies(2, 2), **{name: 1.2})
