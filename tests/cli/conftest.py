"""A small experiment file, and a terminal of the usual width."""

from __future__ import annotations

import pytest

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
