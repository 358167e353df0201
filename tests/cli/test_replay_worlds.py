"""The sentence at the top is right on files of worlds whose answer is known, with no flags."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

import hannan as hn
from hannan.cli.replay import replay
from tests.cli import worlds

FAST = ("--learner", "FollowTheLeader")


def answer(*arguments, **more):
    done = CliRunner().invoke(replay, [*arguments, "--json"], catch_exceptions=False, **more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def said(found):
    """The two means and the interval of the sentence."""
    now = re.search(r"Your current rule (?:costs|earns) ([\d.,]+) per row", found["answer"])
    best = re.search(r"would have (?:cost|earned) ([\d.,]+)", found["answer"])
    ends = re.search(r"interval ([-\d.,]+) to ([-\d.,]+)\)", found["answer"])
    numbers = [float(each.replace(",", "")) for each in ends.groups()] if ends else None
    return (float(now[1]) if now else None), float(best[1].replace(",", "")), numbers


def test_the_generator_of_fraud_has_the_optimum_that_is_claimed():
    assert worlds.optimum_of_fraud() == pytest.approx(worlds.OPTIMUM_OF_FRAUD, rel=1e-3)


@pytest.mark.slow
def test_fraud_with_costs_is_within_a_tenth_of_the_true_optimum(tmp_path):
    path, now, best = worlds.fraud(tmp_path / "fraudcost.csv")
    found = answer(path, "--losses", "cost_pass,cost_block", "--current", "did", *FAST)
    told, would, (low, high) = said(found)
    assert told == pytest.approx(now, abs=5.1e-3)
    assert found["current"] == pytest.approx(now)
    assert would == pytest.approx(worlds.OPTIMUM_OF_FRAUD, rel=0.1)
    assert would < 1.1 * best
    assert low < worlds.OPTIMUM_OF_FRAUD < high
    assert "linear rule" in found["answer"]
    assert "clearly" in found["answer"]
    assert found["choice"]["in_sample"] <= found["choice"]["mean"]


@pytest.mark.slow
def test_costs_by_class_are_the_same_question(tmp_path):
    path, now, best = worlds.fraud(tmp_path / "f.csv", n=12_000, labels=True)
    asked = (path, "--label", "fraud", "--current", "did", *FAST)
    found = answer(*asked, "--cost", "yes:no=50", "--cost", "no:yes=2")
    told, would, _ = said(found)
    assert told == pytest.approx(now, abs=5.1e-3)
    assert found["current"] == pytest.approx(now)
    assert would < 1.15 * best
    matrix = worlds.write(
        tmp_path / "m.csv", ["right", "no", "yes"], [["yes", 50, 0], ["no", 0, 2]]
    )
    assert answer(*asked, "--cost", matrix)["answer"] == found["answer"]
    counts = np.array(found["confusion"]["counts"][found["choice"]["learner"]])
    assert found["confusion"]["classes"] == ["no", "yes"]
    assert (counts * [[0, 2], [50, 0]]).sum() / 12_000 == pytest.approx(found["choice"]["mean"])
    plain = answer(*asked)  # a wrong class counts 1: frauds are too rare to be worth a block
    caught = np.array(plain["confusion"]["counts"][plain["choice"]["learner"]])[1, 1]
    assert counts[1, 1] > caught


@pytest.mark.parametrize("german", [False, True])
def test_churn_with_holes_dates_categories_and_umlauts_needs_no_flag(tmp_path, german):
    path, now, best = worlds.churn(tmp_path / "churn.csv", n=2500, german=german)
    found = answer(path, "--label", "churned", "--current", "we offered", *FAST)
    told, would, _ = said(found)
    assert told == pytest.approx(now, abs=5.1e-3)
    assert found["current"] == pytest.approx(now)
    # Where age or plan is missing nobody can know.
    assert would < best + 0.03
    columns = found["columns"]
    assert set(columns["kinds"]) == {"signup date", "age", "plan", "city", "paid"}
    assert columns["kinds"]["plan"] == "category 4"
    assert columns["kinds"]["paid"] == "number"
    assert columns["kinds"]["signup date"].split()[0] == "date"
    assert "identifier" in columns["left_out"]["customer id"]
    assert 80 < columns["missing"]["age"] < 250
    assert "plan" in columns["missing"]
    assert "clearly" in found["answer"]


def test_a_world_of_weekdays_is_found_in_a_date_and_the_index_left_out(tmp_path):
    path, best = worlds.weekends(tmp_path / "days.csv")
    found = answer(path, "--label", "it was", *FAST)
    assert found["columns"]["kinds"] == {"day": "date"}
    assert list(found["columns"]["left_out"]) == ["unnamed 1"]
    assert said(found)[1] < 1.1 * best + 0.005


def test_units_are_those_of_the_file(tmp_path):
    path, now, best = worlds.suppliers(tmp_path / "suppliers.csv")
    found = answer(path, "--losses", "alpha,beta,gamma", "--current", "took", *FAST)
    told, would, _ = said(found)
    assert told == pytest.approx(now, rel=1e-3)
    assert would == pytest.approx(best, rel=0.01)


def test_the_range_of_a_log_is_found_and_the_best_choice_estimated(tmp_path):
    path, best = worlds.revenue(tmp_path / "log.csv")
    asked = (path, "--action", "price", "--reward", "revenue", "--propensity", "p")
    found = answer(*asked, "--learner", "LinUCB")
    told, would, (low, high) = said(found)
    assert low <= would <= high
    assert would == pytest.approx(best, rel=0.05)
    assert told < would
    assert "earns" in found["answer"]


def test_a_baseline_that_is_best_leads(tmp_path):
    path, _, _ = worlds.suppliers(tmp_path / "suppliers.csv", n=800)
    found = answer(path, "--losses", "alpha,beta,gamma", "--feedback", "bandit",
                   "--learner", "LinUCB", "--learner", "EpsilonGreedy")  # fmt: skip
    rows = {row["learner"]: row["mean"] for row in found["rows"] if row["kind"] == "learner"}
    least = min(rows, key=rows.get)
    assert found["choice"]["learner"] == least
    assert f"The best choice found here, {least}" in found["answer"]


def test_a_difference_that_does_not_show_over_the_data_is_not_called_clear(tmp_path):
    rng = np.random.default_rng(0)
    rows = [[*rng.normal(size=2).round(4), "ab"[rng.random() < 0.5], "a"] for _ in range(600)]
    path = worlds.write(tmp_path / "noise.csv", ["x", "y", "z", "did"], rows)
    found = answer(path, "--label", "z", "--current", "did", *FAST)
    assert "clearly" not in found["answer"]


# How files are written -----------------------------------------------------------------------


def same(tmp_path, content, name="x.csv", *flags):
    path = tmp_path / name
    path.write_bytes(content)
    found = answer(str(path), "--label", "y", "--learner", "FollowTheLeader", *flags)
    return found["choice"]["mean"], found["columns"]["kinds"]


def table_of(n=80):
    rng = np.random.default_rng(1)
    colours = rng.choice(["rot", "grün"], n)
    pairs = zip(rng.normal(size=n), colours, strict=True)
    return [[f"{x:.3f}", colour, "up" if x > 0 else "down"] for x, colour in pairs]


def text_of(delimiter=",", decimal=".", header=("x", "c", "y")):
    out = io.StringIO()
    table = csv.writer(out, delimiter=delimiter)
    table.writerows([header] if header else [])
    table.writerows([[row[0].replace(".", decimal), *row[1:]] for row in table_of()])
    return out.getvalue()


def test_every_way_of_writing_a_table_says_the_same(tmp_path):
    plain = same(tmp_path, text_of().encode())
    assert plain[1] == {"x": "number", "c": "category 2"}
    ways = {
        "bom.csv": text_of().encode("utf-8-sig"),
        "latin.csv": text_of().encode("latin-1"),
        "wide.csv": text_of().encode("utf-16"),
        "semi.csv": text_of(";", ",").encode("cp1252"),
        "bar.txt": text_of("|").encode(),
        "tab.tsv": text_of("\t").encode(),
        "tab.txt": text_of("\t", ",").encode(),
        "crlf.csv": text_of().encode(),
        "packed.csv.gz": gzip.compress(text_of(";").encode()),
    }
    for name, content in ways.items():
        assert same(tmp_path, content, name) == plain, name
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.tsv", text_of("\t"))
    assert same(tmp_path, (tmp_path / "z.zip").read_bytes(), "again.zip") == plain


def test_a_file_without_a_header_has_numbered_columns(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(text_of(header=None), encoding="utf-8")
    found = answer(str(path), "--label", "3", "--learner", "FollowTheLeader")
    assert found["columns"]["kinds"] == {"1": "number", "2": "category 2"}
    assert found["rounds"] == 80


def test_flags_override_what_was_found(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(text_of(";", ",").encode("cp1252"))
    flags = ("--delimiter", ";", "--decimal", ",", "--encoding", "cp1252", "--header")
    _, kinds = same(tmp_path, path.read_bytes(), "x.csv", *flags)
    assert kinds["x"] == "number"
    wrong = CliRunner().invoke(replay, [str(path), "--label", "y", "--encoding", "utf-9"])
    assert isinstance(wrong.exception, hn.ParameterError)
    assert "a text encoding" in str(wrong.exception)


def test_standard_input_is_read(tmp_path, monkeypatch):
    plain = same(tmp_path, text_of().encode())
    for content in (text_of().encode(), gzip.compress(text_of().encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        found = answer("-", "--label", "y", "--learner", "FollowTheLeader", input=content)
        assert (found["choice"]["mean"], found["columns"]["kinds"]) == plain


def test_rows_without_a_label_are_left_out_and_counted(tmp_path):
    rows = table_of()
    for i in (3, 10, 50):
        rows[i][2] = ("", " ", "")[i % 3]
    path = worlds.write(tmp_path / "x.csv", ["x", "c", "y"], rows)
    found = answer(path, "--label", "y", "--learner", "FollowTheLeader")
    assert (found["rounds"], found["rows_left_out"]) == (77, 3)
    assert found["actions"] == ["down", "up"]


def test_labels_may_be_called_what_says_missing_elsewhere(tmp_path):
    names = {"up": "none", "down": "NA"}
    rows = [[x, c, names[y]] for x, c, y in table_of()]
    path = worlds.write(tmp_path / "x.csv", ["x", "c", "y"], rows)
    found = answer(path, "--label", "y", "--learner", "FollowTheLeader")
    assert (found["rounds"], found["rows_left_out"]) == (80, 0)
    assert found["actions"] == ["NA", "none"]


# What is taken away ---------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    return worlds.churn(tmp_path / "churn.csv", n=600)[0]


@pytest.mark.parametrize("wanted", ["FollowTheLeader", "hn.experts"])
def test_decisions_and_snippet_are_those_of_the_best_choice(small, tmp_path, wanted, capsys):
    out = tmp_path / "out.csv"
    found = answer(small, "--label", "churned", "--learner", wanted, "--decisions", str(out))
    with out.open(newline="", encoding="utf-8") as stream:
        decided = [row["decision"] for row in csv.DictReader(stream)]
    with open(small, newline="", encoding="utf-8") as stream:
        right = [row["churned"] for row in csv.DictReader(stream)]
    mistakes = np.mean([a != b for a, b in zip(decided, right, strict=True)])
    assert mistakes == pytest.approx(found["choice"]["mean"])
    exec(compile(found["snippet"], "snippet", "exec"), {})
    assert capsys.readouterr().out.split()[-1] in ("yes", "no")


def test_the_saved_decider_decides(small, tmp_path):
    path = tmp_path / "model.hannan"
    answer(small, "--label", "churned", *FAST, "--save", str(path))
    decider = hn.load(path)
    row = {"age": 31, "plan": "free", "signup date": "2022-05-01", "city": None}
    decision = decider.decide(row)
    assert decision.action in ("no", "yes")
    assert decider.report(decision, loss=0.0)
    assert decider.summary().mean < 0.45


def test_a_saved_decider_of_a_log_earns_in_its_units(tmp_path):
    path, _ = worlds.revenue(tmp_path / "log.csv", n=900)
    saved = tmp_path / "model.hannan"
    asked = ("--action", "price", "--reward", "revenue", "--propensity", "p")
    answer(path, *asked, "--learner", "LinUCB", "--save", str(saved))
    decider = hn.load(saved)
    assert decider.rewards[1] > 150.0
    assert not decider.open_decisions
