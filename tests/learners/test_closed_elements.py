"""Sets of elements that are not all available in every round."""

import warnings

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE
from hannan.core.storage import reread
from tests import naive_combinatorial as naive
from tests.oracles.test_closed_elements import CASES, open_sets

LEARNERS = pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
QUICK = [name for name in CASES if name not in ("knapsack", "cover")]


def shown(learner, losses, action, mask=None):
    """What the learner is told: with full information NaN for what was closed."""
    if learner.feedback is not hn.Feedback.FULL:
        return losses[action]
    return losses if mask is None else np.where(mask, losses, np.nan)


def open_masks(name, rng, count):
    """Masks that leave a feasible set."""
    found = []
    while len(found) < count:
        mask = rng.random(CASES[name][0].n_actions) < 0.7
        if open_sets(name, mask):
            found.append(mask)
    return found


def rewarded(oracle, mask_distribution, T, seed, kind=hn.ContextSemiBanditFTPL, **options):
    """Regret against the best set of each round in a world of noisy rewards, and the learner."""
    rng, K = np.random.default_rng([seed, 1]), oracle.n_actions
    means = np.random.default_rng(5).uniform(0.1, 0.9, K)
    true = oracle.objective()
    true.add(None, -means)
    learner = kind(oracle, loss_range=(-1.0, 0.0), seed=seed, **options)
    regret = 0.0
    for _ in range(T):
        mask = mask_distribution(rng)
        action = learner.act(available=mask)
        best = true.action(None, WITHOUT_NOISE, None, np.where(mask, np.arange(K), -1))
        regret += means[best].sum() - means[action].sum()
        learner.update(shown(learner, -(rng.random(K) < means).astype(float), action, mask))
    return regret, learner


@LEARNERS
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("loss_range", [(0.0, 1.0), (-1.0, 0.0)])
def test_whatever_is_asked_only_feasible_sets_are_played(kind, name, loss_range):
    oracle, _ = CASES[name]
    rng = np.random.default_rng(3)
    learner = kind(oracle, loss_range=loss_range, seed=0)
    rounds = 30 if name in QUICK else 8
    for n, mask in enumerate(open_masks(name, rng, rounds)):
        losses = rng.uniform(*loss_range, oracle.n_actions)
        given = mask if n % 2 else np.flatnonzero(mask)
        ticket, action = None, None
        if n % 3:
            action = learner.act(available=given)
        else:
            ticket = learner.decide(available=given)
            action = ticket.action
            closed = None if mask.all() else np.flatnonzero(mask).tolist()
            assert (None if ticket.available is None else ticket.available.tolist()) == closed
        for each in [action, *learner.would_play(copies=2, available=given)]:
            assert naive.as_set(each) in open_sets(name, mask)
            assert mask[each].all()
        distribution = learner.propensities(draws=20, available=given).probabilities
        assert not distribution[~mask].any()
        learner.update(shown(learner, losses, action, mask), decision=ticket)
    assert learner.rounds == rounds
    assert np.isfinite(float(learner.certificate().loss))


@LEARNERS
def test_several_decisions_have_separate_sets(kind):
    learner = kind(hn.oracles.Subsets(5, 2), seed=0)
    given = [[0, 1, 2], None, [True, False, False, True, True]]
    decisions = learner.decide_many([None] * 3, available=given)
    assert decisions[1].available is None
    for decision, some in zip(decisions, ([0, 1, 2], range(5), [0, 3, 4]), strict=True):
        assert set(decision.action) <= set(some)
    for decision in reversed(decisions):
        losses = np.full(5, 0.5)
        learner.update(shown(learner, losses, decision.action), decision=decision)


@LEARNERS
@pytest.mark.parametrize("name", [name for name, (_, sets) in CASES.items() if set() not in sets])
def test_nothing_feasible_is_an_error_that_changes_nothing(kind, name):
    oracle, _ = CASES[name]
    learner, twin = kind(oracle, seed=0), kind(oracle, seed=0)
    rng = np.random.default_rng(0)
    for losses in rng.random((6, oracle.n_actions)):
        for ask in (learner.act, learner.decide, learner.would_play, learner.propensities):
            with pytest.raises(hn.InfeasibleError):
                ask(available=[])
        with pytest.raises(hn.InfeasibleError):
            learner.decide_many([None, None], available=[None, []])
        twin.forget(twin.decide())  # so is the first of the two
        assert learner.open_decisions == []
        action, same = learner.act(), twin.act()
        assert np.array_equal(action, same)
        assert (learner.rounds, learner.oracle_calls) == (twin.rounds, twin.oracle_calls)
        for each in (learner, twin):
            each.update(shown(each, losses, action))
    assert issubclass(hn.InfeasibleError, hn.HannanError)


