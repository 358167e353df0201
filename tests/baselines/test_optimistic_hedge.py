import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import hannan as hn
from hannan.baselines import Hedge, OptimisticHedge
from tests import naive_mixtures, problems
from tests.cases import Match

ROWS = [[0, 1], [1, 1], [2, 0], [1, 0]]
BY_ACTION = [[0], [1], [2]]
CONTRACT = {
    "OptimisticHedge": Match(OptimisticHedge(problems.FINITE, seed=0), problems.PUNISHER),
    "OptimisticHedge, mean": Match(
        OptimisticHedge(problems.FINITE, predictor=hn.predictors.Mean(0.0), seed=0),
        problems.PLANTED,
    ),
}


class Knows:
    """A predictor that knows the losses ahead, times some factor."""

    def __init__(self, losses, factor=1.0):
        self.rounds = iter(losses)
        self.factor = factor

    def predict(self, context):
        return self.factor * next(self.rounds)

    def learn(self, context, action, loss):
        pass


def policy_weights(learner, context):
    """The weights of the round that `act` opens, from the learner's own numbers."""
    learner.act(context)
    guess = [learner._ledger.current.guess[row[context]] for row in learner.oracle.table]
    exponents = -learner._rate() * (learner._totals + guess)
    weights = np.exp(exponents - exponents.max())
    return weights / weights.sum()


def played(learner, history):
    found = []
    for context, losses in history:
        found.append(policy_weights(learner, context))
        learner.update(losses)
    return found


def last_guesses(history):
    return [np.zeros(3), *(losses for _, losses in history[:-1])]


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("eta", [None, 0.8])
def test_policies_are_followed_in_proportion_to_weights_with_the_guess(eta):
    history = [(t % 2, np.random.default_rng(t).random(3)) for t in range(5)]
    counts = np.zeros(3)
    for seed in range(2500):
        learner = OptimisticHedge(ROWS, learning_rate=eta, seed=seed)
        problems.play(learner, history[:-1])
        learner.act(1)  # dropped: the round is asked for anew
        counts[learner.act(history[-1][0])] += 1
    weights, _, _ = naive_mixtures.optimistic_hedge(
        ROWS,
        history,
        last_guesses(history),
        lambda t, squares: eta or 2 * math.sqrt(math.log(4) / (4 + squares)),
    )
    expected = np.zeros(3)
    for weight, row in zip(weights[-1], ROWS, strict=True):
        expected[row[history[-1][0]]] += weight
    assert stats.chisquare(counts, 2500 * expected).pvalue > 1e-4


@pytest.mark.parametrize("by_context", [True, False])
def test_weights_equal_the_definition(by_context):
    rng = np.random.default_rng(1)
    history = [(int(rng.integers(2)), rng.random(3)) for _ in range(60)]
    guesses, seen = [], {}
    for context, losses in history:
        key = context if by_context else 0
        guesses.append(seen.get(key, np.zeros(3)))
        seen[key] = losses
    expected, _, _ = naive_mixtures.optimistic_hedge(
        ROWS, history, guesses, lambda t, v: 2 * math.sqrt(math.log(4) / (4 + v))
    )
    learner = OptimisticHedge(ROWS, predictor=hn.predictors.Last(by_context), seed=0)
    np.testing.assert_allclose(played(learner, history), expected, rtol=1e-9)


def test_two_rounds_on_paper():
    # η = log 2. Losses (1, 0) count once as the past and once as the guess: 1/4 to 1.
    learner = OptimisticHedge([[0], [1]], learning_rate=math.log(2), seed=0)
    first = policy_weights(learner, 0)
    learner.update([1.0, 0.0])
    np.testing.assert_allclose([first, policy_weights(learner, 0)], [[0.5, 0.5], [0.2, 0.8]])


def test_a_guess_of_nothing_is_hedge():
    history = problems.rounds(2, 3, 80)
    blind = OptimisticHedge(ROWS, predictor=Knows([np.zeros(3)] * 80), learning_rate=0.3, seed=5)
    plain = Hedge(ROWS, learning_rate=0.3, seed=5)
    assert problems.play(blind, history) == problems.play(plain, history)


COSTS = st.lists(
    st.lists(st.sampled_from([0.0, 0.4, 1.0]), min_size=3, max_size=3), min_size=1, max_size=30
)


