import math

import numpy as np
import pytest

import hannan as hn
from tests import naive_bandit, problems

SLATES = [[(0, 1), (2, 3)], [(1, 2), (0, 3)], [(0, 3), (0, 1)], [(2, 3), (1, 2)]]


def learner_at(kind, epsilon=0.5, **options):
    """A learner whose history is one round, and the rows and scores behind it."""
    if kind == "slates":
        oracle, rows = hn.oracles.FinitePolicies(SLATES, n_actions=4), SLATES
    else:
        oracle, rows = problems.make(kind, d=2, K=4, N=6, seed=3)
    learner = hn.ContextSemiBanditFTPL(oracle, range(2), epsilon=epsilon, seed=0, **options)
    losses = np.array([0.0, 1.5, 3.0, 0.5])
    learner.leader.total.add(1, losses)
    return learner, rows, [naive_bandit.loss(losses, row[1]) for row in rows]


@pytest.mark.stat
@pytest.mark.parametrize("kind", [*problems.KINDS, "slates"])
def test_propensities_agree_with_the_definition(kind):
    # 4.5 standard errors, those of the answer and those of the simulation.
    learner, rows, scores = learner_at(kind)
    rng = np.random.default_rng(1)
    q, error = naive_bandit.propensities(rows, scores, [0, 1], 1, 2.0, 4, rng, 100_000)
    draws = 1000 if kind == "FunctionOracle" else 20_000
    found = learner.propensities(1, draws=draws)
    assert np.all(
        np.abs(found.probabilities - q) <= 4.5 * np.hypot(found.standard_errors, error) + 1e-12
    )
    assert found.probabilities.sum() == pytest.approx(learner.oracle.max_chosen)
    if kind == "AllPolicies":
        assert found.draws == 0
        assert not found.standard_errors.any()
    else:
        p = found.probabilities
        assert found.draws == draws
        np.testing.assert_allclose(found.standard_errors, np.sqrt(p * (1 - p) / draws))


@pytest.mark.stat
def test_standard_errors_are_the_spread_of_the_answers():
    # Draws are other ones in every round, and rounds without loss leave the totals as they are.
    answers, errors = [], []
    learner, _, _ = learner_at("FinitePolicies")
    for _ in range(200):
        learner.act(1)
        learner.update(0.0)
        found = learner.propensities(1, draws=100)
        answers.append(found.probabilities)
        errors.append(found.standard_errors)
    spread = np.std(answers, axis=0)
    # The spread of 200 answers is known to 1/sqrt(400) = 5 %; 4.5 times that.
    busy = spread > 0
    assert busy.sum() >= 2
    np.testing.assert_allclose(np.mean(errors, axis=0)[busy], spread[busy], rtol=0.225)


@pytest.mark.parametrize("kind", [*problems.KINDS, "slates"])
@pytest.mark.parametrize("epsilon", ["adaptive", "anytime", 0.5])
def test_asking_never_changes_what_is_played(kind, epsilon):
    asking, _, _ = learner_at(kind, epsilon)
    silent, _, _ = learner_at(kind, epsilon)
    for t in range(40):
        asking.propensities(t % 2, draws=7 + t)
        a, b = asking.act(t % 2), silent.act(t % 2)
        assert np.array_equal(a, b)
        asking.propensities(1 - t % 2, draws=5)
        for each in (asking, silent):
            each.update(0.5 * (t % 3) if isinstance(a, int) else np.full(len(a), 0.5 * (t % 3)))
    assert asking.leader.number == silent.leader.number
    assert asking.certificate() == silent.certificate()


def test_without_noise_the_leader_is_certain():
    learner, _, _ = learner_at("FinitePolicies", "adaptive")
    found = learner.propensities(1)
    expected = np.zeros(4)
    expected[learner.best_policy()(1)] = 1.0
    np.testing.assert_array_equal(found.probabilities, expected)
    assert found.draws == 0


@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "AllPolicies"])
def test_they_are_those_of_the_hinted_play(kind):
    class Guess:
        def predict(self, context):
            return np.array([1.0, 0.0, 0.0, 1.0])

        def learn(self, context, action, loss):
            pass

    learner, _, _ = learner_at(kind, predictor=Guess())
    learner.hint.with_feedback = 1  # without a loss so far there is no hint
    found = learner.propensities(1, draws=4000)
    actions = []
    for _ in range(2000):  # rounds that are not kept: a hint that waits for its loss costs budget
        learner.leader.advance(1)
        actions.append(learner.begin(1).action)
    shares = np.bincount(actions, minlength=4) / 2000
    error = np.hypot(found.standard_errors, np.sqrt(shares * (1 - shares) / 2000))
    assert np.all(np.abs(shares - found.probabilities) <= 4.5 * error + 1e-12)
    plain, _, _ = learner_at(kind)
    assert plain.propensities(1, draws=4000).probabilities[1] < found.probabilities[1]


