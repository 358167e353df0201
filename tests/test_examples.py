"""Every example runs on its own and prints what it promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str) -> str:
    """Run a script in a fresh interpreter, warnings being errors."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(text: str) -> list[float]:
    """All numbers of a text, in order."""
    return [float(found.replace(",", "")) for found in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def test_the_expert_learner_comes_close_to_the_best_expert():
    uniform, best, learner, regret = (
        numbers(line)[-1] for line in run("experts_with_contexts.py").splitlines()[:4]
    )
    assert regret == pytest.approx(learner - best, abs=1.0)
    assert learner - best < 0.2 * (uniform - best)


def test_a_user_solver_is_certified():
    output = run("own_solver.py")
    assert 3 <= numbers(output)[0] <= 7
    assert "(measured)" in output


def test_imagined_customers_save_the_leader():
    follower, learner = (numbers(line)[0] for line in run("fake_outcomes.py").splitlines()[:2])
    assert learner < follower / 4


def test_the_regret_curve_stays_under_the_certificate():
    rows = [numbers(line) for line in run("regret_curve.py").splitlines()[1:]]
    assert [row[0] for row in rows] == list(range(1000, 10_001, 1000))
    for _, regret, _, certain, a_priori in rows:
        assert regret <= certain <= a_priori


def test_routes_come_close_to_the_best_one(tmp_path):
    routes, best, *tenths = (
        number for line in run("online_routing.py").splitlines()[:2] for number in numbers(line)
    )
    assert routes > 100
    assert tenths[-1] < best + 0.5 < tenths[0]
    picture = tmp_path / "routes.png"
    command = [sys.executable, str(EXAMPLES / "online_routing.py"), str(picture)]
    subprocess.run(command, check=True, timeout=120, env={**os.environ, "MPLBACKEND": "Agg"})
    assert picture.stat().st_size > 1000


def test_every_example_is_tested_and_short():
    tested = Path(__file__).read_text(encoding="utf-8")
    for script in EXAMPLES.glob("*.py"):
        assert f'run("{script.name}")' in tested
        assert 15 <= len(script.read_text(encoding="utf-8").splitlines()) <= 40, script.name
