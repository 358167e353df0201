import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.environments import LeaderPunisher, PlantedPolicy, Switching
from tests import naive, problems

CONTRACT = {
    "PlantedPolicy": PlantedPolicy(problems.FINITE),
    "PlantedPolicy, sets": PlantedPolicy(problems.PAIRS, ["rain", "sun"]),
    "LeaderPunisher": LeaderPunisher(problems.ALL),
    "LeaderPunisher, own solver": LeaderPunisher(problems.FUNCTION, range(4)),
    "Switching": Switching(problems.FINITE, switches=3),
}


def rounds(world, horizon, seed=0):
    found = []
    for this_round in world.rounds(horizon, np.random.default_rng(seed)):
        found.append((this_round.context, this_round.reveal(0)))
    return found


def rates(found, d, K):
    """Mean loss of every element on every context."""
    total, count = np.zeros((d, K)), np.zeros(d)
    for context, losses in found:
        total[context] += losses
        count[context] += 1
    return total / count[:, None]


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_following_the_leader_loses_every_round_to_its_punisher(kind, seed):
    oracle, _ = problems.make(kind, seed=seed)
    world = LeaderPunisher(oracle, range(3))
    trace = hn.play(hn.baselines.FollowTheLeader(oracle), world, 300, seed=seed)
    assert (trace.losses == 1.0).all()


def test_the_punisher_costs_the_best_policy_much_less():
    oracle, rows = problems.make("FinitePolicies", d=4, N=10, seed=1)
    found = rounds(LeaderPunisher(oracle), 1000)
    assert naive.best_value(rows, found) < 0.6 * 1000


def test_the_punisher_punishes_only_what_the_leader_would_choose():
    oracle, rows = problems.make("FinitePolicies", seed=2)
    found = rounds(LeaderPunisher(oracle, good=0.0, bad=0.0), 200)
    for t, (context, losses) in enumerate(found):
        leads = rows[naive.leader(rows, found[:t])][context]
        assert losses.tolist() == [float(j == leads) for j in range(3)]


@pytest.mark.stat
def test_the_planted_policy_is_the_best_by_the_declared_rates():
    # Each rate is compared by an exact test; all together fail with probability below 1e-3.
    oracle, rows = problems.make("FinitePolicies", d=2, K=3, N=6, seed=0)
    found = rounds(PlantedPolicy(oracle, good=0.2, bad=0.6), 3000, seed=5)
    planted = rows[naive.leader(rows, found)]
    for x in range(2):
        here = [losses for context, losses in found if context == x]
        assert stats.binomtest(len(here), 3000, 0.5).pvalue > 1e-4
        for j in range(3):
            rate = 0.2 if planted[x] == j else 0.6
            ones = int(sum(losses[j] for losses in here))
            assert stats.binomtest(ones, len(here), rate).pvalue > 1e-4


def test_every_seed_plants_its_own_policy():
    oracle = hn.oracles.AllPolicies(6, 3)
    world = PlantedPolicy(oracle, good=0.0, bad=1.0)
    planted = set()
    for seed in range(10):
        table = rates(rounds(world, 200, seed), 6, 3)
        planted.add(tuple(table.argmin(axis=1).tolist()))
    assert len(planted) > 5


@pytest.mark.parametrize("switches", [0, 1, 3, 7])
def test_the_planted_policy_changes_so_many_times(switches):
    # With losses 0 on the planted policy and 1 elsewhere, each round shows its action.
    oracle = hn.oracles.AllPolicies(1, 50)
    horizon = 10 * (switches + 1)
    found = rounds(Switching(oracle, switches=switches, good=0.0, bad=1.0), horizon, seed=3)
    planted = [int(losses.argmin()) for _, losses in found]
    assert all(losses.sum() == 49 for _, losses in found)
    changes = [t for t in range(1, horizon) if planted[t] != planted[t - 1]]
    assert changes == [10 * k for k in range(1, switches + 1)]


def test_switching_without_switches_is_a_planted_policy():
    oracle, _ = problems.make("AllPolicies")
    a = rounds(Switching(oracle, switches=0), 100)
    b = rounds(PlantedPolicy(oracle), 100)
    assert all(x == y and (u == v).all() for (x, u), (y, v) in zip(a, b, strict=True))


@pytest.mark.parametrize("world", [PlantedPolicy, LeaderPunisher, Switching])
def test_contexts_may_be_rows(world):
    rows = np.arange(8)[:, None] >> np.arange(3) & 1
    found = rounds(world(hn.oracles.Disjunctions(3), list(rows)), 20)
    assert {tuple(x) for x, _ in found} <= set(map(tuple, rows))


@pytest.mark.parametrize("world", [PlantedPolicy, LeaderPunisher, Switching])
def test_an_oracle_without_contexts_needs_some(world):
    oracle, _ = problems.make("FunctionOracle")
    with pytest.raises(hn.ParameterError, match="contexts="):
        world(oracle)
    with pytest.raises(hn.ParameterError, match="n_actions"):
        world(oracle.clone(n_actions=None), [0, 1])


@pytest.mark.parametrize("world", [PlantedPolicy, LeaderPunisher, Switching])
@pytest.mark.parametrize(("name", "value"), [("good", -0.1), ("bad", 1.5), ("bad", "much")])
def test_rates_that_are_no_probabilities_are_refused(world, name, value):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of {world.__name__}"):
        world(hn.oracles.AllPolicies(2, 2), **{name: value})


@pytest.mark.parametrize(("world", "name", "value"), [
    (LeaderPunisher, "planted", 0),
    (Switching, "switches", -1),
    (Switching, "switches", 1.5),
])  # fmt: skip
def test_counts_outside_their_range_are_refused(world, name, value):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter"):
        world(hn.oracles.AllPolicies(2, 2), **{name: value})
