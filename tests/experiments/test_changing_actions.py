"""Games in which actions come and go: what is shown, and what regret is counted against."""

import numpy as np
import pytest

import hannan as hn
from hannan.experiments.cell import look_back, play_game
from hannan.experiments.game import world_rng
from tests import naive
from tests import naive_available as slow

ALL = hn.oracles.AllPolicies(2, 3)
ROUNDS = slow.random_rounds(2, 3, 120, seed=4)
MASK = np.array([[k in available for k in range(3)] for _, _, available in ROUNDS])
HIDDEN = np.where(MASK, [losses for _, losses, _ in ROUNDS], np.nan)
WORLD = hn.environments.FromArrays([x for x, _, _ in ROUNDS], HIDDEN, available=MASK)


def first_rounds(world, count=3):
    return list(world.rounds(count, np.random.default_rng(0)))


def test_a_round_shows_only_what_was_available():
    this_round = hn.Round(None, np.array([0.1, 0.2, 0.3]), available=[2, 0])
    assert this_round.available.tolist() == [0, 2]
    with pytest.raises(hn.ParameterError, match=r"only \[0, 2\] were available"):
        this_round.reveal(1)
    assert this_round.action is None
    assert np.array_equal(this_round.reveal(2), [0.1, np.nan, 0.3], equal_nan=True)
    assert this_round.reveal(0, hn.Feedback.BANDIT) == 0.1
    assert this_round.loss == 0.1
    assert this_round.losses.tolist() == [0.1, 0.1, 0.3]


def test_a_round_in_which_all_is_available_is_a_plain_one():
    losses = np.array([0.1, 0.2])
    assert hn.Round(None, losses, available=[True, True]).available is None
    assert hn.Round(None, losses, available=[0, 1]).reveal(1) is losses


@pytest.mark.parametrize(
    "available",
    [MASK, MASK.tolist(), [available.tolist() for _, _, available in ROUNDS]],
    ids=["mask", "lists of booleans", "lists of actions"],
)
def test_arrays_say_what_is_available(available):
    world = hn.environments.FromArrays([x for x, _, _ in ROUNDS], HIDDEN, available=available)
    for this_round, (context, _, some) in zip(first_rounds(world, 120), ROUNDS, strict=True):
        assert this_round.context == context
        if len(some) == 3:
            assert this_round.available is None
        else:
            assert this_round.available.tolist() == some.tolist()
    assert not world.oblivious
    assert world.clone().available is available


def test_bad_sets_and_losses_that_matter_are_refused():
    losses = [[0.1, np.nan], [0.3, 0.4]]
    hn.environments.FromArrays(None, losses, available=[[0], None])
    with pytest.raises(hn.LossError, match="row 0"):
        hn.environments.FromArrays(None, losses, available=[[0, 1], [0]])
    with pytest.raises(hn.LossError, match="row 0"):
        hn.environments.FromArrays(None, losses)
    for bad in ([[0]], 7, [[0], []], [[0], [2]], [[True, False, True]] * 2):
        with pytest.raises(hn.HannanError, match="available"):
            hn.environments.FromArrays(None, losses, available=bad)


