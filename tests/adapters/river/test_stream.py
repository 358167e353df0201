import subprocess
import sys

import numpy as np
import pytest
from river import datasets
from river.datasets import synth

import hannan as hn
from hannan.adapters import FromRiver
from hannan.checks import check_docstring, check_environment

PAIRS = [({"a": 1, "b": 2.0}, "cat"), ({"b": 4.0}, "dog"), ({"a": 3, "b": 0.0}, "cat")]


@pytest.mark.parametrize(
    ("world", "horizon"),
    [
        (FromRiver(PAIRS), None),
        (FromRiver(datasets.Phishing(), scale="running-unit"), 50),
        (FromRiver(synth.SEA(seed=0), scale="running-standard"), 50),
        (FromRiver(synth.LED(seed=0)), 50),
    ],
    ids=repr,
)
def test_the_contract_is_kept(world, horizon):
    check_environment(world, horizon)


def played(world, horizon=3):
    rounds = []
    for this_round in world.rounds(horizon, np.random.default_rng(0)):
        this_round.reveal(0)
        rounds.append((this_round.context.tolist(), this_round.losses.tolist()))
    return rounds


def test_pairs_become_rounds():
    world = FromRiver(PAIRS)
    assert (world.n_actions, world.horizon) == (2, 3)
    assert played(world) == [([1, 2], [0, 1]), ([0, 4], [1, 0]), ([3, 0], [0, 1])]


def test_labels_may_be_given_in_order():
    world = FromRiver(PAIRS, labels=["bird", "dog", "cat"], features=["b"])
    assert played(world) == [([2], [1, 1, 0]), ([4], [1, 0, 1]), ([0], [1, 1, 0])]


def test_features_are_scaled_as_they_come():
    rows = [row for row, _ in played(FromRiver(PAIRS, scale="running-unit"))]
    assert rows == [[0, 0], [0, 1], [1, 0]]


def test_river_data_come_in_their_order():
    world = FromRiver(datasets.ImageSegments())
    assert (world.n_actions, world.horizon) == (7, 2310)
    for (row, losses), (x, _) in zip(played(world, 20), datasets.ImageSegments(), strict=False):
        assert row == pytest.approx(list(x.values()))
        assert sum(losses) == 6


def test_a_learner_learns_from_a_stream():
    world = FromRiver(synth.SEA(variant=0, seed=3), scale="running-unit")
    learner = hn.ContextFTPL(hn.oracles.LinearPolicies(2), seed=0)
    losses = hn.play(learner, world, horizon=1000, seed=0).losses
    assert losses[500:].mean() < 0.2


def test_a_stream_that_is_too_short_is_refused():
    with pytest.raises(hn.ParameterError, match="has 3 rounds, less than the horizon 4"):
        played(FromRiver(PAIRS), 4)

    class Unknown:
        def __iter__(self):
            return iter(PAIRS)

    with pytest.raises(hn.ParameterError, match="has 3 rounds, less than the horizon 4"):
        played(FromRiver(Unknown(), labels=["cat", "dog"]), 4)


@pytest.mark.parametrize(
    ("stream", "options", "named"),
    [
        (iter(PAIRS), {}, "stream"),
        (7, {}, "stream"),
        ([], {}, "at least one pair"),
        (synth.SEA(), {}, "seed"),
        (PAIRS, {"labels": []}, "labels"),
        (PAIRS, {"labels": ["cat", "cat"]}, "labels"),
        (PAIRS, {"scale": "unit"}, "scale"),
        (PAIRS, {"features": []}, "features"),
        (PAIRS, {"oracle": hn.oracles.LinearPolicies(5)}, "5 actions"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_parameters_are_refused(stream, options, named):
    with pytest.raises(hn.ParameterError, match=named):
        FromRiver(stream, **options)


def test_unknown_labels_are_refused():
    with pytest.raises(hn.LossError, match="'dog'"):
        played(FromRiver(PAIRS, labels=["cat"]))


def test_the_docstring_is_complete():
    check_docstring(FromRiver, ("Parameters", "Examples"))


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


def test_river_is_not_loaded_before_it_is_needed():
    script = "import sys, hannan as hn; hn.adapters, hn.Restarting, hn.detectors.Bernstein(); "
    assert run(script + "print('river' in sys.modules)") == "False"


@pytest.mark.parametrize(
    "name", ["RiverPolicy", "RiverPolicies", "RiverPredictor", "RiverDetector"]
)
def test_without_river_the_extra_is_named(name):
    script = (
        "import sys; sys.modules['river'] = None\n"
        "import hannan as hn\n"
        f"try: hn.adapters.{name}(None, *[2] * ({name!r} == 'RiverPolicies'))\n"
        "except hn.MissingPackageError as error: print(error)"
    )
    assert "pip install 'hannan[adapters]'" in run(script)
