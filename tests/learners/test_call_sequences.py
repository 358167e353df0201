"""Random sequences of calls leave what the accepted ones alone would have left."""

import pytest

from tests.learners import call_sequences
from tests.thinning import more_at_night


def test_refused_and_failed_calls_leave_no_trace(tmp_path):
    played, refused, failed = call_sequences.run(range(216), tmp_path)
    assert played > 150
    assert refused > 150
    assert failed > 5


@pytest.mark.slow(minutes=0.2)
@pytest.mark.parametrize("count", more_at_night(500, 1500))
def test_many_sequences(count, tmp_path):
    played, _, _ = call_sequences.run(range(10**6, 10**6 + count), tmp_path)
    assert played > 0.8 * count
