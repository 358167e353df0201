import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import hannan as hn
from hannan.baselines import FixedShare, Hedge
from tests import naive, naive_mixtures, problems
from tests.cases import Match

ROWS = [[0, 1], [1, 1], [2, 0], [1, 0]]
BY_ACTION = [[0], [1], [2]]
CONTRACT = {
    "FixedShare": Match(FixedShare(problems.FINITE, seed=0), problems.PUNISHER),
    "FixedShare, tuned": Match(
        FixedShare(problems.FINITE, horizon=60, switches=2, seed=0),
        problems.PLANTED,
        no_regret=False,  # a tuned rate does not suit every horizon
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


def entropy(p):
    return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


def test_a_hand_worked_run():
    # η = log 3, α = 1/5. Losses (1, 0): 1/2, 1/2 -> 1/4, 3/4 -> 1/5 + 1/10, 3/5 + 1/10.
    # Losses (0, 1): 9/30 and 7/30 -> 9/16, 7/16 -> 9/20 + 1/10, 7/20 + 1/10.
    learner = FixedShare([[0], [1]], share=0.2, learning_rate=math.log(3), seed=0)
    found = mixtures(learner, [(0, np.array([1.0, 0.0])), (0, np.array([0.0, 1.0]))])
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.3, 0.7], [0.55, 0.45]], rtol=1e-13)


@pytest.mark.parametrize("loss_range", [(0.0, 1.0), (-1.0, 3.0)])
@pytest.mark.parametrize(
    ("options", "rate", "share"),
    [
        ({}, lambda t: math.sqrt(8 * math.log(4 * t) / t), lambda t: 1 / t),
        ({"switches": 2}, lambda t: math.sqrt(24 * math.log(4 * t) / t), lambda t: 1 / t),
        (
            {"switches": 2, "horizon": 41},
            lambda t: math.sqrt(8 * (3 * math.log(4) + 40 * entropy(1 / 20)) / 41),
            lambda t: 1 / 20,
        ),
        ({"switches": 0, "horizon": 41}, lambda t: math.sqrt(8 * math.log(4) / 41), lambda t: 0),
        ({"share": 0.3}, lambda t: math.sqrt(8 * math.log(4 * t) / t), lambda t: 0.3),
        ({"share": 1.0, "horizon": 1, "switches": 0}, lambda t: 1.0, lambda t: 1.0),
    ],
)
def test_weights_equal_the_definition(options, rate, share, loss_range):
    history = problems.rounds(2, 3, 40, low=-1, high=3) if loss_range[0] else (
        problems.rounds(2, 3, 40)
    )  # fmt: skip
    width = loss_range[1] - loss_range[0]
    costs = naive_mixtures.costs_of(ROWS, history)
    expected, _ = naive_mixtures.fixed_share(costs, lambda t: rate(t) / width, share)
    found = mixtures(FixedShare(ROWS, seed=0, loss_range=loss_range, **options), history)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_rate_that_is_given_is_not_scaled():
    history = problems.rounds(2, 3, 30)
    costs = naive_mixtures.costs_of(ROWS, history)
    expected, _ = naive_mixtures.fixed_share(costs, lambda t: 0.7, lambda t: 0.1)
    learner = FixedShare(ROWS, share=0.1, learning_rate=0.7, loss_range=(0, 9), seed=0)
    np.testing.assert_allclose(mixtures(learner, history), expected, rtol=1e-9)


def test_without_a_share_it_is_hedge():
    history = problems.rounds(2, 3, 60)
    plain = problems.play(Hedge(ROWS, learning_rate=0.4, seed=3), history)
    assert problems.play(FixedShare(ROWS, share=0.0, learning_rate=0.4, seed=3), history) == plain
    tiny = FixedShare(ROWS, share=1e-320, learning_rate=0.4, seed=3)
    assert problems.play(tiny, history) == plain


@pytest.mark.parametrize("share", [0.0, 1e-320, 1e-200])
def test_policies_come_back_from_weights_beyond_floats(share):
    # Policy 0 loses 1000 rounds at rate 5, then wins 1000 back and 100 more.
    learner = FixedShare([[0], [1]], share=share, learning_rate=5.0, seed=0)
    rounds = [(0, np.array([1.0, 0.0]))] * 1000 + [(0, np.array([0.0, 1.0]))] * 1100
    plays = problems.play(learner, rounds)
    assert set(plays[500:1000]) == {1}
    assert set(plays[-50:]) == {0}
    if share < 1e-300:
        assert set(plays[1000:1950]) == {1}
    np.testing.assert_allclose(learner._mixture.sum(), 1.0)