@pytest.mark.parametrize("draws", [0, 1, 2.5, "many"])
def test_too_few_draws_are_refused(draws):
    learner, _, _ = learner_at("FinitePolicies")
    with pytest.raises(hn.ParameterError, match="draws"):
        learner.propensities(0, draws=draws)


def test_the_anytime_schedule_is_ready_before_the_first_round():
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 4), epsilon="anytime", seed=0)
    assert math.isclose(learner.propensities().probabilities.sum(), 1.0)
    learner.act()
    learner.update(1.0)
    found = learner.propensities()
    assert math.isclose(found.probabilities.sum(), 1.0)


# What a decision says of its own probability ------------------------------------------------------


TABLE = hn.oracles.FinitePolicies([[0], [1], [2], [1]], n_actions=4)
MIXED = hn.oracles.FinitePolicies(
    [[0, 1], [1, 1], [2, 0], [0, 3], [2, 2]]
)  # distribution not known
EVERY = hn.oracles.AllPolicies(1, 4)
BASELINES = {
    "Hedge": hn.baselines.Hedge(TABLE, seed=0),
    "OptimisticHedge": hn.baselines.OptimisticHedge(TABLE, seed=0),
    "AdaNormalHedge": hn.baselines.AdaNormalHedge(TABLE, seed=0),
    "FixedShare": hn.baselines.FixedShare(TABLE, seed=0),
    "Exp4": hn.baselines.Exp4(TABLE, seed=0),
    "EpsilonGreedy": hn.baselines.EpsilonGreedy(4, epsilon=0.4, seed=0),
    "UniformRandom": hn.baselines.UniformRandom(4, seed=0),
    "LinUCB": hn.baselines.LinUCB(4),
    "FollowTheLeader": hn.baselines.FollowTheLeader(TABLE),
}
WITH_A_LAW = BASELINES | {
    "full": hn.ContextFTPL(EVERY, epsilon=0.5, seed=0),
    "full, anytime": hn.ContextFTPL(EVERY, epsilon="anytime", seed=0),
    "full, substitutes": hn.ContextFTPL(TABLE, epsilon=0.5, seed=0),
    "bandit": hn.ContextSemiBanditFTPL(EVERY, seed=0),
    "bandit, substitutes": hn.ContextSemiBanditFTPL(TABLE, epsilon=0.5, seed=0),
    "bandit, draws": hn.ContextSemiBanditFTPL(EVERY, epsilon=0.5, resampling="shared", seed=0),
    "bandit, hint": hn.ContextSemiBanditFTPL(EVERY, predictor=hn.predictors.Mean(), seed=0),
    "PlayoutBandit": hn.PlayoutBandit(EVERY, horizon=100, seed=0),
    "Restarting": hn.Restarting(hn.ContextSemiBanditFTPL(EVERY, seed=0)),
}


def answer(learner, decision, losses):
    full = learner.feedback is hn.Feedback.FULL
    learner.update(losses if full else losses[decision.action], decision=decision)


@pytest.mark.parametrize("available", [None, [0, 2, 3]])
@pytest.mark.parametrize("name", WITH_A_LAW)
def test_the_propensity_of_a_decision_is_exact_where_there_is_a_law(name, available):
    learner = WITH_A_LAW[name].clone()
    rng = np.random.default_rng(0)
    context = rng.random(2) if name == "LinUCB" else 0
    for _ in range(25):
        asked = learner.propensities(context, available=available, decide=True)
        decision = learner.decide(context, available)
        assert asked.draws == 0
        assert decision.propensity == pytest.approx(asked.probabilities[decision.action])
        assert isinstance(decision.propensity, float)
        assert decision.propensity_error == 0.0
        assert asked.probabilities.sum() == pytest.approx(1.0)
        assert available is None or asked.probabilities[1] == 0.0
        answer(learner, decision, rng.random(4))


