import copy
import pickle
import sys

import numpy as np
import pytest
from river.drift import ADWIN

import hannan as hn
from hannan.checks import PARAMETER_CHECKS, check_docstring
from hannan.detectors import Adwin

RNG = np.random.default_rng(0)
LOW, HIGH = (RNG.random(600) < 0.1).astype(float), (RNG.random(600) < 0.8).astype(float)


def alarms(detector, stream):
    return [t for t, value in enumerate(stream) if detector.update(value)]


def rivers_own(stream, **options):
    window, found = ADWIN(**options), []
    for t, value in enumerate(stream):
        window.update(value)
        if window.drift_detected:
            found.append(t)
    return found


@pytest.mark.parametrize("options", [{}, {"delta": 0.1, "clock": 1, "grace_period": 40}], ids=str)
def test_a_rise_is_found_where_river_finds_it(options):
    stream = np.concatenate([LOW, HIGH])
    expected = rivers_own(stream, **options)
    assert expected[0] >= 600
    assert alarms(Adwin(**options), stream)[0] == expected[0]


def test_a_fall_is_no_drift():
    stream = np.concatenate([HIGH, LOW])
    assert rivers_own(stream)
    assert not alarms(Adwin(), stream)


def test_a_rise_after_a_fall_is_found():
    found = alarms(Adwin(), np.concatenate([HIGH, LOW, HIGH]))
    assert len(found) == 1
    assert 1200 <= found[0] < 1300


def test_a_copy_reads_on_like_the_original():
    original = Adwin()
    alarms(original, LOW)
    twins = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    expected = alarms(original, HIGH)
    assert expected
    for twin in twins:
        assert alarms(twin, HIGH) == expected


def test_without_river_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.drift", None)
    with pytest.raises(hn.MissingPackageError, match=r"pip install 'hannan\[drift\]'") as caught:
        Adwin()
    assert isinstance(caught.value, ImportError)


def test_river_is_not_loaded_before_it_is_needed():
    import subprocess

    script = "import sys, hannan as hn; hn.Restarting, hn.detectors.Bernstein(); "
    script += "print('river' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("check", PARAMETER_CHECKS)
def test_parameters(check):
    check(Adwin(delta=0.01, clock=8))


def test_the_docstring_is_complete():
    check_docstring(Adwin, ("Parameters", "Examples", "References"))
