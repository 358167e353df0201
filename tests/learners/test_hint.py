"""Predictors under bandit feedback: hints within a budget, and baselines."""

import math
from dataclasses import replace

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw
from hannan.learners.hint import Hint, check_trust
from hannan.learners.importance_weights import mean_weights
from hannan.learners.perturbed_leader import Past
from tests import problems


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


def laplace_distribution(values, scale):
    """Return the distribution of the argmin of `values` plus Laplace noise, by integration."""
    z = np.linspace(-40.0, 40.0, 40_001)
    density = 0.5 * np.exp(-np.abs(z))
    found = []
    for k, own in enumerate(values):
        beats = density.copy()
        for j, other in enumerate(values):
            if j != k:
                gap = z + (own - other) / scale
                beats *= np.where(
                    gap < 0, 1.0 - 0.5 * np.exp(-np.abs(gap)), 0.5 * np.exp(-abs(gap))
                )
        found.append(np.trapezoid(beats, z))
    return np.array(found)


class SlowEarned:
    """Earned trust on plain arms, from the pseudo-code; the actions are given."""

    def __init__(self, K, G, trust):
        self.K, self.G, self.trust = K, G, trust
        self.F, self.D, self.S, self.W = np.zeros(K), 1.0, 0.0, 0.0
        self.cost, self.squares, self.t = 0.0, 1.0, 0

    def act(self, h, V):
        trust = self.trust
        self.t += 1
        self.h, self.V = h, V
        z = trust.prior - self.cost / math.sqrt(self.squares + 1)
        p = min(1 / (1 + math.exp(-2 * z)), 1 - trust.floor / math.sqrt(1 + max(-self.cost, 0)))
        if trust.share < 1:
            left = trust.budget * math.sqrt(self.G * self.t) - self.S
            room = self.t / (1 - trust.share) - self.W
            p = max(0.0, min(p, 1 - 1 / room if room > 1 else 0.0, 1 - 1 / max(left, 2.0)))
            p = 0.0 if left < 1.5 else p
        elif trust.budget * math.sqrt(self.G * self.t) < self.S:
            p = 0.0
        p = 0.0 if self.t == 1 else p  # no loss was shown to the predictor
        self.p, beta = p, 1 - p
        self.W += 1 / beta
        e = np.eye(self.K)[h]
        scale, eps = self.D / self.G, self.G / self.D
        self.L = max(2, math.ceil(math.sqrt(self.K * self.t)))
        q1 = laplace_distribution(self.F + V, scale)
        seen = np.where(e == 1, p + beta * q1, q1)
        covered = (p * e + beta * q1 >= 2 * eps * math.exp(eps)) & (
            seen >= math.exp(eps) * math.log(self.t + 1) / (2 * self.L)
        )
        self.Q = np.where(covered, V, 0.0)
        self.q0 = laplace_distribution(self.F + self.Q, scale)
        self.q = p * e + beta * self.q0
        return self.q

    def update(self, a, loss):
        p, h, V, Q, q0, q = self.p, self.h, self.V, self.Q, self.q0, self.q
        J = (1 - (1 - q[a]) ** self.L) / q[a] if a == h else (1 - (1 - q0[a]) ** self.L) / q[a]
        rho = J * (loss - Q[a])
        f = Q + rho * np.eye(self.K)[a]
        after = laplace_distribution(self.F + f, self.D / self.G)
        self.D += max(0.0, rho * (q0[a] - after[a]))
        self.F = self.F + f
        r = q0[a] / q[a]
        if p > 0:
            self.S += (q - q0) @ V + (1 - r) * (loss - V[a])
        factor = np.clip((a == h) * J - r, -100, 100)
        g = V[h] - q0 @ V + factor * (loss - V[a])
        self.cost += g
        self.squares += g * g


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_earned_trust_equals_its_slow_twin(share):
    trust = hn.Trust(budget=3.0, prior=0.5, floor=0.5, share=share)
    rng = np.random.default_rng(3)
    V = np.array([0.3, 0.6, 0.7])
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), predictor=Fixed(V), trust=trust, seed=1
    )
    twin = SlowEarned(3, learner.complexity.value, trust)
    shares, covered = set(), False
    for _ in range(60):
        distribution = learner.propensities().probabilities
        np.testing.assert_allclose(distribution, twin.act(0, V), atol=2e-5)
        covered |= bool(twin.Q.any())
        shares.add(round(twin.p, 3))
        action = learner.act()
        loss = float(rng.random() < [0.2, 0.5, 0.9][action])
        learner.update(loss)
        twin.update(action, loss)
        found = (learner.step.D, learner.hint.S, learner.hint.W)
        assert found == pytest.approx((twin.D, twin.S, twin.W), rel=1e-3, abs=1e-3)
        np.testing.assert_allclose(learner.leader.total.totals[0], twin.F, rtol=1e-3, atol=1e-3)
    assert covered
    assert share == 0.5 or len(shares) > 10


