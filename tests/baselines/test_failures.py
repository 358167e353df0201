"""Oracles, predictors and Vowpal Wabbit that fail: the learner stays as it was."""

import numpy as np
import pytest

import hannan as hn
from hannan.baselines._bandit import Bandit
from hannan.baselines._set_bandit import SetBandit
from hannan.baselines._weighted_policies import WeightedPolicies
from hannan.core import Learner
from hannan.core.params import Parametrised
from hannan.core.stored import Stored

B = hn.baselines
K, CONTEXTS = 3, range(4)
TABLE = np.random.default_rng(0).integers(K, size=(12, 4))


class Down(Exception):
    """What a part of someone else raises."""


class Switch:
    """Makes a function raise while it is off."""

    def __init__(self):
        self.works = True

    def guard(self, function):
        def guarded(*given, **options):
            if not self.works:
                raise Down
            return function(*given, **options)

        return guarded


def cheapest(contexts, losses):
    best = int(losses.sum(axis=0).argmin()) if len(contexts) and losses.size else 0
    return lambda context: (best + context) % K


def solver(switch, where):
    """An optimiser that fails itself, or whose policies do."""
    if where == "leader":
        return hn.oracles.FunctionOracle(switch.guard(cheapest), n_actions=K)
    return hn.oracles.FunctionOracle(lambda x, f: switch.guard(cheapest(x, f)), n_actions=K)


def predictor(switch, where):
    made = hn.predictors.Mean()
    setattr(made, where, switch.guard(getattr(made, where)))
    made.clone = lambda: made
    return made


MAKERS = {
    "FollowTheLeader": lambda s: B.FollowTheLeader(solver(s, "leader")),
    "FollowTheLeader, policy": lambda s: B.FollowTheLeader(solver(s, "policy")),
    "KalaiVempala": lambda s: B.KalaiVempala(solver(s, "leader"), CONTEXTS, epsilon=0.1, seed=0),
    "KalaiVempala, policy": lambda s: B.KalaiVempala(
        solver(s, "policy"), CONTEXTS, epsilon=0.1, seed=0
    ),
    "EpochGreedy": lambda s: B.EpochGreedy(solver(s, "leader"), log_size=0.1, seed=0),
    "EpochGreedy, policy": lambda s: B.EpochGreedy(solver(s, "policy"), log_size=0.1, seed=0),
    "EpsilonGreedy": lambda s: B.EpsilonGreedy(K, predictor(s, "estimate"), epsilon=0.5, seed=0),
    "EpsilonGreedy, learning": lambda s: B.EpsilonGreedy(
        K, predictor(s, "learn"), epsilon=0.5, seed=0
    ),
    "OptimisticHedge": lambda s: B.OptimisticHedge(
        TABLE, predictor=predictor(s, "predict"), seed=0
    ),
    "OptimisticHedge, learning": lambda s: B.OptimisticHedge(
        TABLE, predictor=predictor(s, "learn"), seed=0
    ),
}


class Game:
    """Calls that fail first where they can, and are then made again."""

    def __init__(self, name, failing):
        self.switch, self.failing, self.failed = Switch(), failing, 0
        self.learner = MAKERS[name](self.switch)

    def call(self, function, *given, **options):
        if self.failing:
            self.switch.works = False
            try:
                return function(*given, **options)
            except Down:
                self.failed += 1
            finally:
                self.switch.works = True
        return function(*given, **options)

    def answer(self, action, losses, **options):
        full = self.learner.feedback is hn.Feedback.FULL
        self.call(self.learner.update, losses if full else float(losses[action]), **options)

    def played(self):
        """All that is seen of the learner."""
        learner, rng = self.learner, np.random.default_rng(1)
        waiting = []
        for t in range(90):
            context, losses = int(rng.integers(4)), rng.random(K)
            some = None if t % 4 else np.sort(rng.permutation(K)[:2])
            if t % 3 == 1 and learner.late is None:
                decision = self.call(learner.decide, context, available=some)
                waiting.append((decision, losses))
                yield decision.action
            else:
                action = self.call(learner.act, context, available=some)
                yield action
                self.answer(action, losses)
            if len(waiting) > 2:
                decision, losses = waiting.pop(1)
                self.answer(decision.action, losses, decision=decision)
            yield learner.rounds, learner.oracle_calls, learner.regret_bound()
            yield self.call(learner.would_play, context, 5)


@pytest.mark.parametrize("name", MAKERS)
def test_what_fails_changes_nothing(name):
    game = Game(name, failing=True)
    assert list(game.played()) == list(Game(name, failing=False).played())
    assert game.failed > 20


def test_vowpal_wabbit_that_fails_before_it_learns_changes_nothing():
    pytest.importorskip("vowpalwabbit")
    learner, twin = (B.VowpalWabbit(K, "--epsilon 0.3", seed=0) for _ in range(2))
    native = learner._model._vw

    class Failing:
        def predict_multi(self, examples):
            raise Down

        learn_multi = predict_multi

        def __getattr__(self, name):
            return getattr(native, name)

    for t in range(60):
        context = ("sun", "rain")[t % 2]
        for call in (learner.act, learner.decide):
            learner._model._vw = Failing()
            with pytest.raises(Down):
                call(context)
            learner._model._vw = native
        action = learner.act(context)
        learner._model._vw = Failing()
        with pytest.raises(Down):
            learner.update(0.5)
        learner._model._vw = native
        assert action == twin.act(context)
        for each in (learner, twin):
            each.update(float(action != t % 2))
    assert (learner.probabilities("sun") == twin.probabilities("sun")).all()
    assert learner.rounds == twin.rounds == 60


@pytest.mark.parametrize("name", B.__all__)
def test_baselines_are_learners_and_no_more(name):
    ours = [each for each in vars(B)[name].__mro__ if each.__module__.startswith("hannan")]
    shared = [each for each in (Bandit, SetBandit, WeightedPolicies) if each in ours]
    assert ours == [vars(B)[name], *shared, Learner, Parametrised, Stored]
