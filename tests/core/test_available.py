"""Sets of actions that are there: what is accepted, and the arrays made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.available import awake, best_awake, check_available, filled_in
from hannan.core.available import standing_in as stand_in
from hannan.core.presence import Presence
from tests import naive as slow
from tests import naive_available as naive

SIZES = st.integers(2, 12)


@st.composite
def sets(draw):
    """A number of actions and a proper subset of them, in any order."""
    K = draw(SIZES)
    size = draw(st.integers(1, K - 1))
    return K, draw(st.permutations(range(K)))[:size]


@settings(max_examples=100, deadline=None)
@given(sets(), st.sampled_from([list, tuple, set, np.array, lambda x: np.array(x, np.uint8)]))
def test_distinct_integers_in_any_order_and_form_are_sorted(case, form):
    K, some = case
    found = check_available("act", form(some), K)
    assert found.dtype == np.intp
    assert found.tolist() == sorted(some)


@settings(max_examples=100, deadline=None)
@given(sets(), st.sampled_from([list, tuple, np.array]))
def test_booleans_mean_the_actions_that_are_true(case, form):
    K, some = case
    mask = [k in some for k in range(K)]
    assert check_available("act", form(mask), K).tolist() == sorted(some)


@given(SIZES, st.booleans())
def test_all_actions_are_no_restriction(K, boolean):
    assert check_available("act", [True] * K if boolean else range(K), K) is None


@settings(max_examples=100, deadline=None)
@given(sets(), st.data())
def test_what_is_no_set_of_actions_is_refused_by_name(case, data):
    K, some = case
    spoiled = data.draw(
        st.sampled_from(
            [
                [*some, some[0]],
                [*some, K],
                [*some, -1],
                [],
                [False] * K,
                [True] * (K - 1) if K > 2 else [True] * (K + 1),
                [some],
                [float(k) for k in some],
                [str(k) for k in some],
                "all",
                some[0],
                object(),
                [None, *some],
                [True, *some] if some != [1] else [True, 0],
            ]
        )
    )
    with pytest.raises(hn.HannanError, match="available"):
        check_available("act", spoiled, K)


def test_columns_of_frames_are_taken_too():
    pandas = pytest.importorskip("pandas")
    assert check_available("act", pandas.Series([4, 1], index=[7, 9]), 5).tolist() == [1, 4]
    assert check_available("act", pandas.Series([True, False, True]), 3).tolist() == [0, 2]


@settings(max_examples=100, deadline=None)
@given(sets(), st.data())
def test_what_stands_in_is_there_and_stands_for_itself(case, data):
    K, some = case
    there = np.sort(some)
    s = data.draw(st.sampled_from(some))
    stands = stand_in(there, s, K)
    assert awake(stands).tolist() == there.tolist()
    assert (stands[stands] == stands).all()
    assert all(stands[b] == s for b in set(range(K)) - set(some))
    losses = np.where(np.isin(np.arange(K), there), np.arange(K) / K, np.nan)
    assert np.array_equal(filled_in(losses.tolist(), stands), losses[stands])


@pytest.mark.parametrize("odd", [None, "much", [1.0], [[1.0, 2.0], [3.0]], object()])
def test_losses_of_another_shape_are_left_for_the_learner_to_refuse(odd):
    assert filled_in(odd, np.array([0, 1, 1])) is odd


def test_means_are_those_of_the_rounds_in_which_an_action_was_seen():
    rng = np.random.default_rng(0)
    presence, seen = Presence(5), {x: [[] for _ in range(5)] for x in range(3)}
    for _ in range(300):
        x, there = int(rng.integers(3)), np.sort(rng.permutation(5)[: rng.integers(1, 5)])
        assert presence.cheapest(x, there) == naive.mean_rule(seen[x], there)
        guesses, known = presence.guess(x)
        means = naive.own_means(seen[x])
        assert known.tolist() == [mean is not None for mean in means]
        assert guesses[known] == pytest.approx([mean for mean in means if mean is not None])
        losses = rng.integers(0, 3, 5) / 2.0
        presence.learn(x, there, losses[there])
        for b in there:
            seen[x][b].append(losses[b])


def test_on_rows_of_features_each_action_has_a_regression_of_its_own():
    rng = np.random.default_rng(0)
    presence = Presence(3)
    assert not presence.guess(np.zeros(2))[1].any()
    rows, losses = rng.normal(size=(40, 2)), rng.random((40, 3))
    there = rng.random((40, 3)) < [0.9, 0.3, 0.0]
    for row, loss, mask in zip(rows, losses, there, strict=True):
        presence.learn(row, np.flatnonzero(mask), loss[mask])
    x = np.array([0.4, -1.0])
    guesses, known = presence.guess(x)
    assert known.tolist() == [True, True, False]
    for b in range(2):
        X = np.column_stack([rows, np.ones(40)])[there[:, b]]
        weights = np.linalg.solve(X.T @ X + np.eye(3), X.T @ losses[there[:, b], b])
        assert guesses[b] == pytest.approx(weights @ [*x, 1.0])


@pytest.mark.parametrize("own", [False, True])
def test_the_best_policy_among_those_that_are_there(own):
    rng = np.random.default_rng(1)
    for _ in range(30):
        table = rng.integers(0, 4, size=(6, 3))
        oracle = hn.oracles.FinitePolicies(table, n_actions=4)
        if own:
            oracle = hn.oracles.FunctionOracle(slow.solver(table.tolist()), n_actions=4)
        total, history = oracle.objective(), []
        for _ in range(5):
            x, losses = int(rng.integers(3)), rng.random(4)
            total.add(x, losses)
            history.append((x, losses, 1.0))
        there = np.sort(rng.permutation(4)[: rng.integers(1, 4)])
        x = int(rng.integers(3))
        assert best_awake(total, x, there) == naive.best_awake(table, history, x, there)


@pytest.mark.parametrize("mask", [[1, 0, 0, 1], [1.0, 0.0, 0.0, 0.0], np.ones(4, int)])
def test_masks_of_numbers_are_told_to_use_booleans(mask):
    with pytest.raises(hn.HannanError, match="use booleans"):
        hn.ContextFTPL(hn.oracles.AllPolicies(1, 4), seed=0).act(available=mask)
    with pytest.raises(hn.HannanError) as caught:
        check_available("act", [0, 5], 4)
    assert "for a mask" not in str(caught.value)


@pytest.mark.parametrize(
    "learner",
    [
        hn.ContextFTPL(hn.oracles.AllPolicies(2, 4), seed=0),
        hn.StronglyAdaptive(hn.ContextFTPL(hn.oracles.AllPolicies(2, 4), seed=0), seed=0),
        hn.Restarting(hn.ContextFTPL(hn.oracles.AllPolicies(2, 4), seed=0)),
        hn.baselines.Hedge([[0, 1], [1, 2], [2, 3]], seed=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_bad_losses_are_told_as_they_were_given(learner):
    learner = learner.clone()
    learner.act(0, available=[1, 2])
    with pytest.raises(hn.LossError, match="that of action 1, which was there, is nan"):
        learner.update([0.1, np.nan, 0.2, 0.3])
    with pytest.raises(hn.InputTypeError, match=r"got \['a', 'b', 'c', 'd'\]"):
        learner.update(["a", "b", "c", "d"])
    learner.update([np.nan, 0.1, 0.2, np.inf])
    assert learner.rounds == 1