MODES = [
    ("FinitePolicies", {}),
    ("FinitePolicies", {"resampling": "shared"}),
    ("AllPolicies", {}),
    ("AllPolicies", {"resampling": 4}),
    ("AllPolicies", {"epsilon": 0.2}),
    ("FinitePolicies", {"epsilon": "anytime"}),
]


def perverse(trick, losses, learner, rng):
    """A predictor that wants to do harm."""
    at = iter(range(10**6))

    def guess(context):
        t = min(next(at), len(losses) - 1)
        return {
            "worst": 1.0 - losses[t],
            "leader's": (np.arange(3) != learner().best_policy()(context)).astype(float),
            "random": rng.random(3),
        }[trick]

    return Fixed(guess)


@pytest.mark.parametrize(("kind", "options"), MODES)
@pytest.mark.parametrize("trick", ["worst", "leader's", "random"])
@pytest.mark.parametrize("late", [0, 7])
def test_hints_never_cost_more_than_their_budget_on_any_path(kind, options, trick, late):
    oracle, _ = problems.make(kind, d=2, K=3, N=9, seed=3)
    contexts, losses = stream(2, 3, 400, seed=5)
    made = []
    mine = perverse(trick, losses, lambda: made[0], np.random.default_rng(0))
    learner = hn.ContextSemiBanditFTPL(
        oracle, range(2), predictor=mine, trust=hn.Trust(prior=3.0), seed=1, **options
    )
    made.append(learner)
    G = learner.complexity.value
    waiting, spent = [], []
    for t, x in enumerate(contexts):
        waiting.append((t, learner.decide(x)))
        if len(waiting) > late:
            then, decision = waiting.pop(0)
            learner.update(float(losses[then, decision.action]), decision=decision)
        spent.append(learner.hint.S)
        assert 3.0 * math.sqrt(G * (t + 1)) + 1e-9 >= learner.hint.S
    assert max(spent) > (0.2 if trick == "random" else 0.5)
    assert learner.hint.W <= 20.0 * 400 + 1e-6


def test_without_the_reserve_late_feedback_would_break_the_budget(monkeypatch):
    # The care that the test above needs: hints that wait for feedback count as spent.
    monkeypatch.setattr(Hint, "_largest_step", lambda hint, share: 0.0)
    oracle = hn.oracles.AllPolicies(1, 2)
    mine = Fixed([0.0, 1.0])
    learner = hn.ContextSemiBanditFTPL(
        oracle, predictor=mine, trust=hn.Trust(budget=1.0, prior=3.0), seed=0
    )
    G = learner.complexity.value
    over = False
    for t in range(60):
        made = learner.decide_many([None] * 10)
        for decision in made:
            learner.update(float(decision.action == 0), decision=decision)
        over |= math.sqrt(G * 10 * (t + 1)) < learner.hint.S
    assert over


@pytest.mark.slow
def test_a_wrong_hint_is_given_up_with_any_epsilon():
    for epsilon in ("adaptive", "anytime", 0.1):
        learner = hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(1, 2), epsilon=epsilon, predictor=Fixed([0.0, 1.0]), seed=0
        )
        losses = np.tile([1.0, 0.0], (2000, 1))
        assert game(learner, [None] * 2000, losses) < 400
        assert learner.hint.advantage[0] < -100


