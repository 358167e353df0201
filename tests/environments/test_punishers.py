import numpy as np
import pytest
from scipy import stats

import hannan as hn
from hannan.environments import CopyPunisher, FrequencyPunisher
from tests import problems

ALL = hn.oracles.AllPolicies(4, 3)
SUBSETS = hn.oracles.Subsets(5, 2)
CONTRACT = {
    "CopyPunisher": CopyPunisher(problems.FINITE),
    "CopyPunisher, vectors": CopyPunisher(n_actions=3, n_contexts=5, features=2),
    "CopyPunisher, sets": CopyPunisher(SUBSETS),
    "FrequencyPunisher": FrequencyPunisher(n_actions=3, contexts=["rain", "sun"]),
}


class Answers:
    """Answers to be asked for; anything else is out of bounds."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def would_play(self, context, copies, seed):
        self.asked.append((context, copies, seed))
        return self.answer

    def __getattr__(self, name):
        raise AssertionError(f"an adversary looked at {name}")


def rounds(world, horizon, seed=0, play=lambda context: 0):
    found = []
    for this_round in world.rounds(horizon, np.random.default_rng(seed)):
        action = play(this_round.context)
        found.append((this_round.context, action, this_round.reveal(action)))
    return found


def met(answer, **options):
    world = CopyPunisher(**{"n_actions": 3, **options})
    learner = Answers(answer)
    world.meet(learner)
    return world, learner


@pytest.mark.parametrize(
    "learner",
    [
        hn.baselines.FollowTheLeader(ALL),
        hn.baselines.LinUCB(3),
        hn.baselines.EpsilonGreedy(3, epsilon=0.0, seed=0),
        hn.Restarting(hn.baselines.FollowTheLeader(ALL)),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_learners_without_coins_lose_every_round(learner):
    trace = hn.play(learner.clone(), CopyPunisher(ALL), 300, seed=0)
    assert (trace.losses == 1.0).all()


def test_so_does_one_that_looks_at_features():
    world = CopyPunisher(n_actions=3, features=4)
    trace = hn.play(hn.baselines.LinUCB(3), world, 300, seed=0)
    assert (trace.losses == 1.0).all()
    assert len(set(trace.actions.tolist())) == 3


def test_all_elements_of_a_favourite_set_cost():
    trace = hn.play(hn.baselines.FollowTheLeader(SUBSETS), CopyPunisher(SUBSETS), 100, seed=0)
    assert (trace.losses == 2.0).all()


@pytest.mark.parametrize(("answer", "favourite"), [
    ([2], 2),
    ([0, 2, 2, 1], 2),
    ([2, 1, 0], 0),
    ([2, 2, 1, 1, 0], 1),
    ([1, 2, 2, 1], 1),
    ([np.array([1, 2]), np.array([0, 2]), np.array([1, 2])], [1, 2]),
    ([np.array([1, 2]), np.array([0, 2])], [0, 2]),
    ([np.array([], dtype=np.intp)], []),
])  # fmt: skip
def test_the_most_frequent_answer_is_punished_and_ties_go_to_the_smallest(answer, favourite):
    world, _ = met(answer, low=0.0)
    for _, _, losses in rounds(world, 5):
        assert losses.tolist() == [float(j in np.atleast_1d(favourite)) for j in range(3)]


@pytest.mark.stat
def test_all_other_elements_cost_at_the_declared_rate():
    # Three exact tests at 1e-4.
    world, _ = met([1], low=0.3, n_contexts=2)
    found = rounds(world, 4000)
    losses = np.array([row for _, _, row in found])
    assert (losses[:, 1] == 1.0).all()
    assert set(losses.ravel().tolist()) == {0.0, 1.0}
    for j in (0, 2):
        assert stats.binomtest(int(losses[:, j].sum()), 4000, 0.3).pvalue > 1e-4
    first = sum(context == 0 for context, _, _ in found)
    assert stats.binomtest(first, 4000, 0.5).pvalue > 1e-4


def test_every_round_asks_so_many_copies_with_new_coins():
    world, learner = met([0], copies=5)
    found = rounds(world, 50)
    contexts, copies, seeds = zip(*learner.asked, strict=True)
    assert list(contexts) == [context for context, _, _ in found]
    assert set(copies) == {5}
    assert len(set(seeds)) == 50
    rounds(world, 50, seed=1)
    assert not set(seeds) & {seed for _, _, seed in learner.asked[50:]}


def test_a_round_is_fixed_before_the_learner_acts():
    world, learner = met([0], low=0.0)
    for this_round in world.rounds(3, np.random.default_rng(0)):
        learner.answer = [2]
        assert this_round.reveal(1).tolist() == [1.0, 0.0, 0.0]
        learner.answer = [0]


def test_the_game_goes_on_as_if_nobody_had_asked():
    learner = hn.ContextFTPL(ALL, seed=3)
    trace = hn.play(learner.clone(), CopyPunisher(ALL), 200, seed=1)
    world = CopyPunisher(ALL)
    player = learner.clone()
    world.meet(player)
    shown = []
    for this_round in world.rounds(200, np.random.default_rng(1)):
        player.update(this_round.reveal(player.act(this_round.context)))
        shown.append((this_round.context, this_round.losses))
    assert problems.play(learner.clone(), shown) == trace.actions.tolist()


@pytest.mark.parametrize("world", [CopyPunisher(ALL), FrequencyPunisher(ALL)])
@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_the_same_seed_and_the_same_play_give_the_same_game(world, learner):
    games = [hn.play(learner(ALL, seed=s), world, 150, seed=t) for s, t in [(0, 0), (0, 0), (0, 1)]]
    assert games[0].losses.tolist() == games[1].losses.tolist()
    assert games[0].actions.tolist() == games[1].actions.tolist()
    assert games[0].losses.tolist() != games[2].losses.tolist()


@pytest.mark.stat
@pytest.mark.parametrize("kind", [CopyPunisher, FrequencyPunisher])
@pytest.mark.parametrize("seed", [0, 1])
def test_uniform_play_loses_what_it_must_even_with_the_seed_of_the_game(kind, seed):
    # Exact test at 1e-4 of 1/3 + 2/3 · 0.2; on the first visits of a context nothing is punished.
    learner = hn.baselines.UniformRandom(3, seed=seed)
    trace = hn.play(learner, kind(ALL), 4000, seed=seed)
    assert stats.binomtest(int(trace.losses.sum()), 4000, 1 / 3 + 2 / 15).pvalue > 1e-4


@pytest.mark.stat
@pytest.mark.parametrize("seed", range(3))
def test_a_certificate_holds_against_it(seed):
    # Each certificate may fail with probability 1e-4.
    learner = hn.ContextFTPL(ALL, seed=seed)
    trace = hn.play(learner, CopyPunisher(ALL), 1500, seed=seed)
    assert trace.regret() <= learner.certificate(0.9999).high_probability
    assert trace.losses.mean() < 0.6


def test_somebody_must_be_met_first():
    with pytest.raises(hn.OrderError, match=r"meet\(learner\)"):
        next(CopyPunisher(ALL).rounds(5, np.random.default_rng(0)))
    with pytest.raises(hn.InputTypeError, match="object has no method would_play"):
        CopyPunisher(ALL).meet(object())


def test_a_clone_has_met_nobody():
    world, _ = met([0])
    with pytest.raises(hn.OrderError):
        next(world.clone().rounds(5, np.random.default_rng(0)))


def frequencies(world, found, first=0):
    """What must have been punished in each round, by counting from the definition."""
    for t, (context, _, losses) in enumerate(found):
        seen = [a for x, a, _ in found[:t] if np.array_equal(x, context)]
        keys = sorted({tuple(np.atleast_1d(a)) for a in seen})
        counts = [sum(tuple(np.atleast_1d(a)) == key for a in seen) for key in keys]
        favourite = keys[int(np.argmax(counts))] if keys else ()
        yield losses, favourite


@pytest.mark.parametrize("K", [2, 4])
def test_the_most_played_action_of_a_context_is_punished(K):
    world = FrequencyPunisher(n_actions=K, n_contexts=3, low=0.0)
    rng = np.random.default_rng(0)
    found = rounds(world, 120, play=lambda context: int(rng.integers(K)))
    for losses, favourite in frequencies(world, found):
        assert np.flatnonzero(losses).tolist() == list(favourite)


def test_the_most_played_set_of_a_context_is_punished():
    world = FrequencyPunisher(SUBSETS, low=0.0)
    rng = np.random.default_rng(1)
    sets = [np.array(pair) for pair in [(0, 1), (0, 4), (2, 3)]]
    found = rounds(world, 60, play=lambda context: sets[int(rng.integers(3))])
    for losses, favourite in frequencies(world, found):
        assert np.flatnonzero(losses).tolist() == list(favourite)


@pytest.mark.stat
def test_what_was_not_played_costs_at_the_declared_rate():
    # Two exact tests at 1e-4.
    losses = np.array([row for *_, row in rounds(FrequencyPunisher(n_actions=3, low=0.4), 4000)])
    assert losses[:, 0].mean() > 0.98
    for j in (1, 2):
        assert stats.binomtest(int(losses[:, j].sum()), 4000, 0.4).pvalue > 1e-4


@pytest.mark.parametrize("kind", [CopyPunisher, FrequencyPunisher])
def test_contexts_may_come_from_anywhere(kind):
    assert kind(ALL).contexts == [0, 1, 2, 3]
    assert kind(n_actions=2, n_contexts=3).contexts == [0, 1, 2]
    assert kind(n_actions=2, contexts=["rain", "sun"]).contexts == ["rain", "sun"]
    rows = kind(hn.oracles.LinearPolicies(3), n_contexts=6, features=2).contexts
    assert np.shape(rows) == (6, 2)
    assert kind(n_actions=3, n_contexts=6, features=2, seed=0).contexts[5].tolist() == (
        rows[5].tolist()
    )
    other = kind(n_actions=3, n_contexts=6, features=2, seed=1).contexts
    assert not np.array_equal(rows, other)


def test_random_vectors_are_standard_normal():
    # Kolmogorov-Smirnov at 1e-4.
    rows = CopyPunisher(n_actions=2, n_contexts=500, features=4, seed=2).contexts
    assert stats.kstest(np.ravel(rows), "norm").pvalue > 1e-4


@pytest.mark.parametrize("kind", [CopyPunisher, FrequencyPunisher])
@pytest.mark.parametrize(("options", "message"), [
    ({}, "n_actions="),
    ({"oracle": ALL, "n_actions": 4}, "n_actions=4 and an oracle with 3"),
    ({"oracle": hn.oracles.LinearPolicies(2)}, "contexts=.*features="),
    ({"n_actions": 2, "contexts": []}, "contexts="),
    ({"n_actions": 2, "contexts": [1], "features": 2}, "not both"),
    ({"n_actions": 0}, "'n_actions' parameter"),
    ({"n_actions": 2, "n_contexts": 0}, "'n_contexts' parameter"),
    ({"n_actions": 2, "features": 0}, "'features' parameter"),
    ({"n_actions": 2, "low": 1.5}, "'low' parameter"),
    ({"n_actions": 2, "seed": -1}, "'seed' parameter"),
])  # fmt: skip
def test_arguments_that_make_no_sense_are_refused(kind, options, message):
    with pytest.raises(hn.ParameterError, match=message):
        kind(**options)


@pytest.mark.parametrize("kind", [CopyPunisher, FrequencyPunisher])
def test_contexts_the_class_does_not_know_are_refused(kind):
    with pytest.raises(hn.ContextError):
        kind(ALL, [0, 7])
    with pytest.raises(hn.HannanError):
        kind(ALL, features=2)


def test_a_clone_may_have_another_class():
    world = CopyPunisher(ALL).clone(oracle=hn.oracles.AllPolicies(2, 5))
    assert (world.n_actions, world.contexts) == (5, [0, 1])


def test_copies_are_counted_from_one():
    with pytest.raises(hn.ParameterError, match="'copies' parameter"):
        CopyPunisher(ALL, copies=0)
