"""The distribution of actions where action sets change, and weights that estimate its inverse."""

import copy

import numpy as np
import pytest
from scipy.stats import chisquare

import hannan as hn
from hannan.core.storage import reread
from tests import naive_available as naive

TABLE = np.random.default_rng(0).integers(0, 4, size=(12, 3))
FINITE = hn.oracles.FinitePolicies(TABLE, n_actions=4)
ALL = hn.oracles.AllPolicies(3, 4)
ROUNDS = naive.random_rounds(3, 4, 150)


def trained(oracle, contexts=None, **options):
    """A bandit with an uneven past, noise that matters, and rounds that were restricted."""
    learner = hn.ContextSemiBanditFTPL(oracle, contexts, epsilon=0.3, seed=0, **options)
    rng = np.random.default_rng(1)
    known = list(oracle.contexts) if contexts is None else list(contexts)
    for t in range(60):
        available = np.sort(rng.permutation(4)[: rng.integers(2, 5)])
        action = learner.act(known[t % len(known)], available=available)
        learner.update(float(rng.random() * (action + 1) / 4))
    return learner, known[0]


def substitute_of(learner, context, available):
    """What is played for an action that is not available."""
    plays = learner.prepare(context, available).plays
    (found,) = {int(plays[b]) for b in range(len(plays)) if b not in available}
    return found


LINEAR = np.random.default_rng(6).normal(size=(6, 2))
BANDITS = {
    "all": (ALL, None),
    "finite": (FINITE, None),
    "experts": (hn.oracles.FinitePolicies([[0], [1], [2], [3]]), None),
    "linear": (hn.oracles.LinearPolicies(4), LINEAR),
}


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("available", [[0, 2], [1, 2, 3], [3]])
def test_copies_play_by_the_propensities(name, available):
    """Goodness of fit of 4000 copies, p > 0.001 on a fixed seed."""
    learner, context = trained(*BANDITS[name])
    told = learner.propensities(context, draws=200_000, available=available)
    q = told.probabilities
    assert q.sum() == pytest.approx(1.0)
    assert q[available].sum() == pytest.approx(1.0)
    copies = learner.would_play(context, copies=4000, seed=5, available=available)
    counts = np.bincount(copies, minlength=4)
    expected = 4000 * q
    assert counts[expected == 0.0].sum() == 0
    likely = expected >= 5.0
    if likely.sum() > 1:
        seen, wanted = counts[likely], expected[likely]
        assert chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 1e-3


def test_the_law_of_the_best_score_is_that_of_a_direct_simulation():
    learner, context = trained(ALL)
    available = np.array([0, 1, 3])
    q = learner.propensities(context, available=available).probabilities
    noise = np.random.default_rng(7).laplace(size=(40_000, 3)) * learner.step.scale
    best = available[(learner.leader.total.totals[context, available] + noise).argmin(axis=1)]
    counts = np.bincount(best, minlength=4)[available]
    assert chisquare(counts, q[available] * 40_000).pvalue > 1e-3


@pytest.mark.parametrize(("name", "exact"), [("finite", False), ("experts", True)])
def test_the_law_with_a_substitute_adds_up_over_those_not_available(name, exact):
    learner, context = trained(*BANDITS[name])
    available = np.array([1, 3])
    told = learner.propensities(context, draws=100_000)
    assert (told.draws == 0) == exact
    plain = told.probabilities
    q = learner.propensities(context, draws=100_000, available=available).probabilities
    substitute = substitute_of(learner, context, available)
    expected = np.zeros(4)
    for b in range(4):
        expected[b if b in available else substitute] += plain[b]
    assert q == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all", "finite"])
@pytest.mark.parametrize("resampling", ["shared", "rao-blackwell"])
def test_weights_are_inverse_propensities_of_what_was_played(name, resampling):
    """E[W 1(a = b)] = 1 for every b that is available, within four standard errors."""
    oracle, contexts = BANDITS[name]
    learner, context = trained(oracle, contexts, resampling=resampling, max_resamples=2000)
    available = np.array([0, 1, 3])
    drawn = [learner.decide(context, available=available) for _ in range(4000)]
    played = np.array([decision.action for decision in drawn])
    q = learner.propensities(context, draws=100_000, available=available).probabilities
    for decision in drawn:
        learner.forget(decision)
    weights = np.array([decision.weights[0] for decision in drawn])
    for b in available:
        if q[b] < 0.01:
            continue
        terms = weights * (played == b)
        assert abs(terms.mean() - 1.0) < 4.0 * terms.std() / np.sqrt(len(terms)) + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all", "finite"])
