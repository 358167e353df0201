"""A small experiment file, a terminal of the usual width, and an installed wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SMALL = """
title = "A small one"
seeds = 2
horizon = 200
points = 10
[environments.punisher]
type = "LeaderPunisher"
title = "Leader punisher"
policies = { type = "FinitePolicies.random", n_policies = 40, n_contexts = 5, n_actions = 3 }
[learners.ours]
type = "ContextFTPL"
[learners.leader]
type = "FollowTheLeader"
[learners.uniform]
type = "UniformRandom"
"""


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    """The usual width."""
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A small experiment in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def wheel_environment(tmp_path_factory):
    """Build the wheel and install it, with its dependencies, into an empty environment."""
    folder = tmp_path_factory.mktemp("wheel")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COVERAGE"))}

    def call(*command: str | Path) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder, env={**clean, "COLUMNS": "80"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    build = "import hatchling.build as b, sys; b.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    call(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    pip = python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"
    call(*pip, "--require-hashes", "-r", ROOT / "constraints.txt")
    call(*pip, "--no-deps", wheel)
    assert str(folder) in call(python, "-c", "import hannan; print(hannan.__file__)")
    return lambda *arguments: call(python.with_name("hannan"), *arguments)