def test_with_the_true_losses_as_predictions_regret_is_small():
    rows = np.random.default_rng(1).integers(3, size=(40, 4))
    oracle = hn.oracles.FinitePolicies(rows, n_actions=3)
    contexts, losses = stream(4, 3, 800, seed=2)
    losses[np.arange(800), rows[0][contexts]] *= 0.4
    comparator = best(rows, contexts, losses)
    regret = {}
    for name, predictor in (("none", None), ("true", Sequence(losses))):
        learner = hn.ContextSemiBanditFTPL(oracle, predictor=predictor, seed=0)
        regret[name] = game(learner, contexts, losses) - comparator
    assert regret["true"] < 0.0
    assert regret["none"] > 25.0
    notes = learner.certificate().notes
    assert any("the predictor took part in 799 of the rounds" in note for note in notes)


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
@pytest.mark.parametrize("trick", ["worst", "good", "constant"])
def test_measured_cost_of_hints_and_noise_bounds_regret_on_average(kind, trick):
    # A8.1: E regret <= E[S + D_T + D_{T-1}] - D0 + truncation, means of 150 seeds.
    oracle, rows = problems.make(kind, d=2, K=3, N=6, seed=4)
    contexts, losses = stream(2, 3, 120, seed=8)
    guess = {"worst": 1 - losses, "good": losses, "constant": np.tile([0, 1, 1], (120, 1))}[trick]
    comparator = best(rows, contexts, losses)
    gaps = []
    for seed in range(150):
        learner = hn.ContextSemiBanditFTPL(
            oracle, range(2), predictor=Sequence(guess), trust=hn.Trust(prior=1.0), seed=seed
        )
        regret = game(learner, contexts, losses) - comparator
        gaps.append(learner.certificate().stability_estimate - regret)
    assert np.mean(gaps) >= -4.5 * np.std(gaps) / math.sqrt(len(gaps))


@pytest.mark.stat
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("successes", [1, 2, 4])
def test_weights_under_a_hint_have_the_mean_of_the_definition(share, successes):
    # For the hint (1-(1-q)^L)/q with q = p + (1-p) q0; for others (1-(1-q0)^L)/((1-p) q0).
    oracle = hn.oracles.AllPolicies(1, 3)
    learner = hn.ContextSemiBanditFTPL(oracle, epsilon=0.5, resampling=successes, seed=0)
    total, leader, L, n = learner.leader.total, learner.leader, 6, 6000
    total.add(0, np.array([0.0, 1.0, 3.0]))
    q0 = total.distribution(0, Draw(leader.noise, 0, 2.0))
    opened = learner.Round(0)
    opened.advice, opened.share = 1, share
    resampling, first = hn.Resampling(successes, exact=False), 0
    for action in (0, 1):
        opened.action = action
        found = np.empty(n)
        for i in range(n):
            draw = Draw(leader.noise, first, 2.0)
            found[i], used, _ = resampling.mixed_weight(leader, Past(total), opened, draw, L)
            first += used
        q = q0[action] if action == 0 else share + (1 - share) * q0[1]
        mean = (1 - (1 - q) ** L) / q / (1.0 - share if action == 0 else 1.0)
        assert abs(found.mean() - mean) <= 4.5 * found.std() / math.sqrt(n)
        assert mean_weights(q0, opened, L) == pytest.approx(mean)


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("exact", [None, False])
@pytest.mark.parametrize("level", [0.0, 0.4])
def test_the_measured_cost_of_a_hint_is_unbiased_or_too_large(exact, level):
    # Play one round often from the same state; a constant added to all losses must not matter.
    losses = np.array([0.5, 0.1, 0.3]) + level
    resampling = hn.Resampling(2, exact)
    S, truth = [], []
    for seed in range(1500):
        learner = hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(1, 3),
            predictor=Fixed([0.2, 0.3, 0.4]),
            trust=hn.Trust(prior=0.7, baseline=None),
            resampling=resampling,
            seed=seed,
        )
        learner.leader.total.add(0, np.array([0.5, 0.0, 0.2]))
        learner.hint.with_feedback = 1  # without a loss so far there is no hint
        opened = learner.prepare(None)
        q0 = learner.leader.total.distribution(0, Draw(learner.leader.noise, 0, opened.draw.scale))
        action = learner.act()
        learner.update(float(losses[action]))
        S.append(learner.hint.S)
        truth.append((opened.mixed(q0) - q0) @ losses)
    error = 4.5 * np.std(S) / math.sqrt(len(S))
    assert np.mean(S) >= np.mean(truth) - error
    if exact is None:
        assert np.mean(S) <= np.mean(truth) + error
    assert abs(np.mean(truth)) > error / 3


