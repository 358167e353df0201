"""The commands to start with: demo, init, describe, and list with one kind."""

from __future__ import annotations

import inspect
import json
import tomllib
from pathlib import Path

import pytest

import hannan as hn
from hannan.cli import main
from hannan.experiments.catalogue import KINDS, entries

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Write files into an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_init_writes_an_experiment_that_runs(capsys):
    assert main(["init"]) == 0
    assert "hannan run experiment.toml" in capsys.readouterr().out
    table = tomllib.loads(Path("experiment.toml").read_text())
    assert {"title", "seeds", "environments", "learners"} <= table.keys()
    assert main(["run", "experiment.toml", "--dry-run"]) == 0
    assert "hn.bandit" in capsys.readouterr().out


def test_init_overwrites_nothing(capsys):
    Path("mine.toml").write_text("kept")
    assert main(["init", "mine.toml"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert Path("mine.toml").read_text() == "kept"
    assert main(["init", "no/such/folder.toml"]) == 2
    assert main(["init", "other.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": "other.toml"}


def test_the_demo_of_offers_agrees_with_hn_replay(capsys):
    assert main(["demo", "offers", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    replayed = hn.replay(
        ROOT / "src/hannan/data/offers.csv", action="offer", reward="margin",
        propensity="propensity", context=["age", "channel", "orders"], unit="€",
    )  # fmt: skip
    assert shown["answer"] == str(replayed.answer)
    assert Path("results/offers/report.html").exists()


def test_a_demo_that_there_is_not_is_an_error(capsys):
    assert main(["demo", "nothing"]) == 2
    assert "'quickstart', 'offers'" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [*KINDS, "options"])
def test_describe_knows_every_name_that_list_shows(kind, capsys):
    for entry in entries(kind):
        assert main(["describe", entry.name]) == 0
        text = capsys.readouterr().out
        assert text.startswith(entry.name + "(")
        first = entry.summary.split(":")[0].split("`")[0]  # before formulas
        assert first in " ".join(text.split())
        if "parameters" in (inspect.getdoc(entry.made) or "").lower():
            assert "Parameters" in text
        assert ":math:`" not in text


def test_describe_knows_constructors_and_suggests_names(capsys):
    assert main(["describe", "Paths.towards"]) == 0
    assert "target" in capsys.readouterr().out
    assert main(["describe", "hn.bandit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "learners"
    assert main(["describe", "Switching", "--json"]) == 0  # an environment and an oracle
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["describe", "oracles.Switching"]) == 0
    assert "policies" in capsys.readouterr().out
    assert main(["describe", "Pths"]) == 2
    assert "Did you mean 'Paths'?" in capsys.readouterr().err
    assert main(["describe", "Paths.toward"]) == 2
    assert "Did you mean 'Paths.towards'?" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [*KINDS, "options"])
def test_list_takes_the_singular(kind, capsys):
    assert main(["list", kind.removesuffix("s"), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == [kind]
