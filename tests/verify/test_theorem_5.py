"""Theorem 5 can be refuted: by guesses that are ignored, kept, or trusted for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import hannan as hn
from hannan.core.policy import loss_of
from hannan.learners.forecast import Forecast
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.oracles.finite_policies import FiniteObjective
from hannan.verify import Effort, _guesses, theorem_5

FINDINGS = {claim.name: claim.experiment for claim in theorem_5.CLAIMS}


def failed(name: str) -> list[str]:
    return [check.what for check in FINDINGS[name](Effort()).checks if not check.passed]


@pytest.mark.parametrize(
    ("name", "checks"), [("theorem-5", 27), ("be-the-optimistic-leader", 2), ("earned-trust", 3)]
)
def test_the_claims_stand(name, checks):
    finding = FINDINGS[name](Effort())
    assert [check for check in finding.checks if not check.passed] == []
    assert len(finding.checks) == checks
    assert all(np.size(s.y) and np.isfinite(np.asarray(s.y)).all() for s in finding.plot.series)


def test_errors_are_those_the_certificate_counts():
    for problem in _guesses.problems(60, np.random.default_rng(1)):
        for trust in ("always", "earned"):
            learner = problem.learner("adaptive", trust, seed=0)
            hn.play(learner, problem.world)
            counted = learner.certificate().prediction_error
            exact = problem.errors(trust).norms
            if problem.oracle.max_chosen == 1:
                assert counted == pytest.approx(exact)
            else:
                assert exact < counted < 1.5 * exact


def test_guesses_that_are_ignored(monkeypatch):
    monkeypatch.setattr(FiniteObjective, "tilted", lambda self, context, losses: self)
    assert failed("theorem-5") == [
        "slowly varying losses: regret, sharp bound at the same ε",
        "slowly varying losses: regret at the best sharp ε",
        "slowly varying losses: regret, self-tuned",
        "right guesses: largest regret, self-tuned",
    ]
    assert len(failed("be-the-optimistic-leader")) == 2
    assert failed("earned-trust") == []


def test_guesses_that_stay_in_the_history(monkeypatch):
    settle = hn.ContextFTPL._settle

    def keeping(self, context, losses, unforeseen, low):
        if self._forecast is not None and self._forecast.guess is not None:
            self._history.add(context, self._forecast.guess)
        return settle(self, context, losses, unforeseen, low)

    monkeypatch.setattr(hn.ContextFTPL, "_settle", keeping)
    assert failed("theorem-5") == ["right guesses: largest regret, self-tuned"]
    assert failed("be-the-optimistic-leader") == [
        "smallest cost of a surprise, self-tuned learners"
    ]


def test_trust_that_is_not_earned(monkeypatch):
    init = Forecast.__init__

    def trusting(self, predictor, loss_range, m, trust="earned"):
        init(self, predictor, loss_range, m, "always")

    monkeypatch.setattr(Forecast, "__init__", trusting)
    assert len(failed("earned-trust")) == 2
    assert failed("be-the-optimistic-leader") == []


def test_instability_measured_on_whole_losses(monkeypatch):
    monkeypatch.setattr(Forecast, "surprise", lambda self, losses, action: loss_of(losses, action))
    assert failed("be-the-optimistic-leader") == [
        "smallest cost of a surprise, self-tuned learners"
    ]
    assert failed("earned-trust") == []


def test_noise_of_twice_the_size(monkeypatch):
    found = PerturbedLeader._fixed_epsilon
    monkeypatch.setattr(PerturbedLeader, "_fixed_epsilon", lambda self: found(self) / 2.0)
    assert failed("theorem-5") == ["right guesses, ε = 1/20: regret at most G/ε"]
    assert failed("be-the-optimistic-leader") == []