def test_open_rounds_do_not_all_follow_the_same_hint():
    """A predictor that has learned nothing yet recommends one action, however often it is asked."""
    learner = hn.bandit(5, n_contexts=1, seed=0)
    first = [learner.decide() for _ in range(100)]
    assert np.bincount([decision.action for decision in first], minlength=5).min() > 5
    assert learner.hint.hinted == 0
    for decision in first:
        learner.update(float(decision.action != 2), decision=decision)
    second = [learner.decide() for _ in range(26)]  # 25 open ones, 100 answered
    assert {decision.action for decision in second} == {2}
    assert learner.hint.hinted == 26


def test_a_hint_for_what_is_not_available_is_not_given():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), predictor=Fixed([0.0, 0.5, 0.25]), seed=0
    )
    for _ in range(40):
        opened = learner.prepare(None, [1, 2])
        assert opened.advice == 2
        assert learner.propensities(available=[1, 2]).probabilities[0] == 0.0
        assert learner.act(available=[1, 2]) in (1, 2)
        learner.update(0.5)


def test_the_advantage_of_hints_is_not_told_from_a_few_rounds():
    oracle = hn.oracles.AllPolicies(1, 3)
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=Fixed([0.0, 0.5, 0.5]), seed=0)
    told = []
    for _ in range(40):
        learner.update(float(learner.act() != 0))
        told.append(any("the predictor took part" in note for note in learner.certificate().notes))
    assert told == [False] * 29 + [True] * 11
    assert any("following it in every round would have " in n for n in learner.certificate().notes)


def test_a_class_of_one_policy_has_hints_without_noise():
    # G = 0: nothing has to be learned, and no hint fits into the budget.
    oracle = hn.oracles.FinitePolicies([[0, 1], [0, 1]], n_actions=2)
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=Fixed([1.0, 0.0]), seed=0)
    for t in range(10):
        assert learner.act(t % 2) == t % 2
        learner.update(0.5)
    assert learner.hint.refused == 10


@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies", "TsallisINF"])
def test_a_predictor_trusted_without_limit_is_always_followed(kind):
    trust = hn.Trust(prior=400.0, floor=0.0, share=1.0)
    oracle = hn.oracles.AllPolicies(1, 2)
    made = hn.TsallisINF if kind == "TsallisINF" else hn.ContextSemiBanditFTPL
    if kind == "FinitePolicies":
        oracle = hn.oracles.FinitePolicies([[0], [1]])
    learner = made(oracle, predictor=Fixed([1.0, 0.0]), trust=trust, seed=0)
    assert game(learner, [None] * 40, np.tile([0.5, 0.0], (40, 1))) == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0.0}, "'budget' parameter"),
        ({"budget": "large"}, "'budget' parameter"),
        ({"prior": math.nan}, "'prior' parameter"),
        ({"floor": -0.1}, "'floor' parameter"),
        ({"share": 1.5}, "'share' parameter"),
        ({"baseline": "square"}, "'baseline' parameter"),
        ({"budget": None, "baseline": None}, "got None for both"),
        ({"budget": None}, "without hints"),
    ],
)
def test_a_trust_that_means_nothing_is_refused(options, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.Trust(**options)


def test_earned_trust_goes_as_far_as_a_theorem_allows():
    def trust(oracle, word):
        return check_trust("a test", word, hn.predictors.Mean(), oracle)

    exact, inexact = hn.oracles.AllPolicies(1, 2), hn.oracles.LinearPolicies(2)
    assert trust(exact, "earned").share < 1.0
    assert trust(inexact, "earned").share == 1.0
    own = hn.Trust(budget=1.0, floor=0.3)  # what it leaves open is as for the word
    for oracle in (exact, inexact):
        word = trust(oracle, "earned")
        assert trust(oracle, own) == replace(word, budget=1.0, floor=0.3)
        assert trust(oracle, hn.Trust()) == word
    table = hn.TsallisINF(exact, predictor=hn.predictors.Mean(), trust=own)
    plain = hn.TsallisINF(exact, predictor=hn.predictors.Mean())
    assert table.hint.trust == replace(plain.hint.trust, budget=1.0, floor=0.3)
    assert hn.Trust().has_theorem
    assert not hn.Trust(None, baseline="prediction").has_theorem


def test_refused_hints_are_told():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 2),
        predictor=Fixed([0.0, 1.0]),
        trust=hn.Trust(budget=0.5, prior=5.0),
        seed=0,
    )
    game(learner, [None] * 200, np.tile([1.0, 0.0], (200, 1)))
    assert learner.hint.refused > 0
    assert f"left out in {learner.hint.refused} rounds because" in str(learner.certificate())


