"""Predictors under bandit feedback: hints within a budget, and baselines."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import hannan as hn
from hannan.core.rounds import OpenRound
from hannan.learners.hint import PRESETS, Hint
from hannan.perturbation import seed_key
from tests import naive_bandit, problems

KINDS = problems.KINDS


class Fixed:
    """Any object with predict and learn will do."""

    def __init__(self, guess):
        self.guess = guess
        self.seen = []

    def predict(self, context):
        return self.guess(context) if callable(self.guess) else self.guess

    def learn(self, context, action, loss):
        self.seen.append((context, action, loss))


class Sequence:
    """Predicts row t of an array in round t."""

    def __init__(self, rows):
        self.rows, self.t = rows, 0

    def predict(self, context):
        return self.rows[self.t]

    def learn(self, context, action, loss):
        self.t += 1


def stream(d, K, T, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(d, size=T).tolist(), rng.integers(0, 5, size=(T, K)) / 4.0


def game(learner, contexts, losses, watch=None):
    """The total loss."""
    total = 0.0
    for t, context in enumerate(contexts):
        action = learner.act(context)
        total += losses[t, action]
        learner.update(float(losses[t, action]))
        if watch is not None:
            watch(t + 1)
    return total


def best(rows, contexts, losses):
    return min(
        sum(losses[t, row[x]] for t, x in enumerate(contexts)) for row in np.asarray(rows).tolist()
    )


# Hints -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rho", [1.0, 30.0])
def test_strict_play_equals_its_slow_twin(kind, rho):
    oracle, rows = problems.make(kind, seed=2)
    contexts, losses = stream(3, 3, 70, seed=1)
    guess = np.random.default_rng(9).random((3, 3))
    learner = hn.ContextSemiBanditFTPL(
        oracle,
        range(3),
        predictor=Fixed(lambda x: guess[x]),
        trust=hn.Trust(hint=rho),
        resampling="shared",
        seed=0,
    )
    unit = oracle.noise(range(3), seed_key(0), 0, 2**20).unit
    twin = naive_bandit.SlowBandit(rows, range(3), 3, unit, G=learner.complexity.value)
    visits = [0, 0, 0]
    twin.hint = lambda x: max(1.0, rho * visits[x]) * guess[x]
    twin.budget, twin.G0, twin.D = math.sqrt(6), learner.complexity.value, 1.0
    bold = set()
    for t, x in enumerate(contexts):
        assert learner.act(x) == twin.act(x)
        bold.add(twin.tilt is not None)
        learner.update(float(losses[t, twin.action]))
        twin.update(losses[t])
        visits[x] += 1
        assert learner.leader.number == twin.draw
        found = (learner.step.D, learner.hint.S, learner.hint.instability)
        assert found == pytest.approx((twin.D, twin.S, twin.over))
    assert True in bold
    assert twin.S != 0.0


MODES = [
    ("FinitePolicies", {}),
    ("FinitePolicies", {"resampling": "shared"}),
    ("AllPolicies", {}),
    ("AllPolicies", {"resampling": 4}),
    ("AllPolicies", {"epsilon": 0.2}),
    ("FinitePolicies", {"epsilon": "anytime"}),
]


@pytest.mark.parametrize(("kind", "options"), MODES)
@pytest.mark.parametrize("trick", ["worst", "leader's", "random"])
def test_hints_never_cost_more_than_their_budget(kind, options, trick):
    # On every path: max(S, 0) + 2 over <= sqrt(2 K G T) + 2 L_T.
    oracle, _ = problems.make(kind, d=2, K=3, N=9, seed=3)
    contexts, losses = stream(2, 3, 400, seed=5)
    rng = np.random.default_rng(0)
    at = iter(range(10**6))

    def guess(context):
        t = next(at)
        return {
            "worst": 1.0 - losses[min(t, 399)],
            "leader's": (np.arange(3) != learner.best_policy()(context)).astype(float),
            "random": rng.random(3),
        }[trick]

    learner = hn.ContextSemiBanditFTPL(oracle, range(2), predictor=Fixed(guess), seed=1, **options)
    G = learner.complexity.value
    hinted = []

    def watch(t):
        spent = max(learner.hint.S, 0.0) + 2.0 * learner.hint.instability
        assert spent <= math.sqrt(2 * 3 * G * t) + 2 * learner._limit(t, 1.0) + 1e-9
        hinted.append(spent)

    game(learner, contexts, losses, watch)
    assert max(hinted) > 1.0


def test_a_wrong_hint_is_given_up_with_any_epsilon():
    for epsilon in ("adaptive", "anytime", 0.1):
        learner = hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(1, 2), epsilon=epsilon, predictor=Fixed([0.0, 1.0]), seed=0
        )
        losses = np.tile([1.0, 0.0], (2000, 1))
        assert game(learner, [None] * 2000, losses) < 400


def test_with_the_true_losses_as_predictions_regret_is_near_zero():
    rows = np.random.default_rng(1).integers(3, size=(40, 4))
    oracle = hn.oracles.FinitePolicies(rows, n_actions=3)
    contexts, losses = stream(4, 3, 800, seed=2)
    losses[np.arange(800), rows[0][contexts]] *= 0.4
    comparator = best(rows, contexts, losses)
    regret = {}
    for name, predictor in (("none", None), ("true", Sequence(losses))):
        learner = hn.ContextSemiBanditFTPL(oracle, predictor=predictor, seed=0)
        regret[name] = game(learner, contexts, losses) - comparator
    assert regret["true"] <= 5.0
    assert regret["none"] > 25.0


@pytest.mark.stat
@pytest.mark.parametrize("trick", ["worst", "swapped"])
def test_against_bad_predictions_strict_play_loses_little_more_than_its_budget(trick):
    # Mean of 12 seeds; the inequality holds with room to spare on each.
    rows = np.random.default_rng(1).integers(3, size=(40, 4))
    oracle = hn.oracles.FinitePolicies(rows, n_actions=3)
    T = 600
    ours, plain = [], []
    for seed in range(12):
        contexts, losses = stream(4, 3, T, seed=seed)
        losses[np.arange(T), rows[0][contexts]] *= 0.4
        guess = 1.0 - losses if trick == "worst" else losses[:, [1, 2, 0]]
        comparator = best(rows, contexts, losses)
        for found, predictor in ((plain, None), (ours, Sequence(guess))):
            learner = hn.ContextSemiBanditFTPL(oracle, predictor=predictor, seed=seed)
            found.append(game(learner, contexts, losses) - comparator)
    budget = math.sqrt(2 * 3 * learner.complexity.value * T) + 2 * learner._limit(T, 1.0)
    assert np.mean(ours) <= 1.5 * np.mean(plain) + budget
    assert np.mean(ours) > np.mean(plain)


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
@pytest.mark.parametrize("trick", ["worst", "good", "constant"])
def test_measured_cost_of_hints_and_noise_bounds_regret_on_average(kind, trick):
    # A6(i) with Q = 0: E regret <= E[S + 2 D] - D0 + sum K/(e L), means of 150 seeds.
    oracle, rows = problems.make(kind, d=2, K=3, N=6, seed=4)
    contexts, losses = stream(2, 3, 120, seed=8)
    guess = {"worst": 1 - losses, "good": losses, "constant": np.tile([0, 1, 1], (120, 1))}[trick]
    comparator = best(rows, contexts, losses)
    gaps = []
    for seed in range(150):
        learner = hn.ContextSemiBanditFTPL(
            oracle, range(2), predictor=Sequence(guess), trust=hn.Trust(hint=3.0), seed=seed
        )
        regret = game(learner, contexts, losses) - comparator
        gaps.append(learner.certificate().stability_estimate - regret)
    assert np.mean(gaps) >= -4.5 * np.std(gaps) / math.sqrt(len(gaps))


def hint_of(predictor, trust, K=3):
    return Hint(predictor, trust, K, 1.0, lambda x: x)


def advised(hint, context, n=1, weight=None, plays=None):
    """A round that a hint was asked about, G being 4."""
    total = SimpleNamespace(hint_weight=lambda context, strength: weight)
    opened = hn.ContextSemiBanditFTPL.Round(context)
    opened.plays = plays
    hint.advise(opened, SimpleNamespace(G=4.0, total=total), n)
    return opened


def test_a_hint_is_weighed_by_visits_and_given_up_at_the_budget():
    hint = hint_of(Fixed([0.5, 2.0, -1.0]), hn.Trust(hint=10.0))
    assert advised(hint, "rain").hint.tolist() == [0.5, 1.0, 0.0]
    for _ in range(3):
        opened = OpenRound("rain")
        opened.play(0)
        hint.learn(opened, 0.5)
    assert advised(hint, "rain").hint.tolist() == [15.0, 30.0, 0.0]
    assert advised(hint, "sun").hint.tolist() == [0.5, 1.0, 0.0]
    assert advised(hint, "sun", weight=7.0).hint.tolist() == [3.5, 7.0, 0.0]
    # sqrt(2 K G n) = sqrt(24) at n = 1.
    hint.S = math.sqrt(24) - 1.0
    hint.instability = 0.499
    assert advised(hint, "sun").hint is not None
    hint.instability = 0.501
    assert advised(hint, "sun").hint is None
    assert advised(hint, "sun", n=2).hint is not None
    hint.S = -1e9  # what was gained is no credit for instability
    hint.instability = 2.5
    assert advised(hint, "sun").hint is None


def test_only_rounds_with_a_hint_charge_its_budget():
    hint = hint_of(Fixed([0.5, 0.5, 0.5]), hn.Trust())
    plain, bold = hn.ContextSemiBanditFTPL.Round(0), advised(hint, 0)
    hint.charge(plain, 1.0, 2.0)
    assert (hint.S, hint.instability) == (0.0, 0.0)
    hint.charge(bold, 1.0, 2.0)
    assert (hint.S, hint.instability) == (1.0, 2.0)


def test_guesses_for_unavailable_actions_are_those_of_what_is_played_for_them():
    hint = hint_of(Fixed([0.5, 0.75, 0.25]), hn.Trust(hint=10.0, baseline="guess"))
    opened = advised(hint, 0, plays=np.array([2, 1, 2]))
    assert opened.hint.tolist() == opened.baseline.tolist() == [0.25, 0.75, 0.25]


def test_a_low_baseline_is_the_cautious_guess_of_the_predictor():
    class Cautious(Fixed):
        def baseline(self, context):
            return [0.1, 0.1, 0.1]

    low, plain = hn.Trust(hint=None, baseline="low"), hn.Trust(hint=None, baseline="guess")
    guess = [0.5, 0.5, 0.5]
    assert advised(hint_of(Cautious(guess), low), 0).baseline.tolist() == [0.1] * 3
    assert advised(hint_of(Cautious(guess), plain), 0).baseline.tolist() == guess
    assert advised(hint_of(Fixed(guess), low), 0).baseline.tolist() == guess


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hint": 0.0}, "'hint' parameter"),
        ({"hint": -1}, "'hint' parameter"),
        ({"hint": "strong"}, "'hint' parameter"),
        ({"baseline": "square"}, "'baseline' parameter"),
        ({"hint": None}, "got neither"),
    ],
)
def test_a_trust_that_means_nothing_is_refused(options, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.Trust(**options)


def test_presets_have_the_constants_of_the_recipe():
    strict, balanced, baseline = (
        hint_of(Fixed([0.0]), PRESETS[name], K=8) for name in ("strict", "balanced", "baseline")
    )
    assert (strict.trust.hint, strict._factor) == (30.0, 4.0)
    assert (balanced.trust.hint, balanced._factor) == (10.0, 1.0)
    assert strict.trust.baseline is None
    assert balanced.trust.baseline == "low"
    assert baseline.trust == hn.Trust(hint=None, baseline="guess", signed=False)
    assert (strict.has_theorem, balanced.has_theorem, baseline.has_theorem) == (True, False, False)
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(2, 3), predictor=Fixed(np.zeros(3)), trust="balanced", seed=0
    )
    assert learner._limit(10**6, 1.0) == 20
    assert learner._limit(10**6, 33.3) == 34
    assert learner._limit(1, 33.3) == 20
    large = learner.clone(loss_range=(0, 8))
    assert large._limit(10**6, 8 * 33.3) == 34
    for trust in ("strict", "baseline"):
        assert learner.clone(trust=trust)._limit(10**6, 33.3) == math.ceil(math.sqrt(3e6))


# Baselines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("trust", ["baseline", "balanced"])
@pytest.mark.parametrize("loss", [0.0, 0.25, 0.9])
def test_the_estimate_is_the_baseline_and_a_weighted_residual(trust, loss):
    guess = np.array([0.25, 0.5, 0.75])
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), predictor=Fixed(guess), trust=trust, epsilon=0.5, seed=0
    )
    decision = learner.decide()
    learner.update(loss, decision=decision)
    residual = loss - guess[decision.action]
    if trust == "baseline":
        residual = max(residual, 0.0)
    expected = guess.copy()
    expected[decision.action] += decision.weights[0] * residual
    np.testing.assert_allclose(learner.leader.total.totals[0], expected)


def test_a_signed_residual_may_lower_the_estimate():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3),
        predictor=Fixed(np.full(3, 0.5)),
        trust=hn.Trust(hint=None, baseline="guess", signed=True),
        epsilon=0.5,
        seed=0,
    )
    learner.act()
    learner.update(0.0)
    assert learner.leader.total.totals.min() < 0.0


def test_no_draw_is_spent_on_a_loss_that_was_predicted():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.FinitePolicies([[0], [1]]),
        predictor=Fixed(np.full(2, 0.5)),
        trust="baseline",
        resampling="shared",
        epsilon=0.5,
        seed=0,
    )
    for _ in range(10):
        learner.act()
        learner.update(0.5)
    assert learner.leader.number == 10
    assert learner.leader.total.scores[:2].tolist() == [5.0, 5.0]


@pytest.mark.stat
@pytest.mark.parametrize("guess", ["low", "noisy", "high"])
def test_regret_with_a_baseline_stays_below_its_bound_term_by_term(guess):
    # A5: 2 eps kappa sum |r|^2 + G/eps + sum K max r/(eL) + sum E[o(pi*) - o(a)]; 150 seeds.
    oracle, rows = problems.make("FinitePolicies", d=2, K=3, N=6, seed=4)
    T, L, epsilon = 120, 15, 0.25
    contexts, losses = stream(2, 3, T, seed=8)
    noise = np.random.default_rng(3).random((T, 3))
    Q = {"low": 0.8 * losses, "noisy": noise, "high": 0.5 + 0.5 * noise}[guess]
    r, o = np.maximum(losses - Q, 0.0), np.maximum(Q - losses, 0.0)
    star = min(rows, key=lambda row: sum(losses[t, row[x]] for t, x in enumerate(contexts)))
    at_star = [(t, star[x]) for t, x in enumerate(contexts)]
    comparator = sum(losses[i] for i in at_star)
    gaps = []
    for seed in range(150):
        learner = hn.ContextSemiBanditFTPL(
            oracle,
            predictor=Sequence(Q),
            trust="baseline",
            epsilon=epsilon,
            max_resamples=L,
            resampling="shared",
            seed=seed,
        )
        G = learner.complexity.upper
        bound = 2 * epsilon * (r**2).sum() + G / epsilon + 3 * r.max(axis=1).sum() / (math.e * L)
        bound += sum(o[i] for i in at_star)
        regret = -comparator
        for t, x in enumerate(contexts):
            action = learner.act(x)
            learner.update(float(losses[t, action]))
            regret += losses[t, action]
            bound -= o[t, action]
        gaps.append(bound - regret)
    assert np.mean(gaps) >= -4.5 * np.std(gaps) / math.sqrt(len(gaps))


def test_a_baseline_that_is_too_high_can_be_ruinous_and_no_certificate_is_given():
    # l = (0.9, 0), Q = (0, 1): the good action is never tried.
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 2), predictor=Fixed([0.0, 1.0]), trust="baseline", seed=0
    )
    losses = np.tile([0.9, 0.0], (500, 1))
    assert game(learner, [None] * 500, losses) > 0.8 * 0.9 * 500
    assert math.isnan(float(learner.certificate()))
    strict = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 2), predictor=Fixed([0.0, 1.0]), seed=0
    )
    assert game(strict, [None] * 500, losses) < 0.3 * 0.9 * 500


@pytest.mark.parametrize("trust", ["baseline"])
def test_baselines_work_for_sets(trust):
    oracle = hn.oracles.FinitePolicies([[[0, 1]], [[1, 2]], [[0, 3]]])
    learner = hn.ContextSemiBanditFTPL(
        oracle, predictor=hn.predictors.Mean(), trust=trust, epsilon=0.5, seed=0
    )
    rng = np.random.default_rng(0)
    for _ in range(60):
        action = learner.act()
        learner.update(rng.random(2) * [0.2, 1.0] if 0 in action else rng.random(2))
    assert learner.rounds == 60


# Predictors as objects ---------------------------------------------------------------------------


def test_learners_given_the_same_predictor_do_not_share_it():
    shared = hn.predictors.Mean(alpha=0.0)
    oracle = hn.oracles.AllPolicies(2, 3)
    one, other = (hn.ContextSemiBanditFTPL(oracle, predictor=shared, seed=0) for _ in "ab")
    contexts, losses = stream(2, 3, 40)
    game(one, contexts, losses)
    assert one.predictor_ is not other.predictor_
    assert other.predictor_.predict(0).tolist() == [0.0, 0.0, 0.0]
    assert one.predictor_.predict(0).any()
    one.reset()
    assert not one.predictor_.predict(0).any()


def test_a_users_predictor_is_shown_what_was_seen():
    mine = Fixed(np.zeros(3))
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), predictor=mine, seed=0)
    action = learner.act(1)
    learner.update(0.75)
    assert mine.seen == [(1, action, 0.75)]
    decision = learner.decide(0)
    assert len(mine.seen) == 1
    learner.update(0.0, decision=decision)
    assert mine.seen[1] == (0, decision.action, 0.0)


@pytest.mark.parametrize("trust", ["strict", "balanced", "baseline"])
@pytest.mark.parametrize("epsilon", ["adaptive", "anytime"])
@pytest.mark.parametrize(
    "bad", [np.zeros(2), np.zeros((3, 1)), [0, np.nan, 0], [0, np.inf, 0], 0.5]
)
def test_wrong_predictions_are_refused_and_change_nothing(trust, epsilon, bad):
    mine, other = Fixed(np.zeros(3)), Fixed(np.zeros(3))
    learner, twin = (
        hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(2, 3), predictor=p, trust=trust, epsilon=epsilon, seed=0
        )
        for p in (mine, other)
    )
    mine.guess = bad
    for call in (learner.act, learner.decide, learner.propensities):
        with pytest.raises(hn.LossError, match="3 finite numbers"):
            call(0)
    mine.guess = np.zeros(3)
    contexts, losses = stream(2, 3, 30)
    assert game(learner, contexts, losses) == game(twin, contexts, losses)
    assert (learner.leader.number, learner.step.scale) == (twin.leader.number, twin.step.scale)
