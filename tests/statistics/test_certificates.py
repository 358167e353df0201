"""What learners state about their own regret while they run."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.learners import certificates
from hannan.learners.statements import Certificate
from hannan.verify.adversaries import turns
from tests.statistics.means import SIGMAS, below, fails, further, games, regrets
from tests.verify.breaks import measure, weigh_double

pytestmark = [pytest.mark.stat, pytest.mark.slow]
PAIR = hn.oracles.AllPolicies(1, 2)
THREE = hn.oracles.FinitePolicies([[0], [1], [2]])


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_with_the_stated_probability_regret_is_at_most_the_certificate(confidence):
    """Binomial counts with 4.5 standard errors: a false alarm has probability below 1e-5.

    Actions take turns and then settle, which is where regret comes nearest to D + G/ε.
    """
    played = games(hn.ContextFTPL, PAIR, turns(100, 50), 100, range(300))
    stated = [learner.certificate(confidence) for learner, _ in played]
    found = regrets(played)
    assert [each.realised_regret for each in stated] == pytest.approx(found, abs=1e-9)
    beyond = np.mean(found > [each.high_probability for each in stated])
    share = 1.0 - confidence
    assert beyond <= share + SIGMAS * math.sqrt(share * confidence / len(found))


CASES = {
    "self-tuned": ({}, turns(200, 100)),
    "anytime": ({"epsilon": "anytime"}, turns(200, 100)),
    "the paper's ε": ({"epsilon": "theorem", "horizon": 200}, turns(200, 100)),
    "much noise": ({"epsilon": 0.02}, turns(200, 200)),
}


@pytest.mark.parametrize("case", CASES)
def test_certificates_are_on_average_above_regret(case):
    """Means over fixed seeds, several standard errors below the means of what is stated."""
    options, world = CASES[case]
    played = games(hn.ContextFTPL, PAIR, world, 200, range(100), **options)
    stated = [learner.certificate() for learner, _ in played]
    below(regrets(played), [each.a_priori for each in stated])
    sentences = ["expected regret is at most"]
    if not options:
        below(regrets(played), [each.measured for each in stated])
        sentences += ["(measured)", "with probability 0.95 regret is at most"]
    assert all(str(each).count(text) == 1 for each in stated for text in sentences)


@pytest.mark.parametrize("options", [{}, {"epsilon": "theorem", "horizon": 200}], ids=str)
def test_estimates_of_bandits_are_on_average_above_regret(options):
    """Paired means with 4.5 standard errors; the comparator's estimate is nearly an equality."""
    played = games(hn.ContextSemiBanditFTPL, THREE, turns(200, 100, K=3), 200, range(80), **options)
    stated = [learner.certificate() for learner, _ in played]
    kinds = ["variance_estimate"]
    if not options:
        kinds += ["stability_estimate", "comparator_estimate"]
    for kind in kinds:
        below(regrets(played), [getattr(each, kind) for each in stated], SIGMAS)
    assert all("estimated to be at most" in str(each) for each in stated)


# What breaks it ------------------------------------------------------------------------------


def test_a_mean_is_no_promise_for_every_run(monkeypatch):
    certify = certificates.full_information

    def bold(*given):
        said = certify(*given)
        return said.changed(high_probability=said.measured)

    monkeypatch.setattr(certificates, "full_information", bold)
    fails(test_with_the_stated_probability_regret_is_at_most_the_certificate, 0.95)


def understate_the_noise(patch):
    """Leave half of the noise out of account."""
    certificate = hn.ContextFTPL.certificate

    def understated(learner, confidence=0.95):
        learner._account.top *= 0.5
        return certificate(learner, confidence)

    patch.setattr(hn.ContextFTPL, "certificate", understated)


@pytest.mark.parametrize(
    ("spoil", "case"),
    [
        (lambda patch: measure(patch, 0.5), "self-tuned"),
        pytest.param(understate_the_noise, "much noise", marks=further),
        pytest.param(
            lambda patch: patch.setattr(Certificate, "__str__", lambda said: ""),
            "self-tuned",
            marks=further,
        ),
    ],
    ids=["half the instability", "half the noise", "silence"],
)
def test_what_is_left_out_is_noticed(monkeypatch, spoil, case):
    spoil(monkeypatch)
    fails(test_certificates_are_on_average_above_regret, case)


def test_weights_that_are_too_large_praise_no_policy_enough(monkeypatch):
    weigh_double(monkeypatch)
    fails(test_estimates_of_bandits_are_on_average_above_regret, {})
