import itertools
import math

import numpy as np
import pytest
from examples.worlds import ImageCut, SlateClicks
from scipy import stats

import hannan as hn
from hannan.environments import Classification, Corrupted, Drifting, FromArrays
from tests import problems
from tests.environments.adaptive import Player, Remembers, Steps

CONTRACT = {
    "Drifting": Drifting(problems.PLANTED, width=20),
    "Drifting, recurring": Drifting(SlateClicks(problems.SLATES), period=30, concepts=2),
}


def orders(world, horizon, seed=0):
    """The concept that holds in each round: with losses 0, 1/K, … they are its permutation."""
    found = []
    for this_round in world.rounds(horizon, np.random.default_rng(seed)):
        losses = this_round.reveal(0)
        found.append(tuple(np.rint(losses * len(losses)).astype(int).tolist()))
    return found


def changes(found):
    return [t for t in range(1, len(found)) if found[t] != found[t - 1]]


def naive_position(t, places, width):
    return sum(min(max((t + 0.5 - c) / width + 0.5, 0.0), 1.0) for c in places)


@pytest.mark.parametrize(("k", "horizon", "expected"), [
    (0, 40, []), (1, 40, [20]), (3, 40, [10, 20, 30]), (3, 10, [3, 5, 8]),
    (7, 8, list(range(1, 8))),
])  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_abrupt_changes_cut_the_game_into_equal_parts(k, horizon, expected, seed):
    found = orders(Drifting(Steps(10), changes=k), horizon, seed)
    assert changes(found) == expected
    assert found[0] == tuple(range(10))
    assert len(set(found)) == k + 1
    assert all(sorted(order) == list(range(10)) for order in found)


def test_three_changes_are_the_default():
    assert changes(orders(Drifting(Steps(10)), 100)) == [25, 50, 75]


def test_a_period_sets_the_changes_whatever_the_horizon():
    world = Drifting(Steps(10), period=7)
    assert changes(orders(world, 30)) == [7, 14, 21, 28]
    assert orders(world, 30) == orders(world, 90)[:30]