@settings(deadline=None, max_examples=60)
@given(COSTS, st.sampled_from(["last", "mean", "wrong"]), st.sampled_from([None, 0.5, 3.0]))
def test_regret_stays_below_its_bound(costs, guess, eta):
    # The bound is for the mixture's loss on each sequence, whatever the guesses.
    rows = [np.array(row) for row in costs]
    predictor = {
        "last": None,
        "mean": hn.predictors.Mean(alpha=0.0, by_context=False),
        "wrong": Knows([1 - row for row in rows]),
    }[guess]
    learner = OptimisticHedge(BY_ACTION, predictor=predictor, learning_rate=eta, seed=0)
    loss, squares = 0.0, 0.0
    for row in rows:
        weights = policy_weights(learner, 0)
        error = row - learner._ledger.current.guess
        squares += (error.max() - error.min()) ** 2
        loss += float(weights @ row)
        learner.update(row)
    bound = math.sqrt((4 + squares) * math.log(3))
    if eta is not None:
        bound = math.log(3) / eta + eta * squares / 8
    assert loss - sum(rows).min() <= bound + 1e-9


def test_a_perfect_guess_leaves_next_to_no_regret():
    rng = np.random.default_rng(0)
    history = [(0, rng.random(3)) for _ in range(1000)]
    learner = OptimisticHedge(BY_ACTION, predictor=Knows([v for _, v in history]), seed=0)
    weights = played(learner, history)
    loss = sum(float(w @ losses) for w, (_, losses) in zip(weights, history, strict=True))
    # log N / η + 0, with η = sqrt(log N) throughout.
    assert loss - sum(v for _, v in history).min() <= math.sqrt(math.log(3)) + 1e-9


def test_slow_changes_are_followed_by_the_previous_losses():
    # The costs change sides whenever one action leads by 10: bad for all who follow the past.
    sides = np.sign(np.sin(np.pi * (np.arange(2000) + 10.5) / 20))
    costs = np.column_stack([sides > 0, sides < 0]).astype(float)
    history = [(0, row) for row in costs]
    regret = {}
    for name, predictor in (("last", None), ("none", Knows(np.zeros((2000, 2))))):
        weights = played(OptimisticHedge([[0], [1]], predictor=predictor, seed=0), history)
        loss = sum(float(w @ row) for w, row in zip(weights, costs, strict=True))
        regret[name] = loss - costs.sum(axis=0).min()
    assert regret["last"] < 0.5 * regret["none"], regret


@pytest.mark.parametrize("kind", ["Ridge", "Mean", "ExponentialMean"])
def test_every_predictor_can_be_asked(kind):
    world = hn.environments.PlantedPolicy(hn.oracles.FinitePolicies(ROWS), good=0.1, bad=0.9)
    options = {"features": np.eye(2)} if kind == "Ridge" else {}
    predictor = getattr(hn.predictors, kind)(**options)
    learner = OptimisticHedge(ROWS, predictor=predictor, seed=0)
    assert hn.play(learner, world, 400, seed=0).losses.mean() < 0.25
    assert learner.predictor is predictor is not learner._predictor


def test_guesses_outside_the_range_are_moved_into_it():
    learner = OptimisticHedge(BY_ACTION, predictor=Knows([np.array([-5.0, 0.5, 7.0])]), seed=0)
    learner.act(0)
    assert learner._ledger.current.guess.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("guess", [np.zeros(2), np.array([0.0, np.nan, 0.0]), 0.5])
def test_guesses_of_another_shape_or_not_finite_are_refused(guess):
    learner = OptimisticHedge(BY_ACTION, predictor=Knows([guess]), seed=0)
    with pytest.raises(hn.LossError, match="Knows returned"):
        learner.act(0)
    with pytest.raises(hn.InputTypeError, match="predictor"):
        OptimisticHedge(BY_ACTION, predictor=guess)


def test_a_refused_loss_teaches_the_predictor_nothing():
    learner = OptimisticHedge(BY_ACTION, seed=0)
    learner.act(0)
    for bad in ([0.0, 2.0, 0.0], [np.nan] * 3, [0.5]):
        with pytest.raises(hn.HannanError):
            learner.update(bad)
    assert not learner._predictor.predict(0).any()
    assert not learner._totals.any()


def test_a_guess_that_changes_when_its_predictor_learns_is_judged_as_it_was():
    class HandsOutItsOwn(Knows):
        def __init__(self):
            self.row = np.zeros(3)

        def predict(self, context):
            return self.row

        def learn(self, context, action, loss):
            self.row[action] = loss

    history = problems.rounds(1, 3, 20)
    own = OptimisticHedge(BY_ACTION, predictor=HandsOutItsOwn(), seed=0)
    copied = OptimisticHedge(BY_ACTION, seed=0)
    assert problems.play(own, history) == problems.play(copied, history)
    assert own._errors == copied._errors > 4
