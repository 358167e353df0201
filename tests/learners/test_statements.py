"""Certificates as lists of statements."""

import copy
import math
import pickle

import pytest

import hannan as hn
from hannan.learners import Certificate, SemiBanditCertificate, Statement
from hannan.verify.hardness import claimed_bounds
from tests.drifting import Alarms, full, play, toy


def test_statements_are_attributes_by_their_kind():
    said = Certificate.of(3, 1.5, ["a note"], measured=2.0)
    assert (said.measured, said.a_priori, said.confidence) == (2.0, None, 0.95)
    assert said.values["measured"] == 2.0
    assert float(said) == 2.0
    assert not hasattr(said, "variance_estimate")
    with pytest.raises(AttributeError, match="no statement 'regret'"):
        _ = said.regret
    with pytest.raises(TypeError, match="variance"):
        Certificate.of(3, 1.5, variance=2.0)
    for twin in (copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert twin == said


def test_only_statements_in_units_of_losses_are_scaled():
    said = Certificate.of(3, 4.0, measured=2.0, prediction_error=5.0).scaled(0.5)
    assert (said.loss, said.measured, said.prediction_error) == (2.0, 1.0, 5.0)
    assert said.confidence == 0.95


def test_bounds_are_charged_and_facts_are_not():
    said = Certificate.of(3, 4.0, measured=2.0, realised_regret=1.0)
    assert said.charged(3.0).measured == 5.0
    assert said.charged(3.0).realised_regret == 1.0
    assert said.charged(3.0).a_priori is None
    assert said.charged(math.inf).measured is None


def test_segments_are_combined_by_what_each_statement_says():
    class Own(Certificate):
        __slots__ = ()
        kinds = (
            Statement("total"),
            Statement("worst", combine="max"),
            Statement("level", combine="none"),
            Statement("void"),
        )

    first = Own.of(2, 1.0, ["a"], total=1.0, worst=7.0, level=0.1, void=1.0)
    last = Own.of(3, 2.0, ["a", "b"], total=2.0, worst=5.0, level=0.2)
    both = Certificate.combined([first, last], ["c"])
    assert type(both) is Own
    assert (both.rounds, both.loss, both.notes) == (5, 3.0, ("a", "b", "c"))
    assert both.values == {"total": 3.0, "worst": 7.0, "level": 0.2, "void": None}


def test_a_new_kind_passes_through_wrappers_and_files(monkeypatch, tmp_path):
    """One entry in `kinds`, one value where certificates are made: nothing else has to know."""
    widest = Statement("widest", combine="max", words="the widest round had {:.3g}")
    monkeypatch.setattr(Certificate, "kinds", (*Certificate.kinds, widest))
    certificate = hn.ContextFTPL.certificate

    def with_widest(learner, *given):
        return certificate(learner, *given).changed(widest=float(learner.rounds))

    monkeypatch.setattr(hn.ContextFTPL, "certificate", with_widest)
    learner = hn.Restarting(full(), Alarms(100), max_restarts=3)
    play(learner, toy(250))
    assert learner.certificate().widest == 100.0
    assert "the widest round had 100" in str(learner.certificate())
    learner = hn.Restarting(full(), hn.detectors.Bernstein(0.9, minimum=5), max_restarts=3)
    play(learner, toy(250, [100]))
    assert learner.restarts
    learner.save(tmp_path / "learner.hannan")
    assert hn.load(tmp_path / "learner.hannan").certificate() == learner.certificate()
    discounted = hn.Discounted(full(), 0.5)
    play(discounted, toy(3))
    assert discounted.certificate().widest == 0.5**2 * 3.0
    assert claimed_bounds(learner) == 4  # measured, a priori, with high probability, and this


def test_the_headline_is_the_first_that_stands():
    assert SemiBanditCertificate.of(1, 0.5).headline is None
    assert math.isnan(float(SemiBanditCertificate.of(1, 0.5)))
    said = SemiBanditCertificate.of(1, 0.5, variance_estimate=3.0, a_priori=2.0)
    assert said.headline.kind == "variance_estimate"
    assert not Certificate.of(1, 0.5, realised_regret=0.1).headline.bounds
