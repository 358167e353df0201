"""Late answers, copies, files and refusals where action sets change."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from tests import naive as slow
from tests import naive_available as naive
from tests.learners.test_changing_actions import restricted_play

TABLE = np.random.default_rng(0).integers(0, 4, size=(12, 3))
FINITE = hn.oracles.FinitePolicies(TABLE, n_actions=4)
ALL = hn.oracles.AllPolicies(3, 4)
ROUNDS = naive.random_rounds(3, 4, 150)


def kept(learner):
    """The totals."""
    total = learner.leader.total
    return total.totals.copy() if hasattr(total, "totals") else total.scores[: len(TABLE), None]


@pytest.mark.parametrize("oracle", [ALL, FINITE])
@pytest.mark.parametrize("bandit", [False, True])
def test_answers_belong_to_the_set_that_was_decided_on(oracle, bandit):
    """A round with another set that is open meanwhile makes no difference, nor is it disturbed."""
    make = hn.ContextSemiBanditFTPL if bandit else hn.ContextFTPL
    one = make(oracle, epsilon=0.5, seed=0)
    for x, losses, available in ROUNDS[:30]:
        two = reread(one)
        first, second = one.decide(x, available=available), two.decide(x, available=available)
        assert first.action == second.action
        assert first.weights.tolist() == second.weights.tolist()
        assert first.available is None or first.available.tolist() == available.tolist()
        opened = two.act((x + 1) % 3, available=[0, 1])
        told = float(losses[first.action]) if bandit else losses
        one.update(told, decision=first)
        two.update(told, decision=second)
        assert np.array_equal(kept(one), kept(two))
        two.update(0.5 if bandit else [0.5, 0.5, np.nan, np.nan])
        if not bandit and oracle is FINITE:
            assert np.allclose(kept(two), kept(one) + 0.5)
        elif not bandit:
            gained = kept(two) - kept(one)
            assert np.allclose(gained[(x + 1) % 3, :2], 0.5)
            assert not np.delete(gained, (x + 1) % 3, axis=0).any()
        assert opened in (0, 1)


@pytest.mark.parametrize(
    "learner",
    [
        hn.baselines.Exp4(FINITE, seed=0),
        hn.baselines.Hedge(FINITE, seed=0),
        hn.baselines.AdaNormalHedge(FINITE, seed=0),
        hn.baselines.LinUCB(4),
        hn.baselines.VowpalWabbit(4, seed=0),
        hn.ContextSemiBanditFTPL(ALL, resampling="exact", seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_decision_answered_at_once_is_a_plain_round(learner):
    at_once, by_ticket = learner.clone(), learner.clone()
    for x, losses, available in ROUNDS:
        action, ticket = (
            at_once.act(x, available=available),
            by_ticket.decide(x, available=available),
        )
        assert action == ticket.action
        told = losses if learner.feedback is hn.Feedback.FULL else float(losses[action])
        at_once.update(told)
        by_ticket.update(told, decision=ticket)


def test_asking_with_a_restriction_changes_nothing():
    silent, asked = (
        hn.ContextSemiBanditFTPL(ALL, predictor=hn.predictors.Mean(), seed=0) for _ in range(2)
    )
    for x, losses, available in ROUNDS:
        asked.propensities(x, available=available)
        asked.would_play(x, 2, available=available)
        action = asked.act(x, available=available)
        asked.would_play(x, 2, available=[3])
        assert action == silent.act(x, available=available)
        for learner in (silent, asked):
            learner.update(float(losses[action]))
    assert asked.oracle_calls == silent.oracle_calls


@pytest.mark.parametrize(
    "learner",
    [
        hn.ContextFTPL(FINITE, seed=0),
        hn.ContextFTPL(ALL, seed=0),
        hn.ContextSemiBanditFTPL(FINITE, seed=0),
        hn.ContextSemiBanditFTPL(ALL, seed=0),
        hn.Restarting(hn.ContextSemiBanditFTPL(ALL, seed=0)),
        hn.Discounted(hn.ContextFTPL(FINITE, seed=0), 0.9),
        hn.StronglyAdaptive(hn.ContextFTPL(FINITE, seed=0), seed=0),
        hn.baselines.Exp4(FINITE, seed=0),
        hn.baselines.UniformRandom(4, seed=0),
    ],
    ids=repr,
)
def test_files_keep_what_was_available(learner):
    learner = learner.clone()
    restricted_play(learner, ROUNDS[:40])
    full = learner.feedback is hn.Feedback.FULL
    ticket = None
    if learner.late is None:
        ticket = learner.decide(0, available=[1, 2])
    action = learner.act(1, available=[0, 3])
    twin = reread(learner)
    for one in (learner, twin):
        one.update([0.1, np.nan, np.nan, 0.7] if full else 0.1 * action)
        if ticket is not None:
            one.update([np.nan, 0.3, 0.2, np.nan] if full else 0.4, decision=ticket.id)
    assert restricted_play(learner, ROUNDS[40:]) == restricted_play(twin, ROUNDS[40:])


@pytest.mark.parametrize(
    "oracle",
    [
        hn.oracles.Submodular(3),
        hn.oracles.FinitePolicies([[[0, 1]], [[1, 2]]]),
        hn.oracles.FinitePolicies([[[0]], [[1]]]),
    ],
    ids=repr,
)
def test_sets_refuse_available(oracle):
    learner = hn.ContextFTPL(oracle, seed=0)
    context = oracle.contexts[0]
    for ask in (learner.act, learner.decide, learner.would_play, learner.propensities):
        with pytest.raises(hn.ParameterError, match=f"not with {type(oracle).__name__}"):
            ask(context, available=[0])
    learner.act(context)


@pytest.mark.parametrize(
    "learner",
    [
        hn.StronglyAdaptive(hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0), seed=0),
        hn.Discounted(hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0), 0.9),
        hn.AdaptiveDiscount(hn.oracles.Subsets(4, 2), seed=0),
        hn.baselines.FollowTheLeader(hn.oracles.Subsets(4, 2)),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_other_learners_of_sets_refuse_available_by_name(learner):
    with pytest.raises(hn.ParameterError, match=f"not with {type(learner).__name__}"):
        learner.act(available=[0, 1])


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda base: base,
        lambda base: hn.Discounted(base, 0.9),
        lambda base: hn.StronglyAdaptive(base, shortest=2, seed=0),
        hn.Restarting,
    ],
    ids=["alone", "Discounted", "StronglyAdaptive", "Restarting"],
)
def test_the_calls_for_substitutes_are_counted(wrapped):
    calls = []

    def solve(contexts, losses):
        calls.append(1)
        return slow.solver(TABLE.tolist())(contexts, losses)

    oracle = hn.oracles.FunctionOracle(solve, n_actions=4)
    learner = wrapped(hn.ContextFTPL(oracle, range(3), seed=0))
    found = 0
    for x, losses, available in ROUNDS[:60]:
        before = learner.prepare(x, available).calls
        calls.clear()
        known = learner.oracle_calls
        learner.act(x, available=available)
        learner.update(losses)
        assert learner.oracle_calls - known == len(calls)
        found += before
    assert found > 0 or wrapped is hn.Restarting


def test_the_number_of_actions_has_to_be_known():
    solve = hn.oracles.FunctionOracle(lambda contexts, losses: lambda context: 0)
    learner = hn.ContextFTPL(solve, contexts=[0])
    with pytest.raises(hn.ParameterError, match="n_actions="):
        learner.act(0, available=[0])
    learner.act(0)
    learner.update([0.5, 0.2, 0.1])
    assert learner.act(0, available=[2]) == 2


def test_hidden_losses_of_actions_that_were_available_are_refused():
    learner = hn.ContextFTPL(ALL, seed=0)
    learner.act(0, available=[0, 2])
    for bad in ([0.1, 0.2, np.nan, 0.3], [0.1, 0.2], [0.1, 0.1, 7.0, 0.1], "much", None):
        with pytest.raises(hn.HannanError):
            learner.update(bad)
    learner.update([0.1, None, 0.3, 99.0])
    assert learner.rounds == 1


def test_one_set_for_each_context_is_needed():
    learner = hn.ContextSemiBanditFTPL(ALL, seed=0)
    with pytest.raises(hn.ParameterError, match=r"available= per context: 2 entries; got 1\."):
        learner.decide_many([0, 1], available=[[0]])
    with pytest.raises(hn.HannanError, match="available"):
        learner.decide_many([0, 1], available=[[0], [9]])
    assert learner.open_decisions == []
    first, second = learner.decide_many([0, 1], available=[None, [3]])
    assert first.available is None
    assert second.action == 3


def test_predictors_learn_only_what_was_available():
    learned = []

    class Listening(hn.predictors.Mean):
        def learn(self, context, action, loss):
            learned.append((np.array(action).tolist(), np.array(loss).tolist()))
            super().learn(context, action, loss)

    for oracle in (ALL, FINITE):
        learner = hn.ContextFTPL(oracle, predictor=Listening(), seed=0)
        learner.act(0, available=[1, 3])
        learner.update([np.nan, 0.1, np.nan, 0.3])
        assert learned.pop() == ([1, 3], [0.1, 0.3])
    watched = hn.Restarting(hn.ContextFTPL(FINITE, seed=0), predictor=Listening())
    watched.act(0, available=[1, 3])
    watched.update([np.nan, 0.1, np.nan, 0.3])
    assert learned.pop() == ([1, 3], [0.1, 0.3])
