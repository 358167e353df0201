"""The checks of oracles notice what is broken."""

import threading

import numpy as np
import pytest

import hannan as hn
from hannan.checks import ORACLE_CHECKS, check_oracle
from hannan.checks.oracles import make_case
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.state import Anything, State
from hannan.oracles.all_policies import TableObjective
from tests import problems


class BrokenObjective(TableObjective):
    """A table of totals, to break one method of."""

    def copy(self):
        twin = type(self)(self.oracle)
        twin.totals[:] = self.totals
        return twin


def broken_oracle(objective):
    class Broken(hn.oracles.AllPolicies):
        def objective(self):
            return objective(self)

    return Broken(3, 3)


class Maximises(BrokenObjective):
    def leaders(self, draw=WITHOUT_NOISE, count=1):
        noise, first, scale = draw
        flipped = self.copy()
        flipped.totals *= -1
        return TableObjective.leaders(flipped, Draw(noise, first, -scale), count)


class RefusesNegatives(BrokenObjective):
    def add(self, context, losses):
        super().add(context, np.maximum(losses, 0.0))


class IgnoresNoise(BrokenObjective):
    def leaders(self, draw=WITHOUT_NOISE, count=1):
        _, first, _ = draw
        return super().leaders(Draw(None, first, 0.0), count)


class ForgetsToAdd(BrokenObjective):
    def settle(self, context, losses, draw):
        return self.action(context, draw)


class SettlesWithFreshNoise(BrokenObjective):
    def settle(self, context, losses, draw, available=None):
        noise, number, scale = draw
        self.add(context, losses)
        return self.action(context, Draw(noise, number + 1000, scale))


class IgnoresOneMoreRound(BrokenObjective):
    def action(self, context, draw, plus=None, available=None):
        return super().action(context, draw, None, available)


class AsksUnderOtherNoise(BrokenObjective):
    def action(self, context, draw, plus=None, available=None):
        other = draw if plus is None else draw.later(1000)
        return super().action(context, other, plus, available)


class KeepsOneMoreRound(BrokenObjective):
    def action(self, context, draw, plus=None, available=None):
        found = super().action(context, draw, plus, available)
        if plus is not None and available is None:
            self.add(context, plus)
        return found


class ForgetsToAddAmongSome(BrokenObjective):
    def settle(self, context, losses, draw, available=None):
        if available is None:
            return super().settle(context, losses, draw)
        return self.action(context, draw, losses, available)


class SharesItsTotals(BrokenObjective):
    def copy(self):
        return self


class ChangesItsInput(BrokenObjective):
    def add(self, context, losses):
        super().add(context, losses)
        losses += 1.0


class CountsRounds(BrokenObjective):
    def add(self, context, losses):
        super().add(context, losses + np.array([3.0, 0.0, 0.0]))


class LosesItsTotals(BrokenObjective):
    def _restored(self):
        self.totals[:] = 0.0


class HoldsWhatNoFileCan(BrokenObjective):
    stored = State(lock=Anything())

    def __init__(self, oracle):
        super().__init__(oracle)
        self.lock = threading.Lock()


class MovesItsTies(BrokenObjective):
    asked = 0

    def leaders(self, draw=WITHOUT_NOISE, count=1):
        noise, first, scale = draw
        self.asked += 1
        twin = self.copy()
        twin.totals += 1e-6 * np.roll([0, 1, 2], self.asked)
        return TableObjective.leaders(twin, Draw(noise, first, scale), count)


class WrongValues(BrokenObjective):
    def minima(self, draw=WITHOUT_NOISE, count=1):
        return super().minima(draw, count) + 0.1


BROKEN_OBJECTIVES = {
    Maximises: "check_leader_is_optimal",
    RefusesNegatives: "check_leader_is_optimal",
    IgnoresNoise: "check_noisy_leaders_are_optimal",
    WrongValues: "check_minima_are_the_leaders_values",
    ForgetsToAdd: "check_fast_paths_agree",
    SettlesWithFreshNoise: "check_fast_paths_agree",
    IgnoresOneMoreRound: "check_one_more_round_is_for_the_question",
    AsksUnderOtherNoise: "check_one_more_round_is_for_the_question",
    KeepsOneMoreRound: "check_one_more_round_is_for_the_question",
    ForgetsToAddAmongSome: "check_settling_among_some_adds_the_round",
    CountsRounds: "check_zero_losses_change_nothing",
    MovesItsTies: "check_ties_break_the_same_way",
    SharesItsTotals: "check_copies_are_independent",
    LosesItsTotals: "check_totals_survive_a_file",
    HoldsWhatNoFileCan: "check_totals_survive_a_file",
    ChangesItsInput: "check_losses_are_not_changed",
}


@pytest.mark.parametrize("objective", BROKEN_OBJECTIVES, ids=lambda cls: cls.__name__)
def test_a_broken_objective_is_noticed(objective):
    check = next(c for c in ORACLE_CHECKS if c.__name__ == BROKEN_OBJECTIVES[objective])
    with pytest.raises(AssertionError):
        check(make_case(broken_oracle(objective)))
    with pytest.raises(AssertionError):
        check_oracle(broken_oracle(objective))


class DrawsInOrder(hn.oracles.AllPolicies):
    """Its noise depends on what was drawn before."""

    def noise(self, contexts, key, stream, memory):
        noise = super().noise(contexts, key, stream, memory)
        asked = []

        def unit(draw):
            asked.append(draw)
            return type(noise).unit(noise, draw + len(asked))

        noise.unit = unit
        return noise


class OneDraw(hn.oracles.AllPolicies):
    """Every draw is the same."""

    def noise(self, contexts, key, stream, memory):
        noise = super().noise(contexts, key, stream, memory)
        noise.unit = lambda draw: type(noise).unit(noise, 0)
        return noise


class TooSmall(hn.oracles.AllPolicies):
    """Says that it is smaller than it is."""

    def log_size(self, contexts):
        return 0.1


class ForgetsParameters(hn.oracles.AllPolicies):
    """Does not keep what it was given."""

    def __init__(self, n_contexts, n_actions):
        super().__init__(n_contexts, n_actions + 1)


class OutOfRange(hn.oracles.FunctionOracle):
    """Plays actions that do not exist."""

    def objective(self):
        total = super().objective()
        leaders = total.leaders
        total.leaders = lambda *args: [lambda x: 7 for _ in leaders(*args)]
        return total


@pytest.mark.parametrize(
    "oracle",
    [DrawsInOrder(3, 3), OneDraw(3, 3), TooSmall(3, 3), ForgetsParameters(3, 3)],
    ids=lambda oracle: type(oracle).__name__,
)
def test_a_broken_oracle_is_noticed(oracle):
    with pytest.raises(AssertionError):
        check_oracle(oracle)


def test_actions_that_do_not_exist_are_noticed():
    with pytest.raises(AssertionError, match="an action is an int below 2"):
        check_oracle(OutOfRange(problems.pairs, n_actions=2), contexts=[0])


def test_an_oracle_needs_contexts_to_be_checked_on():
    with pytest.raises(AssertionError, match="contexts="):
        check_oracle(problems.FUNCTION)
