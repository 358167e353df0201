"""Noise on the future only, bandit feedback: the distribution of each action is known."""

import numpy as np
import pytest

import hannan as hn
from tests import naive, problems, statistics

SURE = 1e-3 / 12


def test_noise_never_touches_the_past():
    """Every context comes once, so totals of past contexts must be the estimates, exactly."""
    T, K = 30, 3
    seen = []

    def solve(contexts, losses):
        seen.append(dict(zip(contexts, losses.tolist(), strict=True)))
        return lambda context: 0

    oracle = hn.oracles.FunctionOracle(solve, n_actions=K, n_policies=8)
    learner = hn.PlayoutBandit(oracle, range(T), seed=0)
    rng = np.random.default_rng(0)
    past, noisy = {}, 0
    for t in range(T):
        decision = learner.decide(t)
        problem = seen[-1]
        for context, losses in past.items():
            assert problem[context] == losses
        assert t not in problem
        noisy += sum(any(problem[s]) for s in range(t + 1, T) if s in problem)
        loss = rng.random()
        learner.update(loss, decision=decision)
        past[t] = [decision.weights[0] * loss * (j == decision.action) for j in range(K)]
    assert noisy > T  # and the future does carry noise
    assert learner.oracle_calls == T == len(seen)


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("kind", problems.KINDS)
def test_play_has_the_law_of_sparse_noise_on_each_future_round(kind):
    d, K, T, M, samples = 2, 2, 8, 4.0, 2500
    oracle, rows = problems.make(kind, d=d, K=K, N=4, seed=1)
    sequence = [t % d for t in range(T)]
    found = [
        hn.PlayoutBandit(oracle, sequence, epsilon=1 / M, seed=s).act(0) for s in range(samples)
    ]
    rng = np.random.default_rng(0)
    expected = []
    for _ in range(samples):
        fakes = naive.playout_fakes(sequence[1:], K, M, True, rng)
        leader = rows[naive.leader(rows, fakes)][0]
        explores = rng.random() < K / M
        expected.append(int(rng.integers(K)) if explores else leader)
    assert len(set(expected)) > 1
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.slow
@pytest.mark.stat
def test_weights_are_the_exact_propensities():
    oracle, _ = problems.make("FinitePolicies", d=2, K=3, N=6, seed=1)
    T, samples = 40, 4000
    sequence = [t % 2 for t in range(T)]
    hits = np.zeros(3)
    mass = np.zeros(3)
    estimates = np.zeros(3)
    squares = np.zeros(3)
    for s in range(samples):
        learner = hn.PlayoutBandit(oracle, sequence, seed=s)
        q = learner.propensities(0)
        assert q.draws == 0
        np.testing.assert_allclose(q.probabilities.sum(), 1.0)
        decision = learner.decide(0)
        assert decision.weights[0] == pytest.approx(1.0 / q.probabilities[decision.action])
        assert decision.propensity == pytest.approx(q.probabilities[decision.action])
        assert decision.propensity_error == 0.0
        hits[decision.action] += 1
        mass += q.probabilities
        estimates[decision.action] += decision.weights[0]
        squares[decision.action] += decision.weights[0] ** 2
    # Frequencies agree with the mean distribution, estimates of 1 are unbiased: five standard
    # errors.
    spread = np.sqrt(mass * (1 - mass / samples))
    assert (np.abs(hits - mass) < 5 * spread + 1).all()
    error = np.sqrt(squares / samples - (estimates / samples) ** 2) / np.sqrt(samples)
    assert (np.abs(estimates / samples - 1.0) < 5 * error).all()


@pytest.mark.parametrize("world", ["planted", "adversary"])
def test_regret_stays_below_the_bound(world):
    oracle, _ = problems.make("FinitePolicies", d=10, K=3, N=30, seed=0)
    make = {"planted": hn.environments.PlantedPolicy, "adversary": hn.environments.LeaderPunisher}
    environment, T = make[world](oracle), 600
    for seed in range(3):
        rounds = environment.rounds(T, np.random.default_rng(seed))
        sequence = [this_round.context for this_round in rounds]
        learner = hn.PlayoutBandit(oracle, sequence, seed=seed)
        trace = hn.play(learner, environment, horizon=T, seed=seed)
        certificate = learner.certificate()
        assert trace.regret() < certificate.a_priori == learner.regret_bound()
        assert certificate.comparator_estimate is not None
        assert "fixed in advance" in str(certificate)
        assert trace.oracle_calls == T


def test_a_number_for_epsilon_is_the_size_of_the_noise():
    oracle = hn.oracles.AllPolicies(2, 2)
    bandit = hn.PlayoutBandit(oracle, [0, 1], epsilon=0.25)
    assert bandit._noise.size == 4.0
    assert bandit._noise.rate == 0.5
    wide = hn.PlayoutBandit(oracle, [0, 1], epsilon=0.1, loss_range=(0.0, 2.5))
    assert wide._noise.rate == 0.5  # K/M with M = 10/2.5
    assert bandit.certificate().a_priori is None
    assert bandit.regret_bound() is None


