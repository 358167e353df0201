"""Whole runs: the same bytes, however they came about."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan.experiments import make_plan, read_plan, run
from hannan.experiments.run import read_run
from tests.thinning import one_in

ROOT = Path(__file__).parents[2]
POLICIES = {"type": "FinitePolicies.random", "n_policies": 30, "n_contexts": 5, "n_actions": 3}
GRID = {
    "horizon": 300,
    "seeds": 2,
    "points": 20,
    "environments": {
        "planted": {"type": "PlantedPolicy", "policies": POLICIES},
        "punisher": {"type": "FrequencyPunisher", "policies": POLICIES},
    },
    "learners": {
        "ours": {"type": "ContextFTPL"},
        "bandit": {"type": "ContextSemiBanditFTPL"},
        "hedge": {"type": "Hedge"},
    },
}


def written(folder):
    """The reproducible file."""
    return (Path(folder) / "results.jsonl").read_bytes()


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """What the grid gives in one process."""
    folder = tmp_path_factory.mktemp("serial")
    done = run(make_plan(GRID), folder)
    assert done.played == len(done.records) == 2 * 2 * 3 + 2
    return written(folder)


@pytest.mark.slow
def test_a_repeated_run_plays_nothing_and_changes_nothing(tmp_path, serial):
    plan = make_plan(GRID)
    run(plan, tmp_path)
    assert written(tmp_path) == serial
    before = (tmp_path / "times.jsonl").read_bytes()
    again = run(plan, tmp_path)
    assert again.played == 0
    assert len(again.records) == len(plan.cells)
    assert written(tmp_path) == serial
    assert (tmp_path / "times.jsonl").read_bytes() == before


def test_parts_in_any_order_make_the_same_file(tmp_path, serial):
    later = {**GRID, "environments": {"punisher": GRID["environments"]["punisher"]}}
    run(make_plan(later), tmp_path)
    run(make_plan({**GRID, "seeds": [1]}), tmp_path)
    rest = run(make_plan(GRID), tmp_path)
    assert 0 < rest.played < len(rest.records)
    assert written(tmp_path) == serial


def test_results_of_other_plans_are_kept_and_not_shown(tmp_path):
    run(make_plan({**GRID, "seeds": [7]}), tmp_path)
    done = run(make_plan({**GRID, "seeds": [1]}), tmp_path)
    assert {record["cell"]["seed"] for record in done.records} == {1}
    assert {record["cell"]["seed"] for record in read_run(tmp_path)[0].records} == {1}
    assert run(make_plan({**GRID, "seeds": [7]}), tmp_path).played == 0


@pytest.mark.slow
@pytest.mark.parametrize("backend", one_in(3, ["loky", "dask", "ray"]))
def test_every_back_end_gives_the_same_file_when_run_again_after_a_death(backend, tmp_path):
    mark = tmp_path / "killed"
    mark.with_suffix(".pid").write_text(str(os.getpid()))
    deadly = {"type": "mine:Assassin", "mark": str(mark)}
    worlds = {"deadly": deadly | {"policies": POLICIES}, **GRID["environments"]}
    shutil.copy(ROOT / "tests" / "experiments" / "assassin.py", tmp_path / "mine.py")
    plan = make_plan({**GRID, "environments": worlds}, folder=tmp_path)
    run(plan, tmp_path / backend, backend=backend, jobs=2)
    assert mark.exists(), "no worker was killed"
    again = run(plan, tmp_path / backend, backend=backend, jobs=2)
    assert again.failures == []
    run(plan, tmp_path / "serial")
    assert written(tmp_path / backend) == written(tmp_path / "serial")


def test_one_cell_that_fails_does_not_stop_the_others(tmp_path):
    losses = np.zeros((100, 2))
    losses[60] = 3.0
    table = {
        "environments": {
            "bad": {"type": "FromArrays", "contexts": None, "losses": losses.tolist()},
            "good": {"type": "FromArrays", "contexts": None, "losses": [[0.0, 1.0]] * 50},
        },
        "learners": {
            "uniform": {"type": "UniformRandom"},
            "wide": {"type": "UniformRandom", "loss_range": [0.0, 5.0]},
        },
    }
    done = run(make_plan(table), tmp_path)
    assert [cell.label for cell, _ in done.failures] == ["uniform on bad, seed 0"]
    assert done.failures[0][1].expected
    assert "3" in done.failures[0][1].error
    assert len(done.records) == 3
    assert run(make_plan(table), tmp_path).played == 0  # what failed is tried again, and fails


PLAN = """
seeds = 6
horizon = 2500
[environments.planted]
type = "PlantedPolicy"
policies = { type = "FinitePolicies.random", n_policies = 50, n_contexts = 8, n_actions = 4 }
[learners.ours]
type = "ContextFTPL"
[learners.bandit]
type = "ContextSemiBanditFTPL"
"""


@pytest.mark.slow
def test_a_run_killed_again_and_again_loses_only_cells_under_way(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN, encoding="utf-8")
    run(read_plan(file), tmp_path / "whole")
    command = [sys.executable, "-m", "hannan", "run", str(file), "--no-report"]
    command += ["--backend", "serial", "--output", str(tmp_path / "killed")]
    rng = np.random.default_rng(0)
    known: set[str] = set()
    kills = 0
    for _ in range(5):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        results = tmp_path / "killed" / "results.jsonl"
        deadline = time.monotonic() + 60.0
        before = results.stat().st_size if results.exists() else 0
        # Wait until it has written something new, then a little more, and kill it.
        while process.poll() is None and time.monotonic() < deadline:
            if results.exists() and results.stat().st_size > before:
                time.sleep(float(rng.uniform(0.0, 0.15)))
                break
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        finished = process.wait() == 0
        kills += not finished
        done = {record["key"] for record in read_run(tmp_path / "killed")[0].records}
        assert known <= done, "a finished cell was lost"
        known = done
        if finished:
            break
    assert kills >= 2, "it was never killed midway"
    final = run(read_plan(file), tmp_path / "killed")
    assert written(tmp_path / "killed") == written(tmp_path / "whole")
    assert len(final.records) == 18


def test_two_runs_at_once_are_refused(tmp_path):
    from hannan.experiments.results import Results

    with Results.writing(tmp_path), pytest.raises(hn.HannanError, match="Another run"):
        run(make_plan(GRID), tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(hn.HannanError, match=r"file.*cannot be written|cannot be written.*file"):
        run(make_plan(GRID), tmp_path / "file" / "results")