# Baselines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [0.0, 0.25, 0.9])
def test_the_estimate_is_the_baseline_and_a_weighted_residual(loss):
    guess = np.array([0.25, 0.5, 0.75])
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), predictor=Fixed(guess), trust="baseline", epsilon=0.5, seed=0
    )
    decision = learner.decide()
    learner.update(loss, decision=decision)
    expected = guess.copy()
    expected[decision.action] += decision.weights[0] * max(loss - guess[decision.action], 0.0)
    np.testing.assert_allclose(learner.leader.total.totals[0], expected)


def test_a_covered_residual_may_lower_the_estimate():
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 3), predictor=Fixed(np.full(3, 0.5)), epsilon=0.05, seed=0
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


@pytest.mark.slow
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
    earned = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(1, 2), predictor=Fixed([0.0, 1.0]), seed=0
    )
    assert game(earned, [None] * 500, losses) < 0.3 * 0.9 * 500


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


@pytest.mark.parametrize("trust", ["earned", "baseline"])
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


@pytest.mark.parametrize("guess", [np.array([0.2, 1.7, -0.3]), [0.2, 1.7, -0.3], (1, 2, -1)])
def test_estimates_are_moved_into_the_range_of_losses_and_copied(guess):
    oracle = hn.oracles.AllPolicies(1, 3)
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=Fixed(guess), seed=0)
    learner.act()
    held = learner.open_round().values
    assert (held == np.clip(guess, 0.0, 1.0)).all()
    sound = np.array([0.2, 0.7, 0.0])
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=Fixed(sound), seed=0)
    learner.act()
    assert learner.open_round().values is not sound
    assert (learner.open_round().values == sound).all()


@pytest.mark.parametrize("guess", [np.array([0.2, np.nan, 0.3]), np.zeros(2), np.zeros((3, 1))])
def test_estimates_that_are_none_are_refused(guess):
    oracle = hn.oracles.AllPolicies(1, 3)
    learner = hn.ContextSemiBanditFTPL(oracle, predictor=Fixed(guess), seed=0)
    with pytest.raises(hn.LossError, match="finite numbers"):
        learner.act()


class Half(hn.Trust):
    """A rule of one's own: hints have half of the rounds, whatever they cost."""

    def wanted(self, record, n):
        return 0.5


class Reckless(hn.Trust):
    """Hints have all rounds, as far as anybody allows it."""

    def wanted(self, record, n):
        return 1.0


@pytest.mark.parametrize("kind", [hn.ContextSemiBanditFTPL, hn.TsallisINF, hn.Exp3IX])
def test_a_rule_is_one_object(kind):
    learner = kind(hn.oracles.AllPolicies(1, 3), predictor=hn.predictors.Mean(), trust=Half())
    for _ in range(20):
        learner.act()
        learner.update(0.5)
    assert learner.act() in range(3)
    assert learner.open_round().share == 0.5
    assert pytest.approx(42.0) == learner.hint.W


@pytest.mark.parametrize("kind", [hn.ContextSemiBanditFTPL, hn.TsallisINF, hn.Exp3IX])
def test_no_rule_exceeds_budget_and_share(kind):
    oracle, T = hn.oracles.AllPolicies(1, 2), 600
    trust = Reckless(1.0, share=0.8)
    learner = kind(oracle, predictor=Fixed([0.0, 1.0]), trust=trust, seed=0)
    G = oracle.complexity(oracle.contexts)
    for t in range(T):
        action = learner.act()
        learner.update(float(action == 0))
        assert math.sqrt(G * (t + 1)) + 1e-9 >= learner.hint.S
        assert 5.0 * (t + 1) + 1e-6 >= learner.hint.W
    assert learner.hint.refused > T / 2
    assert learner.regret_bound() > 0.0
