"""The small commands: list, completion, help, version, verify."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

import hannan as hn
from hannan.cli import cli, main
from hannan.experiments.catalogue import KINDS


def test_list_shows_every_public_class_with_a_line(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    for kind in KINDS:
        assert kind in printed
    for package in (hn.oracles, hn.environments, hn.baselines):
        assert all(name in printed for name in package.__all__)
    assert all(name in printed for name in ("options", "Trust", "Resampling", "Pool"))
    assert max(map(len, printed.splitlines())) <= 80


def test_list_of_one_kind_as_json(capsys):
    assert main(["list", "oracles", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"oracles"}
    assert set(told["oracles"]) >= {"Paths", "FinitePolicies"}
    assert all(line.endswith(".") for line in told["oracles"].values())


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hannan {hn.__version__}\n"


@pytest.mark.parametrize("name", cli.list_commands(None))
def test_every_command_has_help_and_json(name, capsys):
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Usage: hannan " + name)
    assert "--json" in text
    assert len(text.splitlines()[2].strip()) > 20


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_HANNAN_COMPLETE" in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, text=True, check=False)
        assert checked.returncode == 0


@pytest.mark.slow
def test_the_shell_completes_commands():
    environment = {
        **os.environ,
        "_HANNAN_COMPLETE": "bash_complete",
        "COMP_WORDS": "hannan re",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "hannan"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "replay" in done.stdout


def test_verify_as_json(capsys):
    assert main(["verify", "--only", "be-the-leader", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["claims"][0]["passed"] is True
    assert told["claims"][0]["checks"]


def test_verify_refuses_a_claim_that_there_is_not(capsys):
    assert main(["verify", "--only", "fermat"]) == 2
    assert capsys.readouterr().err.startswith("hannan: ")
    assert main(["verify", "--quick", "--full"]) == 2


def test_an_interrupted_command_has_the_shells_exit_code(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hannan.cli.listing.entries", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr().err.strip() == "hannan: interrupted."
