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
    nothing = np.empty((2, 0))
    assert closed.complete(plays, hidden, nothing, 0.25, 1.0, out)
    shown = losses[plays >= 0]
    least = shown.min() if shown.size else 0.25
    assert np.array_equal(out, np.where(plays < 0, least, losses))


def test_what_was_seen_of_closed_elements_is_charged_when_losses_are_completed(case):
    plays, losses, sums, counts = case
    known = np.array([sums, counts])
    out = np.empty(len(plays))
    hidden = np.where(plays < 0, np.inf, losses)
    assert closed.complete(plays, hidden, known, -0.5, 0.5, out)
    assert np.array_equal(known, [sums, counts])
    shown = losses[plays >= 0]
    expected = np.where(plays < 0, shown.min() if shown.size else 0.0, losses)
    closed.charge(plays, known, -0.5, 0.5, expected)
    assert np.array_equal(out, expected)


def test_a_missing_loss_of_an_open_element_is_found(case):
    plays, losses, _, _ = case
    for k in np.flatnonzero(plays >= 0):
        for missing in (np.inf, -np.inf, np.nan):
            wrong = losses.copy()
            wrong[k] = missing
            out = np.empty(len(plays))
            assert not closed.complete(plays, wrong, np.empty((2, 0)), 0.0, 1.0, out)


def test_closed_elements_are_charged_their_mean_with_one_more_at_the_best(case):
    plays, losses, sums, counts = case
    found = losses.copy()
    closed.charge(plays, np.array([sums, counts]), -0.5, 0.5, found)
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
    seen = np.flatnonzero(plays >= 0)
    found = np.array([sums, counts])
    closed.observe(seen, losses[seen], found)
    assert np.array_equal(found, expected)
