"""A call that fails changes nothing: what was refused can be tried again."""

from functools import partial

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import with_round
from tests import naive

ROWS = [[0, 1], [1, 1], [2, 0], [0, 2], [1, 0]]
FULL, BANDIT = hn.ContextFTPL, hn.ContextSemiBanditFTPL


class Fused:
    """A solver that fails after so many calls; never where `left` is None."""

    def __init__(self):
        self.left = None
        self.solve = naive.solver(ROWS)

    def __call__(self, contexts, losses):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise RuntimeError("out of memory")
        return self.solve(contexts, losses)


class Forgetful:
    """A predictor whose `learn` fails while a switch is on."""

    def __init__(self):
        self.fails = False
        self.seen = []

    def predict(self, context):
        return np.array([0.2, 0.5, 0.7])

    def learn(self, context, action, loss):
        if self.fails:
            raise RuntimeError("disk full")
        self.seen.append((context, str(action), str(loss)))


def state(learner):
    """All that a call could have changed, but for the predictor's own memory.

    G is a fact about the class: once found it is kept, and its calls are counted, whatever comes.
    """
    leader, part = learner.leader, getattr(learner, "_hint", None) or learner._prediction
    ledger = learner._ledger
    calls_for_G = leader.found.oracle_calls - leader.owed if leader.found else 0
    return str(
        (
            learner.rounds,
            learner.oracle_calls - calls_for_G,
            learner.open_decisions,
            (ledger.made, ledger.discarded, ledger.delayed),
            leader.number,
            vars(learner.step),
            {name: value for name, value in vars(part).items() if name != "predictor"},
            learner._account,
            getattr(learner, "_decided", None),
            vars(getattr(learner, "_resampling", hn.Resampling())),
            total_of(learner),
        )
    )


def total_of(learner):
    """The totals so far, seen by the best values with one more round of each action."""
    total = learner.leader.total
    return [
        float(with_round(total, x, np.eye(3)[a]).minima()[0]) for x in range(2) for a in range(3)
    ]


def losses_of(learner, action, losses):
    return losses if learner.feedback is hn.Feedback.FULL else float(losses[action])


def rounds(T, seed=0):
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(2)), rng.integers(0, 3, size=3) / 2.0) for _ in range(T)]


def fused(learner, **options):
    solver = Fused()
    oracle = hn.oracles.FunctionOracle(solver, n_actions=3)
    return learner(oracle, range(2), seed=0, **options), solver


def try_with_fuses(learner, solver, call, fuses):
    """Let the solver fail after each number of calls; the result once none is left to fail."""
    failed = 0
    before = state(learner)
    for left in fuses:
        solver.left = left
        try:
            found = call()
        except RuntimeError:
            failed += 1
            solver.left = None
            assert state(learner) == before
        else:
            solver.left = None
            return found, failed
    return call(), failed


@pytest.mark.parametrize("epsilon", ["adaptive", "anytime", 0.4])
@pytest.mark.parametrize("learner", [FULL, BANDIT])
def test_an_oracle_that_fails_leaves_everything_as_it_was(learner, epsilon):
    (one, solver), (twin, _) = (fused(learner, epsilon=epsilon) for _ in "ab")
    acts = updates = 0
    for t, (context, losses) in enumerate(rounds(30)):
        fuses = [0, 1, 5, 60, 128, 200] if t < 3 else [0, 1, 2, 4]
        action, failed = try_with_fuses(one, solver, partial(one.act, context), fuses)
        acts += failed
        assert twin.act(context) == action
        loss = losses_of(one, action, losses)
        _, failed = try_with_fuses(one, solver, partial(one.update, loss), fuses)
        updates += failed
        twin.update(loss)
        assert state(one) == state(twin)
    assert acts >= 30
    assert updates >= (0 if (learner, epsilon) in {(FULL, "anytime"), (FULL, 0.4)} else 10)


@pytest.mark.parametrize("learner", [FULL, BANDIT])
def test_an_oracle_that_fails_while_G_is_found_leaves_the_schedule_alone(learner):
    one, solver = fused(learner, epsilon="anytime")
    for left in (0, 3, 50):
        solver.left = left
        with pytest.raises(RuntimeError):
            one.act(0)
        step, leader = one.step, one.leader
        assert (step.W, step.scale, leader.number, leader.owed, one.oracle_calls) == (0, 0, 0, 0, 0)
        assert leader.found is None
    solver.left = None
    one.act(0)
    assert one.step.W > 0.0
    assert one.oracle_calls == one.leader.found.oracle_calls + 1


