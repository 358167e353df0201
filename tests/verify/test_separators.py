"""Separators separate; with a point removed they do not."""

import numpy as np
import pytest

from hannan import separators as constructions
from hannan.oracles import FinitePolicies
from hannan.verify import be_the_leader, natarajan, separators
from tests.verify.breaks import failures, says_something, tried


@pytest.mark.parametrize(("name", "checks"), [("separators", 13), ("separators-repaired", 9)])
def test_the_claims_stand(name, checks):
    finding = tried(separators, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("disjunctions", "disjunctions"),
        ("conjunctions", "conjunctions"),
        ("intercept_classifiers", "intercept classifiers"),
    ],
)
def test_a_point_removed_is_missed(monkeypatch, name, family):
    make = getattr(constructions, name)
    monkeypatch.setattr(constructions, name, lambda *sizes: make(*sizes)[1:])
    found = failures(tried(separators, "separators"))
    assert f"{family}: policies not told apart" in found
    assert all(what.startswith(family) for what in found)
    assert tried(natarajan, "natarajan-size").passed
    assert tried(be_the_leader, "be-the-leader").passed


def test_a_point_too_many_is_noticed(monkeypatch):
    make = constructions.disjunctions

    def generous(n):
        return np.concatenate([make(n), np.zeros((1, n), dtype=np.int64)])

    monkeypatch.setattr(constructions, "disjunctions", generous)
    assert "disjunctions: superfluous points" in failures(tried(separators, "separators"))


def test_without_the_repair_regret_is_linear(monkeypatch):
    make = constructions.intercept_classifiers

    def printed(n, tau):
        points = make(n, tau)
        return points[(points < 1.0).all(axis=1)]

    monkeypatch.setattr(constructions, "intercept_classifiers", printed)
    found = failures(tried(separators, "separators-repaired"))
    assert found == ["noise on a point more: mean regret, against Theorem 2"]


@pytest.mark.parametrize("finder", ["smallest", "greedy"])
def test_a_finder_that_drops_a_point_is_found_out(monkeypatch, finder):
    find = getattr(constructions, finder)
    monkeypatch.setattr(constructions, finder, lambda table: find(table)[:-1])
    assert any(what.startswith("tables") for what in failures(tried(separators, "separators")))


def test_an_oracle_that_lets_anything_pass_is_found_out(monkeypatch):
    monkeypatch.setattr(FinitePolicies, "separates", lambda oracle, contexts: True)
    assert failures(tried(separators, "separators")) == [
        "tables: is_separator wrong",
        "tables: learners that accept a separator short of a point",
    ]
