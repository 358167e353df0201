"""Noise on the future only, full information: one call of the oracle a round."""

import numpy as np
import pytest

import hannan as hn
from tests import naive, problems, statistics

SURE = 1e-3 / 12
SAMPLES = 2500


def test_noise_never_touches_the_past():
    """Every context comes once, so totals of past contexts must be the losses seen, exactly."""
    T, K = 30, 3
    seen = []

    def solve(contexts, losses):
        seen.append(dict(zip(contexts, losses.tolist(), strict=True)))
        return lambda context: 0

    oracle = hn.oracles.FunctionOracle(solve, n_actions=K, n_policies=8)
    learner = hn.PlayoutFTPL(oracle, range(T), seed=0)
    rng = np.random.default_rng(0)
    past, noisy = {}, 0
    for t in range(T):
        learner.act(t)
        problem = seen[-1]
        for context, losses in past.items():
            assert problem[context] == losses
        assert t not in problem
        noisy += sum(any(problem[s]) for s in range(t + 1, T) if s in problem)
        losses = rng.random(K)
        learner.update(losses)
        past[t] = losses.tolist()
    assert noisy > T  # and the future does carry noise
    assert learner.oracle_calls == T == len(seen)


@pytest.mark.slow
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
        learner = hn.PlayoutFTPL(oracle, sequence, seed=s)
        problems.play(learner, history[:t])
        found.append(learner.act(sequence[t]))
    rng = np.random.default_rng(seed)
    expected = []
    for _ in range(SAMPLES):
        fakes = naive.playout_fakes(sequence[t + 1 :], K, np.sqrt(np.pi), False, rng)
        expected.append(rows[naive.leader(rows, fakes + history[:t])][sequence[t]])
    assert len(set(expected)) > 1
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.slow
@pytest.mark.stat
def test_a_pool_is_drawn_from_by_frequency():
    oracle, rows = problems.make("FinitePolicies", d=3, K=2, N=6, seed=3)
    pool, T = [0, 0, 0, 1], 12
    found = [
        hn.PlayoutFTPL(oracle, hn.Pool(pool), horizon=T, seed=s).act(0) for s in range(SAMPLES)
    ]
    rng = np.random.default_rng(0)
    expected = []
    for _ in range(SAMPLES):
        future = rng.choice(pool, size=T - 1)
        fakes = naive.playout_fakes(future, 2, np.sqrt(np.pi), False, rng)
        expected.append(rows[naive.leader(rows, fakes)][0])
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.parametrize("world", ["planted", "adversary"])
def test_regret_stays_below_the_bound(world):
    oracle, _ = problems.make("FinitePolicies", d=10, K=3, N=30, seed=0)
    make = {"planted": hn.environments.PlantedPolicy, "adversary": hn.environments.LeaderPunisher}
    environment, T = make[world](oracle), 600
    for seed in range(3):
        rounds = environment.rounds(T, np.random.default_rng(seed))
        sequence = [this_round.context for this_round in rounds]
        learner = hn.PlayoutFTPL(oracle, sequence, seed=seed)
        trace = hn.play(learner, environment, horizon=T, seed=seed)
        certificate = learner.certificate()
        assert trace.regret() < certificate.a_priori == learner.regret_bound()
        assert certificate.realised_regret == pytest.approx(trace.regret())
        assert "fixed in advance" in str(certificate)
        assert trace.oracle_calls == T


def test_sets_and_unequal_sets_get_the_noise_they_need():
    def size(oracle):
        return hn.PlayoutFTPL(oracle, horizon=20, seed=0)._noise.size

    assert size(hn.oracles.Subsets(5, 2)) == pytest.approx(np.sqrt(2 * np.pi))
    paths = hn.oracles.Paths([("s", "a"), ("a", "t"), ("s", "t")], "s", "t")
    assert size(paths) == pytest.approx(np.sqrt(2 * np.pi * 2))
    learner = hn.PlayoutFTPL(paths, horizon=20, seed=0)
    for _ in range(20):
        learner.act()
        learner.update([0.1, 0.1, 0.9])
    assert learner.best_policy()(None).tolist() == [0, 1]
    with pytest.raises(hn.ContextError, match="All 20 rounds of PlayoutFTPL are over"):
        learner.act()


def test_a_number_for_epsilon_is_the_size_of_the_noise():
    learner = hn.PlayoutFTPL(hn.oracles.AllPolicies(2, 2), [0, 1], epsilon=0.5)
    assert learner._noise.size == 2.0
    assert learner.certificate().a_priori is None
    assert learner.regret_bound() is None


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", "anytime"), ("epsilon", 0.0), ("horizon", 0), ("seed", -1)]
)
def test_a_parameter_outside_its_range_is_refused(name, value):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter of PlayoutFTPL"):
        hn.PlayoutFTPL(hn.oracles.AllPolicies(2, 2), [0, 1], **{name: value})


def test_an_inexact_oracle_voids_the_bound():
    class Inexact(hn.oracles.AllPolicies):
        exact = False

    learner = hn.PlayoutFTPL(Inexact(2, 2), [0, 1], seed=0)
    assert learner.regret_bound() is learner.certificate().a_priori is None
    assert any("inexact" in note for note in learner.certificate().notes)


def test_another_context_than_announced_is_refused_and_changes_nothing():
    oracle = hn.oracles.AllPolicies(3, 2)
    sequence = [0, 1, 2, 0, 1, 2]
    learner, twin = (hn.PlayoutFTPL(oracle, sequence, seed=1) for _ in range(2))
    for t, context in enumerate(sequence):
        with pytest.raises(hn.ContextError, match=f"declares {context} for round {t}"):
            learner.act((context + 1) % 3)
        assert learner.act(context) == twin.act(context)
        for one in (learner, twin):
            one.update([t % 2, 0.5])
    with pytest.raises(hn.ContextError, match="All 6 rounds of PlayoutFTPL are over"):
        learner.act(0)


@pytest.mark.parametrize("loss", [[0.5], [np.nan, 0.0], [2.0, 0.0], "ab", None])
def test_bad_losses_are_refused_and_change_nothing(loss):
    learner, twin = (hn.PlayoutFTPL(hn.oracles.AllPolicies(1, 2), [0] * 9, seed=1) for _ in "ab")
    for t in range(9):
        assert learner.act(0) == twin.act(0)
        with pytest.raises(hn.HannanError):
            learner.update(loss)
        for one in (learner, twin):
            one.update([t % 2, 0.5])
    assert learner.certificate() == twin.certificate()


def test_nothing_is_proved_for_late_losses_so_decisions_are_refused():
    learner = hn.PlayoutFTPL(hn.oracles.AllPolicies(2, 2), [0, 1], seed=0)
    with pytest.raises(hn.ParameterError, match="does not support delayed feedback"):
        learner.decide(0)
    assert learner.open_decisions == []


def test_a_round_that_replaces_another_has_noise_of_its_own():
    # Seen noise is not used again in later rounds either.
    oracle = hn.oracles.AllPolicies(1, 4)
    sequence = [0] * 60
    once, again = (hn.PlayoutFTPL(oracle, sequence, seed=0) for _ in "ab")
    dropped = [again.act(0) for _ in range(40)]
    assert set(dropped) == {0, 1, 2, 3}
    plays = [[], []]
    for _ in range(30):
        for found, learner in zip(plays, (once, again), strict=True):
            found.append(learner.act(0))
            learner.update(np.zeros(4))
    assert plays[0] != plays[1]
    assert again.rounds == 30
