"""CombUCB1, CombThompson and C2UCB play by their definitions, written element by element."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from tests.cases import Match

B = hn.baselines
SLATES = hn.oracles.PerContext(hn.oracles.Subsets(5, 2), ["old", "new"])
WORLD = hn.environments.PlantedPolicy(SLATES, good=0.1, bad=0.9)
SINGLE = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(2, 3), good=0.1, bad=0.9)
TABLE = hn.oracles.FinitePolicies([[0, 1], [1, 2], [2, 0]])
ROWS = np.random.default_rng(0).normal(size=(5, 3))

CONTRACT = {
    "CombUCB1": Match(B.CombUCB1(SLATES), WORLD, horizon=40),
    "CombUCB1, shared": Match(B.CombUCB1(SLATES, shared=True), WORLD, no_regret=False),
    "CombUCB1, single actions": Match(B.CombUCB1(SINGLE.oracle), SINGLE),
    "CombThompson": Match(B.CombThompson(SLATES, seed=0), WORLD),
    "CombThompson, gauss": Match(B.CombThompson(SLATES, posterior="gauss", seed=0), WORLD),
    "CombThompson, listed": Match(
        B.CombThompson(TABLE, seed=0), hn.environments.PlantedPolicy(TABLE, good=0.1, bad=0.9)
    ),
    "C2UCB": Match(B.C2UCB(SLATES, ROWS), WORLD, no_regret=False),
    "C2UCB, sampled": Match(B.C2UCB(SLATES, ROWS, sampled=True, seed=0), WORLD, no_regret=False),
}


def by_context(context):
    """The features of the elements on a context."""
    return np.eye(5) if context == "old" else np.eye(5)[::-1] + 1.0


def best_set(values, sets):
    """The first of the sets, in the order of Subsets, with the smallest sum."""
    return min(sets, key=lambda each: (round(sum(values[j] for j in each), 9), each))


def observed(rounds, element, context):
    return [
        loss
        for x, action, losses in rounds
        if x == context
        for j, loss in zip(action, losses, strict=True)
        if j == element
    ]


def ucb1(rounds, context, twin):
    lists = [observed(rounds, j, context) for j in range(5)]
    return [
        np.mean(each) - math.sqrt(1.5 * math.log(len(rounds)) / len(each)) if each else -1e6
        for each in lists
    ]


def beta(rounds, context, twin):
    lists = [observed(rounds, j, context) for j in range(5)]
    a = [1.0 + sum(each) for each in lists]
    return twin.rng.beta(a, [1.0 + len(each) - sum(each) for each in lists])


def gauss(rounds, context, twin):
    lists = [observed(rounds, j, context) for j in range(5)]
    errors = [
        [(each[n] - np.mean(each[:n])) ** 2 * n / (n + 1) for n in range(1, len(each))]
        for each in lists
    ]
    flat = list(itertools.chain(*errors))
    pooled = (0.25 + sum(flat)) / (1.0 + len(flat))
    values = []
    for each, own, z in zip(lists, errors, twin.rng.standard_normal(5), strict=True):
        n = len(each)
        variance = (sum(own) + 8.0 * pooled) / (n + 8.0)
        values.append(sum(each) / (n + 1) + z * math.sqrt(variance / (n + 1)))
    return values


def linear(rounds, context, twin):
    rows = by_context(context)
    seen = [
        (by_context(x)[j], loss)
        for x, action, losses in rounds
        for j, loss in zip(action, losses, strict=True)
    ]
    design = 0.7 * np.eye(5) + sum(np.outer(row, row) for row, _ in seen)
    R = np.linalg.inv(design)
    w = R @ (np.zeros(5) + sum(loss * row for row, loss in seen))
    if twin.learner.sampled:
        root = np.linalg.inv(np.linalg.cholesky(design)).T
        w = w + 0.4 * root @ twin.rng.standard_normal(5)
        return rows @ w
    return [row @ w - 0.4 * math.sqrt(row @ R @ row) for row in rows]


LINEAR = {"features": by_context, "alpha": 0.4, "ridge": 0.7}
DEFINITIONS = {
    "CombUCB1": (ucb1, B.CombUCB1(SLATES, loss_range=(-1.0, 3.0))),
    "beta": (beta, B.CombThompson(SLATES, seed=3, loss_range=(-1.0, 3.0))),
    "gauss": (gauss, B.CombThompson(SLATES, posterior="gauss", seed=3, loss_range=(-1.0, 3.0))),
    "C2UCB": (linear, B.C2UCB(SLATES, loss_range=(-1.0, 3.0), **LINEAR)),
    "sampled": (linear, B.C2UCB(SLATES, sampled=True, seed=3, loss_range=(-1.0, 3.0), **LINEAR)),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_play_equals_the_definition(name):
    definition, learner = DEFINITIONS[name]
    learner, rng, past, sizes = learner.clone(), np.random.default_rng(1), [], set()
    for t in range(120):
        context, losses = ("old", "new")[t % 2], rng.random(5) * [0.2, 0.4, 0.6, 0.8, 1.0]
        among = np.sort(rng.permutation(5)[:3]) if t % 4 == 1 else np.arange(5)
        twin = SimpleNamespace(rng=learner._generator(), learner=learner)
        values = definition(past, context, twin)
        action = learner.act(context, available=among)
        assert tuple(action) == best_set(values, itertools.combinations(among, 2))
        learner.update(4.0 * losses[action] - 1.0)
        past.append((context, action, losses[action]))
        sizes.add(tuple(action))
    assert len(sizes) > 3


def test_elements_that_were_never_observed_come_first_also_if_losses_are_large():
    """And however small the bounds of others are."""
    learner = B.CombUCB1(hn.oracles.Subsets(7, 3), loss_range=(5.0, 7.0))
    plays = []
    for t in range(3):
        plays.append(learner.act(available=[0, 1, 2] if t == 0 else None))
        learner.update([5.0, 5.0, 5.0])
    assert [each.tolist() for each in plays] == [[0, 1, 2], [3, 4, 5], [0, 1, 6]]
    uneven = B.CombUCB1(hn.oracles.Subsets(4, 3, exactly=False), loss_range=(-1.0, 0.0))
    assert uneven.act().tolist() == [0, 1, 2]
    uneven.update([-1.0, -1.0, -1.0])
    assert 3 in uneven.act()


def test_sets_of_different_size_are_compared_by_losses_not_by_scaled_ones():
    uneven = hn.oracles.Subsets(3, 2, exactly=False)
    for learner, losses, best in (
        (B.CombThompson(uneven, seed=0, loss_range=(-2.0, 2.0)), [-1.5, 1.0, 1.0], [0]),
        (B.CombUCB1(uneven, loss_range=(-2.0, 0.0)), [-1.5, -1.0, -0.1], [0, 1]),
    ):
        for _ in range(400):
            chosen = learner.act()
            learner.update(np.array(losses)[chosen])
        assert learner.act().tolist() == best


@pytest.mark.parametrize("kind", [B.CombUCB1, B.CombThompson])
def test_contexts_share_elements_only_if_shared(kind):
    options = {"seed": 0} if kind is B.CombThompson else {}
    for shared in (False, True):
        learner = kind(SLATES, shared=shared, **options)
        for _ in range(400):
            chosen = learner.act("old")
            learner.update(np.array([0.9, 0.1, 0.9, 0.1, 0.9])[chosen])
        assert (learner.act("new").tolist() == [1, 3]) is shared


def test_no_route_is_an_error_that_changes_nothing():
    roads = hn.oracles.Paths([("a", "b"), ("a", "b"), ("b", "c")], "a", "c")
    learner, twin = (B.CombThompson(roads, seed=0) for _ in range(2))
    for t in range(30):
        with pytest.raises(hn.InfeasibleError):
            learner.act(available=[0, 1])
        among = [1, 2] if t % 3 == 0 else None
        action = learner.act(available=among)
        assert action.tolist() == twin.act(available=among).tolist()
        assert among is None or action.tolist() == [1, 2]
        for each in (learner, twin):
            each.update(0.1 * t % 1.0 * np.ones(len(action)))
    assert reread(learner).act().tolist() == learner.act().tolist()


def test_who_knows_the_rule_knows_the_play_of_bounds_only():
    for learner in (B.CombUCB1(SLATES), B.C2UCB(SLATES, ROWS)):
        learner.act("old")
        learner.update([0.3, 0.6])
        law = learner.propensities("old")
        assert law.draws == 0
        assert set(np.flatnonzero(law.probabilities)) == set(learner.act("old"))
        assert learner.decide("old").propensity.tolist() == [1.0, 1.0]
    drawn = B.CombThompson(SLATES, seed=0).propensities("old", draws=2000)
    assert drawn.draws == 2000
    np.testing.assert_allclose(drawn.probabilities, 0.4, atol=0.06)


def test_bad_arguments_raise_errors():
    with pytest.raises(hn.ParameterError, match="'shared'"):
        B.CombUCB1(SLATES, shared="yes")
    with pytest.raises(hn.ParameterError, match="'posterior'"):
        B.CombThompson(SLATES, posterior="gamma")
    with pytest.raises(hn.ParameterError, match="one for each element"):
        B.C2UCB(SLATES, ROWS[:4])
    with pytest.raises(hn.ParameterError, match="'sampled'"):
        B.C2UCB(SLATES, ROWS, sampled=1)
    with pytest.raises(hn.ParameterError, match="number of actions"):
        B.CombUCB1(hn.oracles.FunctionOracle(lambda contexts, losses: lambda context: 0))
    growing = iter([ROWS, ROWS, ROWS[:, :2]])
    learner = B.C2UCB(SLATES, lambda context: next(growing))
    learner.act("old")
    learner.update([0.1, 0.2])
    with pytest.raises(hn.ContextError, match="3 features per element"):
        learner.act("new")
