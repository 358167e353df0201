import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hannan as hn
from hannan.checks import check_environment
from hannan.off_policy import Log
from tests.off_policy.logs import K, draw

GOOD = {
    "contexts": [0, 1, 1],
    "actions": [0, 2, 1],
    "losses": [0.0, 1.0, 0.5],
    "propensities": [0.5, 0.25, 1.0],
    "n_actions": 3,
}
RICH = {
    **GOOD,
    "contexts": np.array([[0.5, 1.0], [0.0, -2.0], [3.0, 4.0]]),
    "available": [[0, 1], [2, 0, 1], [1]],
    "distribution": [[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 1.0, 0.0]],
    "weights": [2.0, 3.5, 1.0],
    "draws": 100,
}


def test_rounds_come_in_order():
    found = list(Log(**RICH))
    assert [r.action for r in found] == [0, 2, 1]
    assert [r.loss for r in found] == [0.0, 1.0, 0.5]
    assert [r.propensity for r in found] == [0.5, 0.25, 1.0]
    assert [r.weight for r in found] == [2.0, 3.5, 1.0]
    assert [r.available.tolist() for r in found] == [[0, 1], [0, 1, 2], [1]]
    assert found[1].context.tolist() == [0.0, -2.0]
    assert found[1].distribution.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize("given", [GOOD, RICH])
def test_parts_of_a_log_are_logs(given):
    log = Log(**given)
    assert log[1:] == log[[1, 2]] == log[np.array([False, True, True])]
    assert log[1:] != log[:2]
    assert log[::-1][::-1] == log
    assert len(log[:0]) == 0
    assert log[-1].action == 1
    assert log[1:].draws == log.draws
    with pytest.raises(IndexError):
        log[3]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("contexts", [0, 1, 0]),
        ("losses", [0.0, 1.0, 0.25]),
        ("weights", [2.0, 3.5, 1.5]),
        ("draws", None),
        ("available", None),
        ("distribution", None),
    ],
)
def test_logs_that_differ_are_not_equal(name, other):
    assert Log(**RICH) == Log(**RICH)
    assert Log(**RICH) != Log(**{**RICH, name: other})


def test_a_log_cannot_be_changed_and_does_not_hold_what_it_was_given():
    losses = np.array([0.0, 1.0, 0.5])
    log = Log(**{**GOOD, "losses": losses})
    losses[0] = 1.0
    assert log.losses[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        log.losses[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        log.losses = losses


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_actions": 0}, "'n_actions'"),
        ({"n_actions": 2}, "actions .* round 1 has 2"),
        ({"actions": [0, -1, 1]}, "actions .* round 1 has -1"),
        ({"actions": [0.0, 2.0, 1.0]}, "must be integers"),
        ({"actions": [[0], [2], [1]]}, "must be integers"),
        ({"losses": [0.0, np.nan, 1.0]}, "losses .* finite numbers; round 1"),
        ({"losses": ["a", "b", "c"]}, "losses .* must be numbers"),
        ({"losses": [0.0, 1.0]}, r"losses .* shape \(3,\)"),
        ({"propensities": [0.5, 0.0, 1.0]}, "propensities .* round 1 has 0"),
        ({"propensities": [0.5, 1e-200, 1.0]}, "propensities .* at least 1e-100; round 1"),
        ({"propensities": [0.5, 5e-324, 1.0]}, "propensities .* at least 1e-100; round 1"),
        ({"weights": [2.0, 1e200, 1.0]}, r"weights .* at most 1e\+100; round 1"),
        ({"propensities": [0.5, 0.25, 1.1]}, "propensities .* round 2 has 1.1"),
        ({"contexts": [0, 1]}, "a context for each of 3"),
        ({"contexts": 5}, "contexts .* must be a list"),
        ({"weights": [2.0, 0.5, 1.0]}, "weights .* round 1 has 0.5"),
        ({"draws": 0}, "'draws'"),
        ({"available": [[0], [2]]}, "each of 3 rounds"),
        ({"available": [[0], [1], [1]]}, r"available\[1\] must hold the logged action 2"),
        ({"available": [[0], [2, 3], [1]]}, r"'available\[1\]'"),
        ({"available": [[0], "2", [1]]}, r"available\[1\]= takes"),
        ({"available": 3}, "available= needs the actions of each of 3 rounds; got 3"),
        ({"distribution": np.full((3, 2), 0.5)}, r"shape \(3, 3\)"),
        ({"distribution": np.full((3, 3), 0.5)}, "which sum to 1; round 0"),
        (
            {"distribution": [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0, 1, 0]]},
            "in distribution=; round 1",
        ),
        (
            {
                "distribution": [[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0, 1, 0]],
                "available": [[0], [0, 1, 2], [1]],
            },
            "of the available actions.* round 0",
        ),
    ],
)
def test_what_cannot_be_is_refused(changes, message):
    with pytest.raises(hn.HannanError, match=message):
        Log(**{**GOOD, **changes})


