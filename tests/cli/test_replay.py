"""`hannan replay` answers the question, and names the place of what is wrong."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from hannan.cli import main
from hannan.cli.replay import replay
from hannan.experiments.over_data import LossUnits
from hannan.experiments.search import RULES
from hannan.replays.table import replay_table

N = 400


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return str(path)


@pytest.fixture
def labelled(tmp_path):
    """Two numbers tell the class; the present system knows only half of it."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(N):
        a, b = rng.normal(size=2)
        rows.append([a, b, f"day {i}", "up" if a > b else "down", "up" if a > 0 else "down"])
    return write(tmp_path / "moves.csv", ["a", "b", "when", "moved", "guess"], rows)


@pytest.fixture
def priced(tmp_path):
    """Costs in pounds: the second way is cheaper on average, and the third is taken."""
    rng = np.random.default_rng(1)
    rows = [[10 + 5 * rng.random(), 7 + 5 * rng.random(), 12, "plane"] for _ in range(N)]
    return write(tmp_path / "ways.csv", ["ship", "train", "plane", "took"], rows)


@pytest.fixture
def logged(tmp_path):
    """Uniform choice of one of two ads; the second is clicked more often."""
    rng = np.random.default_rng(2)
    rows = []
    for hour in rng.random(N):
        ad = int(rng.integers(2))
        rows.append([hour, ("red", "blue")[ad], int(rng.random() < (0.2, 0.6)[ad]), 0.5])
    return write(tmp_path / "ads.csv", ["hour", "ad", "click", "p"], rows)