def test_it_is_for_single_actions_and_large_noise():
    with pytest.raises(hn.ParameterError, match="single actions"):
        hn.PlayoutBandit(hn.oracles.Subsets(4, 2), horizon=9)
    with pytest.raises(hn.ParameterError, match="at least 2 times"):
        hn.PlayoutBandit(hn.oracles.AllPolicies(1, 2), horizon=9, epsilon=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss_range": (-1, 1)}, "0 <= low"),
        ({"loss_range": None}, "0 <= low"),
        ({"epsilon": "anytime"}, "'epsilon' parameter of PlayoutBandit"),
        ({"epsilon": -1.0}, "'epsilon' parameter of PlayoutBandit"),
        ({"horizon": 0}, "'horizon' parameter of PlayoutBandit"),
    ],
)
def test_a_parameter_outside_its_range_is_refused(options, message):
    with pytest.raises(hn.ParameterError, match=message):
        hn.PlayoutBandit(hn.oracles.AllPolicies(2, 2), [0, 1], **options)


def test_the_size_of_the_noise_needs_the_size_of_the_class():
    class Unknown(hn.oracles.AllPolicies):
        def log_size(self, contexts):
            return None

    with pytest.raises(hn.ParameterError, match="size of the policy class"):
        hn.PlayoutBandit(Unknown(1, 2), horizon=9)


def test_an_inexact_oracle_voids_the_bound():
    class Inexact(hn.oracles.AllPolicies):
        exact = False

    learner = hn.PlayoutBandit(Inexact(2, 2), [0, 1], seed=0)
    certificate = learner.certificate()
    assert learner.regret_bound() is certificate.a_priori is certificate.comparator_estimate is None
    assert any("inexact" in note for note in certificate.notes)


@pytest.mark.parametrize("loss", [np.nan, -0.1, 1.5, "a", None, [0.5, 0.5], []])
def test_bad_losses_are_refused_and_change_nothing(loss):
    learner, twin = (hn.PlayoutBandit(hn.oracles.AllPolicies(1, 2), [0] * 9, seed=1) for _ in "ab")
    for t in range(9):
        assert learner.act(0) == twin.act(0)
        with pytest.raises(hn.HannanError):
            learner.update(loss)
        for one in (learner, twin):
            one.update(0.25 * (t % 3))
    assert learner.certificate() == twin.certificate()


def test_another_context_than_announced_is_refused_and_changes_nothing():
    oracle = hn.oracles.AllPolicies(3, 2)
    sequence = [0, 1, 2, 0, 1, 2]
    learner, twin = (hn.PlayoutBandit(oracle, sequence, seed=1) for _ in range(2))
    for t, context in enumerate(sequence):
        with pytest.raises(hn.ContextError, match=f"declares {context} for round {t}"):
            learner.act((context + 1) % 3)
        assert learner.act(context) == twin.act(context)
        for one in (learner, twin):
            one.update(0.5)
    with pytest.raises(hn.ContextError, match="All 6 rounds of PlayoutBandit are over"):
        learner.act(0)


def test_a_decision_beside_an_open_round_is_for_the_next_one():
    oracle, sequence = hn.oracles.AllPolicies(2, 3), [0, 1, 0]
    learner = hn.PlayoutBandit(oracle, sequence, seed=0)
    learner.act(0)
    with pytest.raises(hn.ContextError, match="declares 1 for round 1"):
        learner.decide(0)
    decision = learner.decide(1)
    learner.update(0.5)
    learner.update(0.5, decision=decision)
    twin = hn.PlayoutBandit(oracle, sequence, seed=0)
    assert twin.decide_many([0, 1])[1].action == decision.action
    assert learner.act(0) in range(3)


def test_decisions_in_flight_each_have_their_round():
    oracle = hn.oracles.AllPolicies(2, 3)
    sequence = [0, 1, 1, 0]
    learner = hn.PlayoutBandit(oracle, sequence, seed=0)
    first, second = learner.decide_many([0, 1])
    with pytest.raises(hn.ContextError, match="declares 1 for round 2"):
        learner.decide(0)
    learner.forget(first)
    third = learner.decide(1)
    learner.update(0.5, decision=third)
    learner.update(0.5, decision=second)
    assert learner.act(0) in range(3)
    learner.update(0.0)
    assert "delayed" in str(learner.certificate())
    assert learner.regret_bound() is None


def test_a_round_that_replaces_another_has_noise_of_its_own():
    # Seen noise is not used again in later rounds either.
    oracle = hn.oracles.AllPolicies(1, 4)
    once, again = (hn.PlayoutBandit(oracle, [0] * 60, seed=0) for _ in "ab")
    dropped = [again.act(0) for _ in range(40)]
    assert set(dropped) == {0, 1, 2, 3}
    plays = [[], []]
    for _ in range(30):
        for found, learner in zip(plays, (once, again), strict=True):
            found.append(learner.act(0))
            learner.update(0.0)
    assert plays[0] != plays[1]