WAYS = [("a", "b"), ("a", "b"), ("b", "c"), ("a", "d")]  # two of them lead elsewhere
SINGLE = {
    "paths": (lambda: hn.oracles.Paths(WAYS, "a", "b"), None),
    "trips": (
        lambda: hn.oracles.PerContext(
            {"near": hn.oracles.Paths(WAYS, "a", "b"), "far": hn.oracles.Paths(WAYS, "b", "c")}
        ),
        "near",
    ),
    "groups": (lambda: hn.oracles.PartitionMatroid([0, 0, 1, 1], [1, 0]), None),
    "loops": (lambda: hn.oracles.SpanningTrees([(0, 1), (1, 0), (1, 1), (0, 0)]), None),
    "program": (lambda: hn.oracles.LinearProgram([[0, 0, 3, 3]], [2], [[1] * 4], [1]), None),
    "subsets": (lambda: hn.oracles.Subsets(2, 1), None),
}


@LEARNERS
@pytest.mark.parametrize("name", SINGLE)
def test_what_stands_in_for_a_single_closed_element_is_feasible(kind, name):
    make, context = SINGLE[name]
    oracle = make()
    learner = kind(oracle, seed=0)
    K = oracle.n_actions
    losses = np.array([0.9, 0.8, 0.0, 0.0])[:K]  # what leads elsewhere costs nothing
    for n in range(20):
        there = [n % 2, *range(2, K)]
        assert learner.act(context, available=there) == n % 2
        learner.update(shown(learner, losses, n % 2))
    before = learner.would_play(context, copies=20)
    for nothing in ([], list(range(2, K)), np.arange(K) >= 2):
        for call in (learner.act, learner.decide, learner.would_play, learner.propensities):
            with pytest.raises(hn.InfeasibleError):
                call(context, available=nothing)
    assert learner.would_play(context, copies=20) == before


@LEARNERS
def test_the_empty_set_is_played_where_nothing_else_is_left(kind):
    learner = kind(hn.oracles.Subsets(4, 2, exactly=False), loss_range=(-1.0, 0.0), seed=0)
    for _ in range(5):
        assert learner.act(available=[]).size == 0
        learner.update(shown(learner, np.full(4, np.nan), np.empty(0, np.intp)))
        action = learner.act(available=[0, 1])
        learner.update(shown(learner, np.full(4, -0.5), action))
    ticket = learner.decide(available=[])
    learner.update([] if kind is hn.ContextSemiBanditFTPL else np.zeros(4), decision=ticket)


@LEARNERS
def test_all_elements_are_no_restriction(kind):
    oracle = hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)])
    plain, told = kind(oracle, seed=2), kind(oracle, seed=2)
    for losses in np.random.default_rng(0).random((40, 5)):
        action = plain.act()
        assert np.array_equal(action, told.act(available=[True] * 5))
        for each in (plain, told):
            each.update(shown(each, losses, action))
    assert told.regret_bound() == plain.regret_bound() is not None


def test_losses_of_closed_elements_are_ignored_and_charged_as_when_they_are_open():
    learner, twin = (hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0) for _ in range(2))
    rng = np.random.default_rng(1)
    seen = np.zeros(4)
    for n in range(60):
        mask = np.array([True, True, n % 3 == 0, True])
        losses = rng.random(4)
        before = learner.leader.total.totals.copy()
        for each, closed in ((learner, np.nan), (twin, 0.123)):
            each.act(available=mask)
            each.update(np.where(mask, losses, closed))
        assert np.array_equal(learner.leader.total.totals, twin.leader.total.totals)
        added = learner.leader.total.totals - before
        assert np.allclose(added[mask], losses[mask])
        if n > 1:
            assert abs(added[2] - losses[2]) < 1e-12 or 0.0 < added[2] < 1.0
        seen += mask
    learner.act(available=[0, 1, 3])
    with pytest.raises(hn.LossError, match="action 1"):
        learner.update([0.1, np.nan, 0.2, 0.3])


def test_an_element_that_is_rare_but_best_is_chosen_when_it_is_there():
    rng, hits = np.random.default_rng(0), []
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(5, 2, exactly=False), loss_range=(-1.0, 0.0), seed=0
    )
    for t in range(3000):
        mask = np.array([True, True, True, True, t % 10 == 0])
        action = learner.act(available=mask)
        rewards = rng.random(5) < [0.3, 0.4, 0.2, 0.3, 0.9]
        learner.update(-rewards[action].astype(float))
        hits += [4 in action] if mask[4] and t > 1500 else []
    assert np.mean(hits) > 0.9


