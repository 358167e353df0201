"""The mean and the second moment of loss estimates, and estimates that are wrong."""

import pytest

from hannan.learners import ContextSemiBanditFTPL
from hannan.oracles.all_policies import TableObjective
from hannan.verify import proxy_losses
from tests.verify import bandit_breaks
from tests.verify.breaks import failures, says_something, tried


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), [("proxy-mean", 8), ("proxy-second-moment", 7)])
def test_the_claims_stand(name, checks):
    finding = tried(proxy_losses, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_a_cap_that_is_ignored_is_found_out(monkeypatch):
    bandit_breaks.ignore_the_cap(monkeypatch)
    found = failures(tried(proxy_losses, "proxy-mean"))
    assert "largest weight, as a multiple of L" in found
    assert len([what for what in found if "standard errors" in what]) == 4  # all that draw
    assert tried(proxy_losses, "proxy-second-moment").passed


@pytest.mark.slow
def test_so_is_a_learner_that_forgets_its_cap(monkeypatch):
    monkeypatch.setattr(ContextSemiBanditFTPL, "_limit", lambda learner, *given: 10**6)
    found = failures(tried(proxy_losses, "proxy-mean"))
    assert len([what for what in found if "standard errors" in what]) == 5


@pytest.mark.slow
def test_so_is_noise_that_chose_the_action_and_is_used_again(monkeypatch):
    bandit_breaks.reuse_the_noise_that_chose(monkeypatch)
    found = failures(tried(proxy_losses, "proxy-mean"))
    assert "at q = 1/(L+1), L = 8: Σ q (ℓ - Eℓ̂), below K/(eL)" in found
    assert len([what for what in found if "standard errors" in what]) == 4
    assert tried(proxy_losses, "proxy-second-moment").passed


@pytest.mark.slow
def test_so_are_weights_that_stop_at_the_first_success(monkeypatch):
    resample = TableObjective.resample_one

    def hasty(total, context, element, draw, limit, successes):
        return resample(total, context, element, draw, limit, 1)

    monkeypatch.setattr(TableObjective, "resample_one", hasty)
    found = failures(tried(proxy_losses, "proxy-second-moment"))
    assert found == ["r = 2: q E[W²] / E[W]", "r = 4: q E[W²] / E[W]"]
    assert tried(proxy_losses, "proxy-mean").passed  # the mean is the same
