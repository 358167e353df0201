"""Random valid and invalid calls, against a twin that received the valid ones only."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import hannan as hn
from tests import naive

D, K = 3, 2
ROWS = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 1]]

contexts = st.integers(0, D - 1)
losses = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=K, max_size=K)
bad_contexts = st.sampled_from([-1, D, 7, (0, 1), "rain", 0.5, None])
bad_losses = st.sampled_from(
    [[np.nan, 0.0], [np.inf, 0.0], [0.0], [0.0] * 3, [2.0, 0.0], [0.0, -1.0], "ab", None, 0.5]
)


class Solver:
    """Brute force that fails when told to."""

    def __init__(self):
        self.fails = False

    def __call__(self, contexts, losses):
        if self.fails:
            raise RuntimeError("out of memory")
        return naive.solver(ROWS)(contexts, losses)


class Frugal(hn.ContextFTPL):
    """Holds the noise of one draw at a time."""

    noise_memory = 1


class Calls(RuleBasedStateMachine):
    """A learner that gets all calls, and its twin."""

    kind = hn.ContextFTPL
    options = {}  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.solver = Solver()
        self.learner, self.twin = self.make(self.solver), self.make(Solver())
        self.open = False

    def make(self, solver):
        return self.kind(self.make_oracle(solver), range(D), seed=5, **self.options)

    def make_oracle(self, solver):
        return hn.oracles.FinitePolicies(ROWS, n_actions=K)

    @rule(context=contexts)
    def act(self, context):
        assert self.learner.act(context) == self.twin.act(context)
        self.open = True

    @precondition(lambda self: self.open)
    @rule(loss=losses)
    def update(self, loss):
        self.learner.update(loss)
        self.twin.update(loss)
        self.open = False

    @rule(context=bad_contexts)
    def act_on_a_bad_context(self, context):
        with pytest.raises(hn.ContextError):
            self.learner.act(context)

    @precondition(lambda self: self.open)
    @rule(loss=bad_losses)
    def update_with_bad_losses(self, loss):
        with pytest.raises(hn.HannanError):
            self.learner.update(loss)

    @precondition(lambda self: not self.open)
    @rule(loss=losses | bad_losses)
    def update_out_of_turn(self, loss):
        with pytest.raises(hn.OrderError):
            self.learner.update(loss)

    @rule(confidence=st.sampled_from([0.5, 0.95, 1.0, 2.0]))
    def look_at_the_certificate(self, confidence):
        if confidence > 1:
            with pytest.raises(hn.ParameterError):
                self.learner.certificate(confidence)
        else:
            self.learner.certificate(confidence)

    @rule(context=contexts)
    def look_at_the_best_policy(self, context):
        self.learner.best_policy()(context)

    @rule()
    def reset(self):
        self.learner.reset()
        self.twin.reset()
        self.open = False

    @invariant()
    def the_twins_agree(self):
        assert self.learner.rounds == self.twin.rounds
        assert self.learner.leader.number == self.twin.leader.number
        assert self.learner.oracle_calls == self.twin.oracle_calls
        assert vars(self.learner.step) == vars(self.twin.step)

    def teardown(self):
        assert self.learner.certificate() == self.twin.certificate()
        for t in range(20):
            assert self.learner.act(t % D) == self.twin.act(t % D)
            for each in (self.learner, self.twin):
                each.update([t % 2, (t // 2) % 2])


class FixedCalls(Calls):
    kind = Frugal
    options = {"epsilon": 0.7}  # noqa: RUF012


class AllPoliciesCalls(Calls):
    def make_oracle(self, solver):
        return hn.oracles.AllPolicies(D, K)


class FunctionCalls(Calls):
    n_actions = K

    def make_oracle(self, solver):
        return hn.oracles.FunctionOracle(solver, n_actions=self.n_actions)

    @rule(context=contexts)
    def act_while_the_solver_fails(self, context):
        self.solver.fails = True
        with pytest.raises(RuntimeError):
            self.learner.act(context)
        self.solver.fails = False

    @precondition(lambda self: self.open)
    @rule(loss=losses)
    def update_while_the_solver_fails(self, loss):
        self.solver.fails = True
        with pytest.raises(RuntimeError):
            self.learner.update(loss)
        self.solver.fails = False


class UnsizedFunctionCalls(FunctionCalls):
    n_actions = None

    @precondition(lambda self: self.open)
    @rule(loss=bad_losses)
    def update_with_bad_losses(self, loss):
        # Any length will do for the first loss vector.
        if self.learner.rounds == 0 and isinstance(loss, list) and len(loss) != K:
            return
        super().update_with_bad_losses.__wrapped__(self, loss)


for machine in (Calls, FixedCalls, AllPoliciesCalls, FunctionCalls, UnsizedFunctionCalls):
    machine.TestCase.settings = settings(max_examples=25, stateful_step_count=30)

TestCalls = Calls.TestCase
TestFixedCalls = FixedCalls.TestCase
TestAllPoliciesCalls = AllPoliciesCalls.TestCase
TestFunctionCalls = FunctionCalls.TestCase
TestUnsizedFunctionCalls = UnsizedFunctionCalls.TestCase
