"""The three stability lemmas, and less noise than they need."""

import pytest

from hannan import bounds
from hannan.learners.context_set import ContextSet
from hannan.verify import be_the_leader, separators, stability, ties
from tests.verify.breaks import (
    failures,
    refuted,
    says_something,
    scale_noise,
    shrink_projected_noise,
    tried,
)

NAMES = ("additive-stability", "multiplicative-stability", "separator-stability")
NEEDED = "exponent log p/p' surely needed beyond εκv, worst policy"
SHARE = "stability surely, as a share of E v(1 - exp(-εκv))"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_claims_stand(name):
    finding = tried(stability, name)
    assert failures(finding) == []
    says_something(finding, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", [lambda patch: scale_noise(patch, 0.5), shrink_projected_noise])
def test_half_the_noise_is_not_stable_enough(monkeypatch, name, how):
    how(monkeypatch)
    refuted(stability, name, NEEDED, SHARE)


@pytest.mark.slow
def test_nothing_else_is_amiss_then(monkeypatch):
    scale_noise(monkeypatch, 0.5)
    assert tried(ties, "ties").passed
    assert tried(be_the_leader, "be-the-leader").passed
    assert tried(separators, "separators").passed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_more_noise_than_needed_shows_where_the_lemma_should_be_tight(monkeypatch, name):
    scale_noise(monkeypatch, 1.5)
    found = failures(tried(stability, name))
    assert NEEDED not in found
    assert any("exponent needed, as a share of εκv" in what for what in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["additive-stability", "separator-stability"])
def test_a_smaller_kappa_is_refuted(monkeypatch, name):
    monkeypatch.setattr(bounds, "kappa", lambda **sizes: 1.0)
    refuted(stability, name, NEEDED)


@pytest.mark.slow
def test_noise_that_misses_a_context_of_the_separator_is_found_out(monkeypatch):
    init = ContextSet.__init__

    def fewer(X, owner, oracle, contexts, separator, key):
        init(X, owner, oracle, contexts, separator, key)
        if separator is not None and len(X.points) > 1:
            X.points.pop()

    monkeypatch.setattr(ContextSet, "__init__", fewer)
    refuted(stability, "separator-stability")
    assert tried(stability, "multiplicative-stability").passed
