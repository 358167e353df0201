"""What hints cost in late rounds: no choice of the rounds that are answered breaks the account."""

from itertools import combinations, product

import numpy as np
import pytest

import hannan as hn
from hannan.learners.floor import Floor
from hannan.learners.hint import AdvisedRound, Hint

K, ADVICE = 3, 1
ALL = frozenset(range(K))
SETS = [frozenset(some) for n in range(K + 1) for some in combinations(range(K), n)]
CORNERS = list(product([0.0, 1.0], repeat=K))


class Fixed:
    def predict(self, context):
        raise AssertionError("these rounds are given")

    def learn(self, context, action, loss):
        pass


def balance(distribution, share, values, losses, answered, explores, charged=True):
    """What a late round is accounted for less what it cost, on average over its action.

    The action is played by exploration, hint or base; its loss is learned if it is one of those
    `answered`, and else charged in full.
    """
    total = 0.0
    for action, explored in product(range(K), [False, True] if explores else [False]):
        opened = AdvisedRound(0)
        opened.advice, opened.share, opened.values = ADVICE, share, values
        opened.distribution, opened.exact, opened.late = distribution, True, True
        opened.explores, opened.each = explores, explores / K
        opened.action, opened.explored = action, explored
        trust = hn.Trust(prior=0.0, floor=0.0, share=0.97)
        hint = Hint(Fixed(), trust, K, (0.0, 1.0), 1.0 - explores)
        floor = Floor(None, explores / K, K, hn.oracles.AllPolicies(1, K))
        mixed = (1.0 - share) * distribution[action] + share * (action == ADVICE)
        chance = explores / K if explored else (1.0 - explores) * mixed
        q = opened.likely(action, distribution[action])
        hint.played(opened)
        before, reserved = hint.S, hint.reserve
        if action in answered:
            hint.charge(opened, losses[action], 1.0 / q)
            floor.charge(opened, losses[action])
            estimated = distribution[action] * losses[action] / q
            assert hint.S - before <= reserved + 1e-12  # and so within the budget
            assert hint.reserve == hint.unpaid == 0.0
        else:
            estimated = 1.0 + charged * hint.unpaid
        total += chance * (hint.S + floor.price + estimated - losses[action])
    return total


GIVEN = list(
    product(
        [np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.0, 0.3]), np.array([0.05, 0.9, 0.05])],
        [0.3, 0.9],
        [0.0, 0.3],
    )
)


@pytest.mark.parametrize(("distribution", "share", "explores"), GIVEN)
def test_no_choice_of_answers_makes_the_account_too_small(distribution, share, explores):
    guesses = [*CORNERS, (0.2, 0.9, 0.6)]
    for values, losses, answered in product(guesses, CORNERS, SETS):
        found = balance(distribution, share, np.array(values), losses, answered, explores)
        assert found >= -1e-9
        if answered == ALL:
            assert found == pytest.approx(0.0, abs=1e-9)


def test_open_rounds_without_the_charge_would_break_it():
    distribution, losses = np.array([0.2, 0.3, 0.5]), (1.0, 1.0, 1.0)
    found = balance(
        distribution, 0.9, np.array([1.0, 0.0, 1.0]), losses, frozenset([1]), 0.0, charged=False
    )
    assert found < -0.3
