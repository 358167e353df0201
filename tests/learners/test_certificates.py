import math

import numpy as np
import pytest
from scipy import stats

import hannan as hn
from tests import naive, problems


def game(kind="FinitePolicies", T=60, low=0, d=3, K=3, seed=0, **options):
    oracle, rows = problems.make(kind, d=d, K=K, seed=seed)
    name = "separator" if "separator" in options else "contexts"
    options = {name: range(d), "seed": 1, "loss_range": (low, 1), **options}
    learner = hn.ContextFTPL(oracle, **options)
    rounds = problems.rounds(d, K, T, seed=seed, low=low)
    return learner, rows, rounds


@pytest.mark.parametrize("kind", problems.KINDS)
@pytest.mark.parametrize("epsilon", ["adaptive", 0.5])
def test_realised_regret_is_regret(kind, epsilon):
    learner, rows, rounds = game(kind, epsilon=epsilon)
    actions = problems.play(learner, rounds)
    certificate = learner.certificate()
    assert certificate.rounds == 60
    assert certificate.loss == sum(
        losses[a] for (_, losses), a in zip(rounds, actions, strict=True)
    )
    assert certificate.realised_regret == pytest.approx(naive.regret(rows, rounds, actions))


@pytest.mark.parametrize("kind", problems.KINDS)
def test_the_measured_bound_is_what_instability_cost_plus_what_noise_costs(kind):
    learner, _, rounds = game(kind)
    problems.play(learner, rounds[:-1])
    before = learner.step.D
    problems.play(learner, rounds[-1:])
    G = learner.complexity
    # D + G/ε_T, the last round was played at ε_T = G/D of the round before.
    expected = learner.step.D + (before / G.value) * (G.value + 3 * G.standard_error)
    assert learner.certificate().measured == pytest.approx(expected)
    assert float(learner.certificate()) == learner.certificate().measured


@pytest.mark.parametrize(
    ("options", "kappa"),
    [
        ({}, 1),  # transductive, not negative
        ({"low": -1}, 1),  # transductive, signed, single actions
        ({"separator": range(3)}, 3),  # d times as much
    ],
)
@pytest.mark.parametrize("epsilon", [0.05, 0.4, 5.0])
def test_the_a_priori_bound_follows_the_shift_lemma(options, kappa, epsilon):
    learner, _, rounds = game("AllPolicies", epsilon=epsilon, **options)
    problems.play(learner, rounds)
    ranges = [losses.max() - losses.min() for _, losses in rounds]
    stability = sum(min(v, epsilon * kappa * v * v) for v in ranges)
    expected = stability + learner.complexity.value / epsilon
    certificate = learner.certificate()
    assert certificate.a_priori == pytest.approx(expected)
    assert certificate.measured is None
    assert certificate.high_probability is None
    assert float(certificate) == certificate.a_priori


def test_the_a_priori_bound_of_sets_uses_the_largest_loss_of_a_set():
    def solve(contexts, losses):
        chosen = np.argsort(losses.sum(axis=0), kind="stable")[:2]
        return lambda context: chosen

    oracle = hn.oracles.FunctionOracle(solve, n_actions=4, max_chosen=2)
    learner = hn.ContextFTPL(oracle, contexts=[0], epsilon=0.1, seed=0)
    rounds = problems.rounds(1, 4, 30)
    for context, losses in rounds:
        learner.act(context)
        learner.update(losses)
    stability = sum(min(2 * v, 0.1 * (2 * v) ** 2) for v in (losses.max() for _, losses in rounds))
    expected = stability + learner.complexity.upper / 0.1
    assert learner.certificate().a_priori == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_high_probability_bound_adds_azuma(confidence):
    learner, _, rounds = game(low=-1)
    problems.play(learner, rounds)
    certificate = learner.certificate(confidence)
    margin = 2 * math.sqrt(60 * math.log(1 / (1 - confidence)) / 2)
    assert certificate.high_probability == pytest.approx(certificate.measured + margin)
    assert certificate.confidence == confidence


