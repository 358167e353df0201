"""Hints that are sets of elements: weights, ratios, the cost S and its budget."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.core.storage import reread
from hannan.kernels import sets as kernel
from hannan.learners.hint import SETS
from hannan.learners.importance_weights import past_of
from hannan.learners.perturbed_leader import NoisyRound, Past
from hannan.learners.set_hint import _TRIALS, SetHint, _from_probabilities, limit_of
from hannan.oracles import _combinatorial
from tests import problems
from tests.oracles.test_closed_elements import EDGES, ROADS

BANDIT = hn.ContextSemiBanditFTPL
ALONE = np.array([[[1, 0, 0, 0]], [[0, 1, 1, 1]]], dtype=bool)  # {0} and {1, 2, 3}
NEAR_ONE = 1.0 - 1e-5


class Says:
    """Bounds and estimates of the next round, as the test sets them."""

    bounds = values = None

    def predict(self, context):
        return self.bounds

    def estimate(self, context):
        return self.values

    def learn(self, context, action, loss):
        pass


@dataclass(frozen=True)
class Always(hn.Trust):
    """Hints with one share, as far as the budget allows it."""

    p: float = 0.5

    def wanted(self, record, n):
        return self.p


def says(oracle, low=0.0, high=1.0, seed=0):
    rng, speaker = np.random.default_rng(seed), Says()
    speaker.bounds, speaker.values = rng.uniform(low, high, (2, oracle.n_actions))
    return speaker


# One number of draws gives weight and ratio ------------------------------------------------------


def opened_round(p, hinted, L):
    """A round with one chosen element, in the hint or not."""
    opened = NoisyRound(None)
    opened.draw, opened.limit, opened.share = Draw(), L, p
    opened.action, opened.advice = np.array([0]), np.array([0 if hinted else 1])
    return opened


CASES = list(
    itertools.product(
        [1e-6, 0.03, 0.4, 0.9, 1.0], [1e-13, 1e-3, 0.3, 0.9, NEAR_ONE], [2, 3, 17, 200]
    )
)


@pytest.mark.parametrize("hinted", [True, False])
def test_weight_and_ratio_have_the_means_of_the_lemma(hinted):
    for x, p, L in CASES:
        b, opened = 1.0 - p, opened_round(p, hinted, L)
        N = np.arange(1.0, L + 1.0)  # L: not within L - 1 draws
        chance = x * (1.0 - x) ** (N - 1.0)
        chance[-1] = (1.0 - x) ** (L - 1)
        weights, ratio = np.zeros((2, L))
        hit = np.repeat(opened.hit, L)
        kernel.from_numbers(N, np.arange(L), hit, hit, p, 0.0, L, weights, ratio)
        q = p + b * x if hinted else b * x
        success = q if hinted else x  # the cap acts on trials; for other elements b only divides
        mean = -math.expm1(L * math.log1p(-success)) / q if success < 1.0 else 1.0 / q
        assert chance @ weights == pytest.approx(mean, rel=1e-12)
        assert chance @ weights**2 <= 2.0 / q**2 * (1.0 + 1e-12)
        within = x / q * (1.0 - (1.0 - q) ** (L - 1))
        assert chance @ ratio == pytest.approx(within if hinted else 0.0, rel=1e-12)
        assert 0.0 <= ratio.min() <= ratio.max() <= 1.0
        # From the probability itself: the mean weight, and the ratio without truncation.
        assert _from_probabilities(opened, np.array([x]))[0] == pytest.approx(mean, rel=1e-12)
        assert opened.ratio[0] == pytest.approx(x / q, rel=1e-12)


def test_the_limit_of_draws_hides_at_most_one_in_L_of_an_element():
    for p, L in itertools.product([1e-320, 1e-300, 1e-9, 0.2, 0.95, NEAR_ONE], [1, 2, 30, 5000]):
        limit = limit_of(p, L)
        assert 2 <= limit <= max(2, L)
        assert limit == L or limit == 2 or (1.0 - p) ** (limit - 1) <= 1.0 / L
        assert limit <= 2 or limit == L or (1.0 - p) ** (limit - 2) > 1.0 / L
    assert limit_of(0.0, 7) == 7


def test_the_charge_for_truncation_covers_its_exact_cost():
    oracle = hn.oracles.FinitePolicies(ALONE)
    for (low, high), p, L in itertools.product(
        [(0.0, 1.0), (-1.0, 1.0), (-1.0, -0.9)], [0.2, 0.95, NEAR_ONE], [2, 9]
    ):
        hint = SetHint(Says(), SETS, 4, (low, high), 1.0, oracle)
        opened = opened_round(p, True, L)
        opened.advice, opened.values = np.array([1, 2, 3]), np.full(4, high)
        charged, x, u = hint.truncation(opened, 4), np.linspace(0.0, 1.0, 2001), hint.top
        q, limit = p + (1.0 - p) * x, limit_of(p, L)
        short = x * (1.0 - q) ** (limit - 1) * u  # V in full, as feedback may be missing
        assert 3 * short.max() + (x * (1.0 - x) ** L).max() * u <= charged + 1e-12
        assert charged < hint.top * 8 / (math.e * (L - 1)) + 1e-12


# Every class -------------------------------------------------------------------------------------

GRID = [((i, j), (i + a, j + 1 - a)) for i in range(3) for j in range(3) for a in (0, 1)]
ORACLES = {
    "paths": (hn.oracles.Paths(ROADS, "a", "d"), (0.0, 1.0)),
    "grid": (hn.oracles.Paths([e for e in GRID if max(e[1]) < 3], (0, 0), (2, 2)), (0.0, 1.0)),
    "matchings": (hn.oracles.Matchings(3, 3), (0.0, 1.0)),
    "subsets": (hn.oracles.Subsets(6, 3), (0.0, 1.0)),
    "subsets, fewer": (hn.oracles.Subsets(5, 3, exactly=False), (-1.0, 0.0)),
    "large subsets": (hn.oracles.Subsets(70, 66), (0.0, 1.0)),
    "trees": (hn.oracles.SpanningTrees(EDGES), (0.0, 1.0)),
    "groups": (hn.oracles.PartitionMatroid([0, 1, 0, 1, 1, 0], [2, 1]), (0.0, 1.0)),
    "groups, fewer": (
        hn.oracles.PartitionMatroid([0, 1, 0, 1, 1, 0], [2, 1], bases=False),
        (-1.0, 0.5),
    ),
    "per context": (hn.oracles.PerContext(hn.oracles.Subsets(5, 2)), (0.0, 1.0)),
    "per context, drawn": (hn.oracles.PerContext(hn.oracles.Matchings(2, 3)), (0.0, 1.0)),
    "function": (problems.PAIRS, (0.0, 1.0)),
    "labels": (hn.oracles.MultiLabel(hn.oracles.AllPolicies(2, 2), 3), (-1.0, 1.0)),
    "labels, listed": (
        hn.oracles.MultiLabel(hn.oracles.FinitePolicies([[0, 1], [1, 0], [1, 1]]), 3),
        (-1.0, 1.0),
    ),
    "slates": (problems.SLATES, (0.0, 1.0)),
    "two sizes": (hn.oracles.FinitePolicies(ALONE), (-1.0, -0.9)),
}
CONTEXTS = ("per context", "per context, drawn", "function")


def frozen(name, p, L, resampling="auto"):
    """A learner after some rounds, whose decisions only change the number of the draw."""
    oracle, (low, high) = ORACLES[name]
    trust = Always(1e9, share=0.99, p=p)
    learner = BANDIT(
        oracle,
        [0, 1] if name in CONTEXTS else None,
        predictor=says(oracle, low, high),
        trust=trust,
        max_resamples=L,
        resampling=resampling,
        loss_range=(low, high),
        epsilon=0.3,
        seed=0,
    )
    x = learner.leader.X.points[0]
    rng = np.random.default_rng(1)
    for _ in range(6):
        learner.update(rng.uniform(low, high, oracle.n_actions)[learner.act(x)])
    return learner, x


@pytest.mark.parametrize("name", ORACLES)
def test_weights_and_costs_of_every_class_agree_with_how_often_elements_are_chosen(name):
    """Means of decisions differ from their limits by 5 standard errors at most."""
    p, L, n = 0.6, 6, 800
    learner, x = frozen(name, p, L)
    K, hint = learner.oracle.n_actions, learner.hint
    low, high = learner.loss_range
    losses = np.random.default_rng(2).uniform(low, high, K)
    estimates, costs = np.zeros((n, K)), np.zeros(n)
    for row in range(n):
        opened = learner.choose(x, None, late=True)
        assert opened.share == pytest.approx(p)
        before = hint.S
        learner.commit(opened, recorded=False)
        hint.charge(opened, losses[opened.action], opened.weights)
        costs[row] = hint.S - before
        estimates[row, opened.action] = opened.weights
    past, scale = past_of(learner.leader, opened), opened.draw.scale
    x0 = past.chosen(x, learner.leader.draw(scale, 1), 20_000).mean(axis=0)
    h = np.zeros(K)
    h[opened.advice] = 1.0
    q, limit = p * h + (1.0 - p) * x0, limit_of(p, L)
    known = opened.exact or past.inclusion(x, np.arange(K), learner.leader.draw(scale)) is not None
    means = np.where(h > 0.0, 1.0 - (1.0 - q) ** (L if known else limit), 1.0 - (1.0 - x0) ** L)
    error = np.sqrt(estimates.var(axis=0) / n + (L / 2.0) ** 2 / 20_000)
    assert (np.abs(estimates.mean(axis=0) - means) <= 5.0 * error).all()
    short = 0.0 if known else (1.0 - q) ** (limit - 1)
    V = opened.values
    cost = ((q - x0) * losses + h * x0 * short * (losses - V)).sum()
    error = math.hypot(costs.std() / math.sqrt(n), p * np.abs(V - losses).sum() * 0.5 / 141.0)
    assert abs(costs.mean() - cost) <= 5.0 * error
    assert known == (name in {"subsets", "subsets, fewer", "per context", "labels"})


def test_propensities_of_elements_are_at_most_one():
    """Also where rounding makes the weight of an element that is always chosen less than 1."""
    oracle = hn.oracles.SpanningTrees([(0, 1), (1, 2), (1, 2)])
    for p in np.linspace(0.05, 0.9, 86):
        trust = Always(1e9, share=0.99, p=float(p))
        learner = BANDIT(oracle, predictor=says(oracle), trust=trust, epsilon=0.3, seed=0)
        learner.update(np.ones(2), decision=learner.decide())
        decision = learner.decide()
        learner.forget(decision)
        assert decision.propensity[0] == pytest.approx(1.0)
        assert (decision.propensity <= 1.0).all()
        assert np.isfinite(decision.propensity_error).all()


def test_draws_of_the_base_learners_mean_are_used_for_nothing_else(monkeypatch):
    rows, others = set(), []
    chosen, weights, action = Past.chosen, Past.weights, _combinatorial.SetObjective.action

    def watched_chosen(past, context, draw, count):
        rows.update(range(draw.number, draw.number + count))
        return chosen(past, context, draw, count)

    def watched_weights(past, context, elements, draw, *limits):
        numbers, used = weights(past, context, elements, draw, *limits)
        others.extend(range(draw.number, draw.number + used))
        return numbers, used

    def watched_action(total, context, draw, *options):
        if draw.noise is learner.leader.noise:
            others.append(draw.number)
        return action(total, context, draw, *options)

    monkeypatch.setattr(Past, "chosen", watched_chosen)
    monkeypatch.setattr(Past, "weights", watched_weights)
    monkeypatch.setattr(_combinatorial.SetObjective, "action", watched_action)
    oracle = hn.oracles.SpanningTrees(EDGES)
    learner = BANDIT(oracle, predictor=says(oracle), trust=Always(), seed=0)
    losses = np.random.default_rng(0).random((60, oracle.n_actions))
    for row in losses[:30]:
        learner.update(row[learner.act()])
    for row in losses[30:]:
        decision = learner.decide()
        learner.update(row[decision.action], decision=decision)
    assert len(rows) == _TRIALS * 60
    assert len(others) > 200
    assert rows.isdisjoint(others)


# The budget --------------------------------------------------------------------------------------


def test_no_allowed_share_lets_a_step_exceed_the_rest_of_the_budget():
    trust = Always(1.0, share=0.9, p=1.0)
    allowed = 0
    for m, spread, left, n in itertools.product(
        [1, 2, 3, 10], [1.0, 1.5, 10.0], np.geomspace(0.5, 500.0, 60), [1, 2, 7, 100]
    ):
        record = SetHint(None, trust, 4, (0.0, 1.0), 1.0, hn.oracles.Subsets(12, 10))
        record.most_elements, record.spread, record.W = m, spread, float(n - 1)
        record.S = trust.limit(1.0, n) - left
        p = trust.probability(record, n, 1.0, True, 1.0)
        if p is not None:
            allowed += p > 0.4
            assert m * max(1.0, p / (1.0 - p)) + p * m * spread <= left * (1.0 + 1e-12)
    assert allowed > 500


@pytest.mark.parametrize("loss_range", [(0.0, 1.0), (-1.0, 0.0), (-1.0, -0.9), (-0.5, 0.5)])
def test_no_step_exceeds_its_reserve(loss_range):
    """For both sets played, all draws, and all extreme losses and estimates."""
    low, high = loss_range
    oracle = hn.oracles.FinitePolicies(ALONE)
    corners = [np.array(x) for x in itertools.product([low, high], repeat=4)]
    sets = [np.flatnonzero(row) for row in ALONE[:, 0]]
    tightest = np.inf
    for V, p, (h, a, base), split in itertools.product(
        corners, [0.3, 0.9], itertools.product(range(2), repeat=3), [True, False]
    ):
        opened = opened_round(p, True, 5)
        opened.values, opened.action, opened.advice = V, sets[a], sets[h]
        opened.gap = kernel.gap(V, sets[h], ALONE[[base], 0])
        opened.weights = np.ones(len(sets[a])) if split else None
        hint = SetHint(Says(), SETS, 4, loss_range, 1.0, oracle)
        hint.played(opened)
        spent, reserve = hint.S, hint.reserve
        allowed = 3.0 * hint.top * (max(1.0, p / (1.0 - p)) + p * hint.spread)
        ratio = 0.0 if h == a else 1.0 / (1.0 - p)
        opened.ratio = np.full(len(sets[a]), ratio)
        worst = np.where(ratio == 0.0, high, low) * np.ones(len(sets[a]))
        hint.charge(opened, worst, np.ones(len(sets[a])))
        assert spent + reserve + 1e-12 >= hint.S
        assert spent + reserve <= allowed + 1e-12
        assert hint.reserve == hint.unpaid == 0.0
        tightest = min(tightest, allowed - hint.S)
    assert tightest < 1.0


GAMES = {
    "subsets": (hn.oracles.Subsets(6, 3), (0.0, 1.0)),
    "trees": (hn.oracles.SpanningTrees(EDGES), (0.0, 1.0)),
    "rewards": (hn.oracles.Subsets(5, 2, exactly=False), (-1.0, 0.0)),
    "two sizes": (hn.oracles.FinitePolicies(ALONE), (-1.0, -0.9)),
}


@pytest.mark.parametrize("late", [0, 6])
@pytest.mark.parametrize("name", GAMES)
def test_malicious_hints_never_exceed_their_budget(name, late):
    oracle, (low, high) = GAMES[name]
    trust = Always(0.7, share=0.9, p=1.0)
    speaker, rng, T = says(oracle), np.random.default_rng(4), 250
    learner = BANDIT(oracle, predictor=speaker, trust=trust, loss_range=(low, high), seed=1)
    G, waiting, K = learner.complexity.value, [], oracle.n_actions
    closest = np.inf
    for t in range(T):
        masks = oracle.closes and name != "trees" and t % 3 == 2
        available = np.sort(rng.permutation(K)[: K - 2]) if masks else None
        speaker.bounds = rng.random(K)
        speaker.values = rng.choice([low, high], K)
        decision = learner.decide(None, available)
        losses = rng.choice([low, high], K)
        advice = learner.open_round(decision.id).advice
        losses[advice] = high
        waiting.append((decision, losses[decision.action]))
        if len(waiting) > late:
            decision, loss = waiting.pop(rng.integers(len(waiting)))
            if late and t % 11 == 0:
                learner.forget(decision)
            else:
                learner.update(loss, decision=decision)
        allowed = 0.7 * (high - low) * math.sqrt(G * (t + 1))
        assert allowed + 1e-9 >= learner.hint.S
        closest = min(closest, allowed - learner.hint.S)
    assert T / 0.1 + 1e-6 >= learner.hint.W
    assert learner.hint.refused > 20
    assert closest < 3.5 * (high - low)  # about the step that ends the hints


# Parameters and saved learners -------------------------------------------------------------------


def test_hints_need_losses_of_elements_and_no_baseline():
    mean, sets = hn.predictors.Mean(), hn.oracles.Subsets(4, 2)
    with pytest.raises(hn.ParameterError, match="sums over elements"):
        BANDIT(hn.oracles.Submodular(3), predictor=mean)
    with pytest.raises(hn.ParameterError, match="hints or baseline"):
        BANDIT(sets, predictor=mean, trust=hn.Trust(baseline="prediction"))
    assert not BANDIT(sets, predictor=mean, trust="baseline").hint.mixes
    assert BANDIT(sets, predictor=mean, trust=hn.Trust()).hint.trust.baseline is None


def test_bounds_that_are_not_finite_raise_an_error_and_change_nothing():
    oracle = hn.oracles.Subsets(4, 2)
    speaker = says(oracle)
    learner = BANDIT(oracle, predictor=speaker, seed=0)
    before = learner.certificate()
    for speaker.bounds in (np.full(4, np.nan), np.array([0.0, np.inf, 0.0, 0.0]), np.zeros(3)):
        with pytest.raises(hn.LossError, match="finite numbers"):
            learner.act()
    assert learner.certificate() == before


def test_sets_are_not_explored_before_any_context_is_known():
    labels = hn.oracles.MultiLabel(hn.oracles.LinearPolicies(2), 3)
    learner = BANDIT(labels, predictor=hn.predictors.Mean(), loss_range=(-1.0, 1.0), seed=0)
    for x in np.random.default_rng(0).normal(size=(12, 2)):
        action = learner.act(x)
        assert isinstance(action, np.ndarray)
        learner.update(np.linspace(-1.0, 1.0, 3)[action])


@pytest.mark.parametrize("name", ["subsets", "matchings", "per context, drawn", "two sizes"])
def test_a_learner_saved_with_open_decisions_plays_as_if_never_saved(name):
    oracle, (low, high) = ORACLES[name]
    contexts = [0, 1] if name in CONTEXTS else None
    learner = BANDIT(
        oracle, contexts, predictor=hn.predictors.Mean(), loss_range=(low, high), seed=3
    )
    points = learner.leader.X.points
    losses = np.random.default_rng(3).uniform(low, high, (90, oracle.n_actions))
    for t in range(40):
        learner.update(losses[t, learner.act(points[t % len(points)])])
    opened = [learner.decide(points[t % len(points)]) for t in range(4)]
    learner.forget(opened.pop())
    twin = reread(learner)
    assert learner.hint.hinted > 10
    for t in range(40, 90):
        actions = [each.act(points[t % len(points)]) for each in (learner, twin)]
        assert np.array_equal(*actions)
        for each in (learner, twin):
            each.update(losses[t, actions[0]])
        if opened and t % 10 == 0:
            decision = opened.pop(0)
            for each in (learner, twin):
                each.update(losses[t, decision.action], decision=decision.id)
    assert learner.certificate() == twin.certificate()
    known = [(h.S, h.cost, h.recent, h.reserve, h.unpaid) for h in (learner.hint, twin.hint)]
    assert known[0] == known[1]


def test_the_best_policy_is_that_of_predictions_that_paid_off():
    """On a grid, the estimates of a base learner that decides few rounds are far worse."""
    edges = [
        ((i, j), (i + a, j + b)) for i in range(5) for j in range(5) for a, b in ((0, 1), (1, 0))
    ]
    edges = [edge for edge in edges if max(edge[1]) < 5]
    oracle = hn.oracles.Paths(edges, (0, 0), (4, 4))
    means = np.random.default_rng(0).uniform(0.1, 0.9, oracle.n_actions)
    rng, regrets = np.random.default_rng(1), []
    total = oracle.objective()
    total.add(None, means)
    for seed in range(3):
        learner = hn.bandit(policies=oracle, seed=seed)
        for _ in range(500):
            action = learner.act()
            learner.update((rng.random(len(action)) < means[action]).astype(float))
        regrets.append(means[learner.best_policy()()].sum() - total.minima()[0])
    assert max(regrets) < 0.3


def test_a_current_rule_must_be_feasible():
    oracle = hn.oracles.Matchings(2, 2)
    learner = BANDIT(oracle, exploration=0.1, current_rule=[0, 1], seed=0)
    with pytest.raises(hn.ParameterError, match="which Matchings cannot choose"):
        learner.act()


@pytest.mark.parametrize(
    ("cost", "recent", "expected"),
    [
        (0.0, 0.0, 1.0 / (1.0 + math.exp(-1.0))),  # the prior alone
        (6.0, 0.0, 1.0 / (1.0 + math.exp(-6.0 * (0.5 - 2.0)))),  # a loss counts three times
        (0.0, 9.0, 1.0 / (1.0 + math.exp(-6.0 * (2.0 - 3.0)))),  # so does a recent one
        (-30.0, 9.0, 1.0 / (1.0 + math.exp(-6.0 * (2.0 - 3.0)))),  # despite earlier savings
        (-90.0, -9.0, 1.0 - 0.25 / math.sqrt(91.0)),  # the floor
    ],
)
def test_the_share_of_hints_for_sets_depends_on_all_and_on_recent_rounds(cost, recent, expected):
    record = SetHint(None, SETS, 4, (0.0, 1.0), 1.0, hn.oracles.Subsets(4, 2))
    record.with_feedback, record.cost, record.squares = 100, cost, 8.0
    record.recent, record.recent_squares = recent, 8.0
    assert SETS.wanted(record, 100) == pytest.approx(expected, rel=1e-12)