@pytest.mark.stat
@LEARNERS
@pytest.mark.parametrize("exactly", [True, False])
def test_regret_is_below_the_bound_without_masks_and_shrinks_on_average(kind, exactly):
    oracle = hn.oracles.Subsets(6, 2, exactly=exactly)

    def distribution(rng):
        mask = rng.random(6) < 0.7
        return mask if mask.sum() >= 2 else np.ones(6, dtype=bool)

    means = []
    for T in (200, 800):
        semi = kind is hn.ContextSemiBanditFTPL
        bound = hn.bounds.self_tuned(
            T, feedback="semi-bandit" if semi else "full", loss_range=(-1.0, 0.0) if semi else None,
            nonnegative=semi, complexity=oracle.complexity([None]), d=1, n_actions=6, m=2,
        ).value  # fmt: skip
        found = [rewarded(oracle, distribution, T, seed, kind)[0] for seed in range(20)]
        assert max(found) < bound
        means.append(np.mean(found) / T)
    assert means[1] < means[0]


@LEARNERS
def test_what_is_said_of_regret(kind):
    _, learner = rewarded(hn.oracles.Subsets(5, 2), lambda rng: np.arange(5) < 3, 30, 0, kind)
    assert learner.regret_bound() is None
    said = learner.certificate()
    assert any("unavailable element" in note for note in said.notes)
    assert "substitute" not in str(said)
    assert np.isnan(float(said)) or float(said) == said.realised_regret


@LEARNERS
def test_a_saved_learner_keeps_what_was_closed(kind, tmp_path):
    oracle = hn.oracles.Paths([(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)], 0, 2)
    rng = np.random.default_rng(0)
    learner = kind(oracle, seed=0)

    def go_on(each, rounds):
        played = []
        for losses in rounds:
            played.append(each.act(available=[0, 2, 4]).tolist())
            each.update(shown(each, losses, np.array(played[-1])))
        return played

    go_on(learner, rng.random((20, 5)))
    ticket = learner.decide(available=[1, 3])
    learner.act(available=[4])
    learner.save(tmp_path / "learner")
    twin = hn.load(tmp_path / "learner")
    rounds = rng.random((20, 5))
    for each in (learner, twin):
        each.update(shown(each, rounds[0], np.array([4])))
        each.update(shown(each, rounds[1], ticket.action), decision=ticket.id)
    assert go_on(learner, rounds) == go_on(twin, rounds)


@LEARNERS
@pytest.mark.parametrize(
    "plays", [[0, 1, -1, 2], [0, 1, -2, 3], [-1, 1, 2, 3], [0.0, 1.0, 2.0, -1.0], [0, 1, -1]]
)
def test_a_forged_set_is_refused(kind, plays):
    learner = kind(hn.oracles.Subsets(4, 2), seed=0)
    learner.act(available=[0, 1, 3])
    reread(learner)
    learner.open_round().plays = np.array(plays)
    learner.open_round().action = np.array([0, 1])
    with pytest.raises(hn.DamagedFileError):
        reread(learner)


def test_predictors_of_sets_see_what_is_open():
    full = hn.ContextFTPL(hn.oracles.Subsets(4, 2), predictor=hn.predictors.Mean(), seed=0)
    semi = hn.ContextSemiBanditFTPL(
        hn.oracles.Subsets(4, 2), predictor=hn.predictors.Mean(), trust="baseline", seed=0
    )
    rng = np.random.default_rng(0)
    for n in range(40):
        mask = np.array([True, n % 2 == 0, True, n % 2 == 1])
        for each in (full, semi):
            action = each.act(available=mask)
            assert mask[action].all()
            each.update(shown(each, rng.random(4), action, mask))