def test_loss_estimates_are_unbiased(name):
    """Their mean is what each choice costs: its own loss, or that of its substitute.

    With scores, unavailable actions that were seen before cost what they did then, for certain.
    """
    learner, context = trained(BANDITS[name][0], max_resamples=5000)
    available, losses = np.array([1, 3]), np.array([0.2, 0.9, 0.4, 0.5])
    before, one = learner.leader.total.copy(), reread(learner)
    estimates = []
    for n in range(1500):
        one._leader = learner.leader.reseeded(np.uint64(n + 1))
        one._leader.total = before.copy()
        one._availability = copy.deepcopy(learner._availability)
        action = one.act(context, available=available)
        one.update(float(losses[action]))
        if name == "all":
            estimates.append(one.leader.total.totals[context] - before.totals[context])
        else:
            gained = one.leader.total.scores[:12] - before.scores[:12]
            estimates.append([gained[TABLE[:, context] == b].mean() for b in range(4)])
    mean = np.mean(estimates, axis=0)
    error = np.std(estimates, axis=0) / np.sqrt(len(estimates))
    charged = np.full(4, losses[substitute_of(learner, context, available)])
    if name == "all":
        guesses, seen = learner._availability.costs.guess(context)
        assert seen[[0, 2]].all()
        charged = guesses
    expected = np.where(np.isin(range(4), available), losses, charged)
    known = np.isfinite(mean)
    assert (np.abs(mean - expected) < 4.0 * error + 0.01)[known].all()
    assert known.sum() >= 3


def test_the_weights_of_listed_policies_are_those_of_what_was_played():
    learner = hn.baselines.Exp4(TABLE, seed=0, learning_rate=0.3)
    for x, losses, _ in ROUNDS[:40]:
        learner.update(float(losses[learner.act(x)]))
    available = np.array([0, 3])
    mass = np.bincount(TABLE[:, 0], learner._weights(None), 4)
    for _ in range(50):
        decision = learner.decide(0, available=available)
        substitute = substitute_of(learner, 0, available)
        alike = [b for b in range(4) if (b if b in available else substitute) == decision.action]
        assert decision.weights == pytest.approx([mass.sum() / mass[alike].sum()])


@pytest.mark.parametrize(
    "learner",
    [hn.baselines.UniformRandom(5, seed=0), hn.baselines.VowpalWabbit(5, "--epsilon 0.3", seed=0)],
)
def test_baselines_with_a_law_draw_among_what_is_available(learner):
    available = np.array([0, 2, 4])
    decisions = [learner.decide("x", available=available) for _ in range(600)]
    counts = np.bincount([d.action for d in decisions], minlength=5)
    weight = {d.action: d.weights[0] for d in decisions}
    expected = np.array([600 / weight[b] for b in available])
    assert expected.sum() == pytest.approx(600.0, rel=1e-6)
    assert chisquare(counts[available], expected * (600 / expected.sum())).pvalue > 1e-3
    for decision in decisions[::-1]:
        full = learner.feedback is hn.Feedback.FULL
        learner.update(np.zeros(5) if full else 0.5, decision=decision)


@pytest.mark.parametrize("late", [False, True])
def test_vowpal_wabbit_is_shown_what_is_available_and_nothing_else(late):
    learner, shown, available = hn.baselines.VowpalWabbit(5, seed=0), [], [1, 2, 4]

    class Spy:
        def __getattr__(self, name):
            return getattr(inside, name)

        def learn_multi(self, examples):
            shown.append(list(examples))
            return inside.learn_multi(examples)

    model = learner._model
    inside, model._vw = model._vw, Spy()
    for _ in range(20):
        if late:
            decision = learner.decide("x", available=available)
            learner.act("y", available=[0, 3])
            learner.update(0.5, decision=decision)
            action = decision.action
        else:
            action = learner.act("x", available=available)
            learner.update(0.5)
        _, *examples = shown.pop()
        same = [
            example is model._actions[k] for example, k in zip(examples, available, strict=True)
        ]
        assert same == [k != action for k in available]


def test_playout_bandits_have_exact_weights_among_what_is_available():
    for oracle in (hn.oracles.AllPolicies(1, 4), hn.oracles.FinitePolicies([[0], [1], [2], [3]])):
        learner = hn.PlayoutBandit(oracle, horizon=5000, seed=0)
        for t in range(300):
            available = np.array([1, 3]) if t % 2 else np.array([0, 1, 2])
            distribution = learner.propensities(available=available).probabilities
            action = learner.act(available=available)
            assert distribution[available].sum() == pytest.approx(1.0)
            assert learner._ledger.current.inverse == pytest.approx([1.0 / distribution[action]])
            learner.update(0.25 * action)