@pytest.mark.parametrize("seed", range(4))
def test_concepts_come_back_in_turn(seed):
    found = orders(Drifting(Steps(3), period=5, concepts=4), 60, seed)
    eras = found[::5]
    assert len(set(eras[:4])) == 4
    assert eras == [eras[i % 4] for i in range(12)]
    assert all(found[t] == eras[t // 5] for t in range(60))


@pytest.mark.parametrize("seed", range(5))
def test_two_actions_really_change_places(seed):
    assert changes(orders(Drifting(Steps(2), period=3), 12, seed)) == [3, 6, 9]
    assert changes(orders(Drifting(Steps(2), period=3, concepts=2), 12, seed)) == [3, 6, 9]


@pytest.mark.parametrize(("k", "horizon", "width"), [
    (3, 40, 1), (3, 40, 4), (3, 40, 10), (2, 50, 7), (1, 40, 20), (4, 33, 6),
])  # fmt: skip
def test_the_position_is_the_sum_of_ramps(k, horizon, width):
    world = Drifting(Steps(), changes=k, width=width)
    places = [i * horizon / (k + 1) for i in range(1, k + 1)]
    for t in range(horizon):
        expected = naive_position(t, places, width)
        assert world._position(t, horizon) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("period", "width"), [(10, 1), (10, 4), (7, 7), (7, 3)])
def test_the_position_of_a_period_is_the_sum_of_ramps(period, width):
    world = Drifting(Steps(), period=period, width=width)
    for t in range(100):
        expected = naive_position(t, range(period, 300, period), width)
        assert world._position(t, 60) == pytest.approx(expected, abs=1e-12)


def test_a_change_of_width_one_is_abrupt():
    gradual, abrupt = Drifting(Steps(5), 3, width=1), Drifting(Steps(5), 3)
    assert orders(gradual, 40) == orders(abrupt, 40)


@pytest.mark.stat
def test_the_next_concept_becomes_more_frequent_over_the_width():
    # One change in the middle of 20 rounds, of width 8; 400 games. Each count is compared by an
    # exact test; all together fail with probability below 1e-3.
    world = Drifting(Steps(6), changes=1, width=8)
    games = [orders(world, 20, seed) for seed in range(400)]
    for t in range(20):
        late = sum(game[t] != tuple(range(6)) for game in games)
        p = naive_position(t, [10], 8)
        if p in (0.0, 1.0):
            assert late == 400 * p
        else:
            assert stats.binomtest(late, 400, p).pvalue > 1e-4


def test_gradual_drift_mixes_two_concepts_at_a_time():
    found = orders(Drifting(Steps(8), changes=4, width=100), 500)
    distinct = list(dict.fromkeys(found))
    assert len(distinct) == 5
    numbers = [distinct.index(order) for order in found]
    assert len(changes(found)) > 50
    for t, number in enumerate(numbers):
        position = naive_position(t, [100, 200, 300, 400], 100)
        assert number in (math.floor(position), math.ceil(position))


@pytest.mark.stat
def test_a_new_concept_is_any_other_permutation_with_equal_probability():
    counts = dict.fromkeys(itertools.permutations(range(3)), 0)
    found = orders(Drifting(Steps(3), period=1), 6001)
    for old, new in itertools.pairwise(found):
        assert old != new
        counts[new] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def test_the_environment_inside_plays_as_it_would_by_itself():
    inside = Classification.bundled("iris")
    alone = list(inside.rounds(400, np.random.default_rng(5)))
    drifted = list(Drifting(inside, 3, width=50).rounds(400, np.random.default_rng(5)))
    for a, b in zip(alone, drifted, strict=True):
        assert (a.context == b.context).all()
        assert sorted(a.reveal(0)) == sorted(b.reveal(0))


@pytest.mark.parametrize("feedback", hn.Feedback)
def test_every_side_of_a_round_tells_the_same(feedback):
    for this_round in Drifting(Steps(5), 3).rounds(40, np.random.default_rng(1)):
        told = this_round.reveal(2, feedback)
        assert this_round.action == 2
        assert this_round.inner.action == this_round.places[2]
        assert this_round.loss == this_round.losses[2] == this_round.inner.loss
        assert (told == this_round.losses).all() if feedback is hn.Feedback.FULL else (
            told == this_round.loss
        )  # fmt: skip


def test_chosen_sets_are_passed_on_sorted_and_told_in_their_order():
    for this_round in Drifting(Steps(6), 5).rounds(30, np.random.default_rng(2)):
        chosen = np.array([0, 2, 5])
        told = this_round.reveal(chosen, hn.Feedback.BANDIT)
        inside = this_round.inner.action
        assert inside.tolist() == sorted(this_round.places[chosen].tolist())
        assert told.tolist() == this_round.losses[chosen].tolist()
        assert this_round.loss == pytest.approx(this_round.losses[chosen].sum())
        assert this_round.reveal(chosen).tolist() == this_round.losses.tolist()


def test_an_adversary_inside_is_told_in_its_own_names():
    world = Drifting(Remembers(), 3)
    names = []
    for t, this_round in enumerate(world.rounds(40, np.random.default_rng(0))):
        played = t % 4
        this_round.reveal(played)
        names.append(int(this_round.places[played]))
    assert world.environment.played == names


def test_an_adversary_inside_hears_intentions_in_its_own_names():
    world = Drifting(Remembers(), period=2)
    intended = [0, np.array([0, 3]), 2, np.array([1, 2])] * 5
    world.meet(Player(*intended))
    for t, this_round in enumerate(world.rounds(20, np.random.default_rng(0))):
        would = world.environment.would[t]
        assert np.ravel(would).tolist() == sorted(np.ravel(this_round.places[intended[t]]))
        assert isinstance(would, int) == isinstance(intended[t], int)
        this_round.reveal(0)
    assert [np.ravel(w).tolist() for w in world.environment.would] != (
        [np.ravel(i).tolist() for i in intended]
    )


@pytest.mark.parametrize("options", [{"period": 3}, {"changes": 4, "width": 20}])
def test_an_adversary_that_knows_the_algorithm_is_not_confused(options):
    inside = hn.environments.CopyPunisher(hn.oracles.AllPolicies(3, 4))
    leader = hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(3, 4))
    trace = hn.play(leader, Drifting(inside, **options), 200, seed=0)
    assert (trace.losses == 1.0).all()
    with pytest.raises(hn.InputTypeError, match="object has no method would_play"):
        Drifting(inside).meet(object())


