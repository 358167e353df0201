"""The command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hannan as hn
from hannan.cli import main

ROOT = Path(__file__).parents[1]
LEARNERS = ("FollowTheLeader", "UniformRandom", "ContextFTPL")


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    """A terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", "80")


def rows(text: str) -> list[list[str]]:
    """The cells of each learner's row, in order."""
    cells = [line.split() for line in text.splitlines()]
    return [row for row in cells if row and row[0] in LEARNERS]


def test_quickstart_prints_every_learner_on_both_worlds(capsys):
    assert main(["quickstart", "--horizon", "300"]) == 0
    output = capsys.readouterr().out
    assert [row[0] for row in rows(output)] == [*LEARNERS, *LEARNERS]
    assert all(len(row) == 6 for row in rows(output))
    assert "PlantedPolicy" in output
    assert "LeaderPunisher" in output


def test_quickstart_fits_eighty_columns_uncut(capsys):
    main(["quickstart", "--horizon", "300"])
    output = capsys.readouterr().out
    assert "…" not in output
    assert max(map(len, output.splitlines())) <= 80


def test_the_leader_is_punished_and_the_perturbed_leader_is_not(capsys):
    main(["quickstart", "--horizon", "2000"])
    follower, _, learner = rows(capsys.readouterr().out)[3:]
    assert follower[1] == "1.0000"
    assert float(learner[2]) < float(follower[2].replace(",", "")) / 4


def test_the_same_seed_prints_the_same_results(capsys):
    tables = []
    for _ in range(2):
        main(["quickstart", "--horizon", "300", "--seed", "7"])
        tables.append([row[:-1] for row in rows(capsys.readouterr().out)])
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    "bad", [["--horizon", "0"], ["--horizon", "-5"], ["--seed", "-1"]], ids=" ".join
)
def test_a_bad_value_is_one_line_and_exit_status_two(bad, capsys):
    assert main(["quickstart", *bad]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hannan: ")
    assert captured.err.count("\n") == 1
    assert bad[1] in captured.err


def test_a_horizon_that_is_no_number_is_refused():
    with pytest.raises(SystemExit) as stop:
        main(["quickstart", "--horizon", "many"])
    assert stop.value.code == 2


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"hannan {hn.__version__}\n"


@pytest.mark.slow
def test_the_readme_shows_the_table_that_make_run_prints(capsys):
    main(["quickstart"])
    printed = [row[:-1] for row in rows(capsys.readouterr().out)]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(.*?)```", readme, flags=re.DOTALL)
    assert block is not None
    assert [row[:-1] for row in rows(block[1])] == printed
