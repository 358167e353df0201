"""A least probability for every action: what is played, what weights mean, what it costs."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.learners.importance_weights import mean_weights
from hannan.learners.perturbed_leader import Past
from tests.cases import Match
from tests.problems import ALL, PLANTED

FOUR = hn.oracles.FinitePolicies([[0, 1], [1, 2], [2, 2], [3, 0]])
TABLE = hn.oracles.AllPolicies(2, 4)
COSTS = np.array([0.1, 0.5, 0.6, 0.9])


def mean():
    return hn.predictors.Mean()


CONTRACT = {
    "ContextSemiBanditFTPL, explores": Match(
        hn.ContextSemiBanditFTPL(ALL, exploration=0.02, seed=0), PLANTED
    ),
    "ContextSemiBanditFTPL, earned trust, explores": Match(
        hn.ContextSemiBanditFTPL(ALL, predictor=mean(), exploration=0.02, seed=0), PLANTED
    ),
    "TsallisINF, explores": Match(
        hn.TsallisINF(ALL, predictor=mean(), exploration=0.02, seed=0), PLANTED
    ),
}

LEARNERS = {
    "table": lambda **o: hn.ContextSemiBanditFTPL(TABLE, seed=0, **o),
    "table, drawn": lambda **o: hn.ContextSemiBanditFTPL(TABLE, resampling=1, seed=0, **o),
    "table, in pairs": lambda **o: hn.ContextSemiBanditFTPL(
        TABLE, resampling="conditional", seed=0, **o
    ),
    "table, hints": lambda **o: hn.ContextSemiBanditFTPL(TABLE, predictor=mean(), seed=0, **o),
    "listed": lambda **o: hn.ContextSemiBanditFTPL(FOUR, seed=0, **o),
    "listed, hints": lambda **o: hn.ContextSemiBanditFTPL(FOUR, predictor=mean(), seed=0, **o),
    "fixed ε": lambda **o: hn.ContextSemiBanditFTPL(FOUR, epsilon=0.3, seed=0, **o),
    "anytime": lambda **o: hn.ContextSemiBanditFTPL(FOUR, epsilon="anytime", seed=0, **o),
    "Tsallis": lambda **o: hn.TsallisINF(TABLE, seed=0, **o),
    "Tsallis, hints": lambda **o: hn.TsallisINF(TABLE, predictor=mean(), seed=0, **o),
    "restarting": lambda **o: hn.bandit(4, n_contexts=2, seed=0, **o),
}


def trained(name, rounds=120, **options):
    learner, rng = LEARNERS[name](**options), np.random.default_rng(1)
    for t in range(rounds):
        action = learner.act(t % 2)
        learner.update(float(rng.random() < COSTS[action]))
    return learner


@pytest.mark.parametrize("name", LEARNERS)
def test_no_available_action_is_less_likely(name):
    learner = trained(name, exploration=0.05)
    for context, some in ((0, None), (1, None), (0, [0, 2]), (1, [3])):
        distribution = learner.propensities(context, 2000, some).probabilities
        there = np.arange(4) if some is None else np.array(some)
        assert distribution[there].min() >= 0.05 - 1e-12
        assert distribution.sum() == pytest.approx(1.0)
        assert np.delete(distribution, there).sum() == 0.0
    if name != "anytime":  # whose noise is large for long
        assert trained(name).propensities(0).probabilities.min() < 0.05


@pytest.mark.stat
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "anytime"])
@pytest.mark.parametrize("some", [None, (1, 3)])
def test_actions_and_weights_follow_the_law(name, some):
    """Frequencies are as said, and E[W 1(a = b)] = 1 for every available b."""
    n, learner = 3000, trained(name, exploration=0.08)
    distribution = learner.propensities(0, 40_000, some, decide=True)
    q = np.tile(distribution.probabilities, (n, 1))
    played, weights = np.empty(n, int), np.empty(n)
    for i in range(n):
        if not distribution.draws:  # decisions alone change it where it depends on their number
            q[i] = learner.propensities(0, available=some, decide=True).probabilities
        decision = learner.decide(0, available=some)
        learner.forget(decision)
        played[i], weights[i] = decision.action, decision.weights[0]
    for b in range(4) if some is None else some:
        hits = played == b
        error = math.sqrt((q[:, b] * (1.0 - q[:, b])).mean() / n)
        assert abs((hits - q[:, b]).mean()) <= 5.0 * error + (0.01 if distribution.draws else 0.0)
        terms = weights * hits
        # Truncation takes less than 4%: (1 - 0.08)^L, L about 40 here.
        assert abs(terms.mean() - 1.0) <= 5.0 * terms.std() / math.sqrt(n) + 0.04


@pytest.mark.stat
@pytest.mark.parametrize("share", [0.0, 0.6])
@pytest.mark.parametrize("resampling", [1, 3, "conditional"])
def test_weights_have_the_mean_of_the_definition(share, resampling):
    """(1-(1-y)^L)/(sy): an action is played with probability sy, y = c + (1-c) q0."""
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 3), epsilon=0.5, seed=0)
    total, leader, L, n = learner.leader.total, learner.leader, 6, 5000
    total.add(0, np.array([0.0, 1.0, 3.0]))
    q0 = total.distribution(0, Draw(leader.noise, 0, 2.0))
    opened = learner.Round(0)
    opened.advice, opened.share, opened.explores, opened.each = 1, share, 0.3, 0.1
    way = hn.Resampling(2, False, True) if isinstance(resampling, str) else None
    way, first = way or hn.Resampling(resampling, exact=False), 0
    for action in (0, 1, 2):
        opened.action = action
        found = np.empty(n)
        for i in range(n):
            draw = Draw(leader.noise, first, 2.0)
            found[i], used, _ = way.mixed_weight(leader, Past(total), opened, draw, L)
            first += used
        fixed = 0.1 + 0.7 * share * (action == 1)
        s = fixed + 0.7 * (1.0 - share)
        q = fixed + 0.7 * (1.0 - share) * q0[action]
        mean = (1 - (1 - q / s) ** L) / q
        assert opened.mixed(q0)[action] == pytest.approx(q)
        assert mean_weights(q0, opened, L) == pytest.approx(mean)
        assert abs(found.mean() - mean) <= 4.5 * found.std() / math.sqrt(n)


@pytest.mark.parametrize("kind", [hn.ContextSemiBanditFTPL, hn.TsallisINF])
def test_the_price_is_measured_without_bias(kind):
    """Its mean over the two coins of a round, given the action each would play."""
    learner = kind(hn.oracles.AllPolicies(1, 4), exploration=0.1, seed=0)
    floor = learner._floor
    own = np.array([0.7, 0.2, 0.1, 0.0])
    expected = 0.4 * float((0.25 - own) @ COSTS)
    opened = learner.Round(0)
    floor.raise_to(opened)
    assert opened.explores == pytest.approx(0.4)
    found = 0.0
    for explored, chance, distribution in ((True, 0.4, np.full(4, 0.25)), (False, 0.6, own)):
        opened.explored = explored
        for action in range(4):
            before = floor.price
            floor.charge(opened, COSTS[action])
            found += chance * distribution[action] * (floor.price - before)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "restarting"])
def test_bounds_and_certificates_count_it(name):
    plain, mixed = trained(name, 300), trained(name, 300, exploration=0.05)
    assert mixed._floor.price != 0.0 == plain._floor.price
    bound = mixed.regret_bound()
    if plain.regret_bound() is None:
        assert bound is None
    else:
        assert bound >= plain.regret_bound() + 0.2 * 300 - 60.0
        assert bound >= 0.2 * 300
    said = float(mixed.certificate())
    if "hints" not in name:  # which may save more than all the rest costs
        assert said > mixed._floor.price or math.isnan(said)


def test_a_learner_with_rows_explores_too():
    learner, rng = hn.bandit(3, exploration=0.1, seed=0), np.random.default_rng(0)
    for _ in range(60):
        x = rng.random(2)
        learner.update(float(learner.act(x) == 0))
        assert learner.propensities(x).probabilities.min() >= 0.1 - 1e-12


@pytest.mark.parametrize("value", [-0.1, 0.25, 1.0, float("nan"), True, "0.1", None])
def test_impossible_floors_are_refused(value):
    for kind in (hn.ContextSemiBanditFTPL, hn.TsallisINF):
        with pytest.raises(hn.ParameterError, match="'exploration'"):
            kind(hn.oracles.AllPolicies(1, 4), exploration=value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exploration": 0.01}, "Pass both, or neither"),
        ({"current_rule": [0, 1]}, "Pass both, or neither"),
        ({"exploration": 1.0, "current_rule": [0, 1]}, "less than 1/1"),
    ],
)
def test_sets_explore_with_a_current_rule_only(given, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2), **given)


def test_single_actions_have_no_current_rule():
    with pytest.raises(hn.ParameterError, match="for sets of elements"):
        hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 4), exploration=0.1, current_rule=0)


@pytest.mark.parametrize("rule", [[0, 4], [0, 0], [0.5, 1.0], "ab"])
def test_a_current_rule_gives_sets(rule):
    oracle = hn.oracles.Subsets(4, 2)
    learner = hn.ContextSemiBanditFTPL(oracle, exploration=0.1, current_rule=rule, seed=0)
    with pytest.raises(hn.ParameterError, match="must give a set"):
        learner.act()


@pytest.mark.stat
@pytest.mark.parametrize("predictor", [None, hn.predictors.ElementMeans()])
def test_exploration_plays_the_set_of_the_current_rule(predictor):
    """Weights of 1/q on average, and q of at least the floor; 3,000 decisions, fixed seed."""
    oracle = hn.oracles.PerContext(hn.oracles.SpanningTrees([(0, 1), (1, 2), (0, 2), (2, 3)]), "ab")
    today = {"a": [2, 1, 3], "b": [0, 1, 3]}
    learner = hn.ContextSemiBanditFTPL(
        oracle, exploration=0.2, current_rule=today.get, predictor=predictor, seed=0
    )
    rng = np.random.default_rng(0)
    for t in range(100):
        chosen = learner.act("ab"[t % 2])
        learner.update((rng.random(3) < np.array([0.1, 0.9, 0.2, 0.5])[chosen]).astype(float))
    n, counts, inverse = 3000, np.zeros(4), np.zeros(4)
    for _ in range(n):
        decision = learner.decide("a")
        learner.forget(decision)
        counts[decision.action] += 1
        inverse[decision.action] += decision.weights
    assert (counts[[1, 2, 3]] >= (0.2 - 4 * np.sqrt(0.16 / n)) * n).all()
    tried = counts >= 0.02 * n
    assert np.abs(inverse[tried] / n - 1.0).max() < 0.25
    assert learner.certificate().stability_estimate is not None
    closed = learner.decide("a", available=[0, 1, 3])
    assert closed.action.tolist() == [0, 1, 3]


@pytest.mark.parametrize("name", LEARNERS)
def test_it_is_saved(name, tmp_path):
    learner = trained(name, 50, exploration=0.05)
    open_one = learner.decide(1)
    learner.save(tmp_path / "learner.hannan")
    again = hn.load(tmp_path / "learner.hannan")
    for each in (learner, again):
        each.update(0.7, decision=open_one.id)
    for t in range(50):
        assert learner.act(t % 2) == again.act(t % 2)
        for each in (learner, again):
            each.update(0.01 * t)
    assert float(learner.certificate()) == pytest.approx(float(again.certificate()), nan_ok=True)
