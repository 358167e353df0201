"""Theorem 1's two terms, and learners to which it does not apply."""

import numpy as np
import pytest

from hannan.learners import ContextFTPL
from hannan.oracles.finite_policies import FiniteObjective
from hannan.verify import be_the_leader, theorem_1, ties
from tests.verify.breaks import failures, refuted, says_something, scale_noise, tried


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("theorem-1", 8), ("one-sided-error", 5)])
def test_the_claims_stand(name, checks):
    finding = tried(theorem_1, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_half_the_noise_costs_half_as_much(monkeypatch):
    scale_noise(monkeypatch, 0.5)
    assert failures(tried(theorem_1, "one-sided-error")) == [
        "the same: G/ε is paid, so it cannot be lowered"
    ]
    assert tried(ties, "ties").passed


def test_twice_the_noise_costs_more_than_the_sharp_error(monkeypatch):
    scale_noise(monkeypatch, 2.0)
    assert failures(tried(theorem_1, "one-sided-error")) == [
        "foreseeing leader's loss beyond the best, against G/ε",
        "regret, against stability + G/ε",
    ]


def test_a_learner_that_follows_the_leader_with_less_noise_than_it_says_is_found_out(monkeypatch):
    act = ContextFTPL._act

    def timid(learner, opened):
        honest = opened.draw
        opened.draw = honest._replace(scale=0.02 * honest.scale)
        act(learner, opened)
        opened.draw = honest

    monkeypatch.setattr(ContextFTPL, "_act", timid)
    refuted(theorem_1, "theorem-1", "mean regret of learners, fresh noise")
    assert tried(be_the_leader, "be-the-leader").passed


def test_an_oracle_that_does_not_minimise_is_found_out(monkeypatch):
    def worst(total, context, draw):
        policy = int(np.argmax(total.scores[: total.oracle.n_policies]))
        return total.oracle.policy(policy)(context)

    monkeypatch.setattr(FiniteObjective, "action", worst)
    refuted(theorem_1, "theorem-1", "mean regret of learners, fresh noise")