@pytest.mark.parametrize(
    ("oracle", "remedy"),
    [
        (hn.oracles.Subsets(4, 2, exactly=False), "exactly=True"),
        (hn.oracles.Matchings(2, 2, everyone=False), "everyone=True"),
        (hn.oracles.PartitionMatroid([0, 0, 1], 1, bases=False), "bases=True"),
        (hn.oracles.Matroid(3, lambda chosen: len(chosen) < 2, bases=False), "bases=True"),
        (hn.oracles.LinearProgram([[1, 2, 3]], [3]), "a constraint"),
        (hn.oracles.PerContext(hn.oracles.Subsets(4, 2, exactly=False), 2), "exactly=True"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize("kind", [hn.ContextFTPL, hn.ContextSemiBanditFTPL, hn.AdaptiveDiscount])
def test_a_warning_says_once_that_nothing_will_be_chosen(kind, oracle, remedy):
    oracle = oracle.clone()
    with pytest.warns(UserWarning, match=rf"choose nothing.*\(-R, 0\).*use {remedy}") as caught:
        kind(oracle, seed=0)
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(oracle, seed=0).clone(seed=1)
        kind(oracle.clone(), loss_range=(-1.0, 0.0), seed=0)
        kind(hn.oracles.LinearProgram([[-1, -1, 0]], [-1]), seed=0)
        kind(hn.oracles.Matchings(2, 2), seed=0)


def test_what_is_not_a_set_of_elements_is_refused():
    learner = hn.ContextFTPL(hn.oracles.Subsets(4, 2), seed=0)
    for wrong in ([0, 0], [4], [-1], [True, False]):
        with pytest.raises(hn.ParameterError, match="distinct elements"):
            learner.act(available=wrong)
    for wrong in ("all", 3, [0.5]):
        with pytest.raises(hn.InputTypeError, match="distinct elements"):
            learner.act(available=wrong)
    assert learner.act().tolist() == [0, 1]


def test_what_was_seen_is_kept_by_context_and_refused_losses_are_not_in_it():
    """Arrays are used again: no context may see those of another, nor of a refused call."""
    rng, K = np.random.default_rng(0), 5
    oracle = hn.oracles.PerContext(hn.oracles.Subsets(K, 2), ["x", "y", "z"])
    learner, twin = hn.ContextFTPL(oracle, seed=0), hn.ContextFTPL(oracle, seed=0)
    sums, counts = ({x: np.zeros(K) for x in oracle.contexts} for _ in range(2))
    for t in range(60):
        x = oracle.contexts[rng.integers(3)]
        mask = rng.random(K) < 0.8
        mask[:2] = True
        mask[4] = False
        losses = np.where(mask, rng.random(K), np.nan)
        assert np.array_equal(learner.act(x, mask), twin.act(x, mask))
        if t % 2:
            for bad in (np.nan, -np.inf, 7.0):
                with pytest.raises(hn.LossError):
                    learner.update(np.where(np.arange(K) == 1, bad, losses))
        learner.update(losses)
        twin.update(losses)
        sums[x] += np.where(mask, losses, 0.0)
        counts[x] += mask
        for each in oracle.contexts:
            for player in (learner, twin):
                known = player._availability.costs.sums(each)
                if counts[each].any():
                    assert np.array_equal(known, [sums[each], counts[each]])
                else:
                    assert known.shape == (2, 0)


@LEARNERS
@pytest.mark.parametrize("name", QUICK)
def test_what_is_returned_and_given_is_the_callers_to_change(kind, name):
    """Two learners play alike, though one's actions, masks and losses are overwritten."""
    oracle, _ = CASES[name]
    one, two = (kind(oracle, loss_range=(-1.0, 0.0), seed=0) for _ in range(2))
    rng = np.random.default_rng(0)
    for n, mask in enumerate(open_masks(name, rng, 30)):
        given, losses = mask.copy(), -rng.random(oracle.n_actions)
        late = n % 2 and one.decide(available=given)
        action = late.action if late else one.act(available=given)
        decision = late and two.decide(available=mask)
        expected = decision.action if decision else two.act(available=mask)
        assert action.tolist() == expected.tolist()
        answer = shown(two, losses, expected, mask)
        theirs = answer.copy()
        given[:], action[:] = ~mask, 0
        one.update(theirs, decision=late.id if late else None)
        theirs[:] = -0.5
        two.update(answer, decision=decision or None)


@pytest.mark.parametrize("name", [name for name in QUICK if CASES[name][0].max_chosen > 1])
def test_restarting_plays_the_available_elements_as_its_learner_does(name):
    oracle, rng = CASES[name][0], np.random.default_rng(3)
    alone = hn.ContextSemiBanditFTPL(oracle, seed=0)
    learner = hn.Restarting(hn.ContextSemiBanditFTPL(oracle, seed=0), max_restarts=0)
    for mask in open_masks(name, rng, 40):
        losses = rng.random(oracle.n_actions)
        decision, same = learner.decide(available=mask), alone.decide(available=mask)
        assert np.array_equal(decision.action, same.action)
        assert mask[decision.action].all()
        learner = reread(learner)
        for each, answer in ((learner, decision), (alone, same)):
            each.update(losses[answer.action], decision=answer.id)
    assert np.array_equal(learner.best_policy()(), alone.best_policy()())


def test_missing_losses_do_not_spoil_the_charge_for_unavailable_elements():
    rng, oracle = np.random.default_rng(0), hn.oracles.Subsets(5, 2)
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for t in range(40):
        action = learner.act(available=None if t % 2 else [0, 1, 2, 3])
        learner.update(np.where(rng.random(2) < 0.4, np.nan, rng.random(2))[: len(action)])
    assert np.isfinite(learner.leader.total.totals).all()
    assert learner.certificate().loss > 0.0
