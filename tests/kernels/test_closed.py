"""What closed elements are charged, against the definition."""

import numpy as np
import pytest

from hannan.kernels import closed


@pytest.fixture(params=range(30))
def case(request):
    """Which elements are open, losses, and sums and counts of what was seen before."""
    rng = np.random.default_rng(request.param)
    K = int(rng.integers(1, 7))
    plays = np.where(rng.random(K) < 0.6, np.arange(K), -1)
    counts = rng.integers(0, 3, size=K).astype(float)
    return plays, rng.normal(size=K), counts * rng.normal(size=K), counts


def test_closed_elements_get_the_least_open_loss(case):
    plays, losses, _, _ = case
    out = np.full(len(plays), np.nan)
    hidden = np.where(plays < 0, np.nan, losses)
    assert closed.complete(plays, hidden, 0.25, out) == -1
    shown = losses[plays >= 0]
    least = shown.min() if shown.size else 0.25
    assert np.array_equal(out, np.where(plays < 0, least, losses))


def test_a_missing_loss_of_an_open_element_is_found(case):
    plays, losses, _, _ = case
    for k in np.flatnonzero(plays >= 0):
        wrong = losses.copy()
        wrong[k] = np.inf
        assert closed.complete(plays, wrong, 0.0, np.empty(len(plays))) == k


def test_closed_elements_are_charged_their_mean_with_one_more_at_the_best(case):
    plays, losses, sums, counts = case
    found = losses.copy()
    closed.charge(plays, sums, counts, -0.5, 0.5, found)
    known = counts > 0
    for k in range(len(plays)):
        expected = losses[k]
        if plays[k] < 0 and known[k]:
            best = (sums[known] / counts[known]).min()
            expected = np.clip((sums[k] + best) / (counts[k] + 1.0), -0.5, 0.5)
        assert np.isclose(found[k], expected)


def test_open_elements_are_counted(case):
    plays, losses, sums, counts = case
    expected = sums + np.where(plays >= 0, losses, 0.0), counts + (plays >= 0)
    closed.note(plays, losses, sums, counts)
    assert np.array_equal(sums, expected[0])
    assert np.array_equal(counts, expected[1])


def test_closing_leaves_the_others_as_they_are(case):
    plays, losses, _, _ = case
    available = np.flatnonzero(plays >= 0)
    out = np.empty(len(plays))
    closed.close(losses, available, out)
    assert np.array_equal(out, np.where(plays >= 0, losses, np.inf))
    assert np.array_equal(closed.places(available, len(plays)), plays)
