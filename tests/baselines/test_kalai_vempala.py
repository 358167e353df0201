import math

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.baselines import KalaiVempala
from hannan.baselines.kalai_vempala import exponential_complexity
from hannan.core.oracle import with_rounds
from tests import naive, problems
from tests.cases import Match
from tests.statistics import same_distribution

PATHS = hn.oracles.Paths([(0, 1), (1, 3), (0, 2), (2, 3), (1, 2)], 0, 3)
CONTRACT = {
    "KalaiVempala": Match(KalaiVempala(problems.FINITE, seed=0), problems.PUNISHER),
    "KalaiVempala, tuned": Match(
        KalaiVempala(problems.ALL, horizon=60, seed=0),
        hn.environments.LeaderPunisher(problems.ALL),
        no_regret=False,  # a tuned ε does not suit every horizon
    ),
}


def leaders(rows, history, draws, scale, K, seed=1):
    """The policies that lead under one-sided noise, one for each draw, from the definition."""
    d = len(rows[0])
    rng = np.random.default_rng(seed)
    scores = np.array([sum(loss[row[x]] for x, loss in history) for row in rows])
    inclusion = np.array([np.eye(K)[row].ravel() for row in rows])
    noise = rng.exponential(scale=scale, size=(draws, d * K))
    return np.argmin(scores - noise @ inclusion.T, axis=1)


@pytest.mark.stat
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_experts_are_played_as_in_a_direct_simulation(epsilon):
    # A game of 9000 rounds with zero losses after a few real ones: 9000 draws of one distribution.
    oracle = hn.oracles.AllPolicies(1, 4)
    history = problems.rounds(1, 4, 6, seed=3)
    learner = KalaiVempala(oracle, epsilon=epsilon, seed=0)
    problems.play(learner, history)
    found = problems.play(learner, [(0, np.zeros(4))] * 9000)
    totals = np.sum([losses for _, losses in history], axis=0)
    noise = np.random.default_rng(1).exponential(scale=1.0 / epsilon, size=(9000, 4))
    expected = np.argmin(totals - noise, axis=1)
    assert len(set(expected.tolist())) > 1
    assert same_distribution(found, expected) > 1e-4


@pytest.mark.stat
def test_two_experts_are_played_with_the_probability_worked_out_by_hand():
    # ξ_1 - ξ_2 is Laplace: an expert behind by g leads with probability exp(-εg)/2.
    learner = KalaiVempala(hn.oracles.AllPolicies(1, 2), epsilon=0.5, seed=0)
    learner.act(0)
    learner.update([1.0, 0.0])
    found = sum(a == 0 for a in problems.play(learner, [(0, np.zeros(2))] * 6000))
    assert stats.binomtest(found, 6000, 0.5 * math.exp(-0.5)).pvalue > 1e-4


@pytest.mark.stat
@pytest.mark.parametrize("kind", problems.KINDS)
def test_every_context_and_element_carries_noise(kind):
    oracle, rows = problems.make(kind, d=2)
    history = problems.rounds(2, 3, 4, seed=5)
    learner = KalaiVempala(oracle, range(2), epsilon=0.5, seed=0)
    problems.play(learner, history)
    found = problems.play(learner, [(1, np.zeros(3))] * 2500)
    expected = [rows[n][1] for n in leaders(rows, history, 2500, 2.0, 3)]
    assert len(set(expected)) > 1
    assert same_distribution(found, expected) > 1e-4


@pytest.mark.stat
def test_longer_actions_are_not_favoured():
    # Three edges or two: the noise of a path has mean zero whatever its length.
    learner = KalaiVempala(PATHS, epsilon=0.7, seed=0)
    found = [len(a) for a in problems.play(learner, [(None, np.zeros(5))] * 4000)]
    noise = 1.0 - np.random.default_rng(0).exponential(size=(4000, 5))
    member = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 1]])
    expected = member.sum(axis=1)[np.argmin(noise @ member.T, axis=1)]
    assert same_distribution(found, expected) > 1e-4


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize(
    ("options", "scale"),
    [({}, math.sqrt(2 * 5 / (1 / 2 + 1 / 3))), ({"horizon": 12}, math.sqrt(12 / (1 / 2 + 1 / 3)))],
)
def test_the_noise_has_the_documented_size(options, scale):
    # The first action of the fifth round, over learners, with losses in a range of width 2.
    history = [(0, np.array([1.0, 0.0, -1.0]))] * 4
    found = []
    for seed in range(2500):
        learner = KalaiVempala(
            hn.oracles.AllPolicies(1, 3), seed=seed, loss_range=(-1, 1), **options
        )
        problems.play(learner, history)
        found.append(learner.act(0))
    expected = leaders([[0], [1], [2]], history, 2500, 2.0 * scale, 3)
    assert same_distribution(found, expected) > 1e-4


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("options", [{}, {"horizon": 400}, {"epsilon": 0.1}])
@pytest.mark.parametrize("policies", ["experts", "finite", "paths"])
def test_regret_stays_below_the_bound_where_leaders_are_punished(policies, options):
    # Mean of seeds plus three standard errors; following the leader breaks the bound.
    T, seeds = 400, 20
    oracle = {
        "experts": hn.oracles.AllPolicies(1, 5),
        "finite": problems.make("FinitePolicies", d=4, N=30)[0],
        "paths": PATHS,
    }[policies]
    world = hn.environments.LeaderPunisher(oracle)
    regrets, bounds = [], set()
    for seed in range(seeds):
        learner = KalaiVempala(oracle, seed=seed, **options)
        regrets.append(hn.play(learner, world, T, seed=seed).regret())
        bounds.add(learner.regret_bound())
    (bound,) = bounds
    assert np.mean(regrets) + 3 * np.std(regrets) / math.sqrt(seeds) < bound
    if policies == "experts":
        leader = hn.play(hn.baselines.FollowTheLeader(oracle), world, T, seed=0)
        assert leader.regret() > bound


