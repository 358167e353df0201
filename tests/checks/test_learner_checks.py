"""The checks of learners notice what is broken."""

import contextlib
import dataclasses

import numpy as np
import pytest
from examples.worlds import SlateClicks

import hannan as hn
from hannan.checks import (
    FAILURE_CHECKS,
    LEARNER_CHECKS,
    check_average_regret_falls,
    check_docstring,
    check_learner,
)
from hannan.core.state import State
from tests.problems import FINITE, PLANTED, PUNISHER, SLATES


class Good(hn.baselines.UniformRandom):
    __doc__ = hn.baselines.UniformRandom.__doc__


class Leader(hn.baselines.FollowTheLeader):
    __doc__ = hn.baselines.FollowTheLeader.__doc__


class Unseeded(Good):
    def act(self, context=None, available=None):
        super().act(context, available)
        return int(np.random.default_rng().integers(3))


class PlaysNumpyIntegers(Good):
    def act(self, context=None, available=None):
        return np.int64(super().act(context, available))


class PlaysOutside(Good):
    def act(self, context=None, available=None):
        return super().act(context, available) + 1


class CountsWhenItActs(Good):
    def act(self, context=None, available=None):
        self.rounds += 1
        return super().act(context, available)


class SwallowsEverything(Good):
    def update(self, loss, decision=None):
        with contextlib.suppress(hn.LossError):
            super().update(loss, decision)


class LearnsBeforeChecking(Good):
    tries = 0

    def update(self, loss, decision=None):
        self.tries += 1
        super().update(loss, decision)

    def act(self, context=None, available=None):
        return (super().act(context, available) + self.tries) % 3


class AnswersTwice(Good):
    def update(self, loss, decision=None):
        with contextlib.suppress(hn.OrderError):
            super().update(loss, decision)


class KeepsItsMemory(Good):
    def reset(self):
        self.rounds = 0


class ChangesLosses(Leader):
    def update(self, loss, decision=None):
        super().update(loss, decision)
        loss += 0.5


class MiscountsRounds(Good):
    def update(self, loss, decision=None):
        super().update(loss, decision)
        self.rounds += 1


class AsksItself(Good):
    def would_play(self, context=None, copies=1, seed=0, available=None):
        return [self.act(context) for _ in range(copies)]


class AnswersLateTwice(Leader):
    def update(self, loss, decision=None):
        with contextlib.suppress(hn.DecisionError):
            super().update(loss, decision)


class LearnsLateBeforeChecking(Leader):
    def update(self, loss, decision=None):
        if isinstance(decision, int):
            self.act(decision % 4)
            super().update(np.eye(3)[decision % 3])
        super().update(loss, decision)


class PlaysWhatIsGone(Good):
    def act(self, context=None, available=None):
        return super().act(context)


class CopiesPlayWhatIsGone(Good):
    def would_play(self, context=None, copies=1, seed=0, available=None):
        return super().would_play(context, copies, seed)


class DecidesOnWhatIsGone(Good):
    def decide_many(self, contexts, available=None):
        made = zip(super().decide_many(contexts), available, strict=True)
        return [dataclasses.replace(decision, available=there) for decision, there in made]


class TakesAnySet(Good):
    def act(self, context=None, available=None):
        try:
            return super().act(context, available)
        except hn.HannanError:
            return super().act(context)


