"""Losses that may be negative: rewards, and sets of any size."""

import itertools
import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.learners.offset import Offset

REWARDS = (-1.0, 0.0)


def play(learner, losses):
    """The actions against these losses, [T, K]."""
    actions = []
    for row in losses:
        actions.append(learner.act())
        learner.update(row[actions[-1]])
    return actions


def regret(oracle, sets, T, seed, loss_range=REWARDS, **options):
    """Regret against the best fixed set, and the learner, in a world of noisy rewards."""
    rng = np.random.default_rng([seed, 1])
    means = np.random.default_rng(5).uniform(0.1, 0.9, oracle.n_actions)
    low, high = loss_range
    losses = low + (high - low) * (rng.random((T, oracle.n_actions)) < means)
    learner = hn.ContextSemiBanditFTPL(oracle, loss_range=loss_range, seed=seed, **options)
    actions = play(learner, losses)
    suffered = sum(row[action].sum() for row, action in zip(losses, actions, strict=True))
    expected = losses.sum(axis=0)
    return suffered - min(expected[list(chosen)].sum() for chosen in sets), learner


def up_to(n, m):
    return [c for size in range(m + 1) for c in itertools.combinations(range(n), size)]


def test_what_is_known_of_a_range():
    sets = hn.oracles.Subsets(5, 3, exactly=False)
    plain = Offset((0.2, 1.0), sets)
    assert (plain.low, plain.top, plain.varies, plain.guess(5)) == (0.0, 1.0, False, None)
    assert plain.without_feedback == 3.0
    rewards = Offset((-2.0, 0.0), sets)
    assert (rewards.low, rewards.top, rewards.varies) == (-2.0, 2.0, True)
    assert rewards.without_feedback == 12.0
    assert rewards.guess(5).tolist() == [-2.0] * 5
    assert rewards.guess(5) is not rewards.guess(5)
    assert Offset((-2.0, 1.0), hn.oracles.Subsets(5, 3)).without_feedback == 9.0
    assert not Offset((-1.0, 1.0), hn.oracles.AllPolicies(2, 3)).varies
    assert Offset((-1.0, 1.0), hn.oracles.Paths([(0, 1), (1, 2), (0, 2)], 0, 2)).varies


@pytest.mark.parametrize("options", [{}, {"epsilon": 0.5}, {"resampling": 1, "epsilon": "anytime"}])
def test_totals_hold_the_lowest_loss_of_what_was_not_chosen(options):
    oracle = hn.oracles.Subsets(5, 3, exactly=False)
    learner = hn.ContextSemiBanditFTPL(oracle, loss_range=(-2.0, 1.0), seed=1, **options)
    rng, totals = np.random.default_rng(0), np.zeros(5)
    for losses in rng.uniform(-2.0, 1.0, size=(60, 5)):
        decision = learner.decide()
        learner.update(losses[decision.action], decision=decision)
        totals -= 2.0
        totals[decision.action] += decision.weights * (losses[decision.action] + 2.0)
        assert np.allclose(learner.leader.total.totals, totals)


def test_a_round_is_decided_as_if_everything_were_to_gain_the_most():
    # Without noise the first leader takes all that it may; a set that lost less than nothing
    # stays below what was not tried.
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(4, 2, exactly=False), loss_range=REWARDS, seed=0
    )
    assert learner.act().tolist() == [0, 1]
    learner.update([0.0, 0.0])
    assert learner.leader.total.totals.tolist() == [0.0, 0.0, -1.0, -1.0]


@pytest.mark.parametrize("oracle", [hn.oracles.Subsets(6, 2), hn.oracles.AllPolicies(1, 4)])
@pytest.mark.parametrize("options", [{}, {"resampling": 1}, {"epsilon": "anytime"}])
def test_a_constant_changes_nothing_where_all_actions_have_one_size(oracle, options):
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 9, size=(200, oracle.n_actions)) / 8.0
    contexts = [None if oracle.max_chosen > 1 else 0] * len(losses)
    plain = hn.ContextSemiBanditFTPL(oracle, seed=3, **options)
    lower = hn.ContextSemiBanditFTPL(oracle, seed=3, loss_range=REWARDS, **options)
    for context, row in zip(contexts, losses, strict=True):
        action = plain.act(context)
        assert np.array_equal(action, lower.act(context))
        plain.update(row[action])
        lower.update(row[action] - 1.0)
    said, also = plain.certificate(), lower.certificate()
    for name in ("stability_estimate", "variance_estimate", "comparator_estimate"):
        one, other = getattr(said, name), getattr(also, name)
        assert (one is None and other is None) or math.isclose(one, other, rel_tol=1e-6)
    assert math.isclose(plain.regret_bound(), lower.regret_bound(), rel_tol=1e-9)