def test_the_complexity_bounds_what_a_policy_can_make_of_the_noise():
    rng = np.random.default_rng(0)
    for oracle in (
        hn.oracles.AllPolicies(1, 6),
        hn.oracles.AllPolicies(3, 2),
        hn.oracles.FinitePolicies(rng.integers(0, 4, size=(8, 20)), n_actions=4),
        hn.oracles.Subsets(6, 2),
        PATHS,
    ):
        known = oracle.check_contexts(oracle.contexts)
        draws = []
        for _ in range(400):
            fakes = 1.0 - rng.exponential(size=(len(known), oracle.n_actions))
            total = with_rounds(oracle.objective(), known, fakes)
            draws.append(-total.minima()[0])
        H = exponential_complexity(oracle, known)
        error = np.std(draws) / 20
        assert np.mean(draws) - 4 * error < H < 4 * np.mean(draws)
        if isinstance(oracle, hn.oracles.AllPolicies):
            assert abs(np.mean(draws) - H) < 4 * error


def test_the_seed_fixes_the_play_and_noise_is_fresh():
    oracle = hn.oracles.AllPolicies(3, 3)
    rounds = problems.rounds(3, 3, 100)
    plays = [problems.play(KalaiVempala(oracle, seed=s), rounds) for s in (1, 1, 2)]
    assert plays[0] == plays[1] != plays[2]
    learner = KalaiVempala(oracle, epsilon=0.1, seed=0)
    assert len({learner.act(0) for _ in range(30)}) == 3  # though no round was answered
    assert len(set(problems.play(learner, [(0, np.zeros(3))] * 30))) == 3


def test_the_noise_of_a_round_is_a_function_of_the_seed_and_its_number():
    oracle = hn.oracles.AllPolicies(2, 2)
    units = []
    for seed in (0, 0, 1):
        learner = KalaiVempala(oracle, epsilon=1.0, seed=seed)
        later = learner._rows + 3  # in the second block, which is reached at once or by and by
        for number in (later,) if len(units) else (0, later, 5, later):
            unit = learner._noise(number)
        units.append(unit)
    assert np.array_equal(units[0], units[1])
    # The same place in the first block.
    assert not np.array_equal(learner._noise(3), units[2])
    assert not np.array_equal(units[0], units[2])


@pytest.mark.stat
def test_copies_with_other_noise_play_the_same_law():
    learner = KalaiVempala(hn.oracles.AllPolicies(1, 3), epsilon=0.5, seed=0)
    problems.play(learner, [(0, np.array([1.0, 0.0, 0.5]))] * 3)
    copies = learner.would_play(0, copies=2000, seed=4)
    own = problems.play(learner, [(0, np.zeros(3))] * 2000)
    assert same_distribution(copies, own) > 1e-4


def test_best_policy_is_the_leader_without_noise():
    oracle, rows = problems.make("FinitePolicies")
    history = problems.rounds(3, 3, 30)
    learner = KalaiVempala(oracle, epsilon=0.01, seed=0)
    problems.play(learner, history)
    assert learner.best_policy().index == naive.leader(rows, history)


def test_one_policy_needs_no_noise_and_has_no_regret():
    learner = KalaiVempala(hn.oracles.AllPolicies(1, 1), seed=0)
    assert problems.play(learner, [(0, np.ones(1))] * 3) == [0, 0, 0]
    assert learner.regret_bound() == 0.0


@pytest.mark.parametrize(
    ("oracle", "options"),
    [
        (hn.oracles.Subsets(4, 2, exactly=False), {"loss_range": (-1.0, 1.0)}),
        (PATHS, {"loss_range": (-1.0, 1.0)}),
        (hn.oracles.LinearPolicies(n_actions=2), {"contexts": [[0.0], [1.0]]}),
    ],
)
def test_nothing_is_promised_where_the_argument_fails(oracle, options):
    learner = KalaiVempala(oracle, seed=0, **options)
    learner.act(learner._perturbed[0])
    learner.update(np.zeros(oracle.n_actions))
    assert learner.regret_bound() is None


def test_signed_losses_are_as_good_as_others_where_all_actions_have_one_size():
    learners = [
        KalaiVempala(hn.oracles.Subsets(4, 2), seed=0, loss_range=r) for r in ((0, 1), (-1, 0))
    ]
    for learner in learners:
        learner.act()
        learner.update(np.zeros(4))
    assert learners[0].regret_bound() == learners[1].regret_bound()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda o: KalaiVempala(o, epsilon=0.0), hn.ParameterError, "'epsilon' parameter"),
        (lambda o: KalaiVempala(o, horizon=0), hn.ParameterError, "'horizon' parameter"),
        (lambda o: KalaiVempala(o, loss_range=None), hn.ParameterError, "'loss_range' parameter"),
        (lambda o: KalaiVempala(o, []), hn.ParameterError, "'contexts' parameter"),
        (lambda o: KalaiVempala(o, [0]).act(1), hn.ContextError, "declared contexts"),
        (lambda o: KalaiVempala(hn.oracles.Stumps(2)), hn.ParameterError, "pass contexts="),
        (
            lambda o: KalaiVempala(hn.oracles.FunctionOracle(naive.solver([[0]])), [0]),
            hn.ParameterError,
            "n_actions=",
        ),
    ],
)
def test_bad_arguments_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make(hn.oracles.AllPolicies(2, 2))