@pytest.mark.stat
def test_policies_are_followed_in_proportion_to_their_weights():
    counts = np.zeros(3)
    history = [(0, np.array([1.0, 0.5, 0.0])), (0, np.array([0.0, 1.0, 0.5]))]
    for seed in range(2500):
        learner = FixedShare(BY_ACTION, share=0.2, learning_rate=1.0, seed=seed)
        problems.play(learner, history)
        learner.act(0)  # a question asked twice leaves the weights alone
        counts[learner.act(0)] += 1
    costs = naive_mixtures.costs_of(BY_ACTION, history)
    weights, _ = naive_mixtures.fixed_share(costs, lambda t: 1.0, lambda t: 0.2)
    assert stats.chisquare(counts, 2500 * np.array(weights[-1])).pvalue > 1e-4


COSTS = st.integers(2, 12).flatmap(
    lambda T: st.lists(
        st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=T, max_size=T
    )
)


@settings(deadline=None, max_examples=60)
@given(COSTS, st.integers(0, 3))
def test_switching_regret_stays_below_every_bound(costs, k):
    # Bounds hold for the mixture's loss on each sequence, without any probability.
    T, N = len(costs), 3
    k = min(k, T - 1)
    best = naive_mixtures.best_sequence(costs, k)
    history = [(0, np.array(row)) for row in costs]
    C = (k + 1) * math.log(N) + (T - 1) * entropy(k / (T - 1))
    for options, bound in (
        ({"horizon": T, "switches": k}, math.sqrt(T * C / 2)),
        ({"switches": k}, math.sqrt(2 * (k + 1) * T * math.log(N * T))),
        ({}, (k + 4) * math.sqrt(T * math.log(N * T) / 8)),
    ):
        weights = mixtures(FixedShare(BY_ACTION, seed=0, **options), history)[:-1]
        loss = sum(naive_mixtures.mixed(w, c) for w, c in zip(weights, costs, strict=True))
        assert loss - best <= bound + 1e-9


def test_the_tuned_bound_is_nearly_reached_where_the_best_policy_changes():
    # A sequence that hurts: whoever leads loses, in three phases of one good policy each.
    rng = np.random.default_rng(0)
    costs = []
    for t in range(300):
        row = (rng.random(3) < 0.5).astype(float)
        row[t // 100] = float(rng.random() < 0.2)
        costs.append(row.tolist())
    history = [(0, np.array(row)) for row in costs]
    best = sum(costs[t][t // 100] for t in range(300))
    loss = {}
    for name, learner in {
        "share": FixedShare(BY_ACTION, horizon=300, switches=2, seed=0),
        "none": FixedShare(BY_ACTION, horizon=300, switches=0, seed=0),
    }.items():
        weights = mixtures(learner, history)[:-1]
        loss[name] = sum(naive_mixtures.mixed(w, c) for w, c in zip(weights, costs, strict=True))
    C = 3 * math.log(3) + 299 * entropy(2 / 299)
    assert loss["share"] - best < math.sqrt(300 * C / 2)
    assert loss["share"] - best < 0.7 * (loss["none"] - best)


def test_slates_are_mixed_by_the_loss_of_the_whole_slate():
    slates = np.array([[[0, 1]], [[1, 2]], [[0, 2]]])
    history = problems.rounds(1, 3, 20)
    costs = [[losses[[0, 1]].sum(), losses[[1, 2]].sum(), losses[[0, 2]].sum()]
             for _, losses in history]  # fmt: skip
    expected, _ = naive_mixtures.fixed_share(
        costs, lambda t: math.sqrt(8 * math.log(3 * t) / t) / 2, lambda t: 1 / t
    )
    found = mixtures(FixedShare(slates, seed=0), history)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_width_of_losses_counts_the_smallest_set_too():
    # One set of one element, one of two; losses in [2, 3]: between 2 and 6.
    sets = np.array([[[True, False]], [[True, True]]])
    assert FixedShare(sets, loss_range=(2, 3))._width == 4.0
    assert FixedShare(sets, loss_range=(-3, -2))._width == 4.0
    assert FixedShare(sets, loss_range=(-1, 1))._width == 4.0
    assert FixedShare(ROWS, loss_range=(-1, 1))._width == 2.0


@pytest.mark.parametrize(
    "options",
    [
        {"share": -0.1},
        {"share": 1.5},
        {"learning_rate": 0.0},
        {"horizon": 0, "switches": 0},
        {"horizon": 10},
        {"horizon": 10, "switches": 10},
        {"switches": -1},
        {"loss_range": None},
    ],
)
def test_bad_settings_are_refused(options):
    with pytest.raises(hn.ParameterError, match=next(iter(options))):
        FixedShare(ROWS, **options)


def test_naive_sequences_are_the_best():
    # One policy: the plain leader. As many changes as rounds allow: the least of each round.
    costs = np.random.default_rng(1).random((6, 3)).tolist()
    rounds = [(0, np.array(row)) for row in costs]
    least = naive.value(BY_ACTION[naive.leader(BY_ACTION, rounds)], rounds)
    assert naive_mixtures.best_sequence(costs, 0) == pytest.approx(least)
    assert naive_mixtures.best_sequence(costs, 5) == pytest.approx(sum(map(min, costs)))
