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


def prefer_the_last(monkeypatch, *, under_noise):
    leaders = finite.leaders

    def wrong(scores, block, start, stop, scale, codes, minima):
        leaders(scores, block, start, stop, scale, codes, minima)
        for i in range(stop - start):
            if under_noise and scale != 0.0:
                codes[i, 0] = last_minimiser(scores + scale * block[start + i])
            if not under_noise and scale == 0.0:
                codes[i, 0] = last_minimiser(scores)

    monkeypatch.setattr(finite, "leaders", wrong)


def test_a_listed_class_that_prefers_the_last_is_found_out(monkeypatch):
    prefer_the_last(monkeypatch, under_noise=False)
    found = failures(tried(ties, "ties"))
    assert "FinitePolicies: games with another leader" in found
    assert "AllPolicies: games with another leader" not in found
    assert tried(be_the_leader, "be-the-leader").passed


def test_so_is_one_that_does_so_under_noise(monkeypatch):
    prefer_the_last(monkeypatch, under_noise=True)
    assert failures(tried(ties, "ties")) == ["twins under noise: draws led by the later one"]


def test_so_is_a_table_of_actions(monkeypatch):
    def last_actions(total, draw):
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