def test_all_actions_of_a_round_are_none():
    log = Log(**{**GOOD, "available": [[0, 1], None, [1]]})
    assert [row.tolist() for row in log.available] == [[0, 1], [0, 1, 2], [1]]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("given", [GOOD, RICH, {**GOOD, "contexts": None}])
def test_frames_hold_all_of_a_log(make, given):
    log = Log(**given)
    assert Log.from_frame(make(log.to_frame())) == log
    assert Log.from_frame(make(log.to_frame()), n_actions=3) == log


def test_files_hold_all_of_a_log(tmp_path):
    log = Log(**RICH)
    path = tmp_path / "log.csv"
    pd.DataFrame(log.to_frame()).to_csv(path, index=False)
    assert Log.from_frame(pd.read_csv(path)) == log
    path = tmp_path / "log.parquet"
    pd.DataFrame(log.to_frame()).to_parquet(path)
    assert Log.from_frame(pd.read_parquet(path)) == log


def test_frames_that_lack_something_are_refused():
    with pytest.raises(hn.ParameterError, match="needs 'loss'"):
        Log.from_frame({"action": [0], "propensity": [1.0]}, n_actions=2)
    with pytest.raises(hn.ParameterError, match="n_actions="):
        Log.from_frame({"action": [0], "loss": [0.0], "propensity": [1.0]})
    with pytest.raises(hn.ParameterError, match="n_actions="):
        Log.from_frame(Log(**GOOD)[:0].to_frame())
    with pytest.raises(hn.ParameterError, match="same number in all rows; got 3 and 4"):
        Log.from_frame({**Log(**GOOD).to_frame(), "n_actions": [3, 3, 4]})
    bad = {**Log(**RICH).to_frame(), "available": ["0 x", "0", "1"]}
    with pytest.raises(hn.ParameterError, match="'available' must hold actions"):
        Log.from_frame(bad)


@pytest.mark.parametrize("given", ["log.csv", Path("log.csv"), 3, None])
def test_what_is_no_frame_is_refused(given):
    with pytest.raises(hn.InputTypeError, match=r"takes a frame .* use Log\.from_file"):
        Log.from_frame(given)


def test_contexts_may_come_in_a_frame():
    frame = pd.DataFrame({"age": [31.0, 48.0, 25.0], "hour": [9, 17, 12]})
    log = Log(**{**GOOD, "contexts": frame})
    assert log.features.tolist() == [[31.0, 9.0], [48.0, 17.0], [25.0, 12.0]]
    assert Log(**{**GOOD, "contexts": ["a", "b", "c"]}).features is None
    assert Log(**{**GOOD, "contexts": None})[0].context is None


def test_the_log_of_another_system_is_read_from_its_file(tmp_path):
    path = tmp_path / "ads.csv"
    path.write_text("hour,ad,click,p\n9,red,1,0.3\n10,blue,0,0.5\n11,red,0,0.3\n")
    log = Log.from_file(path, context="hour", action="ad", reward="click", propensity="p")
    assert log.contexts == [9, 10, 11]
    assert log.actions.tolist() == [1, 0, 1]
    assert log.losses.tolist() == [0.0, 1.0, 1.0]
    assert log.propensities.tolist() == pytest.approx([0.3, 0.5, 0.3], rel=1e-15)