def table_of(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def answer(*arguments):
    """What the command says as JSON, and nothing besides."""
    done = CliRunner().invoke(replay, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def rows_of(found):
    return {row["learner"]: row for row in found["rows"]}


def test_labels_are_replayed_with_all_that_is_asked(labelled):
    found = answer(labelled, "--label", "moved", "--current", "guess")
    rows, table = rows_of(found), table_of(labelled)
    counts = Counter(row["moved"] for row in table)
    usual = counts.most_common(1)[0][0]
    ours = ["hn.experts", "Restarting", "FollowTheLeader"]
    assert list(rows) == [*ours, *RULES, f"always {usual}", "current"]
    wrong = np.mean([row["moved"] != row["guess"] for row in table])
    assert found["current"] == pytest.approx(wrong)
    assert rows["current"]["mean"] == pytest.approx(wrong)
    assert rows[f"always {usual}"]["total"] == pytest.approx(N - counts[usual])
    assert rows["hn.experts"]["mean"] < 0.15 < rows["current"]["mean"]
    for row in rows.values():
        assert row["regret"] == pytest.approx(row["total"] - N * found["best"])
        assert row["effective"] == N
        assert row["low"] <= row["mean"] <= row["high"]
    assert found["not_used"] == ["when"]
    assert found["actions"] == ["down", "up"]
    assert found["answer"].startswith(
        f"Your current rule costs {wrong:.3f} per row; the best choice"
    )
    assert "Restarting: no drift found." in found["notes"]
    counts = np.array(found["confusion"]["counts"]["current"])
    assert counts.sum() - np.trace(counts) == pytest.approx(N * wrong)
    assert found["warning"] is None


def test_bandit_feedback_has_its_own_learners(labelled):
    rows = rows_of(answer(labelled, "--label", "moved", "--feedback", "bandit", "--context", "a,b"))
    assert list(rows)[:3] == ["hn.bandit", "LinUCB", "EpsilonGreedy"]
    assert rows["LinUCB"]["feedback"] == "bandit"
    assert rows["hn.bandit"]["mean"] < 0.25
    assert rows["hn.bandit"]["hints"]["share"] > 0.5
    assert rows["LinUCB"]["hints"] is None


@pytest.mark.slow
def test_hints_are_for_specialists(labelled, tmp_path):
    asked = (labelled, "--label", "moved", "--feedback", "bandit", "--output", str(tmp_path))
    assert "predictor took part" not in CliRunner().invoke(replay, asked).stdout
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    (note,) = re.findall(r"<p class='note'>(hn.bandit: the predictor took part .*?)</p>", page)
    assert page.index("<details class='specialists'>") < page.index(note)
    assert re.search(r"in \d+ % of the rounds (at no measured cost|and spent \d+ %)", note)
    assert re.search(r"would have reduced the total loss by [\d.]+ ± [\d.]+ compared", note)


def test_hints_are_measured_in_the_units_of_the_file(priced, tmp_path):
    def hints(path):
        asked = ("--losses", "ship,train,plane", "--feedback", "bandit", "--learner", "hn.bandit")
        found = answer(str(path), *asked)
        (row,) = (row for row in found["rows"] if row["learner"] == "hn.bandit")
        return row["hints"]

    ways = ("ship", "train", "plane")
    rows = [[1000 * float(row[way]) for way in ways] for row in table_of(priced)]
    one, thousand = hints(priced), hints(write(tmp_path / "more.csv", ways, rows))
    for name, factor in {"advantage": 1000, "error": 1000, "cost": 1000, "budget": 1}.items():
        assert thousand[name] == pytest.approx(factor * one[name], rel=1e-6)
    assert abs(one["advantage"]) > 1.0


def test_without_contexts_the_bandit_plays_arms(priced):
    asked = ("--losses", "ship,train,plane", "--feedback", "bandit", "--learner", "hn.bandit")
    found = answer(priced, *asked, "--output", f"{priced}.d")
    assert found["rows"][0]["certificate"] > 0.0
    with open(f"{priced}.d/results.jsonl", encoding="utf-8") as stream:
        tables = [json.loads(line)["cell"]["learner"] for line in stream]
    assert {"name": "hn.bandit", "type": "bandit", "n_contexts": 1} in tables


def test_expensive_rare_events_have_a_comparator_that_sees_them(tmp_path):
    """Costs of 50 against 2: a least-squares fit is three times as expensive as a threshold."""
    rng = np.random.default_rng(0)
    rows, threshold = [], 0.0
    for x, y in rng.normal(size=(3000, 2)):
        fraud = x + y + 0.3 * rng.normal() > 3.0
        rows.append([x, y, 50 * fraud, 2 * (not fraud)])
        threshold += rows[-1][2 + (x + y > 2.4)]
    path = write(tmp_path / "fraud.csv", ["x", "y", "pass", "block"], rows)
    found = answer(path, "--losses", "pass,block", "--learner", "FollowTheLeader")
    assert found["best"] <= 1.1 * threshold / 3000
    assert found["choice"]["mean"] < 1.5 * threshold / 3000
    (note,) = (note for note in found["notes"] if note.startswith("Best found in hindsight"))
    assert found["found"] in note
    assert "in-sample" in note
    assert found["rows"][0]["mean"] > 2 * found["best"]  # follows the least-squares fit


def test_losses_are_told_in_the_units_of_the_file(priced):
    found = answer(priced, "--losses", "ship,train", "--losses", "plane", "--current", "took")
    ways = ("ship", "train", "plane")
    table = np.array([[float(row[way]) for way in ways] for row in table_of(priced)])
    rows = rows_of(found)
    assert found["policies"] == "AllPolicies"
    assert found["best"] == pytest.approx(table[:, 1].mean())
    assert found["current"] == pytest.approx(12.0)
    assert rows["current"]["total"] == pytest.approx(12.0 * N)
    assert rows["always train"]["regret"] == pytest.approx(0.0, abs=1e-6)
    ours = rows["hn.experts"]
    assert ours["regret"] == pytest.approx(ours["total"] - table[:, 1].sum())
    assert table[:, 1].mean() <= ours["mean"] < table[:, 1].mean() + 0.5
    assert ours["certificate"] > 0.0


def test_logs_are_replayed_by_rejection(logged):
    asked = (logged, "--action", "ad", "--reward", "click", "--propensity", "p")
    found = answer(*asked)
    rows = rows_of(found)
    assert found["units"] == "reward"
    table = table_of(logged)
    assert found["current"] == pytest.approx(np.mean([float(row["click"]) for row in table]))
    blue = [float(row["click"]) for row in table if row["ad"] == "blue"]
    assert rows["always blue"]["mean"] == pytest.approx(np.mean(blue))
    assert rows["always blue"]["effective"] == len(blue)
    assert 0.4 * N < rows["hn.bandit"]["effective"] < 0.6 * N
    wide = rows["always blue"]["high"] - rows["always blue"]["low"]
    assert wide == pytest.approx(2 * 1.96 * np.sqrt(np.var(blue) / len(blue)), rel=0.25)
    assert "earned" in found["answer"]
    assert any("fitted to this log" in note for note in found["notes"])


def test_logs_are_replayed_by_importance(logged):
    found = answer(
        logged, "--action", "ad", "--reward", "click", "--propensity", "0.5", "--method",
        "importance", "--context", "hour",
    )  # fmt: skip
    rows = rows_of(found)
    assert "ContextFTPL" in rows
    assert rows["always blue"]["mean"] > found["current"]


def test_a_log_that_tells_little_is_called_so(logged):
    arguments = ["--action", "ad", "--reward", "click", "--propensity", "p"]
    assert answer(logged, *arguments)["warning"] is None
    arguments += ["--rounds", "60", "--learner", "UniformRandom"]
    done = CliRunner().invoke(replay, [logged, *arguments])
    assert done.exit_code == 0
    assert "warning: the effective sample size is small (UniformRandom" in done.stderr
    assert "of 60 rows)" in done.stderr


@pytest.mark.slow
def test_the_table_is_for_people(labelled, capsys):
    assert main(["replay", labelled, "--label", "moved", "--current", "guess"]) == 0
    printed = capsys.readouterr().out
    for text in ("mean loss", "regret", "best found", "current", "would have cost"):
        assert text in printed
    assert "not used (looks like an identifier: nearly all values differ): when" in printed
    assert "used as numbers: a, b" in printed
    start = next(i for i, line in enumerate(printed.splitlines()) if line.startswith("hn.experts"))
    lines = printed.splitlines()[start : start + 9]
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines]
    means = [next(cell for cell in row if re.fullmatch(r"[\d.]+", cell)) for row in rows]
    assert {len(mean.partition(".")[2]) for mean in means} == {3}
    best = re.search(r"measured on the same rows: ([\d.]+)", printed).group(1)
    assert re.search(rf"best found, in-sample +{best} ", printed)


def shown(rows, width=80, title="a.csv"):
    """The cells of each column of a table, by heading."""
    console = Console(file=io.StringIO(), width=width)
    console.print(replay_table(title, LossUnits(), rows, width))
    _, heading, _, *lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    found = re.split(r"  +", heading.strip())
    return {name: [line.split()[1:][i] for line in lines] for i, name in enumerate(found)}


@pytest.mark.parametrize(("means", "texts"), [
    ((0.104, 0.2553, 0.09767), ["0.104", "0.255", "0.098"]),
    ((0.0104, 0.02553, 0.0), ["0.0104", "0.0255", "0.0000"]),
    ((9.5967, 12.0, -0.0001), ["9.60", "12.00", "0.00"]),
    ((4.5, 1.0, 0.25), ["4.50", "1.00", "0.25"]),
    ((12345.6, 0.5, 7.0), ["12,346", "0", "7"]),
    ((0.0, 0.0, 0.0), ["0", "0", "0"]),
])  # fmt: skip
def test_numbers_of_a_column_have_the_same_decimals(means, texts):
    rows = {name: {"mean": mean} for name, mean in zip("abc", means, strict=True)}
    assert shown(rows)["mean loss"] == texts


def test_what_is_compared_has_the_same_decimals():
    rows = {
        "a": {"mean": 0.5, "half_width": 0.00312, "regret": 123.4, "certificate": 7.25},
        "b": {"mean": 0.25, "half_width": 0.0, "regret": -0.2, "certificate": 9.5},
    }
    found = shown(rows)
    assert found["± seeds"] == ["0.003", "0.000"]
    assert found["regret"] == ["123.40", "-0.20"]
    assert found["certificate"] == ["7.25", "9.50"]


@pytest.mark.parametrize("length", [5, 40, 80, 81, 200])
def test_a_title_has_one_line_where_the_terminal_is_wide_enough(length):
    title = "[x]/" * (length // 4) + "." * (length % 4)
    console = Console(file=io.StringIO(), width=80)
    console.print(replay_table(title, LossUnits(), {"a": {"mean": 0.5}}, 80))
    *lines, heading, _, _ = console.file.getvalue().splitlines()
    assert "mean loss" in heading
    assert "".join(map(str.strip, lines)) == title
    assert (len(lines) == 1) == (length <= 80)


def test_a_narrow_terminal_leaves_out_what_is_spare():
    row = {"mean": 0.5, "half_width": 0.1, "total": 1e6, "regret": 1e5, "certificate": 1e5}
    rows = {"ContextSemiBanditFTPL": row | {"effective": 5.0, "rounds_per_second": 1e6}}
    whole = shown(rows, 100)
    assert list(whole) == [
        "mean loss", "± seeds", "total", "regret", "certificate", "effective", "rounds/s"
    ]  # fmt: skip
    assert set(whole) - set(shown(rows, 95)) == {"rounds/s"}
    assert set(whole) - set(shown(rows, 80)) == {"rounds/s", "regret"}


@pytest.mark.slow
def test_the_answer_is_wrapped_at_words_in_a_terminal(labelled, monkeypatch):
    options = (labelled, "--label", "moved", "--current", "guess", "--learner", "ContextFTPL")
    monkeypatch.setenv("NO_COLOR", "1")
    piped = CliRunner().invoke(replay, options).stdout.splitlines()
    monkeypatch.setenv("FORCE_COLOR", "1")
    told = CliRunner().invoke(replay, options).stdout.splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in told]
    sentence = plain[: plain.index("")]
    assert len(sentence) > 1
    assert max(map(len, sentence)) <= 80
    assert " ".join(sentence) == piped[0]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer(labelled):
    asked = (labelled, "--label", "moved", "--learner", "ContextFTPL", "--seeds", "2")
    first, again = answer(*asked), answer(*asked)
    for found in (first, again):
        for row in found["rows"]:
            row.pop("rounds_per_second")
    assert first == again
    assert first["rows"][0]["half_width"] > 0.0


def test_policies_and_learners_may_be_chosen(labelled):
    found = answer(labelled, "--label", "moved", "--policies", "Stumps", "--learner", "ContextFTPL")
    assert found["policies"] == "Stumps"
    assert [row["learner"] for row in found["rows"] if row["kind"] == "learner"] == ["ContextFTPL"]


def test_categories_are_used_when_asked_for(tmp_path):
    rows = [["cold" if i % 2 else "warm", i, "tea" if i % 2 else "ice"] for i in range(100)]
    path = write(tmp_path / "x.csv", ["air", "day", "drink"], rows)
    asked = (path, "--label", "drink", "--categorical", "air", "--learner", "ContextFTPL")
    for more in ((), ("--context", "day")):
        found = answer(*asked, *more)
        assert found["best"] == 0.0
        assert found["rows"][0]["mean"] < 0.1


def test_results_and_report_are_written(labelled, tmp_path):
    folder = tmp_path / "out"
    asked = (labelled, "--label", "moved", "--learner", "ContextFTPL", "--output", str(folder))
    found = answer(*asked)
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    names = [record["cell"]["learner"] and record["cell"]["learner"]["name"] for record in records]
    assert names[0] is None  # the best policy in hindsight
    assert "ContextFTPL" in names
    assert found["results"] == str(folder / "results.jsonl")
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:200].lower()
    answer(*asked)
    assert (folder / "results.jsonl").read_text(encoding="utf-8").splitlines() == lines


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Say what the rows hold"),
        (["--label", "moved", "--losses", "a,b"], "--label and --losses"),
        (["--label", "move"], "Did you mean 'moved'?"),
        (["--label", "moved", "--labels", "up,side"], "Row "),
        (["--label", "moved", "--cost", "up"], "must end in .csv"),
        (["--label", "moved", "--cost", "up=3"], "--cost must be RIGHT:DONE=COST"),
        (["--label", "moved", "--cost", "side:up=3"], "--cost has an unknown class 'side'"),
        (["--label", "moved", "--cost", "up:upp=3"], "Did you mean the class 'up'?"),
        (["--label", "moved", "--propensity", "0.5"], "--propensity does not go with --label"),
        (["--action", "moved", "--loss", "a"], "--action needs --propensity"),
        (["--action", "moved", "--loss", "a", "--propensity", "0.5", "--value-range", "0,1"],
         "outside value_range"),
        (["--action", "moved", "--current", "b"], "--current does not go with --action"),
        (["--label", "moved", "--policies", "Stump"], "did you mean 'Stumps'?"),
        (["--label", "moved", "--policies", "Paths"], "Pass 'LinearPolicies', 'Stumps' or 'Trees'"),
        (["--label", "moved", "--learner", "LinUCP"], "did you mean 'LinUCB'?"),
        (["--label", "moved", "--learner", "FromLg"], "there is no 'FromLg'; `hannan list`"),
        (["--label", "moved", "--rounds", "500"], "There are 400 rows"),
        (["--label", "moved", "--value-range", "low"], "must be LOW,HIGH"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line_and_exit_code_2(labelled, capsys, arguments, told):
    assert main(["replay", labelled, *arguments]) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""
    if "Usage" not in captured.err:
        assert captured.err.startswith("hannan: ")
        assert len(captured.err.splitlines()) == 1


def run(*arguments):
    command = [sys.executable, "-m", "hannan", "replay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ)


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_named(labelled, tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = run(labelled, "--label", "moved", "--output", str(tmp_path / "taken" / "here"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written" in done.stderr


def test_units_are_those_of_the_file():
    losses, rewards = LossUnits(10.0, 30.0, rewards=False), LossUnits(10.0, 30.0, rewards=True)
    assert (losses.mean(0.25), rewards.mean(0.25)) == (15.0, 25.0)
    assert losses.difference(0.25) == rewards.difference(0.25) == 5.0


def vw_log(path, n=N):
    """Ads shown to the young and the old, as Vowpal Wabbit logs them; costs are -1 or 0."""
    rng = np.random.default_rng(3)
    lines = []
    for age in rng.random(n):
        ad = int(rng.random() < 0.25)
        cost = -int((age < 0.5) == (ad == 1))
        lines.append(f"{ad + 1}:{cost}:{(0.75, 0.25)[ad]} |u age:{age}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_logs_of_vowpal_wabbit_are_replayed(tmp_path):
    path = vw_log(tmp_path / "ads.vw")
    found = answer(path, "--value-range=-1,0")
    rows = rows_of(found)
    assert (found["rounds"], found["actions"], found["units"]) == (N, ["0", "1"], "loss")
    assert -1 < rows["hn.bandit"]["mean"] < found["current"] < 0
    (always,) = (name for name in rows if name.startswith("always"))
    assert always in ("always 0", "always 1")
    assert rows[always]["effective"] > 0.2 * N
    weighed = answer(path, "--value-range=-1,0", "--method", "importance", "--context", "u^age")
    assert rows_of(weighed)["ContextFTPL"]["mean"] < weighed["current"]
    hashed = answer(path, "--value-range=-1,0", "--hash", "3", "--learner", "LinUCB")
    assert hashed["current"] == found["current"]


@pytest.mark.slow
def test_dsjson_is_replayed_like_the_text_it_came_from(tmp_path):
    import hannan as hn

    path = tmp_path / "ads.json.gz"
    with gzip.open(path, "wt") as out:
        for this in hn.adapters.read_vw(vw_log(tmp_path / "ads.vw"), "cb"):
            label = {"_label_cost": this.cost, "_label_probability": this.probability}
            context = {**this.context, "_multi": [{}, {}]}
            out.write(json.dumps({**label, "_labelIndex": this.action, "c": context}) + "\n")
    options = ("--value-range=-1,0", "--learner", "LinUCB")
    plain, found = answer(str(tmp_path / "ads.vw"), *options), answer(str(path), *options)
    assert rows_of(found)["LinUCB"]["mean"] == rows_of(plain)["LinUCB"]["mean"]


def test_options_that_do_not_go_with_a_file_are_refused(tmp_path, labelled, capsys):
    path = vw_log(tmp_path / "ads.vw", 10)
    assert main(["replay", path, "--label", "ad"]) == 2
    assert "--label does not go with a file of cb" in capsys.readouterr().err
    assert main(["replay", labelled, "--label", "moved", "--hash", "3"]) == 2
    assert "Vowpal Wabbit" in capsys.readouterr().err
    assert main(["replay", path]) == 2
    assert "the cost -1 is outside value_range" in capsys.readouterr().err
    assert main(["replay", path, "--value-range=-1,0", "--context", "u^ag"]) == 2
    assert "did you mean 'u^age'" in capsys.readouterr().err.lower()
    (tmp_path / "plain.vw").write_text("|a\n|b\n")
    assert main(["replay", str(tmp_path / "plain.vw")]) == 2
    assert "Pass --format, one of" in capsys.readouterr().err
