import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hannan as hn
from tests import naive, problems


def game(kind="FinitePolicies", T=80, seed=0, **options):
    oracle, rows = problems.make(kind, seed=seed)
    world = hn.environments.LeaderPunisher(oracle, range(3))
    learner = hn.ContextFTPL(oracle, range(3), seed=seed)
    return hn.play(learner, world, T, seed=seed, **options), rows, learner


def as_rounds(trace, T=None):
    return list(zip(trace.contexts, trace.outcomes, strict=True))[:T]


@pytest.mark.parametrize("kind", problems.KINDS)
def test_regret_is_the_naive_regret(kind):
    trace, rows, _ = game(kind)
    assert trace.regret() == pytest.approx(naive.regret(rows, as_rounds(trace), trace.actions))
    best = rows[naive.leader(rows, as_rounds(trace))]
    assert [trace.best_policy(x) for x in range(3)] == best


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_regret_of_random_arrays_is_the_naive_regret(seed, T):
    oracle, rows = problems.make("FinitePolicies", seed=seed % 7)
    rounds = problems.rounds(3, 3, T, seed=seed)
    world = hn.environments.FromArrays([x for x, _ in rounds], [v for _, v in rounds])
    trace = hn.play(hn.ContextFTPL(oracle, seed=seed), world)
    assert trace.regret() == pytest.approx(naive.regret(rows, rounds, trace.actions))


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("every", [1, 7, 80, 1000])
def test_the_regret_curve_is_the_naive_regret_of_every_prefix(kind, every):
    trace, rows, _ = game(kind)
    at, regrets = trace.regret_curve(every)
    assert at.tolist() == sorted({*range(every, 81, every), 80})
    for t, regret in zip(at, regrets, strict=True):
        expected = naive.regret(rows, as_rounds(trace, t), trace.actions[:t])
        assert regret == pytest.approx(expected)
    assert regrets[-1] == pytest.approx(trace.regret())


def test_a_trace_holds_what_was_played_and_what_it_cost():
    trace, _, learner = game()
    assert len(trace) == len(trace.actions) == len(trace.losses) == 80
    assert trace.outcomes.shape == (80, 3)
    assert (trace.losses == trace.outcomes[np.arange(80), trace.actions]).all()
    assert trace.oracle_calls == learner.oracle_calls


def test_outside_of_logs_every_round_counts_the_same():
    trace, _, _ = game()
    assert trace.weights.tolist() == [1.0] * 80
    assert trace.mean_loss == trace.losses.mean()
    assert trace.effective == 80
    assert trace.current_losses is trace.current_mean_loss is None
    assert repr(trace) == f"<trace of 80 rounds, mean loss {trace.losses.mean():.3g}>"
    assert repr(hn.Trace(None)) == "<trace of 0 rounds>"


def test_describing_a_trace_does_not_close_it():
    trace = hn.Trace(None)
    for loss in (0.0, 1.0):
        this_round = hn.Round(None, np.array([loss]))
        this_round.reveal(0)
        trace.record(this_round)
        repr(trace)
    assert trace.losses.tolist() == [0.0, 1.0]
    assert trace.mean_loss == 0.5


def test_oracle_calls_of_a_second_game_are_its_own():
    trace, _, learner = game()
    world = hn.environments.PlantedPolicy(learner.oracle)
    again = hn.play(learner, world, 30, seed=1)
    assert again.oracle_calls == learner.oracle_calls - trace.oracle_calls == 60
    assert learner.rounds == 110


def test_seeds_fix_the_game():
    one, same = game()[0], game()[0]
    assert (one.actions == same.actions).all()
    assert (one.outcomes == same.outcomes).all()


def test_regret_is_measured_against_the_oracle_given():
    trace, _, _ = game(oracle=hn.oracles.FinitePolicies([[0, 0, 0]], n_actions=3))
    assert trace.regret() == pytest.approx(trace.losses.sum() - trace.outcomes[:, 0].sum())


def test_a_learner_without_a_class_is_measured_against_the_environments():
    oracle, rows = problems.make("FinitePolicies")
    world = hn.environments.PlantedPolicy(oracle)
    trace = hn.play(hn.baselines.UniformRandom(3, seed=0), world, 50, seed=0)
    assert trace.regret() == pytest.approx(naive.regret(rows, as_rounds(trace), trace.actions))


def test_regret_without_any_class_is_refused():
    world = hn.environments.FromArrays(None, np.zeros((5, 2)))
    trace = hn.play(hn.baselines.UniformRandom(2, seed=0), world)
    assert trace.losses.sum() == 0
    with pytest.raises(hn.ParameterError, match="oracle="):
        trace.regret()


def test_progress_is_told_after_every_round():
    told = []
    game(T=5, progress=told.append)
    assert told == [1, 2, 3, 4, 5]


def test_an_environment_without_an_end_needs_a_horizon():
    oracle, _ = problems.make("FinitePolicies")
    with pytest.raises(hn.ParameterError, match="horizon="):
        hn.play(hn.ContextFTPL(oracle), hn.environments.PlantedPolicy(oracle))


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "10"])
def test_a_horizon_that_is_no_positive_integer_is_refused(horizon):
    oracle, _ = problems.make("FinitePolicies")
    with pytest.raises(hn.ParameterError, match="'horizon' parameter of play"):
        hn.play(hn.ContextFTPL(oracle), hn.environments.PlantedPolicy(oracle), horizon)


def test_an_adaptive_adversary_sees_past_actions_only():
    seen = []

    class Watcher(hn.Environment):
        """Remembers what it could see of the learner when it fixed each round."""

        oblivious = False
        n_actions = 2

        def rounds(self, horizon, rng):
            actions = []
            for _ in range(horizon):
                this_round = hn.Round(0, np.array([0.0, 1.0]))
                seen.append((list(actions), this_round.action))
                yield this_round
                actions.append(this_round.action)

    trace = hn.play(hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0), Watcher(), 6)
    for t, (past, present) in enumerate(seen):
        assert past == trace.actions[:t].tolist()
        assert present is None


def test_anything_with_the_two_verbs_may_play():
    class Zero:
        feedback = hn.Feedback.FULL
        oracle = None
        oracle_calls = 0

        def act(self, context=None):
            return 0

        def update(self, loss):
            assert len(loss) == 2

    world = hn.environments.FromArrays([0, 0], [[1.0, 0.0], [1.0, 0.0]])
    trace = hn.play(Zero(), world, oracle=hn.oracles.AllPolicies(1, 2))
    assert trace.regret() == 2.0
