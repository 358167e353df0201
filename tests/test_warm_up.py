"""Compiling ahead of time."""

import os
import subprocess
import sys

import numpy as np
import pytest

import hannan as hn

ROWS = np.random.default_rng(0).random((20, 3))
LINKS = [(0, 1), (0, 2), (1, 3), (2, 3)]
LEARNERS = {
    "arms": lambda: (hn.bandit(4, n_contexts=1, seed=0), None),
    "table": lambda: (hn.bandit(4, n_contexts=3, seed=0), 1),
    "rows": lambda: (hn.bandit(4, seed=0), ROWS[0]),
    "listed": lambda: (hn.ContextFTPL(hn.oracles.FinitePolicies([[0, 1], [1, 0]]), seed=0), 1),
    "paths": lambda: (hn.ContextSemiBanditFTPL(hn.oracles.Paths(LINKS, 0, 3), seed=0), None),
    "experts": lambda: (hn.experts(3, seed=0), None),
    "rewards": lambda: (
        hn.ContextFTPL(hn.oracles.Subsets(4, 2), loss_range=(-5, -1), seed=0),
        None,
    ),
    "functions": lambda: (
        hn.ContextFTPL(hn.oracles.Submodular(3), loss_range=(0, 6), seed=0),
        None,
    ),
    "any size": lambda: (
        hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), loss_range=None, seed=0),
        0,
    ),
}


def some_rounds(learner, context, count, seed):
    """What is played, with losses that do not depend on it."""
    rng, played = np.random.default_rng(seed), []
    for _ in range(count):
        action = learner.act(context)
        played.append(np.atleast_1d(action).tolist())
        low, high = learner.loss_range or (0.0, 1.0)
        size = learner.action_count if learner.feedback is hn.Feedback.FULL else np.size(action)
        losses = low + (high - low) * rng.random(size) / (3 if low == 0.0 else 1)
        single = learner.feedback is not hn.Feedback.FULL and isinstance(action, int)
        learner.update(float(losses[0]) if single else losses)
    return played


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("rounds", [0, 5])
def test_the_learner_does_not_change(name, rounds, tmp_path):
    learner, context = LEARNERS[name]()
    twin, _ = LEARNERS[name]()
    for each in (learner, twin):
        some_rounds(each, context, rounds, seed=1)
        each.act(context)
    learner.save(tmp_path / "before")
    assert hn.warm_up(learner, context, decide=True) > 0.0
    learner.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    assert some_rounds(learner, context, 10, seed=2) == some_rounds(twin, context, 10, seed=2)


PROGRAM = """
import hannan as hn
from numba.core import event
learner = hn.bandit(3, n_contexts=1, seed=0)
with event.install_recorder("numba:compile") as ahead:
    hn.warm_up(learner)
with event.install_recorder("numba:compile") as then:
    for _ in range(5):
        learner.act()
        learner.update(0.5)
print(len(ahead.buffer) > 0, len(then.buffer))
"""


@pytest.mark.slow
def test_the_first_rounds_need_nothing_that_was_not_compiled(tmp_path):
    nothing_kept = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=nothing_kept, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "0"]


SERVICE = """
import gc, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
import hannan as hn

def compiled():
    loops = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {(loop.__module__, loop.__name__, str(s)) for loop in loops for s in loop.overloads}

kind, rng = sys.argv[1], np.random.default_rng(0)
actions = None if kind == "items" else ["a", "b", "c", "d"]
how = {"baseline": "a", "holdout": 0.05} if kind == "holdout" else {}
d = hn.Decider(actions, rewards=(0, 1), seed=0, **how)

def asked(turn):
    context = {"age": int(rng.integers(18, 80)), "city": ["Rome", None][turn % 2]}
    if kind == "items":
        sizes = {f"sku-{i}": {"size": float(rng.normal())} for i in range(2 + turn % 4)}
        return {"context": context, "actions": sizes}
    here = ["a", "c"] if turn % 7 == 3 and kind != "holdout" else None
    return {"context": None if kind == "arms" else context, "available": here}

first = asked(0)
d.warm_up(first["context"], first.get("actions"))
before, waiting = compiled(), []
for turn in range(1000):
    waiting.append(d.decide(**asked(turn)))
    if turn % 20 == 19:
        for decision in waiting[:18]:
            good = decision.action in (("b", "sku-1") if turn < 500 else ("c", "sku-0"))
            d.report(decision, reward=float(rng.random() < 0.2 + 0.6 * good))
        waiting = waiting[18:]
d.metrics(), d.probabilities(**asked(0)), d.why(waiting[-1]), d.expire(0, reward=0.0)
if actions:
    d.add_action("e"), d.retire("d"), d.learn(asked(0)["context"], "a", 1.0, 0.5)
    for turn in range(100):
        d.report(d.decide(**asked(turn)), reward=0.5)
print(len(before) > 10, sorted(compiled() - before))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rows", "arms", "items", "holdout"])
def test_a_service_compiles_nothing_after_its_decider_was_warmed_up(kind):
    """Late outcomes, closed actions, the base's noise, drift, statements, actions that come."""
    command = [sys.executable, "-c", SERVICE, kind]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split(maxsplit=1) == ["True", "[]\n"]


def test_a_predictor_without_copies_of_its_own_is_left_alone():
    class Counting:
        learned = 0

        def predict(self, context):
            return [0.5, 0.5]

        def learn(self, context, action, loss):
            self.learned += 1

    guess = Counting()
    hn.warm_up(hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), predictor=guess, seed=0))
    assert guess.learned == 0


def test_rows_and_offers_are_known_before_the_first_round():
    rows, offers = hn.bandit(3, seed=0), hn.bandit(actions="items", seed=0)
    for learner in (rows, offers):
        assert hn.warm_up(learner) > 0.0
        assert learner.clock == 0
    assert rows.act([0.1, 0.2, 0.3, 0.4]) in range(3)  # no width was fixed
    assert offers.act([0.1], actions=[[0.2, 0.3, 0.4], [1.0, 0.0, 0.0]]) in range(2)


def test_a_decider_with_a_journal_is_left_as_it_was(tmp_path):
    decider = hn.Decider(["a", "b"], rewards=(0, 1), seed=0).journal(tmp_path / "journal")
    before = (tmp_path / "journal").read_bytes()
    assert hn.warm_up(decider, {"age": 3}) > 0.0
    assert (tmp_path / "journal").read_bytes() == before
    assert not decider.open_decisions
    decider.close()


def test_what_it_cannot_know_has_to_be_given():
    played = hn.bandit(3, seed=0)
    played.act([0.0, 0.5, 1.0])
    played.update(0.5)
    with pytest.raises(hn.ParameterError, match="context="):
        hn.warm_up(played)
    oracle = hn.oracles.FunctionOracle(lambda contexts, losses: lambda x: 0)
    unsized = hn.ContextFTPL(oracle, contexts=[0], seed=0)
    with pytest.raises(hn.ParameterError, match="loss="):
        hn.warm_up(unsized, 0)
    assert hn.warm_up(unsized, 0, [0.0, 1.0]) > 0.0
    with pytest.raises(hn.ParameterError, match="learner"):
        hn.warm_up("learner")


def test_it_is_loaded_when_it_is_asked_for():
    assert "warm_up" in dir(hn)
    assert hn.warm_up is sys.modules["hannan._warm_up"].warm_up
