"""Sets of available actions: what is accepted, and what is played and charged for the others."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.availability import (
    Availability,
    AvailableCosts,
    PassedOn,
    best_among,
    check_available,
    complete,
    substitution,
)
from hannan.core.oracle import available_in
from hannan.core.rounds import OpenRound
from hannan.core.storage import reread
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
def test_substitutes_are_available_and_available_actions_are_played_themselves(case, data):
    K, some = case
    available = np.sort(some)
    s = data.draw(st.sampled_from(some))
    plays = substitution(available, s, K)
    assert available_in(plays).tolist() == available.tolist()
    assert (plays[plays] == plays).all()
    assert all(plays[b] == s for b in set(range(K)) - set(some))
    losses = np.where(np.isin(np.arange(K), available), np.arange(K) / K, np.nan)
    assert np.array_equal(complete(losses.tolist(), plays), losses[plays])


@pytest.mark.parametrize("odd", [None, "much", [1.0], [[1.0, 2.0], [3.0]], object()])
def test_losses_of_another_shape_are_left_for_the_learner_to_refuse(odd):
    assert complete(odd, np.array([0, 1, 1])) is odd


def test_means_are_those_of_the_rounds_in_which_an_action_was_seen():
    rng = np.random.default_rng(0)
    costs, seen = AvailableCosts(5), {x: [[] for _ in range(5)] for x in range(3)}
    for _ in range(300):
        x, available = int(rng.integers(3)), np.sort(rng.permutation(5)[: rng.integers(1, 5)])
        assert costs.cheapest(x, available) == naive.mean_rule(seen[x], available)
        guesses, known = costs.guess(x)
        means = naive.own_means(seen[x])
        assert known.tolist() == [mean is not None for mean in means]
        assert guesses[known] == pytest.approx([mean for mean in means if mean is not None])
        losses = rng.integers(0, 3, 5) / 2.0
        costs.learn(x, available, losses[available])
        for b in available:
            seen[x][b].append(losses[b])


def test_on_rows_of_features_each_action_has_a_regression_of_its_own():
    rng = np.random.default_rng(0)
    costs = AvailableCosts(3)
    assert not costs.guess(np.zeros(2))[1].any()
    rows, losses = rng.normal(size=(40, 2)), rng.random((40, 3))
    available = rng.random((40, 3)) < [0.9, 0.3, 0.0]
    for row, loss, mask in zip(rows, losses, available, strict=True):
        costs.learn(row, np.flatnonzero(mask), loss[mask])
    x = np.array([0.4, -1.0])
    guesses, known = costs.guess(x)
    assert known.tolist() == [True, True, False]
    for b in range(2):
        X = np.column_stack([rows, np.ones(40)])[available[:, b]]
        weights = np.linalg.solve(X.T @ X + np.eye(3), X.T @ losses[available[:, b], b])
        assert guesses[b] == pytest.approx(weights @ [*x, 1.0])


def test_on_rows_of_very_many_features_only_diagonals_are_kept():
    rng = np.random.default_rng(0)
    costs, p = AvailableCosts(10), 1500
    tracemalloc.start()
    for _ in range(30):
        x = rng.normal(size=p) / np.sqrt(p)
        costs.learn(x, [0, 3], np.array([0.2, 0.8]))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2**21  # full inverses would take 180 MB
    twin = reread(costs)
    for each in (costs, twin):
        guesses, known = each.guess(x)
        assert guesses[[0, 3]] == pytest.approx([0.2, 0.8], abs=0.05)
        assert np.flatnonzero(known).tolist() == [0, 3]
        assert each.cheapest(x, np.array([0, 3])) == (0, True)


@pytest.mark.parametrize("own", [False, True])
def test_the_best_policy_among_those_that_are_available(own):
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
        available = np.sort(rng.permutation(4)[: rng.integers(1, 4)])
        x = int(rng.integers(3))
        assert best_among(total, x, available) == naive.best_among(table, history, x, available)


@pytest.mark.parametrize("mask", [[1, 0, 0, 1], [1.0, 0.0, 0.0, 0.0], np.ones(4, int)])
def test_masks_of_numbers_are_refused_with_advice(mask):
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
def test_bad_losses_are_reported_as_they_were_given(learner):
    learner = learner.clone()
    learner.act(0, available=[1, 2])
    with pytest.raises(hn.LossError, match="the loss of action 1, which was available, is nan"):
        learner.update([0.1, np.nan, 0.2, 0.3])
    with pytest.raises(hn.InputTypeError, match=r"got \['a', 'b', 'c', 'd'\]"):
        learner.update(["a", "b", "c", "d"])
    learner.update([np.nan, 0.1, 0.2, np.inf])
    assert learner.rounds == 1


def test_costs_survive_a_file():
    """By context, and by row of features, where arrays appear with the first row."""
    rng = np.random.default_rng(0)
    costs = AvailableCosts(3)
    assert reread(costs).guess(0)[1].tolist() == [False] * 3
    for _ in range(20):
        costs.learn(int(rng.integers(2)), [0, 2], rng.random(2))
        costs.learn(rng.normal(size=2), 1, rng.random())
    twin = reread(costs)
    for context in (0, 1, np.array([0.3, -1.0])):
        for mine, theirs in zip(costs.guess(context), twin.guess(context), strict=True):
            assert np.array_equal(mine, theirs)
        assert costs.cheapest(context, np.array([0, 1])) == twin.cheapest(context, np.array([0, 1]))


@pytest.mark.parametrize("by_score", [False, True])
def test_what_is_unavailable_is_charged_its_substitute_or_what_it_costs_elsewhere(by_score):
    sets = Availability()
    first, second = OpenRound(0), OpenRound(0)
    first.plays = substitution(np.array([1, 2]), 1, 3)
    second.plays = substitution(np.array([0, 1]), 0, 3)
    span = (0.0, 1.0) if by_score else None
    shown = sets.complete(first, [np.nan, 0.25, 0.75], span)
    assert shown.tolist() == [0.25, 0.25, 0.75]  # 0 was never seen
    sets.count(by_score, first, None)
    sets.note(first, shown, True)
    # 2 cost 0.75 once, averaged with one more loss as small as the smallest mean, 0.25.
    expected = [0.5, 1.0, 0.5]
    shown = sets.complete(second, [0.5, 1.0, np.nan], span)
    assert shown.tolist() == expected
    sets.count(by_score, first, None)
    sets.note(second, np.array([0.5, 1.0, 9.0]), True)
    assert sets.by_score == (2 if by_score else 0)
    third = OpenRound(0)
    third.plays = substitution(np.array([0]), 0, 3)
    shown = sets.complete(third, [0.0, np.nan, np.nan], span)
    mean_of_1 = (0.25 + 1.0 + 0.5) / 3  # the smallest mean is that of 0, 0.5
    mean_of_2 = (0.75 + 0.5) / 2
    assert shown == pytest.approx([0.0, mean_of_1, mean_of_2] if by_score else [0.0] * 3)


def test_with_bandit_feedback_only_the_action_is_noted():
    sets = Availability()
    opened = OpenRound(0)
    opened.plays = substitution(np.array([1, 2]), 1, 3)
    opened.play(0)
    assert opened.action == 1
    sets.note(opened, 0.5, False)
    guesses, known = sets.costs.guess(0)
    assert known.tolist() == [False, True, False]
    assert guesses[1] == 0.5


def test_wrappers_pass_on_what_is_available():
    """Whoever plays through another learner notes the set, and neither charges nor remembers."""
    sets, opened = PassedOn(), OpenRound(0)
    asked = []

    class Total:
        oracle = hn.oracles.AllPolicies(1, 4)

        def __getattr__(self, name):
            asked.append(name)
            raise AssertionError

    sets.restrict(opened, np.array([1, 2]), 4, Total(), (0.0, 1.0))
    assert asked == []
    assert opened.calls == 0
    assert opened.available.tolist() == [1, 2]
    losses = [np.nan, 0.1, 0.2, "odd"]
    assert sets.complete(opened, losses, (0.0, 1.0)) is losses
    sets.note(opened, losses, True)
    assert sets.costs is None
    assert sets.by_score == 0


def test_a_restarting_learner_leaves_unavailable_actions_to_the_one_inside():
    base = hn.ContextFTPL(hn.oracles.AllPolicies(2, 4), seed=0)
    learner, alone = hn.Restarting(base, max_restarts=0), base.clone()
    for context, losses, available in naive.random_rounds(2, 4, 60):
        hidden = np.where(np.isin(np.arange(4), available), losses, np.nan)
        action = learner.act(context, available=available)
        assert action == alone.act(context, available=available)
        for each in (learner, alone):
            each.update(hidden)
    assert learner._availability.costs is None
    inside = learner.current_learner._availability
    assert inside.by_score == alone._availability.by_score > 0
    assert inside.costs.guess(0)[0].tolist() == alone._availability.costs.guess(0)[0].tolist()
    assert learner.oracle_calls == alone.oracle_calls
