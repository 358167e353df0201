"""Every claim stands, by as many checks as it should have."""

import numpy as np
import pytest

from hannan import verify

CHECKS = {
    "be-the-leader": 1,
    "ties": 12,
    "theorem-1": 8,
    "one-sided-error": 5,
    "noise-distribution": 6,
    "laplace-error": 12,
    "additive-stability": 6,
    "multiplicative-stability": 7,
    "separator-stability": 6,
    "theorem-2-any-losses": 9,
    "theorem-2-linear-losses": 9,
    "theorem-2-separator": 5,
    "theorem-2-adaptive": 15,
    "separators": 9,
    "separators-repaired": 9,
    "example-shortest-path": 7,
    "example-submodular": 5,
    "example-disjunctions": 8,
    "example-linear-classifiers": 8,
    "proxy-mean": 8,
    "proxy-second-moment": 7,
    "oracle-calls": 11,
    "theorem-3-transductive": 24,
    "theorem-3-separator": 15,
    "switching-regret": 31,
    "switching-sequences": 4,
    "switching-oracle": 6,
    "theorem-5": 27,
    "be-the-optimistic-leader": 2,
    "natarajan-size": 8,
    "natarajan": 30,
    "hardness": 25,
    "growth-full-information": 3,
    "growth-separator": 1,
    "growth-bandit": 1,
    "growth-switching": 1,
    "round-by-round": 26,
    "round-by-round-bandit": 75,
    "set-hint-cost": 5,
    "set-hint-weights": 5,
    "set-hint-budget": 24,
    "set-hint-certificate": 5,
    "set-late": 28,
}


@pytest.mark.slow
@pytest.mark.parametrize("claim", verify.claims(), ids=lambda claim: claim.name)
def test_the_claim_stands(claim):
    checks = list(claim.experiment(verify.Effort()))
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == CHECKS[claim.name]
    numbers = [(check.measured, check.limit, check.allowance) for check in checks]
    assert np.isfinite(numbers).all()