@pytest.mark.parametrize("available", [None, [0, 2, 3]])
def test_without_a_law_it_is_one_over_the_weight(available):
    learner = hn.ContextSemiBanditFTPL(MIXED, epsilon=0.5, seed=0)
    for _ in range(30):
        decision = learner.decide(0, available)
        assert math.isnan(decision.propensity)
        assert math.isnan(decision.propensity_error)
        assert decision.weights.size == 0
        answer(learner, decision, np.full(4, 0.5))
        q = decision.propensity
        assert q == pytest.approx(1.0 / decision.weights[0])
        assert decision.propensity_error == pytest.approx(q * math.sqrt((1.0 - q) / 2))


def test_sets_have_one_for_each_chosen_element():
    oracle = hn.oracles.FinitePolicies(SLATES, n_actions=4)
    bandit = hn.ContextSemiBanditFTPL(oracle, epsilon=0.5, seed=0)
    labels = hn.oracles.MultiLabel(hn.oracles.AllPolicies(1, 2), 4)
    full = hn.ContextFTPL(labels, epsilon=0.5, loss_range=(-1, 1), seed=0)
    sizes = set()
    for _ in range(10):
        decision = bandit.decide(0)
        bandit.update([0.5, 0.25], decision=decision)
        assert decision.propensity.shape == decision.propensity_error.shape == (2,)
        np.testing.assert_allclose(decision.propensity, 1.0 / decision.weights)
        asked, decision = full.propensities(0), full.decide(0)
        sizes.add(len(decision.action))
        assert asked.draws == 0
        np.testing.assert_allclose(decision.propensity, asked.probabilities[decision.action])
        assert decision.propensity_error.tolist() == [0.0] * len(decision.action)
        full.update([0.1, -0.2, 0.3, -0.4], decision=decision)
    assert len(sizes) > 1


@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_without_noise_a_decision_is_certain(learner):
    single = learner(hn.oracles.AllPolicies(1, 1), epsilon="anytime", seed=0)
    decision = single.decide()
    assert (decision.propensity, decision.propensity_error) == (1.0, 0.0)
    pair = learner(hn.oracles.Subsets(2, 2), epsilon="anytime", seed=0).decide()
    assert pair.propensity.tolist() == [1.0, 1.0]
    assert pair.propensity_error.tolist() == [0.0, 0.0]


def test_it_is_not_a_number_where_neither_law_nor_weights_are_known():
    decision = hn.ContextFTPL(MIXED, epsilon=0.5, seed=0).decide(0)
    assert math.isnan(decision.propensity)
    assert math.isnan(decision.propensity_error)
    decision = hn.baselines.KalaiVempala(TABLE, seed=0).decide(0)
    assert math.isnan(decision.propensity)


@pytest.mark.stat
@pytest.mark.parametrize("available", [None, [0, 2]])
@pytest.mark.parametrize(
    "learner",
    [
        hn.ContextSemiBanditFTPL(MIXED, epsilon=0.5, max_resamples=10_000, seed=0),
        hn.ContextSemiBanditFTPL(EVERY, epsilon=0.5, max_resamples=10_000, seed=0),
        hn.ContextFTPL(EVERY, epsilon=0.5, seed=0),
        hn.PlayoutBandit(EVERY, hn.Pool([0]), horizon=4000, seed=0),
        hn.baselines.Exp4(TABLE, seed=0),
    ],
    ids=["draws", "distribution", "full", "playout", "Exp4"],
)
def test_one_over_the_propensity_is_right_on_average(learner, available):
    # Every action that can be played gets 1 a round on average; 4.5 standard errors.
    learner, count = learner.clone(), 3000
    inverse = np.zeros((count, 4))
    for row in inverse:
        decision = learner.decide(0, available)
        row[decision.action] = 1.0 / decision.record.propensity
        learner.forget(decision)
    possible = inverse.any(axis=0)
    assert possible.sum() >= 2
    error = inverse.std(axis=0) / math.sqrt(count)
    assert np.all(np.abs(inverse.mean(axis=0) - possible)[possible] <= 4.5 * error[possible])


@pytest.mark.stat
def test_the_error_of_a_propensity_is_of_the_size_of_its_spread():
    # One over a mean of r geometric numbers, by its linear part; for r = 16 that is close.
    learner = hn.ContextSemiBanditFTPL(
        MIXED, epsilon=0.5, resampling=16, max_resamples=4000, seed=0
    )
    found = {0: [], 2: []}
    for _ in range(3000):
        decision = learner.decide(0)
        if decision.action in found:
            found[decision.action].append((decision.record.propensity, decision.record.error))
        learner.forget(decision)
    for values in found.values():
        q, error = np.array(values).T
        assert q.std() > 0.01
        assert error.mean() == pytest.approx(q.std(), rel=0.25)
