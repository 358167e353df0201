import copy

import numpy as np
import pytest
from examples.worlds import ImageCut
from scipy import stats

import hannan as hn
from hannan.environments import Corrupted, Delayed, Drifting, FromArrays, PlantedPolicy
from tests import problems
from tests.environments.adaptive import Player, Remembers, Steps

ORACLE = hn.oracles.AllPolicies(3, 2)
WRAPPERS = {
    "Delayed": Delayed,
    "Delayed, random": lambda world: Delayed(world, 5, distribution="geometric"),
    "Corrupted": lambda world: Corrupted(world, 0.5),
    "Corrupted, noise": lambda world: Corrupted(world, 0.5, kind="noise"),
    "Corrupted, missing": lambda world: Corrupted(world, 0.5, kind="missing"),
    "Drifting": Drifting,
    "nested": lambda world: Delayed(Corrupted(Drifting(Corrupted(world, 0.3)), 0.3), 3),
}
CONTRACT = {
    "Delayed": Delayed(problems.PLANTED, 3, distribution="geometric"),
    "Corrupted": Corrupted(problems.PLANTED, 0.3, kind="noise", budget=40),
}


def played(world, horizon, seed=0):
    for this_round in world.rounds(horizon, np.random.default_rng(seed)):
        this_round.reveal(0)
        yield this_round


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_looks_like_what_is_inside(wrap):
    inside = PlantedPolicy(ORACLE)
    world = wrap(inside)
    assert world.oracle is ORACLE
    assert world.contexts == inside.contexts
    assert world.n_actions == 2
    assert world.horizon is None
    assert world.oblivious
    assert wrap(FromArrays(None, [[0, 1]] * 7)).horizon == 7
    assert not wrap(Remembers()).oblivious


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_the_environment_inside_meets_the_learner(wrap):
    inside = Remembers()
    wrap(inside).meet(Player(3, 2))
    assert inside.met.would_play(0, 2, 0) == [3, 2]


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_the_action_reaches_the_adversary_inside(wrap):
    inside = Remembers()
    world = wrap(inside)
    total = 0.0
    for this_round in world.rounds(50, np.random.default_rng(0)):
        this_round.reveal(1)
        total += this_round.loss
        assert this_round.losses.sum() <= 1
    assert len(inside.played) == 50
    assert None not in inside.played
    if "Drifting" not in repr(world):
        assert inside.played == [1] * 50
        assert total == 49


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_the_environment_inside_plays_as_it_would_by_itself(wrap):
    inside = Steps()  # draws from the generator in every round
    for a, b in zip(played(inside, 60, 4), played(wrap(inside), 60, 4), strict=True):
        assert a.context == b.context
        assert sorted(a.losses) == sorted(b.losses)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_rounds_can_be_copied(wrap):
    for this_round in played(wrap(Steps()), 20):
        twin = copy.deepcopy(this_round)
        assert (twin.action, twin.delay, twin.weight) == (0, this_round.delay, 1.0)
        assert twin.losses.tolist() == this_round.losses.tolist()


@pytest.mark.parametrize("wrap", [Delayed, Corrupted, Drifting])
def test_only_environments_can_be_wrapped(wrap):
    with pytest.raises(hn.ParameterError, match=f"'environment' parameter of {wrap.__name__}"):
        wrap([1, 2, 3])


def test_a_constant_delay_is_the_same_in_every_round():
    assert [r.delay for r in played(Delayed(Steps(), 4), 9)] == [4] * 9
    assert [r.delay for r in played(Delayed(Steps(), 0), 3)] == [0] * 3


def test_delays_of_nested_wrappers_are_added():
    world = Delayed(Corrupted(Delayed(Steps(), 4), 0.5), 3)
    assert [r.delay for r in played(world, 20)] == [7] * 20


@pytest.mark.stat
def test_random_delays_follow_their_law():
    # Two tests of fit with fixed seeds; each fails with probability 1e-4 if the distribution is
    # right.
    even = [r.delay for r in played(Delayed(Steps(), 3, distribution="uniform"), 3000)]
    assert set(even) == set(range(7))
    assert stats.chisquare(np.bincount(even, minlength=7)).pvalue > 1e-4
    tailed = np.array(
        [r.delay for r in played(Delayed(Steps(), 4, distribution="geometric"), 5000)]
    )
    p = 0.2 * 0.8 ** np.arange(15)
    counts = np.append(np.bincount(tailed, minlength=15)[:15], (tailed >= 15).sum())
    assert stats.chisquare(counts, 5000 * np.append(p, 1 - p.sum())).pvalue > 1e-4


@pytest.mark.parametrize("distribution", ["uniform", "geometric"])
def test_a_random_delay_of_mean_zero_is_none(distribution):
    assert {r.delay for r in played(Delayed(Steps(), 0, distribution=distribution), 50)} == {0}


@pytest.mark.parametrize(("options", "name"), [
    ({"delay": -1}, "delay"), ({"delay": 1.5}, "delay"), ({"distribution": "normal"},
    "distribution"),
])  # fmt: skip
def test_bad_delays_are_refused(options, name):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of Delayed"):
        Delayed(Steps(), **options)


