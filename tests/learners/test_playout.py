"""perturbation="playout": noise on the future only, with one call of the oracle a round."""

import numpy as np
import pytest

import hannan as hn
from tests import naive, problems, statistics

SURE = 1e-3 / 12
SAMPLES = 2500


def learner_for(feedback):
    return hn.ContextFTPL if feedback == "full" else hn.ContextSemiBanditFTPL


@pytest.mark.parametrize("feedback", ["full", "bandit"])
def test_noise_never_touches_the_past(feedback):
    """Every context comes once, so totals of past contexts must be the losses seen, exactly."""
    T, K = 30, 3
    seen = []

    def solve(contexts, losses):
        seen.append(dict(zip(contexts, losses.tolist(), strict=True)))
        return lambda context: 0

    oracle = hn.oracles.FunctionOracle(solve, n_actions=K, n_policies=8)
    learner = learner_for(feedback)(oracle, range(T), perturbation="playout", seed=0)
    rng = np.random.default_rng(0)
    past, noisy = {}, 0
    for t in range(T):
        action = learner.act(t)
        problem = seen[-1]
        for context, losses in past.items():
            assert problem[context] == losses
        assert t not in problem
        noisy += sum(any(problem[s]) for s in range(t + 1, T) if s in problem)
        losses = rng.random(K)
        if feedback == "full":
            learner.update(losses)
            past[t] = losses.tolist()
        else:
            weight = learner._current.weights
            learner.update(losses[action])
            past[t] = [weight * losses[action] * (j == action) for j in range(K)]
    assert noisy > T  # and the future does carry noise
    assert learner.oracle_calls == T == len(seen)


@pytest.mark.stat
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", problems.KINDS)
def test_play_has_the_law_of_noise_on_each_future_round(kind, seed):
    d, K, T = 3, 3, 9
    oracle, rows = problems.make(kind, d=d, K=K, N=6, seed=seed)
    history = problems.rounds(d, K, T, seed=seed)
    sequence = [context for context, _ in history]
    t = 4
    found = []
    for s in range(SAMPLES):
        learner = hn.ContextFTPL(oracle, sequence, perturbation="playout", seed=s)
        problems.play(learner, history[:t])
        found.append(learner.act(sequence[t]))
    rng = np.random.default_rng(seed)
    expected = []
    for _ in range(SAMPLES):
        fakes = naive.playout_fakes(sequence[t + 1 :], K, np.sqrt(np.pi), False, rng)
        expected.append(rows[naive.leader(rows, fakes + history[:t])][sequence[t]])
    assert len(set(expected)) > 1
    assert statistics.same_law(found, expected) > SURE


@pytest.mark.stat
def test_a_pool_is_drawn_from_by_frequency():
    oracle, rows = problems.make("FinitePolicies", d=3, K=2, N=6, seed=3)
    pool, T = [0, 0, 0, 1], 12
    given = {"pool": pool, "horizon": T, "perturbation": "playout"}
    found = [hn.ContextFTPL(oracle, **given, seed=s).act(0) for s in range(SAMPLES)]
    rng = np.random.default_rng(0)
    expected = []
    for _ in range(SAMPLES):
        future = rng.choice(pool, size=T - 1)
        fakes = naive.playout_fakes(future, 2, np.sqrt(np.pi), False, rng)
        expected.append(rows[naive.leader(rows, fakes)][0])
    assert statistics.same_law(found, expected) > SURE


@pytest.mark.stat
def test_bandit_weights_are_the_exact_propensities():
    oracle, _ = problems.make("FinitePolicies", d=2, K=3, N=6, seed=1)
    T, samples = 40, 4000
    sequence = [t % 2 for t in range(T)]
    hits = np.zeros(3)
    mass = np.zeros(3)
    estimates = np.zeros(3)
    squares = np.zeros(3)
    for s in range(samples):
        learner = hn.ContextSemiBanditFTPL(oracle, sequence, perturbation="playout", seed=s)
        q = learner.propensities(0)
        assert q.draws == 0
        np.testing.assert_allclose(q.probabilities.sum(), 1.0)
        decision = learner.decide(0)
        assert decision.weights[0] == pytest.approx(1.0 / q.probabilities[decision.action])
        hits[decision.action] += 1
        mass += q.probabilities
        estimates[decision.action] += decision.weights[0]
        squares[decision.action] += decision.weights[0] ** 2
    # Frequencies agree with the mean law, estimates of 1 are unbiased: five standard errors.
    spread = np.sqrt(mass * (1 - mass / samples))
    assert (np.abs(hits - mass) < 5 * spread + 1).all()
    error = np.sqrt(squares / samples - (estimates / samples) ** 2) / np.sqrt(samples)
    assert (np.abs(estimates / samples - 1.0) < 5 * error).all()


@pytest.mark.parametrize("feedback", ["full", "bandit"])
@pytest.mark.parametrize("world", ["planted", "adversary"])
def test_regret_stays_below_the_bound(feedback, world):
    oracle, _ = problems.make("FinitePolicies", d=10, K=3, N=30, seed=0)
    make = {"planted": hn.environments.PlantedPolicy, "adversary": hn.environments.LeaderPunisher}
    environment, T = make[world](oracle), 600
    for seed in range(3):
        rounds = environment.rounds(T, np.random.default_rng(seed))
        sequence = [this_round.context for this_round in rounds]
        learner = learner_for(feedback)(oracle, sequence, perturbation="playout", seed=seed)
        trace = hn.play(learner, environment, horizon=T, seed=seed)
        certificate = learner.certificate()
        assert trace.regret() < certificate.a_priori
        assert "fixed in advance" in str(certificate)
        assert trace.oracle_calls == T


