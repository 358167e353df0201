"""The oracle's rule for ties, and wrong ones."""

import numpy as np

from hannan.kernels import finite
from hannan.oracles import all_policies, disjunctions
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
    solve = all_policies.TableObjective._solve

    def backwards(total, *args):
        best, values = solve(total, *args)
        K = total.n_actions
        turned = total.copy()
        turned._totals = getattr(turned, "_totals", None)
        return K - 1 - best, values

    monkeypatch.setattr(all_policies.TableObjective, "_solve", backwards)
    assert "AllPolicies: games with another leader" in failures(tried(ties, "ties"))
