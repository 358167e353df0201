import copy
import math
import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

import hannan as hn
from hannan.core.learner import learner_rng
from tests import naive_baselines, problems
from tests.cases import Match

CONTRACT = {
    "EpochGreedy": Match(hn.baselines.EpochGreedy(problems.FINITE, seed=0), problems.PLANTED),
}


def play(learner, rounds):
    actions = []
    for context, losses in rounds:
        actions.append(learner.act(context))
        learner.update(float(losses[actions[-1]]))
    return actions


@pytest.mark.parametrize("kind", problems.KINDS)
def test_play_equals_a_run_by_hand(kind):
    oracle, rows = problems.make(kind)
    rounds = [(x, losses / 3) for x, losses in problems.rounds(3, 3, 400, high=3)]
    learner = hn.baselines.EpochGreedy(oracle, log_size=1.5, seed=2)
    expected, exploring = naive_baselines.epoch_greedy(rows, rounds, 3, 1.5, 2)
    assert play(learner, rounds) == expected
    assert learner.explored == sum(exploring)
    assert learner.oracle_calls == sum(
        exploring[t] and t + 1 < len(rounds) for t in range(len(rounds))
    )


def test_one_run_on_paper():
    # K = 2 and log N = 1/2, so s_n = max(1, ⌊√(n/2)⌋): 1 until n = 7, 2 until 17, then 3.
    learner = hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, 2), log_size=0.5, seed=0)
    explored = []
    totals = [0.0, 0.0]
    for _ in range(60):
        before = learner.explored
        action = learner.act()
        learner.update(0.25 if action else 0.75)
        explored.append(learner.explored > before)
        if explored[-1]:
            totals[action] += 2 * (0.25 if action else 0.75)
        else:
            assert action == (0 if totals[0] <= totals[1] else 1)
    assert np.flatnonzero(explored).tolist() == [
        *range(0, 14, 2),
        *range(14, 44, 3),
        44,
        48,
        52,
        56,
    ]


def test_following_teaches_nothing():
    oracle, rows = problems.make("FinitePolicies")
    rounds = [(x, losses / 3) for x, losses in problems.rounds(3, 3, 200, high=3)]
    expected, exploring = naive_baselines.epoch_greedy(
        rows, rounds, 3, oracle.log_size(range(3)), 0
    )
    changed = [
        (x, losses if explore else 1 - losses)
        for (x, losses), explore in zip(rounds, exploring, strict=True)
    ]
    assert play(hn.baselines.EpochGreedy(oracle, seed=0), changed) == expected


@pytest.mark.stat
def test_exploring_is_uniform():
    learner = hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, 4), seed=0)
    assert stats.chisquare(np.bincount(learner.would_play(copies=4000))).pvalue > 1e-4
    assert learner.explored == learner.rounds == 0
    played = []
    while learner.explored < 1000:
        exploring = learner._left == 0
        action = learner.act()
        learner.update(1.0)
        played += [action] if exploring else []
    assert stats.chisquare(np.bincount(played, minlength=4)).pvalue > 1e-4


def test_the_number_of_exploring_rounds():
    # 2M is the bound on regret; M as the guarantee says.
    for K, log_N in ((2, 0.5), (3, 2.0), (10, 6.0)):
        learner = hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, K), log_size=log_N)
        T = 0
        for n in range(1, 3000):
            assert n <= 1 + (4.5 * K * log_N) ** (1 / 3) * (T + 1) ** (2 / 3)
            s = learner._following(n)
            assert s * min(1.0, math.sqrt(2 * K * log_N / n)) <= 1.0
            T += 1 + s


@pytest.mark.slow
@pytest.mark.stat
def test_the_leader_is_as_good_as_the_schedule_assumes():
    # E L(leader) - min L ≤ √(2 K log N / n), where all policies are close to each other.
    K, n, games = 3, 60, 300
    rows = np.random.default_rng(0).integers(K, size=(40, 6))
    oracle = hn.oracles.FinitePolicies(rows, n_actions=K)
    means = np.random.default_rng(1).uniform(0.3, 0.7, size=(6, K))
    values = means[np.arange(6), rows].mean(axis=1)
    excess = []
    for seed in range(games):
        rng = np.random.default_rng([2, seed])
        learner = hn.baselines.EpochGreedy(oracle, seed=seed)
        while learner.explored < n:
            context = int(rng.integers(6))
            learner.update(float(rng.random() < means[context, learner.act(context)]))
        leader = learner.best_policy()
        excess.append(means[np.arange(6), [leader(x) for x in range(6)]].mean() - values.min())
    bound = math.sqrt(2 * K * math.log(40) / n)
    assert 0 < np.mean(excess) + 4 * np.std(excess) / math.sqrt(games) <= bound


