"""`hannan run` and `hannan show`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hannan.cli import main
from hannan.experiments import cell, search


def run(*arguments):
    """`hannan run small.toml` in this process."""
    return main(["run", "small.toml", "--backend", "serial", *arguments])


def test_a_run_prints_a_table_and_says_where_things_are(small, capsys):
    assert run() == 0
    printed = capsys.readouterr().out
    assert "Leader punisher, 200 rounds" in printed
    for name in ("ours", "leader", "uniform", "best in hindsight"):
        assert name in printed
    assert "8 runs completed, 0 reused from earlier results." in printed
    assert "results: results/small/results.jsonl" in printed
    assert "report:  results/small/report.html" in printed
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    page = (small.parent / "results/small/report.html").read_text(encoding="utf-8")
    assert "A small one" in page
    leader = next(line for line in printed.splitlines() if line.split()[:1] == ["leader"])
    assert "1.000 ± 0.000" in leader


def test_a_repeated_run_prints_the_same_table_and_plays_nothing(small, capsys):
    run("--no-report")
    first = capsys.readouterr().out
    run("--no-report")
    second = capsys.readouterr().out
    assert second == first.replace("8 runs completed, 0", "0 runs completed, 8")


def test_one_run_is_in_the_singular(small, capsys):
    assert run("--no-report") == 0
    capsys.readouterr()
    results = small.parent / "results/small/results.jsonl"
    lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
    results.write_text("".join(lines[:-1]), encoding="utf-8")
    assert run("--no-report") == 0
    assert "1 run completed, 7 reused from earlier results." in capsys.readouterr().out


def test_without_a_report_there_is_none(small, capsys):
    run("--no-report", "--output", "here")
    assert "report:" not in capsys.readouterr().out
    assert not (small.parent / "here" / "report.html").exists()
    assert (small.parent / "here" / "results.jsonl").exists()


def test_json_is_one_object_and_nothing_else(small, capsys):
    assert run("--json", "--no-report") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["played"] == 8
    assert [row["learner"] for row in told["rows"]] == ["ours", "leader", "uniform"]
    assert told["rows"][1]["mean_loss"] == {"mean": 1.0, "half_width": 0.0, "count": 2}
    assert told["failures"] == {}


def test_a_dry_run_lists_the_games(small, capsys):
    assert run("--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert lines[0] == "ours on punisher, seed 0"
    assert not (small.parent / "results").exists()
    run("--dry-run", "--json")
    assert json.loads(capsys.readouterr().out)["games"] == lines


def test_learners_that_do_not_learn_see_nothing(small, capsys):
    assert run("--no-report") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    feedback = {words[0]: words[1] for words in lines if words[:1] in (["ours"], ["uniform"])}
    assert feedback == {"ours": "full", "uniform": "none"}


INEXACT = """
seeds = 2
horizon = 60
[environments.wine]
type = "Classification.bundled"
dataset = "wine"
policies = { type = "LinearPolicies", n_actions = 3 }
[learners.uniform]
type = "UniformRandom"
"""


def test_the_models_that_found_the_best_policy_are_named(small, capsys, monkeypatch):
    names = iter(["ridge regression", "local search from ridge regression"])
    real = cell.candidates
    monkeypatch.setattr(
        cell, "candidates", lambda *given, **options: [
            search.Candidate(next(names), real(*given, **options)[0].choose)
        ],
    )  # fmt: skip
    small.write_text(INEXACT, encoding="utf-8")
    assert run() == 0
    words = " ".join(capsys.readouterr().out.split())
    found = "ridge regression (1 seed), local search from ridge regression (1 seed)"
    assert f"best found in hindsight by: {found}." in words
    page = (small.parent / "results/small/report.html").read_text(encoding="utf-8")
    assert f"best policy found by {found}" in page


def test_show_reads_what_a_run_wrote(small, capsys):
    run("--no-report")
    ran = capsys.readouterr().out
    assert main(["show", "results/small"]) == 0
    shown = capsys.readouterr().out
    assert shown.strip() == ran[: ran.index("8 runs completed")].strip()
    assert main(["show", "results/small/results.jsonl", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 3


@pytest.mark.slow
def test_show_writes_the_report_and_the_figures(small, capsys):
    run("--no-report")
    capsys.readouterr()
    assert main(["show", "results/small", "--report", "page.html", "--export", "figures"]) == 0
    printed = capsys.readouterr().out
    assert "A small one" in (small.parent / "page.html").read_text(encoding="utf-8")
    made = {path.suffix for path in (small.parent / "figures").iterdir()}
    assert made == {".png", ".svg"}
    assert "wrote page.html" in printed
    main(["show", "results/small", "--export", "only", "--format", "svg"])
    assert {path.suffix for path in (small.parent / "only").iterdir()} == {".svg"}


@pytest.mark.parametrize(
    ("change", "arguments", "complaint"),
    [
        (("seeds = 2", "seeds = = 2"), (), "small.toml is not valid TOML"),
        (("seeds", "seedz"), (), "small.toml: the experiment has no key 'seedz'; did you mean"),
        (('"ContextFTPL"', '"ContextFTLP"'), (), "small.toml: learners.ours: there is no"),
        (("n_actions = 3", "n_actions = 0"), (), "environments.punisher.policies: "),
        (("", ""), ("--output", "small.toml/under"), "small.toml/under"),
    ],
    ids=["TOML", "key", "type", "argument", "folder"],
)
def test_wrong_input_is_one_line_and_exit_code_two(small, change, arguments, complaint, capsys):
    small.write_text(small.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hannan: ")
    assert captured.err.count("\n") == 1
    assert complaint in captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nowhere.toml"],
        ["run"],
        ["run", "small.toml", "--backend", "abacus"],
        ["run", "small.toml", "--jobs", "0"],
        ["run", "small.toml", "--address", "tcp://127.0.0.1:1"],
        ["show", "nowhere"],
        ["list", "wonders"],
        ["completion", "cmd"],
        ["dance"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_exit_code_two(small, arguments, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err.strip()


def test_a_cell_that_fails_is_named_and_the_others_are_kept(small, capsys):
    text = small.read_text(encoding="utf-8").replace(
        '[learners.uniform]\ntype = "UniformRandom"',
        '[learners.uniform]\ntype = "UniformRandom"\nloss_range = [0.0, 0.5]',
    )
    small.write_text(text, encoding="utf-8")
    assert run("--no-report") == 2
    captured = capsys.readouterr()
    assert "failed uniform on punisher, seed 0" in captured.err
    assert "Traceback" not in captured.err
    assert "ours" in captured.out
    assert "6 runs completed" in captured.out


def test_an_error_of_ones_own_is_exit_code_one(small, capsys):
    (small.parent / "mine.py").write_text(
        "import hannan as hn\n"
        "class Broken(hn.environments.PlantedPolicy):\n"
        "    def rounds(self, horizon, rng):\n"
        "        raise RuntimeError('out of milk')\n",
        encoding="utf-8",
    )
    text = small.read_text(encoding="utf-8").replace('"LeaderPunisher"', '"mine:Broken"')
    small.write_text(text, encoding="utf-8")
    assert run("--no-report") == 1
    assert "RuntimeError: out of milk" in capsys.readouterr().err


@pytest.mark.slow
def test_the_installed_command_in_parallel(small):
    command = [sys.executable, "-m", "hannan", "run", "small.toml", "--no-report", "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "8 runs completed" in done.stdout
