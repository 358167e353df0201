"""Theorem 5 can be refuted: by guesses that are ignored, kept, or trusted for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import hannan as hn
from hannan.core import Objective
from hannan.learners.forecast import Forecast
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.oracles.finite_policies import FinitePolicyObjective
from hannan.verify import Effort, theorem_5

FINDINGS = {claim.name: claim.experiment for claim in theorem_5.CLAIMS}


def failed(name: str) -> list[str]:
    return [check.what for check in FINDINGS[name](Effort()).checks if not check.passed]


@pytest.mark.parametrize(("name", "checks"), [
    ("theorem-5", 27), ("be-the-optimistic-leader", 2), ("earned-trust", 3)
])
def test_the_claims_stand(name, checks):
    finding = FINDINGS[name](Effort())
    assert [check for check in finding.checks if not check.passed] == []
    assert len(finding.checks) == checks
    assert all(np.size(s.y) and np.isfinite(np.asarray(s.y)).all() for s in finding.plot.series)


def test_errors_are_those_the_certificate_counts():
    for problem in theorem_5.problems(60, np.random.default_rng(1)):
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
    monkeypatch.setattr(FinitePolicyObjective, "tilted", lambda self, context, losses: self)
    assert "slowly varying losses: regret, self-tuned" in failed("theorem-5")
    assert "right guesses: largest regret, self-tuned" in failed("theorem-5")
    assert "smallest cost of a surprise, self-tuned learners" in failed("be-the-optimistic-leader")
