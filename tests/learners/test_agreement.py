"""Two tests for drift that have to agree."""

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.kernels import drift as kernel
from hannan.learners.drift_monitor import Agreement


class Twin:
    """The same by two detectors."""

    def __init__(self):
        self.tests = hn.detectors.Bernstein(), hn.detectors.Bernstein()
        self.until = [-1, -1]
        self.read = 0

    def update(self, *values):
        self.read += 1
        for i, (test, value) in enumerate(zip(self.tests, values, strict=True)):
            if test.update(value):
                self.until[i] = 2 * self.read
        return min(self.until) >= self.read


@pytest.mark.parametrize("gap", [0, 60, 1000])
def test_it_finds_what_two_detectors_find_that_have_to_agree(gap):
    rng = np.random.default_rng(gap)
    levels = np.full((2, 3000), 0.1)
    levels[0, 1000:] = levels[1, 1000 + gap :] = 0.7
    values = (rng.random((2, 3000)) < levels).T.astype(float).tolist()
    made, twin = Agreement(), Twin()
    found = [made.update(*each) for each in values]
    assert found == [twin.update(*each) for each in values]
    assert any(found)
    assert not any(found[: 1000 + gap])


@pytest.mark.stat
@pytest.mark.parametrize("m", [4, 9, 25])
def test_sets_find_a_rise_of_their_mean_errors_sooner(m):
    """Mean errors of m elements, 0.21 on average; then 0.36 for 60 rounds. Ten fixed seeds."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        shares = np.where(np.arange(2060) < 2000, 0.3, 0.675)
        squares = np.where(rng.random((m, 2060)) < shares, 0.49, 0.09).mean(axis=0).tolist()
        of_sets, of_one = Agreement(m), Agreement()
        sets, one = ([each.update(x, x) for x in squares] for each in (of_sets, of_one))
        assert not any(sets[:2000])
        assert sum(sets) > 0
        assert not any(one) or sets.index(True) <= one.index(True)
        same = reread(of_sets)
        assert np.array_equal(same.numbers, of_sets.numbers)


def test_one_test_alone_finds_nothing():
    made = Agreement()
    assert not any(made.update(float(t >= 500), 0.1) for t in range(5000))


def test_an_alarm_that_is_too_old_does_not_count():
    """The second stream rises when three times as much has been read as at the first alarm."""
    made = Agreement()
    assert not any(made.update(float(t >= 500), float(t >= 1800)) for t in range(3000))


@pytest.mark.parametrize("values", [(np.nan, 0.1), (0.1, np.inf)])
def test_what_is_not_finite_is_refused_and_changes_nothing(values):
    made, twin = Agreement(), Agreement()
    with pytest.raises(hn.LossError):
        made.update(*values)
    for each in vars(made):
        assert np.array_equal(getattr(made, each), getattr(twin, each))


def test_errors_are_read_less_the_variance_that_explains_them_and_as_they_are():
    rng = np.random.default_rng(3)
    made, twin, totals = Agreement(), Twin(), np.ones(2)
    alarms = 0
    for t in range(3000):
        square, variance = rng.random() * (0.2 if t < 1500 else 1.0), 0.2 * rng.random()
        surprise = (square - min(1.0, totals[0] / totals[1]) * variance + 0.25) / 1.25
        found = made.weigh(square, variance)
        assert found == twin.update(surprise, square)
        totals += square, variance
        alarms += found
    assert alarms


@pytest.mark.parametrize("values", [(np.nan, 0.1), (np.inf, 0.1), (0.1, np.nan)])
def test_errors_that_are_not_finite_change_nothing(values):
    made, twin = Agreement(), Agreement()
    with pytest.raises(hn.LossError):
        made.weigh(*values)
    assert np.array_equal(made.numbers, twin.numbers)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (kernel.MINIMUM, 0.0),
        (kernel.DELTA, 1.0),
        (kernel.TOTALS, 0.0),
        (kernel.COUNTS, -1.0),
        (kernel.COUNTS + 1, 0.5),
        (kernel.COUNTS + 2, 1e100),
        (kernel.SPREADS + 3, -1.0),
    ],
)
def test_numbers_that_no_game_leaves_are_refused(place, value):
    made = Agreement()
    made.update(0.5, 0.5)
    assert np.array_equal(reread(made).numbers, made.numbers)
    made.numbers[place] = value
    with pytest.raises(hn.DamagedFileError, match="an invalid Agreement: wrong value of numbers"):
        reread(made)