def test_what_is_never_told_stays_untold():
    world = Drifting(Corrupted(Steps(), 1.0, kind="missing"), 1)
    for this_round in world.rounds(10, np.random.default_rng(0)):
        assert this_round.reveal(1) is None
        assert this_round.reveal(1, hn.Feedback.BANDIT) is None
        assert this_round.reveal(np.array([0, 1]), hn.Feedback.BANDIT) is None


def test_losses_that_are_functions_cannot_be_permuted():
    world = Drifting(ImageCut(np.eye(4, dtype=bool)), 1)
    this_round = next(world.rounds(10, np.random.default_rng(0)))
    with pytest.raises(hn.InputTypeError, match=r"Drifting needs losses .* got a Cut"):
        this_round.reveal(np.array([0]))


def test_permuted_digits_are_unlearned_at_each_change():
    # Following the fit of all rounds fails after the labels have been permuted.
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(10), epsilon=10.0, seed=0)
    world = Drifting(Classification.bundled("digits"), 1)
    trace = hn.play(learner, world, 2000, seed=0)
    before, after = trace.losses[700:1000].mean(), trace.losses[1000:1300].mean()
    assert before < 0.3 < 0.6 < after


@pytest.mark.parametrize(("options", "match"), [
    ({"changes": -1}, "'changes' parameter of Drifting"),
    ({"changes": 2, "period": 5}, "'changes' parameter .* left out where period=5"),
    ({"period": 0}, "'period' parameter"),
    ({"width": -1}, "'width' parameter"),
    ({"period": 5, "width": 6}, "'width' parameter .* at most period=5"),
    ({"concepts": 1}, "'concepts' parameter"),
    ({"concepts": 25}, "'concepts' parameter .* 4! orders"),
])  # fmt: skip
def test_bad_parameters_are_refused(options, match):
    with pytest.raises(hn.ParameterError, match=match):
        Drifting(Steps(), **options)


@pytest.mark.parametrize("horizon", [1, 2, 5, 39])
def test_a_width_beyond_the_way_between_changes_counts_as_that(horizon):
    world = Drifting(Steps(), 3, width=11)
    assert len(orders(world, horizon)) == horizon
    places = [i * horizon / 4 for i in (1, 2, 3)]
    for t in range(horizon):
        expected = naive_position(t, places, horizon / 4)
        assert world._position(t, horizon) == pytest.approx(expected, abs=1e-12)


def test_one_action_cannot_drift():
    with pytest.raises(hn.ParameterError, match="at least two actions"):
        Drifting(FromArrays(None, [[0.0]]))


def test_what_was_really_done_is_renamed_with_the_actions():
    frame = {"y": [0, 1, 2] * 40, "did": [1, 2, 2] * 40}
    world = hn.environments.FromFrame(frame, label="y", current="did")
    rounds = hn.environments.Drifting(world, changes=5).rounds(120, np.random.default_rng(0))
    moved = 0
    for this_round, right, did in zip(rounds, frame["y"], frame["did"], strict=True):
        this_round.reveal(0)
        assert this_round.losses[this_round.current] == this_round.current_loss == (right != did)
        moved += this_round.current != did
    assert moved > 0
