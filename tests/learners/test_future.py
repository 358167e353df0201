"""What is known of the rounds of a game before the first one."""

import contextlib

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import context_at

ORACLE = hn.oracles.AllPolicies(3, 2)
LEARNERS = [hn.PlayoutFTPL, hn.PlayoutBandit]


def future(contexts=None, horizon=None, oracle=ORACLE):
    return hn.PlayoutFTPL(oracle, contexts, horizon=horizon, seed=0)


def test_an_announced_sequence_has_its_length_and_distinct_contexts():
    known = future([2, 0, 2, 2])
    assert (known._horizon, known._points) == (4, [2, 0])
    assert future([2, 0, 2, 2], 4)._horizon == 4


def test_each_round_brings_the_context_announced_for_it():
    known = future([2, 0, 2])
    assert [known.check_context(x, t) for t, x in enumerate([2, 0, 2])] == [2, 0, 2]
    with pytest.raises(hn.ContextError, match="declares 0 for round 1; got 2"):
        known.check_context(2, 1)
    with pytest.raises(hn.ContextError, match="All 3 rounds of PlayoutFTPL are over"):
        known.check_context(2, 3)


def test_a_pool_takes_any_context_until_the_game_is_over():
    pool = future(hn.Pool([2, 0, 2]), 5)
    assert (pool._horizon, pool._points) == (5, [2, 0])
    assert [pool.check_context(1, t) for t in range(5)] == [1] * 5
    with pytest.raises(hn.ContextError, match="All 5 rounds"):
        pool.check_context(2, 5)


@pytest.mark.parametrize("learner", LEARNERS)
def test_playing_beyond_the_horizon_is_refused_with_a_pool_too(learner):
    learner = learner(ORACLE, hn.Pool([0, 1]), horizon=3, seed=0)
    for _ in range(3):
        learner.act(2)
        learner.update([0.5, 0.5] if learner.feedback is hn.Feedback.FULL else 0.5)
    with pytest.raises(hn.ContextError, match="All 3 rounds"):
        learner.act(2)
    assert learner.rounds == 3


def punish_the_leader(learner, horizon):
    """Losses on what leads without noise, for so many rounds or until one is refused; regret."""
    totals, suffered = np.zeros(2), 0.0
    with contextlib.suppress(hn.ContextError):
        for _ in range(horizon):
            action, losses = learner.act(0), np.eye(2)[totals.argmin()]
            full = learner.feedback is hn.Feedback.FULL
            learner.update(losses if full else float(losses[action]))
            totals += losses
            suffered += losses[action]
    return suffered - totals.min()


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("contexts", [None, hn.Pool([0])])
def test_a_bound_for_twenty_rounds_is_no_bound_for_four_hundred(kind, contexts, tmp_path):
    learner = kind(hn.oracles.AllPolicies(1, 2), contexts, horizon=20, seed=0)
    assert punish_the_leader(learner, 400) <= learner.regret_bound()
    assert learner.rounds == 20
    learner.save(tmp_path / "learner")
    for each in (learner, hn.load(tmp_path / "learner")):
        with pytest.raises(hn.ContextError, match="All 20 rounds"):
            each.act(0)
    with pytest.raises(hn.ContextError, match="All 20 rounds"):
        hn.play(learner.clone(), hn.environments.FromArrays([0] * 400, np.eye(2)[[0, 1] * 200]))


def test_neither_do_decisions_at_once_go_beyond_the_horizon():
    learner = hn.PlayoutBandit(hn.oracles.AllPolicies(1, 2), hn.Pool([0]), horizon=20, seed=0)
    with pytest.raises(hn.ContextError, match="All 20 rounds"):
        learner.decide_many([0] * 21)
    learner.decide_many([0] * 20)
    with pytest.raises(hn.ContextError, match="All 20 rounds"):
        learner.decide(0)


def test_one_context_needs_a_horizon_only():
    alone = future(horizon=7, oracle=hn.oracles.AllPolicies(1, 2))
    assert (alone._horizon, alone._points) == (7, [0])


def test_a_class_that_changes_with_time_knows_its_own_sequence():
    oracle = hn.oracles.Switching(ORACLE, 1, sequence=[2, 0, 2, 1])
    known = future(oracle=oracle)
    assert known._horizon == 4
    assert known.check_context(0, 1) == context_at(oracle, 1, 0)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("message", "contexts", "horizon"),
    [
        ("with a Pool needs horizon=", hn.Pool([0, 1]), None),
        ("all horizon=5 rounds", [0, 1], 5),
        ("needs the future", [], None),
        ("needs the future", hn.Pool([]), 5),
        ("needs the future", None, None),
        ("needs the future", None, 2),
    ],
)
def test_an_unknown_future_is_refused(learner, message, contexts, horizon):
    with pytest.raises(hn.ParameterError, match=message):
        learner(ORACLE, contexts, horizon=horizon)


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_unknown_of_the_class_is_asked_for(learner):
    with pytest.raises(hn.ParameterError, match="n_actions"):
        learner(hn.oracles.FunctionOracle(lambda x, c: lambda x: 0), [0])
    with pytest.raises(hn.ParameterError, match="horizon= is enough"):
        learner(hn.oracles.Subsets(3, 1))


def test_shares_of_a_pool_are_frequencies():
    pool = future(hn.Pool([2, 0, 2, 2]), 5)
    assert pool._noise.shares.tolist() == [0.75, 0.25]
    assert pool._noise.order is None
    known = future([2, 0, 2, 2])
    assert known._noise.order.tolist() == [0, 1, 0, 0]


def test_another_key_gives_other_noise_on_the_same_future():
    known = future([2, 0, 2, 2])
    before = known._noise.fakes(0)[1]
    other, same = (known._reseeded(np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(same._noise.fakes(0)[1], other._noise.fakes(0)[1])
    assert not np.array_equal(other._noise.fakes(0)[1], before)
    np.testing.assert_array_equal(known._noise.fakes(0)[1], before)