@pytest.mark.parametrize("feedback", hn.Feedback)
@pytest.mark.parametrize("kind", ["flip", "noise", "missing"])
def test_what_is_told_is_wrong_and_what_counts_is_right(kind, feedback):
    true = np.arange(4) / 4
    for this_round in Corrupted(Steps(), 1.0, kind=kind).rounds(30, np.random.default_rng(0)):
        told = this_round.reveal(3, feedback)
        assert this_round.losses.tolist() == true.tolist()
        assert this_round.loss == 0.75
        if kind == "missing":
            assert told is None
            continue
        shown = np.atleast_1d(told)
        assert shown.min() >= 0
        assert shown.max() <= 1
        assert len(shown) == (4 if feedback is hn.Feedback.FULL else 1)
        assert isinstance(told, float) == (feedback is hn.Feedback.BANDIT)
        if kind == "flip":
            assert told == (0.25 if feedback is hn.Feedback.BANDIT else pytest.approx(1 - true))
        else:
            assert told != 0.75 if feedback is hn.Feedback.BANDIT else (told != true).all()


@pytest.mark.parametrize("kind", ["flip", "noise"])
def test_bandits_are_told_a_part_of_what_others_are(kind):
    world = Corrupted(Steps(), 0.5, kind=kind)
    full = world.rounds(50, np.random.default_rng(0))
    semi = world.rounds(50, np.random.default_rng(0))
    for a, b in zip(full, semi, strict=True):
        chosen = np.array([1, 3])
        assert a.reveal(chosen)[chosen].tolist() == b.reveal(chosen, hn.Feedback.BANDIT).tolist()


def test_the_loss_range_says_what_a_flipped_loss_is():
    world = Corrupted(FromArrays(None, [[-2.0, 3.0]]), 1.0, loss_range=(-2.0, 4.0))
    assert next(world.rounds(1, np.random.default_rng(0))).reveal(0).tolist() == [4.0, -1.0]


@pytest.mark.stat
def test_noise_is_even_over_the_loss_range():
    world = Corrupted(Steps(), 1.0, kind="noise", loss_range=(2.0, 5.0))
    told = [r.reveal(0) for r in world.rounds(500, np.random.default_rng(0))]
    assert stats.kstest(np.ravel(told), stats.uniform(2.0, 3.0).cdf).pvalue > 1e-4


def wrong(world, horizon, seed=0):
    found = world.rounds(horizon, np.random.default_rng(seed))
    return [t for t, r in enumerate(found) if r.reveal(0)[0] != 0.0]


@pytest.mark.stat
def test_rounds_are_corrupted_at_the_declared_rate():
    assert wrong(Corrupted(Steps(), 0.0), 200) == []
    assert wrong(Corrupted(Steps(), 1.0), 200) == list(range(200))
    assert stats.binomtest(len(wrong(Corrupted(Steps(), 0.3), 2000)), 2000, 0.3).pvalue > 1e-4


def test_the_budget_is_kept_and_used_first():
    all_of_them = wrong(Corrupted(Steps(), 0.3), 300)
    assert wrong(Corrupted(Steps(), 0.3, budget=20), 300) == all_of_them[:20]
    assert wrong(Corrupted(Steps(), 1.0, budget=7), 300) == list(range(7))
    assert wrong(Corrupted(Steps(), 1.0, budget=0), 300) == []


def test_a_learner_believes_what_it_is_told():
    world = FromArrays(None, [[0.0, 1.0]] * 400)
    liar = Corrupted(world, 1.0, budget=150)
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    trace = hn.play(learner, liar)
    assert trace.losses[20:150].mean() > 0.9
    assert trace.losses[350:].mean() < 0.1
    assert trace.regret() == trace.losses.sum()


def test_losses_that_are_functions_can_only_go_missing():
    inside = ImageCut(np.eye(4, dtype=bool))
    this_round = next(Corrupted(inside, 1.0, kind="missing").rounds(5, np.random.default_rng(0)))
    assert this_round.reveal(np.array([0]), hn.Feedback.FULL) is None
    this_round = next(Corrupted(inside, 1.0).rounds(5, np.random.default_rng(0)))
    with pytest.raises(hn.InputTypeError, match=r"Corrupted needs losses .* got a Cut"):
        this_round.reveal(np.array([0]))


@pytest.mark.parametrize(("options", "name"), [
    ({"rate": 1.5}, "rate"), ({"kind": "lie"}, "kind"), ({"budget": -1}, "budget"),
    ({"budget": 0.5}, "budget"), ({"loss_range": None}, "loss_range"),
    ({"loss_range": (1, 0)}, "loss_range"),
])  # fmt: skip
def test_bad_corruption_is_refused(options, name):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of Corrupted"):
        Corrupted(Steps(), **options)


def test_a_learner_learns_late_or_not_at_all():
    world = PlantedPolicy(ORACLE, good=0.0, bad=1.0)
    late = hn.ContextSemiBanditFTPL(ORACLE, seed=0)
    trace = hn.play(late, Delayed(world, 10), 300, seed=0)
    assert late.rounds == 290
    assert trace.losses[200:].mean() < 0.2
    missed = hn.ContextSemiBanditFTPL(ORACLE, seed=0)
    silent = Corrupted(world, 0.5, kind="missing")
    assert len(hn.play(missed, silent, 300, seed=0)) == 300
    told = [r.reveal(0) is not None for r in silent.rounds(300, np.random.default_rng(0))]
    assert missed.rounds == sum(told) < 200
