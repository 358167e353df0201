"""Baselines, and estimates that are not independent."""

import pytest

from hannan.verify import predictors
from tests.verify import bandit_breaks
from tests.verify.breaks import failures, says_something, tried

CLAIMS = {"predictor-baseline": 6, "over-prediction": 5}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), CLAIMS.items())
def test_the_claims_stand(name, checks):
    finding = tried(predictors, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.slow
def test_estimates_from_noise_that_is_used_again_are_found_out(monkeypatch):
    bandit_breaks.reuse_the_noise_that_chose(monkeypatch)
    found = failures(tried(predictors, "predictor-baseline"))
    assert found == ["guess: bad news of the best policy; hardest policy"]
