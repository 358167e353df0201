import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import hannan as hn
from hannan.baselines import AdaNormalHedge
from tests import naive_mixtures, problems
from tests.cases import Match

ROWS = [[0, 1], [1, 1], [2, 0], [1, 0]]
BY_ACTION = [[0], [1], [2]]
CONTRACT = {
    "AdaNormalHedge": Match(AdaNormalHedge(problems.FINITE, seed=0), problems.PUNISHER),
    "AdaNormalHedge, prior": Match(
        AdaNormalHedge(problems.FINITE, prior=[1, 2, 3, 1, 1, 1, 1, 1, 9], seed=0),
        problems.PLANTED,
    ),
}


def mixtures(learner, history):
    """The weights before each round, and after the last."""
    found = [learner._mixture.copy()]
    for context, losses in history:
        learner.act(context)
        learner.update(losses)
        found.append(learner._mixture.copy())
    return found


def test_a_hand_worked_round():
    # Losses (1, 0) at 1/2 each: regrets -1/2 and 1/2, sizes 1/2. The weights are
    # e^((1/2)^2/4.5) - 1 and e^((3/2)^2/4.5) - 1.
    learner = AdaNormalHedge([[0], [1]], seed=0)
    _, after = mixtures(learner, [(0, np.array([1.0, 0.0]))])
    low, high = math.exp(1 / 18) - 1, math.exp(1 / 2) - 1
    np.testing.assert_allclose(after, [low / (low + high), high / (low + high)], rtol=1e-12)


@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.3, 0.4]])
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_weights_equal_the_definition(prior, scale):
    rng = np.random.default_rng(0)
    history = [(int(rng.integers(2)), rng.random(3)) for _ in range(80)]
    costs = naive_mixtures.costs_of(ROWS, history)
    expected, _, _, _ = naive_mixtures.ada_normal_hedge(costs, prior or [0.25] * 4)
    # The range only shifts and rescales; the prior may come in any scale.
    learner = AdaNormalHedge(
        ROWS,
        prior=None if prior is None else [7 * q for q in prior],
        seed=0,
        loss_range=(-1.0, scale - 1.0),
    )
    found = mixtures(learner, [(x, scale * losses - 1.0) for x, losses in history])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_the_prior_is_played_where_no_policy_has_regret():
    learner = AdaNormalHedge([[0], [1]], prior=[1, 3], seed=0)
    learner._totals[:] = -5.0
    learner._magnitudes[:] = 5.0
    learner.act(0)
    learner.update([0.5, 0.5])
    np.testing.assert_allclose(learner._mixture, [0.25, 0.75])


COSTS = st.integers(2, 30).flatmap(
    lambda T: st.lists(
        st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=3, max_size=3), min_size=T, max_size=T
    )
)


def assert_below_its_bound(learner, costs, prior):
    weights = mixtures(learner, [(0, np.array(row)) for row in costs])[:-1]
    losses = [naive_mixtures.mixed(w, c) for w, c in zip(weights, costs, strict=True)]
    regrets = np.array(losses)[:, None] - np.array(costs)
    C = np.abs(regrets).sum(axis=0)
    B = 1 + 1.5 * float(prior @ (1 + np.log1p(C)))
    assert (regrets.sum(axis=0) <= np.sqrt(3 * C * np.log(B / prior)) + 1e-9).all()


@settings(deadline=None, max_examples=60)
@given(COSTS, st.sampled_from([[1, 1, 1], [1, 5, 14]]))
def test_regret_to_every_policy_stays_below_its_bound(costs, prior):
    # The bound is for the mixture's loss on each sequence, without any probability.
    learner = AdaNormalHedge(BY_ACTION, prior=prior, seed=0)
    assert_below_its_bound(learner, costs, np.array(prior) / sum(prior))


def test_a_long_game_against_the_mixture_stays_below_its_bound():
    learner, costs = AdaNormalHedge(BY_ACTION, seed=0), []
    for _ in range(1500):
        learner.act(0)
        row = (learner._mixture == learner._mixture.max()).astype(float)
        learner.update(row)
        costs.append(row.tolist())
    assert_below_its_bound(AdaNormalHedge(BY_ACTION, seed=0), costs, np.full(3, 1 / 3))
    assert np.isfinite(learner._mixture).all()


def test_regret_is_small_where_one_policy_never_loses():
    # Of the order of log N log log T: the bound with C_n = R_n gives R <= 3 log(B N).
    N = 50
    rng = np.random.default_rng(0)
    learner = AdaNormalHedge(np.arange(N)[:, None], seed=0)
    loss = 0.0
    for _ in range(3000):
        row = rng.random(N)
        row[17] = 0.0
        learner.act(0)
        loss += float(learner._mixture @ row)
        learner.update(row)
    assert loss < 3 * math.log((2.5 + 1.5 * math.log(3001)) * N)
    assert learner.act(0) == 17


@pytest.mark.stat
def test_policies_are_followed_in_proportion_to_their_weights():
    counts = np.zeros(3)
    history = [(0, np.array([1.0, 0.5, 0.0])), (0, np.array([0.0, 1.0, 0.5]))]
    for seed in range(2500):
        learner = AdaNormalHedge(BY_ACTION, seed=seed)
        problems.play(learner, history)
        learner.act(0)
        counts[learner.act(0)] += 1
    costs = naive_mixtures.costs_of(BY_ACTION, history)
    weights = naive_mixtures.ada_normal_hedge(costs, [1 / 3] * 3)[0][-1]
    assert stats.chisquare(counts, 2500 * np.array(weights)).pvalue > 1e-4


@pytest.mark.parametrize(
    "prior", [[1, 1], [1, 1, 1, 0], [1, 1, 1, -1], [1, 1, 1, math.nan], "even", [[1, 1, 1, 1]]]
)
def test_a_bad_prior_is_refused(prior):
    with pytest.raises(hn.ParameterError, match="'prior' parameter of AdaNormalHedge"):
        AdaNormalHedge(ROWS, prior=prior)
