import copy
import pickle

import numpy as np
import pytest
from river import base, drift

import hannan as hn
from hannan.adapters import RiverDetector
from hannan.checks import PARAMETER_CHECKS, check_docstring
from tests import drifting

RNG = np.random.default_rng(0)
LOW, HIGH = (RNG.random(600) < 0.1).astype(float), (RNG.random(600) < 0.8).astype(float)

DETECTORS = {
    "ADWIN": drift.ADWIN(),
    "ADWIN, other": drift.ADWIN(delta=0.1, clock=1, grace_period=40),
    "PageHinkley": drift.PageHinkley(threshold=20.0),
    "KSWIN": drift.KSWIN(alpha=1e-4, seed=0),
    "DDM": drift.binary.DDM(),
    "HDDM_A": drift.binary.HDDMA(),
    "HDDM_W": drift.binary.HDDMW(),
}


def alarms(detector, stream):
    return [t for t, value in enumerate(stream) if detector.update(value)]


def rivers_own(detector, stream):
    detector, found = detector.clone(), []
    for t, value in enumerate(stream):
        detector.update(value)
        if detector.drift_detected:
            found.append(t)
    return found


@pytest.mark.parametrize("name", DETECTORS)
def test_a_rise_is_found_where_river_finds_it(name):
    stream = np.concatenate([LOW, HIGH])
    expected = rivers_own(DETECTORS[name], stream)
    assert 600 <= expected[0] < 700
    assert alarms(RiverDetector(DETECTORS[name]), stream)[0] == expected[0]


@pytest.mark.parametrize("name", DETECTORS)
def test_a_fall_is_no_drift(name):
    assert not alarms(RiverDetector(DETECTORS[name]), np.concatenate([HIGH, LOW]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ADWIN", "ADWIN, other", "PageHinkley", "KSWIN", "HDDM_A"])
def test_a_fall_would_be_found_and_a_rise_after_it_is(name):
    stream = np.concatenate([HIGH, LOW, HIGH])
    own = rivers_own(DETECTORS[name], stream)
    found = alarms(RiverDetector(DETECTORS[name]), stream)
    assert 1200 <= found[0] < 1300
    if name != "HDDM_A":  # which looks at one side only, unless told otherwise
        assert any(600 <= t < 1200 for t in own)


def test_an_alarm_makes_it_forget():
    detector = RiverDetector(drift.PageHinkley())
    first = alarms(detector, np.concatenate([LOW, HIGH]))[0]
    detector.reset()
    assert alarms(detector, np.concatenate([LOW, HIGH]))[0] == first
    detector = RiverDetector(drift.PageHinkley())
    once = alarms(detector, np.concatenate([LOW, HIGH[: first - 599]]))
    assert once == [first]
    assert not alarms(detector, HIGH)


class At(base.DriftDetector):
    """Finds drift at the n-th value."""

    def __init__(self, n=4):
        super().__init__()
        self.n = n
        self.seen = 0

    def update(self, x):
        self.seen += 1
        self._drift_detected = self.seen == self.n


def test_the_last_values_are_compared_with_older_ones():
    assert alarms(RiverDetector(At(4)), [0.0, 0.2, 0.1, 0.2]) == [3]
    assert alarms(RiverDetector(At(4)), [0.2, 0.1, 0.2, 0.0]) == []
    assert alarms(RiverDetector(At(4), recent=1), [0.0, 0.3, 0.0, 0.2]) == [3]
    # At most half of the values are recent.
    assert alarms(RiverDetector(At(4), recent=3), [0.0, 0.3, 0.0, 0.1]) == []
    assert alarms(RiverDetector(At(1)), [1.0]) == []
    # And those before the last change count no more.
    assert alarms(RiverDetector(At(2), recent=5), [1.0, 0.9, 0.1, 0.2]) == [3]


def test_binary_detectors_are_shown_what_is_above_the_threshold():
    stream = np.concatenate([0.2 + 0.1 * LOW, 0.2 + 0.1 * HIGH])
    assert not alarms(RiverDetector(drift.binary.DDM()), stream)
    assert alarms(RiverDetector(drift.binary.DDM(), threshold=0.25), stream)


@pytest.mark.parametrize("name", ["ADWIN", "PageHinkley", "HDDM_A"])
def test_learners_restart_in_a_world_that_changes(name):
    detector = RiverDetector(DETECTORS[name])
    learner = hn.Restarting(drifting.bandit(), detector)
    drifting.play(learner, drifting.toy(1500, changes=(500, 1000)))
    assert [t // 500 for t in learner.restarts] == [1, 2]


@pytest.mark.parametrize("name", ["ADWIN", "PageHinkley", "HDDM_A"])
def test_learners_do_not_restart_where_nothing_changes(name):
    learner = hn.Restarting(drifting.bandit(), RiverDetector(DETECTORS[name]))
    drifting.play(learner, drifting.toy(1500))
    assert learner.restarts == []


@pytest.mark.parametrize("inner", [drift.KSWIN(seed=3), drift.ADWIN()], ids=["KSWIN", "ADWIN"])
def test_a_copy_reads_on_like_the_original(inner):
    original = RiverDetector(inner)
    alarms(original, LOW)
    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    expected = alarms(original, HIGH)
    assert expected
    for twin in twins:
        assert alarms(twin, HIGH) == expected


@pytest.mark.parametrize(
    "detector", ["ADWIN", drift.ADWIN, drift.KSWIN(), hn.detectors.Bernstein()]
)
def test_what_is_no_detector_is_refused(detector):
    with pytest.raises(hn.ParameterError, match="detector"):
        RiverDetector(detector)


def test_bad_values_are_refused():
    with pytest.raises(hn.LossError, match="nan"):
        RiverDetector(drift.ADWIN()).update(float("nan"))
    with pytest.raises(hn.ParameterError, match="recent"):
        RiverDetector(drift.ADWIN(), recent=0)
    with pytest.raises(hn.ParameterError, match="threshold"):
        RiverDetector(drift.ADWIN(), threshold=float("inf"))
    with pytest.raises(hn.ParameterError, match="threshold"):
        RiverDetector(drift.ADWIN(), threshold="a")


@pytest.mark.parametrize("check", PARAMETER_CHECKS)
def test_parameters(check):
    check(RiverDetector(drift.ADWIN(delta=0.01), recent=9))


def test_the_docstring_is_complete():
    check_docstring(RiverDetector, ("Parameters", "Examples", "References"))