class ForgetsToSave(Good):
    stored = State()
    age = 0

    def update(self, loss, decision=None):
        super().update(loss, decision)
        self.age += 1

    def act(self, context=None, available=None):
        return (super().act(context, available) + self.age // 20) % 3


BROKEN = {
    Unseeded: "check_seed_fixes_the_run",
    PlaysNumpyIntegers: "check_actions_are_feasible",
    PlaysOutside: "check_actions_are_feasible",
    CountsWhenItActs: "check_acts_before_any_update",
    SwallowsEverything: "check_bad_losses_are_refused",
    LearnsBeforeChecking: "check_bad_losses_are_refused",
    AnswersTwice: "check_calls_out_of_turn_are_refused",
    KeepsItsMemory: "check_reset_forgets_everything",
    ChangesLosses: "check_inputs_are_not_changed",
    MiscountsRounds: "check_rounds_are_counted",
    AsksItself: "check_asking_copies_changes_nothing",
    AnswersLateTwice: "check_late_losses_are_learned_once",
    LearnsLateBeforeChecking: "check_late_losses_are_learned_once",
    PlaysWhatIsGone: "check_only_what_is_there_is_played",
    CopiesPlayWhatIsGone: "check_only_what_is_there_is_played",
    DecidesOnWhatIsGone: "check_only_what_is_there_is_played",
    TakesAnySet: "check_only_what_is_there_is_played",
    ForgetsToSave: "check_saving_changes_nothing",
}


def make(kind):
    return kind(FINITE) if issubclass(kind, Leader) else kind(3, seed=0)


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_learner_is_noticed(kind):
    check = next(c for c in LEARNER_CHECKS if c.__name__ == BROKEN[kind])
    check(make(Leader if issubclass(kind, Leader) else Good), PLANTED, 60)
    with pytest.raises(AssertionError):
        check(make(kind), PLANTED, 60)
    kind.__doc__ = Good.__doc__
    with pytest.raises(AssertionError):
        check_learner(make(kind), PLANTED, 60, no_regret=False)


def test_whole_learners_pass():
    for kind in (Good, Leader):
        check_learner(make(kind), PLANTED, 60, no_regret=False)


CLICKS = SlateClicks(SLATES)
SAFE = {
    "oracle": hn.baselines.FollowTheLeader(SLATES),
    "oracle and noise": hn.baselines.KalaiVempala(SLATES, seed=0),
    "predictor": hn.baselines.EpsilonGreedy(4, seed=0),
}


class CountsBeforeActing(hn.baselines.FollowTheLeader):
    def act(self, context=None, available=None):
        self.oracle_calls += 1
        return super().act(context, available)


class ForgetsBeforeActing(hn.baselines.KalaiVempala):
    """The noise goes on, whatever becomes of the call."""

    def act(self, context=None, available=None):
        self.seed += 1
        action = super().act(context, available)
        return (action + self.seed) % 4


class RoundsBeforeDeciding(hn.baselines.FollowTheLeader):
    def decide(self, context=None, available=None):
        self.rounds += 1
        made = super().decide(context, available)
        self.rounds -= 1
        return made


class LearnsBeforeTheOracle(hn.baselines.FollowTheLeader):
    """Counts what it suffers, and plays by that, before the total is ready to be changed."""

    suffered = 0.0

    def update(self, loss, decision=None):
        self.suffered += float(np.sum(loss))
        super().update(loss, decision)

    def regret_bound(self):
        return self.suffered


class LearnsBeforeThePredictor(hn.baselines.EpsilonGreedy):
    seen = 0

    def update(self, loss, decision=None):
        self.seen += 1
        super().update(loss, decision)

    def act(self, context=None, available=None):
        action = super().act(context, available)
        return action if available is not None else (action + self.seen) % 4


ORACLE, PREDICTOR = FAILURE_CHECKS


@pytest.mark.parametrize("check", FAILURE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SAFE)
def test_safe_learners_survive_failing_parts(name, check):
    check(SAFE[name], CLICKS, 60)


@pytest.mark.parametrize(
    ("check", "learner", "what"),
    [
        (ORACLE, CountsBeforeActing(SLATES), "after call"),
        (ORACLE, ForgetsBeforeActing(SLATES, seed=0), "after call"),
        (ORACLE, RoundsBeforeDeciding(SLATES), "changed the rounds"),
        (ORACLE, LearnsBeforeTheOracle(SLATES), "at the end states"),
        (PREDICTOR, LearnsBeforeThePredictor(4, seed=0), "after call"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, hn.Learner) else "",
)
def test_traces_of_a_call_that_failed_are_noticed(check, learner, what):
    with pytest.raises(AssertionError, match=rf"\w+ failed as call \d+ .* {what}"):
        check(learner, CLICKS, 60)


@pytest.mark.parametrize(("check", "learner"), [(ORACLE, "oracle"), (PREDICTOR, "predictor")])
def test_parts_are_whole_again_afterwards(check, learner):
    parts = (hn.oracles.FinitePolicies, type(SLATES.objective()), hn.predictors.Ridge)
    before = [dict(vars(part)) for part in parts]
    check(SAFE[learner], CLICKS, 60)
    assert [dict(vars(part)) for part in parts] == before


def test_a_learner_that_uses_hidden_losses_is_noticed():
    check = next(c for c in LEARNER_CHECKS if c.__name__ == "check_hidden_losses_are_not_used")
    rounds = [(0, np.array([0.0, 0.5, 1.0]))] * 20

    class Cheats(Good):
        """Sees every loss, though only that of its action is revealed."""

        feedback = hn.Feedback.BANDIT
        leaked = 0

        def act(self, context=None, available=None):
            return (super().act(context, available) + self.leaked) % 3

        def update(self, loss, decision=None):
            super().update(loss, decision)
            self.leaked = int(FixedRounds.shown @ [2, 4, 6])

    class FixedRounds(hn.Environment):
        n_actions = 3
        shown = np.zeros(3)

        def rounds(self, horizon, rng):
            for context, losses in rounds[:horizon]:
                yield hn.Round(context, losses)

    original = hn.Round.reveal

    def leaking(self, action, feedback=hn.Feedback.FULL):
        FixedRounds.shown = self._losses
        return original(self, action, feedback)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hn.Round, "reveal", leaking)
        with pytest.raises(AssertionError, match="hidden"):
            check(Cheats(3, seed=0), FixedRounds(), 20)


def test_regret_that_does_not_fall_is_noticed():
    with pytest.raises(AssertionError, match="does not fall"):
        check_average_regret_falls(hn.baselines.UniformRandom(3, seed=0), PLANTED, 100)
    with pytest.raises(AssertionError, match="does not fall"):
        check_average_regret_falls(hn.baselines.FollowTheLeader(FINITE), PUNISHER, 100)


class Undocumented(hn.baselines.UniformRandom):
    pass


def test_a_docstring_without_a_section_is_noticed():
    with pytest.raises(AssertionError, match="'Parameters'"):
        check_docstring(Undocumented)
    with pytest.raises(AssertionError, match="'Parameters'"):
        check_learner(Undocumented(3, seed=0), PLANTED, 60, no_regret=False)