@pytest.mark.parametrize("resampling", ["auto", 1])
def test_estimates_are_right_on_average(resampling):
    oracle = hn.oracles.Subsets(4, 2, exactly=False)
    losses = np.array([-0.2, -0.9, 0.4, -0.5])
    found = []
    for seed in range(4000):
        learner = hn.ContextSemiBanditFTPL(
            oracle, loss_range=(-1.0, 0.5), epsilon=0.6, resampling=resampling, seed=seed
        )
        learner.update(losses[learner.act()])
        found.append(learner.leader.total.totals.copy())
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(len(found))
    # At most five standard errors off, and truncation (L = 2) only makes it smaller.
    assert (mean <= losses + 5.0 * error).all()
    q = learner.propensities(draws=200_000).probabilities  # of the second round: about the same
    assert (mean >= -1.0 + (losses + 1.0) * (1.0 - (1.0 - 0.5 * q) ** 2) - 5.0 * error).all()


@pytest.mark.stat
@pytest.mark.parametrize(
    ("oracle", "sets"),
    [
        (hn.oracles.Subsets(6, 3, exactly=False), up_to(6, 3)),
        (hn.oracles.PartitionMatroid([0, 0, 0, 1, 1, 1], 2, bases=False), None),
    ],
    ids=["subsets", "partition"],
)
def test_regret_is_below_its_bound_and_shrinks_on_average(oracle, sets):
    sets = sets or [
        c for c in up_to(6, 4) if sum(j < 3 for j in c) <= 2 and len(c) - sum(j < 3 for j in c) <= 2
    ]
    means = []
    for T in (200, 800):
        found = [regret(oracle, sets, T, seed) for seed in range(20)]
        regrets = np.array([value for value, _ in found])
        assert regrets.mean() < np.mean([float(each.certificate()) for _, each in found])
        assert regrets.max() < min(each.regret_bound() for _, each in found)
        means.append(regrets.mean() / T)
    assert means[1] < means[0]


def test_gains_and_losses_together_find_the_empty_set_too():
    oracle = hn.oracles.Subsets(4, 2, exactly=False)
    learner = hn.ContextSemiBanditFTPL(oracle, loss_range=(-1.0, 1.0), seed=0)
    play(learner, np.tile([0.8, 0.6, 0.7, 0.9], (400, 1)))
    assert learner.best_policy()().size == 0
    learner = hn.ContextSemiBanditFTPL(oracle, loss_range=(-1.0, 1.0), seed=0)
    play(learner, np.tile([0.8, -0.6, 0.7, 0.9], (400, 1)))
    assert learner.best_policy()().tolist() == [1]


@pytest.mark.stat
def test_mean_reward_is_close_to_that_of_the_best_set():
    rng, rewards = np.random.default_rng(3), np.random.default_rng(0).random(12)
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(12, 5, exactly=False), loss_range=REWARDS, seed=0
    )
    gained = [rewards[learner.act()].sum()]
    learner.update(-rewards[learner.open_round().action])
    for _ in range(4999):
        action = learner.act()
        learner.update(-np.clip(rewards[action] + rng.uniform(-0.1, 0.1, len(action)), 0.0, 1.0))
        gained.append(rewards[action].sum())
    assert np.mean(gained) > 0.9 * np.sort(rewards)[-5:].sum()


def test_a_knapsack_is_filled():
    weights, values = [30, 20, 25, 10, 45], np.array([0.3, 0.9, 0.8, 0.1, 0.9])
    oracle = hn.oracles.LinearProgram([weights], [50])
    learner = hn.ContextSemiBanditFTPL(oracle, loss_range=REWARDS, seed=0)
    actions = play(learner, np.tile(-values, (60, 1)))
    assert learner.best_policy()().tolist() == [1, 2]
    assert all(np.take(weights, action).sum() <= 50 for action in actions)
    assert np.mean([values[action].sum() for action in actions]) > 0.9 * 1.7