@pytest.mark.parametrize("epsilon", ["anytime", 0.4])
@pytest.mark.parametrize("learner", [FULL, BANDIT])
def test_decisions_that_fail_leave_everything_as_it_was(learner, epsilon):
    (one, solver), (twin, _) = (fused(learner, epsilon=epsilon) for _ in "ab")
    for context, losses in rounds(20):
        decision, _ = try_with_fuses(one, solver, partial(one.decide, context), [0, 1, 2])
        assert twin.decide(context).action == decision.action
        loss = losses_of(one, decision.action, losses)
        for each in (one, twin):
            each.update(loss, decision=decision.id)
        assert state(one) == state(twin)


@pytest.mark.parametrize(
    "make",
    [
        lambda o: FULL(o, range(2), epsilon=0.4, seed=0),
        lambda o: FULL(o, range(2), epsilon="anytime", seed=0),
        lambda o: BANDIT(o, range(2), epsilon=0.4, max_resamples=3, seed=0),
        lambda o: BANDIT(o, range(2), epsilon="anytime", max_resamples=3, seed=0),
        lambda o: hn.PlayoutBandit(o, hn.Pool([0, 1]), horizon=99, epsilon=0.1, seed=0),
        lambda o: hn.Restarting(BANDIT(o, range(2), epsilon=0.4, max_resamples=3, seed=0)),
    ],
    ids=["full", "full, anytime", "bandit", "bandit, anytime", "playout", "Restarting"],
)
def test_many_decisions_of_which_one_fails_are_none(make):
    solver = Fused()
    learner = make(hn.oracles.FunctionOracle(solver, n_actions=3))
    learner.act(0)
    learner.update([0.5, 0.5, 0.5] if learner.feedback is hn.Feedback.FULL else 0.5)
    kept = learner.decide(1)
    failed = 0
    for left in range(12):
        solver.left = left
        try:
            for decision in learner.decide_many([0, 1, 0]):
                learner.forget(decision)
        except RuntimeError:
            failed += 1
        solver.left = None
        assert learner.open_decisions == [kept.id]
        assert len(getattr(learner, "current_learner", learner).open_decisions) == 1
    assert failed >= 3
    learner.update(losses_of(learner, kept.action, np.full(3, 0.5)), decision=kept)
    assert not learner._ledger.delayed
    assert not getattr(learner, "current_learner", learner)._ledger.delayed


PREDICTED = {
    "full": (FULL, {}),
    "full, always": (FULL, {"trust": "always", "epsilon": 0.4}),
    "full, anytime": (FULL, {"epsilon": "anytime"}),
    "bandit, earned": (BANDIT, {}),
    "bandit, draws": (BANDIT, {"resampling": 2}),
    "bandit, baseline": (BANDIT, {"trust": "baseline", "epsilon": 0.4}),
    "bandit, anytime": (BANDIT, {"epsilon": "anytime"}),
}


@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
@pytest.mark.parametrize("name", PREDICTED)
def test_a_predictor_that_fails_to_learn_leaves_everything_as_it_was(name, kind):
    learner, options = PREDICTED[name]
    oracle = hn.oracles.AllPolicies(2, 3)
    if kind == "FinitePolicies":
        oracle = hn.oracles.FinitePolicies(ROWS, n_actions=3)
    mine, other = Forgetful(), Forgetful()
    one, twin = (learner(oracle, predictor=p, seed=0, **options) for p in (mine, other))
    for t, (context, losses) in enumerate(rounds(30)):
        action = one.act(context)
        assert twin.act(context) == action
        before = state(one)
        mine.fails = True
        with pytest.raises(RuntimeError, match="disk full"):
            one.update(losses_of(one, action, losses))
        mine.fails = False
        assert state(one) == before
        if t % 3 == 0:  # the loss that comes next need not be the one that failed
            losses = np.zeros(3)
        for each in (one, twin):
            each.update(losses_of(one, action, losses))
        assert state(one) == state(twin)
    assert mine.seen == other.seen


def test_a_predictor_that_fails_in_the_first_round_does_not_fix_the_number_of_actions():
    mine = Forgetful()

    def solve(contexts, losses):
        return lambda context: int(np.argmin(losses.sum(axis=0))) if losses.size else 0

    learner = FULL(hn.oracles.FunctionOracle(solve), range(2), predictor=mine, seed=0)
    learner.act(0)
    mine.fails = True
    with pytest.raises(RuntimeError, match="disk full"):
        learner.update([0.5, 0.5])
    mine.fails = False
    assert learner.leader.n_actions is None
    learner.update([0.5, 0.5, 0.0])
    assert learner.leader.n_actions is not None
    assert learner.action_count == 3
    assert learner.best_policy()(0) == 2
    assert len(mine.seen) == 1
