import numpy as np
import pytest
from scipy import stats

import hannan as hn
from tests import naive, problems
from tests.cases import Match

CONTRACT = {
    "FollowTheLeader": Match(hn.baselines.FollowTheLeader(problems.FINITE), problems.PLANTED),
    "UniformRandom": Match(
        hn.baselines.UniformRandom(3, seed=0), problems.PLANTED, no_regret=False
    ),
}


@pytest.mark.parametrize("kind", problems.KINDS)
def test_follow_the_leader_plays_the_best_policy_so_far(kind):
    oracle, rows = problems.make(kind)
    learner = hn.baselines.FollowTheLeader(oracle)
    history = []
    for context, losses in problems.rounds(3, 3, 50):
        assert learner.act(context) == rows[naive.leader(rows, history)][context]
        learner.update(losses)
        history.append((context, losses))
    assert [learner.best_policy()(x) for x in range(3)] == rows[naive.leader(rows, history)]


@pytest.mark.stat
def test_uniform_play_is_uniform():
    learner = hn.baselines.UniformRandom(4, seed=0)
    plays = problems.play(learner, [("any", np.array([1.0, 0.0, 0.0, 0.0]))] * 4000)
    assert stats.chisquare(np.bincount(plays, minlength=4)).pvalue > 1e-4


def test_uniform_play_still_checks_its_losses():
    learner = hn.baselines.UniformRandom(2, seed=0)
    learner.act()
    for bad in ([0.0, 2.0], 2.0, float("nan"), [0.5]):
        with pytest.raises(hn.LossError):
            learner.update(bad)
    with pytest.raises(hn.ParameterError, match="'n_actions' parameter"):
        hn.baselines.UniformRandom(0)


@pytest.mark.parametrize("wrap", [lambda learner: learner, hn.off_policy.Recorder])
def test_uniform_play_takes_the_loss_of_its_action_alone(wrap):
    learner = wrap(hn.baselines.UniformRandom(3, seed=0))
    assert not learner.learns
    for available in (None, [0, 2], [1], None):
        learner.act("x", available=available)
        learner.update(0.5)
        learner.update(0.5, decision=learner.decide("x", available=available))
    assert learner.rounds == 8


def test_a_learner_shares_no_random_numbers_with_a_world_of_the_same_seed():
    """Uniform play drew its actions from the stream that the losses came from."""

    class Mirror(hn.Environment):
        """Costs 1 what an unguarded uniform learner of the same seed would play."""

        n_actions = 4

        def rounds(self, horizon, rng):
            for _ in range(horizon):
                yield hn.Round(None, np.eye(4)[int(rng.integers(4))])

    losses = [
        hn.play(hn.baselines.UniformRandom(4, seed=s), Mirror(), 400, seed=s).losses.mean()
        for s in range(5)
    ]
    assert np.mean(losses) < 0.3  # 0.25 ± 0.02 for five deviations; 1 if shared