@pytest.mark.slow
@pytest.mark.stat
def test_mean_regret_is_below_its_bound_in_an_independent_world():
    rows = np.random.default_rng(1).integers(3, size=(30, 4))
    oracle = hn.oracles.FinitePolicies(rows, n_actions=3)
    world = hn.environments.PlantedPolicy(oracle, good=0.2, bad=0.8)
    for T in (300, 3000):
        regrets = [
            hn.play(hn.baselines.EpochGreedy(oracle, seed=s), world, T, seed=s).regret()
            for s in range(12)
        ]
        bound = 2 + 2 * (4.5 * 3 * math.log(30)) ** (1 / 3) * T ** (2 / 3)
        assert np.mean(regrets) + 4.5 * np.std(regrets) / math.sqrt(12) <= min(bound, 0.5 * T)
        assert np.mean(regrets) > 0


ROWS = np.random.default_rng(0).random((12, 2)).round(1)
ANY = {
    "LinearPolicies": (hn.oracles.LinearPolicies(3), ROWS),
    "Stumps": (hn.oracles.Stumps(3), ROWS),
    "Trees": (hn.oracles.Trees(2), ROWS),
    "SklearnPolicies": (
        hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=1, random_state=0), 2),
        ROWS,
    ),
    "Thresholds": (hn.oracles.Thresholds(3), [0.1, 0.5, 0.9]),
    "Disjunctions": (hn.oracles.Disjunctions(4), range(16)),
    "PerContext": (hn.oracles.PerContext(hn.oracles.AllPolicies(1, 3), ["a", "b"]), ["a", "b"]),
    "Subsets": (hn.oracles.Subsets(4, 1), [None]),
    "Switching": (
        hn.oracles.Switching(hn.oracles.AllPolicies(2, 3), 1, sequence=[0, 1] * 30),
        [0, 1],
    ),
}


@pytest.mark.parametrize("name", ANY)
def test_any_oracle_will_do_and_copies_play_on(name):
    oracle, contexts = ANY[name]
    rng = np.random.default_rng(3)
    contexts = [contexts[t % len(contexts)] for t in range(60)]
    rounds = [(x, rng.random(oracle.n_actions)) for x in contexts]
    learner = hn.baselines.EpochGreedy(oracle, seed=1)
    play(learner, rounds[:30])
    twins = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    assert len(learner.would_play(contexts[30], copies=5)) == 5
    expected = play(learner, rounds[30:])
    assert all(play(twin, rounds[30:]) == expected for twin in twins)
    assert len(set(expected)) > 1
    assert 0 < learner.explored < 60


def test_how_many_policies_there_are():
    def spread(*given, **options):
        return hn.baselines.EpochGreedy(*given, **options)._spread

    assert spread(hn.oracles.AllPolicies(5, 3)) == pytest.approx(2 * 3 * 5 * math.log(3))
    linear = hn.oracles.LinearPolicies(3)
    assert spread(linear) == 6.0
    assert spread(linear, ROWS) == pytest.approx(6 * linear.log_size(linear.check_contexts(ROWS)))
    assert spread(linear, ROWS, log_size=2) == 12.0


def test_a_single_policy_needs_no_exploring():
    learner = hn.baselines.EpochGreedy(hn.oracles.FinitePolicies([[1, 0]], n_actions=2), seed=0)
    assert play(learner, [(t % 2, np.zeros(2)) for t in range(41)])[1:] == [0, 1] * 20
    assert learner.explored == 1


def test_bad_settings_are_refused():
    with pytest.raises(hn.ParameterError, match="single actions"):
        hn.baselines.EpochGreedy(hn.oracles.Subsets(4, 2))
    for bad in (-1.0, "many", np.inf, True):
        with pytest.raises(hn.ParameterError, match="'log_size' parameter of EpochGreedy"):
            hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, 2), log_size=bad)
    with pytest.raises(hn.ParameterError, match="loss_range"):
        hn.baselines.EpochGreedy(hn.oracles.AllPolicies(1, 2), loss_range=None)


def test_an_unavailable_choice_is_charged_what_was_played_for_it():
    # Every policy plays one action; 2 is not available, and 0 or 1 is played for it.
    rows = [[0], [1], [2]]
    learner = hn.baselines.EpochGreedy(hn.oracles.FinitePolicies(rows), seed=3)
    rng, totals, losses = learner_rng(3), np.zeros(3), np.array([0.2, 0.9])
    for _ in range(60):
        explored, substitute = learner.explored, learner.prepare(0, [0, 1]).plays[2]
        action = learner.act(0, available=[0, 1])
        learner.update(float(losses[action]))
        chosen = int(rng.integers(3)) if learner.explored > explored else int(totals.argmin())
        assert action == (substitute if chosen == 2 else chosen)
        if learner.explored > explored:
            totals[chosen] += 3 * losses[action]
    np.testing.assert_allclose(learner._estimates.scores[:3], totals)
    assert totals.all()
