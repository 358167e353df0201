"""Several totals of the same rounds, each of which forgets at its own rate."""

import copy
import pickle

import numpy as np
import pytest

import hannan as hn
from hannan.core.discounted_totals import DiscountedTotals, Draws, discounted_totals_of
from hannan.core.storage import reread
from hannan.perturbation import seed_key
from tests import problems

DISCOUNTS = (1.0, 0.999, 0.9, 0.3)
SLATES = hn.oracles.FinitePolicies(
    [[[0, 1], [1, 2]], [[2, 3], [0, 3]], [[0, 2], [1, 3]]], n_actions=4
)
LISTED = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, 3, size=(40, 5)))


def plain(choices):
    return [np.asarray(choice).tolist() for choice in choices]


def rounds(oracle, T, seed=0):
    rng = np.random.default_rng(seed)
    contexts = rng.integers(len(oracle.contexts), size=T).tolist()
    return [(x, rng.random(oracle.n_actions), 3 * rng.random(4)) for x in contexts]


@pytest.mark.parametrize("memory", [1, 2**13, 2**20])
@pytest.mark.parametrize("oracle", [LISTED, SLATES], ids=["listed", "slates"])
def test_scores_side_by_side_are_separate_totals(oracle, memory):
    fast, slow = (
        discounted_totals_of(oracle, DISCOUNTS),
        DiscountedTotals(oracle, DISCOUNTS, oracle.contexts),
    )
    assert type(fast) is not DiscountedTotals
    noises = [oracle.noise(oracle.contexts, seed_key(1), 0, memory) for _ in "ab"]
    for t, (context, losses, scales) in enumerate(rounds(oracle, 300)):
        first = 4 * t
        both = [(fast, Draws(noises[0], first, scales)), (slow, Draws(noises[1], first, scales))]
        played = [
            plain(discounted_totals.actions(context, draws)) for discounted_totals, draws in both
        ]
        assert played[0] == played[1]
        if t % 7 == 3:  # noise of another round, and a round that is only foreseen
            fast.actions(0, Draws(noises[0], first + 40, scales))
        ahead = [
            plain(discounted_totals.actions(context, draws, None, losses))
            for discounted_totals, draws in both
        ]
        if t % 5 == 2:
            for discounted_totals in (fast, slow):
                discounted_totals.add(context, losses)
        else:
            later = [
                plain(discounted_totals.settle(context, draws, None, losses))
                for discounted_totals, draws in both
            ]
            assert later == ahead
        assert ahead[0] == ahead[1]
        for i in range(4):
            value = slow.total(i).minima()[0] / slow.unit(i)
            assert fast.total(i).minima()[0] == pytest.approx(value)
    assert slow._ages[3] < 30  # totals were made anew
    assert slow._ages[:2] == [300, 300]


@pytest.mark.parametrize("kind", problems.KINDS)
def test_totals_are_those_of_the_definition(kind):
    oracle, rows = problems.make(kind)
    discounted_totals = discounted_totals_of(oracle, DISCOUNTS, range(3))
    history = [(x, v + 0.01 * t) for t, (x, v) in enumerate(problems.rounds(3, 3, 120))]
    for context, losses in history:
        discounted_totals.add(context, losses)
    for i, discount in enumerate(DISCOUNTS):
        weights = discount ** np.arange(len(history), 0, -1)
        values = [
            sum(w * v[row[x]] for w, (x, v) in zip(weights, history, strict=True)) for row in rows
        ]
        least = discounted_totals.total(i).minima()[0] / discounted_totals.unit(i)
        assert least == pytest.approx(min(values))


def test_scores_decide_among_what_is_available():
    oracle = hn.oracles.AllPolicies(2, 3)
    discounted_totals = discounted_totals_of(oracle, (1.0, 0.5))
    assert discounted_totals.scored
    discounted_totals.add(0, np.array([0.0, 0.5, 0.2]))
    draws = Draws(None, 0, np.zeros(2))
    assert discounted_totals.actions(0, draws).tolist() == [0, 0]
    some = np.array([1, 1, 2])  # action 0 is not available
    assert discounted_totals.actions(0, draws, some).tolist() == [2, 2]
    losses = np.array([0.0, 0.0, 1.0])
    assert discounted_totals.actions(0, draws, some, losses).tolist() == [1, 1]
    assert discounted_totals.actions(0, draws, some).tolist() == [2, 2]


class Failing(hn.oracles.AllPolicies):
    """Totals that fail to add while a switch is on."""

    fails = 0

    def objective(self):
        total = super().objective()
        add = total.add

        def failing(context, losses):
            if Failing.fails:
                Failing.fails -= 1
                raise MemoryError
            add(context, losses)

        total.add = failing
        return total


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_a_total_that_fails_to_add_is_tried_again(fails):
    discounted_totals, twin = (
        discounted_totals_of(each, (1.0, 0.5))
        for each in (Failing(1, 2), hn.oracles.AllPolicies(1, 2))
    )
    losses = np.array([0.4, 0.1])
    for _ in range(3):
        discounted_totals.add(0, losses)
        twin.add(0, losses)
    Failing.fails = fails
    discounted_totals.add(0, losses)
    twin.add(0, losses)
    losses[:] = 9.0  # the caller uses the array again
    for _ in range(fails - 1):
        with pytest.raises(MemoryError):
            discounted_totals.actions(0, Draws(None, 0, np.zeros(2)))
    for i in range(2):
        assert (discounted_totals.total(i).totals == twin.total(i).totals).all()


@pytest.mark.parametrize("oracle", [LISTED, hn.oracles.AllPolicies(5, 3)], ids=["listed", "all"])
@pytest.mark.parametrize("again", [reread, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_a_copy_goes_on_alike(oracle, again):
    learner = hn.AdaptiveDiscount(oracle, discounts=DISCOUNTS, seed=0)
    history = [(x, v) for x, v, _ in rounds(oracle, 100)]
    problems.play(learner, history[:60])
    twin = again(learner)
    assert problems.play(learner, history[60:]) == problems.play(twin, history[60:])