def test_files_are_read_by_names_that_there_are():
    with pytest.raises(hn.ParameterError, match=r"Log\.from_file has no option 'contexts'"):
        Log.from_file("log.csv", contexts=["hour"], action="ad", loss="cost", propensity=0.5)
    with pytest.raises(hn.ParameterError, match=r"A log needs action=.* got action=None"):
        Log.from_file("log.csv", context=["hour"], loss="cost", propensity=0.5)


# Replay ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rejection", "importance"])
def test_replay_is_that_of_a_file(tmp_path, method):
    log = draw(200)
    path = tmp_path / "log.csv"
    pd.DataFrame(log.to_frame()).to_csv(path, index=False)
    file = hn.environments.FromLog(
        path,
        context="context",
        action="action",
        loss="loss",
        propensity="propensity",
        actions=range(K),
        method=method,
    )
    ours, theirs = log.environment(method=method), file
    pairs = zip(
        ours.rounds(200, np.random.default_rng(1)),
        theirs.rounds(200, np.random.default_rng(1)),
        strict=True,
    )
    for a, b in pairs:
        told = [r.reveal(1, hn.Feedback.BANDIT if method == "rejection" else hn.Feedback.FULL)
                for r in (a, b)]  # fmt: skip
        assert np.array_equal(*told) or told == [None, None]
        assert (a.context, a.current, a.weight, a.loss) == (b.context, b.current, b.weight, b.loss)
        assert a.losses == pytest.approx(b.losses, rel=1e-12)


def test_replay_keeps_the_contract():
    check_environment(draw(150).environment(baseline=0.0), 100, loss_range=(0.0, 10.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "'method'"),
        ({"baseline": "mean"}, "'baseline'"),
        ({"baseline": np.inf}, "'baseline'"),
        ({"floor": 0.0}, "'floor'"),
    ],
)
def test_bad_options_of_replay_are_refused(options, message):
    with pytest.raises(hn.ParameterError, match=message):
        draw(10).environment(**options)


def test_learners_that_cannot_use_a_log_are_refused():
    oracle = hn.oracles.AllPolicies(3, K)
    log = draw(20)
    with pytest.raises(hn.ParameterError, match="method='importance'"):
        hn.play(hn.ContextFTPL(oracle), log.environment())
    with pytest.raises(hn.ParameterError, match="loss_range=None"):
        hn.play(hn.ContextFTPL(oracle), log.environment(method="importance"))
    with pytest.raises(hn.ParameterError, match=r"horizon=21 .* at most 20"):
        hn.play(hn.ContextSemiBanditFTPL(oracle), log.environment(), 21)
    assert hn.play(
        hn.ContextFTPL(oracle, loss_range=None), log.environment(method="importance"), seed=0
    ).losses.size


def test_replay_tells_what_was_available():
    rng = np.random.default_rng(0)
    there = [np.sort(rng.permutation(K)[:2]) for _ in range(300)]
    actions = [int(rng.choice(row)) for row in there]
    losses = [float(a != 2) for a in actions]
    log = Log(None, actions, losses, np.full(300, 0.5), K, available=there)
    shown = [r.available.tolist() for r in log.environment().rounds(300, rng)]
    assert shown == [row.tolist() for row in there]
    rules = hn.oracles.AllPolicies(1, K)
    bandit = hn.ContextSemiBanditFTPL(rules, seed=0)
    full = hn.ContextFTPL(rules, loss_range=None, seed=0)
    for method, learner in (("rejection", bandit), ("importance", full)):
        trace = hn.play(learner, log.environment(method=method), seed=0)
        assert all(a in row for a, row in zip(trace.actions, there, strict=True))
        assert learner.best_policy()(None) == 2
