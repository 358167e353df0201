"""`hannan show` of a replay: its answer, in the units of the file."""

from __future__ import annotations

import json
import random
import shutil

import numpy as np
import pytest

import hannan as hn
from hannan.cli import main
from tests.cli.test_hostile_results import STRANGE, places, told


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """A folder with the results of a replay: the young leave, offers go to one in two."""
    folder = tmp_path_factory.mktemp("replayed") / "out"
    age = np.random.default_rng(0).integers(18, 80, 400)
    frame = {
        "age": age,
        "left": np.where(age < 40, "yes", "no"),
        "offer": np.where(age % 2 == 0, "yes", "no"),
    }
    answer = hn.replay(
        frame, label="left", current="offer", cost={"yes:no": 80, "no:yes": 6}, unit="€",
        learners=["FollowTheLeader"], output=folder,
    )  # fmt: skip
    return answer, folder


def test_show_prints_the_answer_and_the_table_in_units(replayed, capsys):
    answer, folder = replayed
    capsys.readouterr()
    assert main(["show", str(folder)]) == 0
    sentence, *lines = capsys.readouterr().out.splitlines()
    assert sentence == answer.answer
    assert "€ less over 400 rows" in sentence
    head = next(line for line in lines if "mean loss, €" in line)
    assert "to current" in head
    now = next(line for line in lines if line.startswith("current"))
    assert now.split()[1] == f"{answer.as_dict()['current']:.2f}"
    assert any("€ + " in line for line in str(answer).splitlines())


def test_show_gives_the_same_json_as_the_replay(replayed, capsys):
    answer, folder = replayed
    capsys.readouterr()
    assert main(["show", str(folder / "results.jsonl"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown.pop("files") == []
    assert shown == json.loads(json.dumps(answer.as_dict()))


def test_show_writes_the_report_of_the_replay_again(replayed, capsys, tmp_path):
    _, folder = replayed
    assert main(["show", str(folder), "--report", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_bytes() == (folder / "report.html").read_bytes()


def test_an_answer_to_another_question_is_not_shown(replayed, capsys, tmp_path):
    folder = shutil.copytree(replayed[1], tmp_path / "copy")
    plan = json.loads((folder / "plan.json").read_bytes())
    (folder / "plan.json").write_text(json.dumps({**plan, "title": "Another"}), encoding="utf-8")
    capsys.readouterr()
    assert main(["show", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "Your current rule" not in printed
    # The range of the costs is known, so the means are in units nevertheless.
    now = next(line for line in printed.splitlines() if line.startswith("current"))
    assert float(now.split()[2]) == pytest.approx(replayed[0].as_dict()["current"], abs=1e-3)


def test_forged_answers_are_refused_in_one_line(replayed, capsys, tmp_path):
    folder = shutil.copytree(replayed[1], tmp_path / "copy")
    kept = json.loads((folder / "answer.json").read_bytes())
    chance = random.Random(0)
    ways = [way for way in places(kept) if way and "results" not in way[:1]]
    for way in chance.sample(ways, 40):
        forged = json.loads(json.dumps(kept))
        place = forged
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = chance.choice(STRANGE)
        (folder / "answer.json").write_text(json.dumps(forged), encoding="utf-8")
        page = folder / "page.html"
        told(capsys, "show", str(folder), "--report", str(page))
        assert not page.exists() or "[2J<script>" not in page.read_text(encoding="utf-8")
    for content in (b"", b"[]", b"3", b"[" * 100_000, b"\xff", b"9" * 10_000, b'{"title": 1'):
        (folder / "answer.json").write_bytes(content)
        assert "hannan run" in told(capsys, "show", str(folder), "--json")
