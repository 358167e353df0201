"""Folders of results that somebody else made, or that were damaged: one line, and no traceback."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from zlib import crc32

import pytest

from hannan.cli import main

PLAN = """
horizon = 20
points = 5
[environments.planted]
type = "PlantedPolicy"
policies = { type = "AllPolicies", n_contexts = 2, n_actions = 2 }
[learners.ours]
type = "ContextFTPL"
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with the experiment, and one with its results."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    arguments = ["run", str(folder / "plan.toml"), "--output", str(folder / "results")]
    assert main([*arguments, "--backend", "serial", "--no-report"]) == 0
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def told(capsys, *arguments: str) -> str:
    """What a command says when it refuses; it may also find nothing wrong."""
    capsys.readouterr()
    assert main(list(arguments)) in (0, 2)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert len(said) < 1500
    return said


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"{}", b"3", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"cells": 3, "title": "a", "description": "b"}', b'{"cells": [[]], "title": "a"}',
    b'{"cells": [], "title": [], "description": ""}', b'{"cells": {}, "title": 1}',
    b'{"cells": ["a"], "title": null, "description": {}}', b"9" * 10_000,
])  # fmt: skip
def test_a_damaged_plan_is_refused_by_name(content, folder, capsys):
    (folder / "results" / "plan.json").write_bytes(content)
    assert "plan.json is damaged" in told(capsys, "show", str(folder / "results"))
    arguments = ["--output", str(folder / "results"), "--backend", "serial", "--no-report"]
    assert told(capsys, "run", str(folder / "plan.toml"), *arguments) == ""


def signed(record: dict) -> bytes:
    """A line with the right checksum."""
    text = json.dumps({**record, "format": 1}, separators=(",", ":"), sort_keys=True)
    body = text[:-1].encode()
    return body + b',"sum":"%08x"}\n' % crc32(body)


def places(value, way=()):
    """The ways to all values inside of one."""
    yield way
    items = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = list(enumerate(value))[:2]
    for key, inner in items:
        yield from places(inner, (*way, key))


STRANGE = [None, True, -1, 10**400, 1e308, "", "\x1b[2J<script>", [], [[]], {}, {"a": 1}, ["a"]]


def test_forged_records_are_refused_in_one_line(folder, capsys):
    results = folder / "results"
    lines = (results / "results.jsonl").read_bytes().splitlines()
    records = [json.loads(line) for line in lines]
    for record in records:
        del record["sum"], record["format"]
    chance = random.Random(0)
    ways = [(i, way) for i, record in enumerate(records) for way in places(record) if way]
    for i, way in chance.sample(ways, 60):
        forged = json.loads(json.dumps(records))
        place = forged[i]
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = chance.choice(STRANGE)
        (results / "results.jsonl").write_bytes(b"".join(map(signed, forged)))
        page = results / "page.html"
        told(capsys, "show", str(results), "--report", str(page))
        told(capsys, "show", str(results), "--json")
        assert not page.exists() or "[2J<script>" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("line", [
    b"[" * 100_000, b'{"key":[]}', b"\xff", b'{"key":{},"format":1,"sum":"00000000"}', b"null",
    b'{"format":2}', b'{"format":1e400}', b"9" * 10_000, signed({"key": []})[:-1],
])  # fmt: skip
@pytest.mark.parametrize("name", ["results.jsonl", "times.jsonl"])
def test_lines_that_no_run_wrote_are_refused(line, name, folder, capsys):
    with (folder / "results" / name).open("ab") as file:
        file.write(line + b"\n")
    assert "Line " in told(capsys, "show", str(folder / "results"))
    assert "Line " in told(
        capsys, "run", str(folder / "plan.toml"), "--output", str(folder / "results")
    )


def test_folders_in_the_place_of_files_are_named(folder, capsys):
    for name in ("plan.json", "report.html"):
        (folder / "results" / name).unlink(missing_ok=True)
        (folder / "results" / name).mkdir()
        arguments = ["--output", str(folder / "results"), "--backend", "serial"]
        assert name in told(capsys, "run", str(folder / "plan.toml"), *arguments)
        (folder / "results" / name).rmdir()


def test_what_is_quoted_from_a_file_does_not_reach_the_terminal_raw(tmp_path, capsys):
    (tmp_path / "x.csv").write_text('a,b\n1,"\x1b[2J"\n', encoding="utf-8")
    said = told(capsys, "replay", str(tmp_path / "x.csv"), "--label", "a", "--context", "\x1bb")
    assert said
    assert "\x1b" not in said
