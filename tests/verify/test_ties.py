"""The oracle's rule for ties, and wrong ones."""

import numpy as np

from hannan.kernels import finite
from hannan.oracles import all_policies, finite_policies
from hannan.verify import be_the_leader, ties
from tests.verify.breaks import failures, says_something, tried


def last_minimiser(values):
    best = np.flatnonzero(values == values.min())
    return best[-1]


def test_ties_go_to_the_first_policy():
    finding = tried(ties, "ties")
    assert failures(finding) == []
    says_something(finding, 12)


def test_a_listed_class_that_prefers_the_last_is_found_out(monkeypatch):
    monkeypatch.setattr(finite, "plain_leader", last_minimiser)
    found = failures(tried(ties, "ties"))
    assert "FinitePolicies: games with another leader" in found
    assert "AllPolicies: games with another leader" not in found
    assert tried(be_the_leader, "be-the-leader").passed


def test_so_is_one_that_does_so_under_noise(monkeypatch):
    def leaders(scores, block, scale, out):
        out[:] = [last_minimiser(scores + scale * row) for row in block]

    monkeypatch.setattr(finite, "leaders", leaders)
    assert failures(tried(ties, "ties")) == ["twins under noise: draws led by the later one"]


def test_so_is_a_table_of_actions(monkeypatch):
    def last_actions(total, noise, draw, scale):
        found = total.n_actions - 1 - total.totals[:, ::-1].argmin(axis=1)
        return found, float(total.totals.min(axis=1).sum())

    monkeypatch.setattr(all_policies.TableObjective, "_solve", last_actions)
    assert failures(tried(ties, "ties")) == ["AllPolicies: games with another leader"]


def test_so_is_a_total_that_depends_on_the_order(monkeypatch):
    add = finite_policies.FiniteObjective.add

    def forgetful(total, context, losses):
        total.scores[: total.oracle.n_policies] *= 0.75
        add(total, context, losses)

    monkeypatch.setattr(finite_policies.FiniteObjective, "add", forgetful)
    assert "FinitePolicies: games with another leader" in failures(tried(ties, "ties"))
