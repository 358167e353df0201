"""Random calls, some of them refused, against a twin that received the valid ones only."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import hannan as hn
from tests import naive

D, K = 2, 3
ROWS = [[0, 1], [1, 1], [2, 0], [0, 2], [1, 0]]
SLATES = [[(0, 1), (0, 2)], [(1, 2), (0, 1)], [(0, 2), (1, 2)]]

contexts = st.integers(0, D - 1)
losses = st.sampled_from([0.0, 0.25, 1.0])
bad_contexts = st.sampled_from([-1, D, "rain", 0.5, None, (0,)])
bad_losses = st.sampled_from([np.nan, np.inf, -0.5, 2.0, "a", None, [0.1] * 5, []])


class Frugal(hn.ContextSemiBanditFTPL):
    """Holds the noise of one draw at a time."""

    noise_memory = 1


class Calls(RuleBasedStateMachine):
    """A learner that gets all calls, and its twin."""

    kind = hn.ContextSemiBanditFTPL
    options = {}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.learner, self.twin = self.make(), self.make()
        self.round = None
        self.open = []
        self.closed = []

    def make(self):
        return self.kind(self.make_oracle(), range(D), seed=3, **self.options)

    def make_oracle(self):
        return hn.oracles.FinitePolicies(ROWS, n_actions=K)

    def shaped(self, action, loss):
        return loss if isinstance(action, int) else np.full(len(action), loss)

    @rule(context=contexts)
    def act(self, context):
        self.round = self.learner.act(context)
        assert np.array_equal(self.round, self.twin.act(context))

    @precondition(lambda self: self.round is not None)
    @rule(loss=losses)
    def update(self, loss):
        for each in (self.learner, self.twin):
            each.update(self.shaped(self.round, loss))
        self.round = None

    @rule(many=st.lists(contexts, min_size=1, max_size=3))
    def decide(self, many):
        found = self.learner.decide_many(many)
        for one, context in zip(found, many, strict=True):
            other = self.twin.decide(context)
            assert (one.id, one.context) == (other.id, other.context)
            assert np.array_equal(one.action, other.action)
            assert np.array_equal(one.weights, other.weights)
        self.open += found

    @precondition(lambda self: self.open)
    @rule(data=st.data(), loss=losses)
    def answer(self, data, loss):
        decision = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        self.learner.update(self.shaped(decision.action, loss), decision=decision)
        self.twin.update(self.shaped(decision.action, loss), decision=decision.id)
        self.closed.append(decision)

    @precondition(lambda self: self.open)
    @rule()
    def forget(self):
        decision = self.open.pop(0)
        self.learner.forget(decision)
        self.twin.forget(decision.id)
        self.closed.append(decision)

    # Refused calls

    @rule(context=bad_contexts)
    def bad_context(self, context):
        for call in (self.learner.act, self.learner.decide, self.learner.propensities):
            with pytest.raises(hn.ContextError):
                call(context)
        with pytest.raises(hn.ContextError):
            self.learner.decide_many([0, context])

    @precondition(lambda self: self.round is not None)
    @rule(loss=bad_losses)
    def bad_loss(self, loss):
        with pytest.raises(hn.HannanError):
            self.learner.update(loss)

    @precondition(lambda self: self.open)
    @rule(loss=bad_losses)
    def bad_answer(self, loss):
        with pytest.raises(hn.HannanError):
            self.learner.update(loss, decision=self.open[0])

    @precondition(lambda self: self.round is None)
    @rule(loss=losses)
    def out_of_turn(self, loss):
        with pytest.raises(hn.OrderError):
            self.learner.update(loss)

    @rule(loss=losses, data=st.data())
    def unknown_decision(self, loss, data):
        known = data.draw(st.sampled_from([*self.closed, 10**6, "x"]))
        with pytest.raises(hn.DecisionError):
            self.learner.update(loss, decision=known)
        with pytest.raises(hn.DecisionError):
            self.learner.forget(known)

    # Looking

    @rule(context=contexts)
    def look(self, context):
        self.learner.propensities(context, draws=20)
        self.learner.best_policy()(context)
        self.learner.certificate()

    @invariant()
    def the_twins_agree(self):
        assert self.learner.rounds == self.twin.rounds
        assert self.learner.leader.number == self.twin.leader.number
        assert self.learner.oracle_calls == self.twin.oracle_calls
        assert vars(self.learner.step) == vars(self.twin.step)
        assert vars(self.learner._resampling) == vars(self.twin._resampling)
        assert self.learner.open_decisions == self.twin.open_decisions

    def teardown(self):
        assert self.learner.certificate() == self.twin.certificate()
        for t in range(15):
            played = [each.act(t % D) for each in (self.learner, self.twin)]
            assert np.array_equal(*played)
            for each, action in zip((self.learner, self.twin), played, strict=True):
                each.update(self.shaped(action, [0.0, 1.0, 0.5][t % 3]))


class AnytimeCalls(Calls):
    kind = Frugal
    options = {"epsilon": "anytime"}  # noqa: RUF012


class HintedCalls(Calls):
    options = {"predictor": hn.predictors.Mean()}  # noqa: RUF012


class BaselineCalls(Calls):
    options = {"predictor": hn.predictors.Last(), "trust": "baseline"}  # noqa: RUF012

    def make_oracle(self):
        return hn.oracles.AllPolicies(D, K)


class SlateCalls(Calls):
    options = {"resampling": "shared"}  # noqa: RUF012

    def make_oracle(self):
        return hn.oracles.FinitePolicies(SLATES)


class FailingCalls(Calls):
    """A user's solver that fails now and then."""

    options = {"max_resamples": 6}  # noqa: RUF012

    def make_oracle(self):
        self.fuse = None

        def solve(contexts, losses):
            if self.fuse is not None:
                self.fuse -= 1
                if self.fuse < 0:
                    raise RuntimeError("out of memory")
            return naive.solver(ROWS)(contexts, losses)

        return hn.oracles.FunctionOracle(solve, n_actions=K)

    def fails(self, after, call, *args, **options):
        self.fuse = after
        try:
            call(*args, **options)
        except RuntimeError:
            return True
        finally:
            self.fuse = None
        return False

    @rule(context=contexts)
    def act_fails(self, context):
        assert self.fails(0, self.learner.act, context)

    @rule(context=contexts, after=st.integers(0, 1))
    def decide_fails(self, context, after):
        made = []
        if not self.fails(after, lambda: made.append(self.learner.decide(context))):
            self.twin.decide(context)
            self.open += made

    @precondition(lambda self: self.round is not None)
    @rule(after=st.integers(0, 7))
    def update_fails(self, after):
        if not self.fails(after, self.learner.update, 1.0):
            self.twin.update(1.0)
            self.round = None

    @precondition(lambda self: self.open)
    @rule(after=st.integers(0, 3))
    def answer_fails(self, after):
        decision = self.open[0]
        if not self.fails(after, self.learner.update, 1.0, decision=decision):
            self.twin.update(1.0, decision=decision.id)
            self.closed.append(self.open.pop(0))


MACHINES = (Calls, AnytimeCalls, HintedCalls, BaselineCalls, SlateCalls, FailingCalls)
for machine in MACHINES:
    machine.TestCase.settings = settings(max_examples=20, stateful_step_count=25)

TestCalls = Calls.TestCase
TestAnytimeCalls = AnytimeCalls.TestCase
TestHintedCalls = HintedCalls.TestCase
TestBaselineCalls = BaselineCalls.TestCase
TestSlateCalls = SlateCalls.TestCase
TestFailingCalls = FailingCalls.TestCase
