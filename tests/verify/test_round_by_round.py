"""The law of every round; what breaks it is in `test_mutations`."""

import pytest

from hannan.verify import round_by_round
from tests.verify.breaks import failures, says_something, tried

CLAIMS = {"round-by-round": 20, "round-by-round-bandit": 60, "round-by-round-playout": 5}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "checks"), CLAIMS.items())
def test_the_claims_stand(name, checks):
    finding = tried(round_by_round, name)
    assert failures(finding) == []
    says_something(finding, checks)


@pytest.mark.parametrize(
    ("gap", "scale", "p"),
    [(0.0, 1.0, 0.5), (2.0, 2.0, 0.27591), (-2.0, 2.0, 0.72409), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)],
)
def test_two_laplace_variates_differ_by_more_than_a_gap(gap, scale, p):
    assert round_by_round._first_leads(gap, scale) == pytest.approx(p, abs=1e-5)
