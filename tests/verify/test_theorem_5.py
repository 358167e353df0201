"""Theorem 5 can be refuted: by guesses that are ignored, kept, or trusted for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import hannan as hn
from hannan.core.policy import loss_of
from hannan.learners.prediction import Prediction
from hannan.learners.step_size import Fixed
from hannan.oracles.finite_policies import FiniteObjective
from hannan.verify import Effort, _guesses, theorem_5
from tests.verify.breaks import experiments, few_games

FINDINGS = experiments(theorem_5)


def failed(name: str) -> list[str]:
    return [check.what for check in FINDINGS[name](Effort()).checks if not check.passed]


@pytest.mark.slow
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


@pytest.mark.slow
def test_guesses_that_are_ignored(monkeypatch):
    monkeypatch.setattr(hn.ContextFTPL, "_guessed", lambda learner, opened: learner.leader.total)
    few_games(monkeypatch, theorem_5, 10)
    assert failed("theorem-5") == [
        "slowly varying losses: regret, sharp bound at the same ε",
        "slowly varying losses: regret at the best sharp ε",
        "slowly varying losses: regret, self-tuned",
        "right guesses: largest regret, self-tuned",
    ]
    assert failed("be-the-optimistic-leader") == [
        "smallest cost of a surprise, self-tuned learners"
    ]
    assert failed("earned-trust") == []


def test_totals_that_ignore_guesses(monkeypatch):
    monkeypatch.setattr(FiniteObjective, "tilted", lambda self, context, losses: self)
    assert failed("be-the-optimistic-leader") == [
        "largest excess over what the lemma allows, all games and policies"
    ]


@pytest.mark.slow
def test_guesses_that_stay_in_the_history(monkeypatch):
    update = hn.ContextFTPL._update

    def keeping(learner, opened, loss):
        if opened.guess is not None:
            learner.leader.total.add(opened.context, opened.guess)
        update(learner, opened, loss)

    monkeypatch.setattr(hn.ContextFTPL, "_update", keeping)
    few_games(monkeypatch, theorem_5, 10)
    assert failed("theorem-5") == ["right guesses: largest regret, self-tuned"]
    assert failed("be-the-optimistic-leader") == [
        "smallest cost of a surprise, self-tuned learners"
    ]


def test_trust_that_is_not_earned(monkeypatch):
    init = Prediction.__init__

    def trusting(self, predictor, loss_range, m, n_actions, trust="earned"):
        init(self, predictor, loss_range, m, n_actions, "always")

    monkeypatch.setattr(Prediction, "__init__", trusting)
    assert len(failed("earned-trust")) == 2
    assert failed("be-the-optimistic-leader") == []


@pytest.mark.slow
def test_instability_measured_on_whole_losses(monkeypatch):
    monkeypatch.setattr(
        Prediction, "surprise", lambda self, opened, losses, action: loss_of(losses, action)
    )
    assert failed("be-the-optimistic-leader") == [
        "smallest cost of a surprise, self-tuned learners"
    ]
    assert failed("earned-trust") == []


@pytest.mark.slow
def test_noise_of_twice_the_size(monkeypatch):
    init = Fixed.__init__
    monkeypatch.setattr(Fixed, "__init__", lambda step, epsilon: init(step, epsilon / 2.0))
    assert failed("theorem-5") == ["right guesses, ε = 1/20: regret at most G/ε"]
    assert failed("be-the-optimistic-leader") == []
