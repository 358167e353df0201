"""Certificates, and ways to promise too much."""

import pytest

from hannan.learners import ContextFTPL
from hannan.learners.certificates import Certificate
from hannan.verify import certificates
from tests.verify.breaks import failures, few_games, refuted, says_something, tried
from tests.verify.game_breaks import leave_out_chance, measure, weigh_double


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "checks"),
    [("certificate-coverage", 3), ("certificates", 9), ("certificates-semi-bandit", 6)],
)
def test_the_claims_stand(name, checks):
    finding = tried(certificates, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_a_mean_is_no_promise_for_every_run(monkeypatch):
    leave_out_chance(monkeypatch)
    assert failures(tried(certificates, "certificate-coverage")) == [
        "share of runs with regret beyond the certificate for 0.95"
    ]
    few_games(monkeypatch, certificates, 40)
    assert tried(certificates, "certificates").passed


@pytest.mark.slow
def test_half_of_what_instability_cost_is_too_little(monkeypatch):
    measure(monkeypatch, 0.5)
    assert failures(tried(certificates, "certificates")) == ["self-tuned: regret, measured"]
    few_games(monkeypatch, certificates, 40)
    assert tried(certificates, "certificates-semi-bandit").passed


@pytest.mark.slow
def test_noise_that_is_left_out_of_account_shows(monkeypatch):
    certificate = ContextFTPL.certificate

    def understated(learner, confidence=0.95):
        learner._account.top *= 0.5
        return certificate(learner, confidence)

    monkeypatch.setattr(ContextFTPL, "certificate", understated)
    few_games(monkeypatch, certificates, 40)
    refuted(certificates, "certificates", "much noise: regret, a priori")


@pytest.mark.slow
def test_weights_that_are_too_large_praise_no_policy_enough(monkeypatch):
    weigh_double(monkeypatch)
    refuted(
        certificates, "certificates-semi-bandit", "self-tuned: regret, estimate from comparator"
    )
    assert tried(certificates, "certificate-coverage").passed


def test_silence_is_noticed(monkeypatch):
    monkeypatch.setattr(Certificate, "__str__", lambda certificate: "")
    few_games(monkeypatch, certificates, 10)
    refuted(certificates, "certificates", "self-tuned: statements without a sentence")