def test_sets_and_unequal_sets_get_the_noise_they_need():
    def size(oracle, contexts=None):
        learner = hn.ContextFTPL(oracle, contexts, horizon=20, perturbation="playout", seed=0)
        return learner._playout.noise.size

    assert size(hn.oracles.Subsets(5, 2)) == pytest.approx(np.sqrt(2 * np.pi))
    graph = [("s", "a"), ("a", "t"), ("s", "t")]
    paths = hn.oracles.Paths(graph, "s", "t")
    assert size(paths) == pytest.approx(np.sqrt(2 * np.pi * 2))
    learner = hn.ContextFTPL(paths, horizon=20, perturbation="playout", seed=0)
    for _ in range(20):
        learner.act()
        learner.update([0.1, 0.1, 0.9])
    assert learner.best_policy()(None).tolist() == [0, 1]
    with pytest.raises(hn.ContextError, match="has ended after 20"):
        learner.act()
    with pytest.raises(hn.ParameterError, match="horizon= alone"):
        hn.ContextFTPL(paths, perturbation="playout")


def test_a_number_for_epsilon_is_the_size_of_the_noise():
    oracle = hn.oracles.AllPolicies(2, 2)
    full = hn.ContextFTPL(oracle, [0, 1], perturbation="playout", epsilon=0.5)
    assert full._playout.noise.size == 2.0
    bandit = hn.ContextSemiBanditFTPL(oracle, [0, 1], perturbation="playout", epsilon=0.25)
    assert bandit._playout.noise.size == 4.0
    assert bandit._playout.noise.rate == 0.5
    wide = hn.ContextSemiBanditFTPL(
        oracle, [0, 1], perturbation="playout", epsilon=0.1, loss_range=(0.0, 2.5)
    )
    assert wide._playout.noise.rate == 0.5  # K/M with M = 10/2.5
    assert full.certificate().a_priori is None


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("separator", {"separator": [0, 1]}),
        ("once", {"contexts": [0, 1], "noise": "once"}),
        ("anytime", {"contexts": [0, 1], "epsilon": "anytime"}),
        ("pool together", {"contexts": [0, 1], "pool": [0, 1]}),
        ("needs horizon=", {"pool": [0, 1]}),
        ("all horizon=5 rounds", {"contexts": [0, 1], "horizon": 5}),
        ("needs the future", {"contexts": []}),
        ("needs the future", {}),
        ("needs the future", {"horizon": 2}),
        ("no predictor", {"contexts": [0, 1], "predictor": hn.predictors.Last()}),
    ],
)
@pytest.mark.parametrize("feedback", ["full", "bandit"])
def test_what_does_not_go_with_playout_is_refused(feedback, message, given):
    if message == "once" and feedback == "bandit":
        message = "noise='once'"
    with pytest.raises(hn.ParameterError, match=message):
        learner_for(feedback)(hn.oracles.AllPolicies(2, 2), perturbation="playout", **given)


def test_bandit_playout_is_for_single_actions_and_large_noise():
    with pytest.raises(hn.ParameterError, match="single actions"):
        hn.ContextSemiBanditFTPL(hn.oracles.Subsets(4, 2), horizon=9, perturbation="playout")
    with pytest.raises(hn.ParameterError, match="at least 2 times"):
        hn.ContextSemiBanditFTPL(
            hn.oracles.AllPolicies(1, 2), horizon=9, perturbation="playout", epsilon=1.0
        )
    with pytest.raises(hn.ParameterError, match="n_actions"):
        hn.ContextFTPL(
            hn.oracles.FunctionOracle(lambda x, c: lambda x: 0), [0], perturbation="playout"
        )


def test_another_context_than_announced_is_refused_and_changes_nothing():
    oracle = hn.oracles.AllPolicies(3, 2)
    sequence = [0, 1, 2, 0, 1, 2]
    learner, twin = (
        hn.ContextFTPL(oracle, sequence, perturbation="playout", seed=1) for _ in range(2)
    )
    for t, context in enumerate(sequence):
        with pytest.raises(hn.ContextError, match=f"round {t} brings context {context}"):
            learner.act((context + 1) % 3)
        assert learner.act(context) == twin.act(context)
        for one in (learner, twin):
            one.update([t % 2, 0.5])
    with pytest.raises(hn.ContextError, match="has ended after 6 rounds"):
        learner.act(0)


def test_a_decision_beside_an_open_round_is_for_the_next_one():
    oracle, sequence = hn.oracles.AllPolicies(2, 3), [0, 1, 0]
    learner = hn.ContextSemiBanditFTPL(oracle, sequence, perturbation="playout", seed=0)
    learner.act(0)
    with pytest.raises(hn.ContextError, match="round 1 brings context 1"):
        learner.decide(0)
    decision = learner.decide(1)
    learner.update(0.5)
    learner.update(0.5, decision=decision)
    twin = hn.ContextSemiBanditFTPL(oracle, sequence, perturbation="playout", seed=0)
    assert twin.decide_many([0, 1])[1].action == decision.action
    assert learner.act(0) in range(3)


def test_decisions_in_flight_each_have_their_round():
    oracle = hn.oracles.AllPolicies(2, 3)
    sequence = [0, 1, 1, 0]
    learner = hn.ContextSemiBanditFTPL(oracle, sequence, perturbation="playout", seed=0)
    first, second = learner.decide_many([0, 1])
    with pytest.raises(hn.ContextError, match="round 2 brings context 1"):
        learner.decide(0)
    learner.forget(first)
    third = learner.decide(1)
    learner.update(0.5, decision=third)
    learner.update(0.5, decision=second)
    assert learner.act(0) in range(3)
    learner.update(0.0)
    assert "delayed" in str(learner.certificate())