def test_of_late_losses_there_is_a_certificate_but_no_bound_where_sizes_differ():
    for oracle, known in ((hn.oracles.Subsets(4, 2, exactly=False), False),
                          (hn.oracles.Subsets(4, 2), True)):  # fmt: skip
        for epsilon in ("adaptive", "anytime"):
            learner = hn.ContextSemiBanditFTPL(oracle, loss_range=REWARDS, epsilon=epsilon, seed=0)
            for _ in range(20):
                first, second = learner.decide(), learner.decide()
                learner.update(np.full(len(second.action), -0.3), decision=second)
                learner.update(np.full(len(first.action), -0.6), decision=first)
            assert (learner.regret_bound() is not None) is known
            assert (learner.worst_case(50, 0, total_delay=9) is not None) is (
                known and epsilon == "adaptive"
            )
            assert (learner.certificate().stability_estimate is None) is (epsilon == "anytime")


def test_open_rounds_are_charged_for_the_guess_that_they_lack():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(4, 2, exactly=False), loss_range=(-1.0, 0.0), epsilon=0.5, seed=0
    )
    before = learner.certificate().comparator_estimate
    learner.decide()
    assert learner.certificate().comparator_estimate == before + 4.0


def test_a_saved_learner_plays_on(tmp_path):
    oracle = hn.oracles.Subsets(5, 3, exactly=False)
    learner = hn.ContextSemiBanditFTPL(oracle, loss_range=(-2.0, 1.0), seed=1)
    losses = np.random.default_rng(2).uniform(-2.0, 1.0, size=(40, 5))
    play(learner, losses)
    open_one, other = learner.decide(), learner.decide()
    learner.save(tmp_path / "learner")
    twin = hn.load(tmp_path / "learner")
    for each in (learner, twin):
        each.update(losses[0][other.action], decision=other.id)
        each.update(losses[1][open_one.action], decision=open_one.id)
    for one, same in zip(play(learner, losses), play(twin, losses), strict=True):
        assert one.tolist() == same.tolist()


@pytest.mark.parametrize("loss_range", [REWARDS, (0.0, 1.0)])
def test_a_round_from_a_file_has_the_guess_that_belongs_to_it(loss_range):
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(4, 2, exactly=False), loss_range=loss_range, seed=0
    )
    learner.act()
    reread(learner)
    learner.open_round().baseline = np.full(4, -3.0) if loss_range[0] else np.zeros(4)
    with pytest.raises(hn.DamagedFileError, match="baseline"):
        reread(learner)
    learner.open_round().baseline = None
    if loss_range[0]:
        with pytest.raises(hn.DamagedFileError, match="baseline"):
            reread(learner)


def test_predictors_guess_in_the_units_of_the_losses():
    rng = np.random.default_rng(0)
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), loss_range=REWARDS, predictor=hn.predictors.Mean(), seed=0
    )
    actions = []
    for _ in range(600):
        actions.append(learner.act(0))
        learner.update(-float(rng.random() < (0.2, 0.8, 0.4)[actions[-1]]))
    assert np.mean(np.array(actions[300:]) == 1) > 0.7
    assert -1.0 <= learner.predictor_.predict(0).min() < 0.0
    sets = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(4, 2, exactly=False),
        loss_range=REWARDS,
        predictor=hn.predictors.Mean(),
        trust="baseline",
        seed=0,
    )
    play(sets, -rng.random((200, 4)) * [0.1, 0.9, 0.2, 0.9])
    assert sets.best_policy()().tolist() == [1, 3]


def test_a_late_round_without_a_surprise_is_measured_where_sizes_differ():
    # All that comes in between is bad news, so that the leader at arrival gains less than the one
    # at the decision was expected to; that round itself gains the most.
    moved = []
    for seed in range(40):
        learner = hn.ContextSemiBanditFTPL(
            hn.oracles.Subsets(3, 2, exactly=False), loss_range=(-1.0, 1.0), seed=seed
        )
        play(learner, np.zeros((10, 3)))
        first = learner.decide()
        for _ in range(20):
            between = learner.decide()
            learner.update(np.ones(len(between.action)), decision=between)
        before = learner.step.D
        learner.update(np.full(len(first.action), -1.0), decision=first)
        moved.append(learner.step.D - before)
    assert np.min(moved) < 0.0 or np.max(moved) > 0.0