def test_the_high_probability_bound_of_sets_of_any_size_covers_the_range_of_their_losses():
    # Sets of one or two elements with losses in [0.5, 1] lose between 0.5 and 2.
    oracle = hn.oracles.FunctionOracle(
        lambda contexts, losses: lambda x: [0], n_actions=2, max_chosen=2
    )
    learner = hn.ContextFTPL(oracle, contexts=[0], loss_range=(0.5, 1.0), seed=0)
    for _ in range(50):
        learner.act(0)
        learner.update([0.5, 1.0])
    certificate = learner.certificate(0.9)
    assert certificate.high_probability >= 1.5 * math.sqrt(50 * math.log(10) / 2)


def test_certainty_cannot_be_had():
    learner, _, rounds = game()
    problems.play(learner, rounds)
    assert learner.certificate(1.0).high_probability is None


def test_without_a_range_of_losses_there_is_no_high_probability_bound():
    learner, _, rounds = game(loss_range=None)
    problems.play(learner, rounds)
    certificate = learner.certificate()
    assert certificate.high_probability is None
    assert certificate.measured > 0


def test_noise_drawn_once_voids_the_measured_bound():
    learner, _, rounds = game(noise="once")
    problems.play(learner, rounds)
    certificate = learner.certificate()
    assert certificate.measured is certificate.a_priori is certificate.high_probability is None
    assert float(certificate) == certificate.realised_regret
    assert any("oblivious" in note for note in certificate.notes)


def test_an_inexact_oracle_voids_every_bound():
    class Inexact(hn.oracles.AllPolicies):
        exact = False

    learner = hn.ContextFTPL(Inexact(3, 3), seed=0)
    problems.play(learner, problems.rounds(3, 3, 30))
    certificate = learner.certificate()
    assert certificate.measured is certificate.a_priori is certificate.high_probability is None
    assert any("inexact" in note for note in certificate.notes)


def test_before_the_first_round_there_is_nothing_to_regret():
    learner, _, _ = game()
    certificate = learner.certificate()
    assert certificate.realised_regret == certificate.measured == certificate.a_priori == 0.0


def test_looking_at_the_certificate_changes_no_play():
    (one, _, rounds), (other, _, _) = game(), game()
    expected = problems.play(one, rounds)
    found = []
    for context, losses in rounds:
        other.certificate()
        found.append(other.act(context))
        other.certificate()
        other.update(losses)
    assert found == expected


def test_it_reads_as_sentences():
    learner, _, rounds = game()
    problems.play(learner, rounds)
    text = str(learner.certificate())
    assert "After 60 rounds" in text
    assert "measured" in text
    assert "with probability 0.95" in text


@pytest.mark.slow
@pytest.mark.stat
def test_the_high_probability_bound_is_exceeded_no_more_often_than_it_says():
    # At confidence 1/2, in 300 games; the test fails by chance with probability below 1e-3.
    exceeded = 0
    oracle = hn.oracles.AllPolicies(1, 2)
    for seed in range(300):
        learner = hn.ContextFTPL(oracle, seed=seed)
        world = hn.environments.LeaderPunisher(oracle, planted=2, good=0.0, bad=0.0)
        hn.play(learner, world, 100, seed=seed)
        certificate = learner.certificate(0.5)
        exceeded += certificate.realised_regret > certificate.high_probability
    assert stats.binomtest(exceeded, 300, 0.5, alternative="greater").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.stat
def test_the_measured_bound_is_an_upper_bound_on_average():
    # The difference has mean >= 0; allowed are four standard errors.
    oracle = hn.oracles.AllPolicies(1, 2)
    slack = []
    for seed in range(200):
        learner = hn.ContextFTPL(oracle, seed=seed)
        world = hn.environments.LeaderPunisher(oracle, planted=2, good=0.0, bad=0.0)
        hn.play(learner, world, 150, seed=seed)
        certificate = learner.certificate()
        slack.append(certificate.measured - certificate.realised_regret)
    assert np.mean(slack) > -4 * np.std(slack) / math.sqrt(len(slack))
    assert np.std(slack) > 0


def test_one_round_is_singular():
    full = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    bandit = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    for learner, loss in ((full, [0.0, 1.0]), (bandit, 0.5)):
        for said in ("After 1 round the", "After 2 rounds the"):
            learner.act()
            learner.update(loss)
            assert str(learner.certificate()).startswith(said)