@pytest.mark.parametrize(
    "learner",
    [
        hn.ContextFTPL(ALL, seed=0),
        hn.ContextSemiBanditFTPL(ALL, seed=0),
        hn.baselines.Hedge(naive.all_policies(2, 3), seed=0),
        hn.baselines.UniformRandom(3, seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_regret_counts_the_rounds_in_which_the_policy_s_action_was_available(learner):
    trace = hn.play(learner.clone(), WORLD, oracle=ALL)
    policies = naive.all_policies(2, 3)
    for (_, _, available), action in zip(ROUNDS, trace.actions, strict=True):
        assert action in available
    expected = slow.sleeping_regret(policies, ROUNDS, trace.actions)
    assert trace.regret() == pytest.approx(expected)
    at, regrets = trace.regret_curve(40)
    for t, regret in zip(at, regrets, strict=True):
        part = slow.sleeping_regret(policies, ROUNDS[:t], trace.actions[:t])
        assert regret == pytest.approx(part)


def test_late_feedback_keeps_its_set():
    for distribution in ("constant", "uniform"):
        world = hn.environments.Delayed(WORLD, 3, distribution=distribution)
        learner = hn.ContextSemiBanditFTPL(ALL, epsilon="anytime", seed=0)
        trace = hn.play(learner, world, seed=1)
        assert all(
            a in available for a, (_, _, available) in zip(trace.actions, ROUNDS, strict=True)
        )
        hn.play(hn.ContextFTPL(ALL, epsilon=0.5, seed=0), world, seed=1)


def test_wrappers_take_the_sets_along():
    wrapped = hn.environments.Corrupted(WORLD, 0.5, kind="noise")
    assert not wrapped.oblivious
    for kind in ("noise", "flip", "missing"):
        world = hn.environments.Corrupted(WORLD, 0.5, kind=kind)
        trace = hn.play(hn.ContextFTPL(ALL, seed=0), world, seed=0)
        assert all(
            a in available for a, (_, _, available) in zip(trace.actions, ROUNDS, strict=True)
        )


def test_a_drifting_world_moves_the_sets_with_the_actions():
    world = hn.environments.Drifting(WORLD, changes=2)
    assert not world.oblivious
    moved = 0
    for this_round, (_, losses, available) in zip(first_rounds(world, 120), ROUNDS, strict=True):
        if this_round.available is None:
            continue
        inside = np.sort(this_round.places[this_round.available])
        assert inside.tolist() == available.tolist()
        moved += this_round.available.tolist() != available.tolist()
        action = int(this_round.available[0])
        assert this_round.reveal(action, hn.Feedback.BANDIT) == losses[this_round.places[action]]
    assert moved > 10


def test_the_runner_follows_the_best_policy_along():
    learner = hn.ContextFTPL(ALL, seed=0)
    result, _, _ = play_game(learner, WORLD, 120, world_rng(0), 10, ALL)
    trace = hn.play(hn.ContextFTPL(ALL, seed=0), WORLD, seed=0)
    assert result["regret"] == pytest.approx(trace.regret())


def test_hindsight_that_is_shared_by_all_learners_is_refused():
    class Wrong(hn.environments.FromArrays):
        """Says that what is played does not matter."""

        def __init__(self, contexts, losses, *, available=None):
            super().__init__(contexts, losses, available=available)
            self.oblivious = True

    world = Wrong([0, 1], [[0.1, 0.2, 0.3]] * 2, available=[None, [1]])
    with pytest.raises(hn.ParameterError, match="oblivious"):
        look_back(world, ALL, 2, 5, 0)


CLOSING = np.random.default_rng(3).random((300, 6)) < 0.8
CLOSING[CLOSING.sum(axis=1) < 2] = True
SLATES = hn.environments.FromArrays(
    None, np.where(CLOSING, np.linspace(0.1, 0.6, 6), np.nan), available=CLOSING
)


@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_sets_with_closed_elements_are_played_and_have_no_regret(kind):
    trace = hn.play(kind(hn.oracles.Subsets(6, 2), seed=0), SLATES)
    by_hand = kind(hn.oracles.Subsets(6, 2), seed=0)
    suffered = []
    for there, losses, played in zip(CLOSING, SLATES.losses, trace.actions, strict=True):
        action = by_hand.act(available=there)
        assert np.array_equal(action, played)
        assert there[action].all()
        by_hand.update(losses if kind is hn.ContextFTPL else losses[action])
        suffered.append(losses[action].sum())
    assert np.allclose(trace.losses, suffered)
    assert trace.mean_loss == pytest.approx(np.mean(suffered))
    assert np.array_equal(np.isnan(trace.outcomes), ~CLOSING)
    best = np.array(
        [np.sort(row[there])[:2].sum() for there, row in zip(CLOSING, SLATES.losses, strict=True)]
    )
    assert trace.losses[150:].mean() < 1.2 * best[150:].mean()
    assert np.isnan(trace.regret())
    assert np.isnan(trace.regret(switches=1))
    points, regrets = trace.regret_curve(every=100)
    assert points.tolist() == [100, 200, 300]
    assert np.isnan(regrets).all()
    for ask in (lambda: trace.best_policy, lambda: trace.best_sequence(1)):
        with pytest.raises(hn.ParameterError, match="best policy is unknown"):
            ask()


def test_sets_are_compared_while_nothing_is_closed():
    world = hn.environments.FromArrays(None, np.tile(np.linspace(0.1, 0.6, 6), (50, 1)))
    trace = hn.play(hn.ContextFTPL(hn.oracles.Subsets(6, 2), seed=0), world)
    assert trace.regret() >= 0.0
    assert trace.best_policy(None).tolist() == [0, 1]


def test_a_set_with_a_closed_element_was_not_there():
    this_round = hn.Round(None, np.array([0.1, 0.2, 0.3]), available=[0, 2])
    with pytest.raises(hn.ParameterError, match="were available"):
        this_round.reveal(np.array([0, 1]))
    assert this_round.reveal(np.array([0, 2]), hn.Feedback.BANDIT).tolist() == [0.1, 0.3]
    assert this_round.loss == pytest.approx(0.4)
    assert np.array_equal(this_round.losses, [0.1, np.nan, 0.3], equal_nan=True)


def test_the_runner_has_nothing_to_compare_sets_with_closed_elements_with():
    learner = hn.ContextFTPL(hn.oracles.Subsets(6, 2), seed=0)
    with pytest.raises(hn.ParameterError, match=r"hn\.play"):
        play_game(learner, SLATES, 100, world_rng(0), 10, learner.oracle)
