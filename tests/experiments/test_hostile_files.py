"""Experiment files written by somebody else: they choose what is played, never what is run."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import hannan as hn
from hannan.cli import main
from hannan.experiments import make_plan, read_plan, run
from hannan.experiments.catalogue import Workshop, find, registered

SMALL = """
horizon = 10
[environments.planted]
type = "PlantedPolicy"
policies = { type = "AllPolicies", n_contexts = 2, n_actions = 2 }
[learners.ours]
type = "ContextFTPL"
"""
SPY = "import pathlib\npathlib.Path(__file__).with_name('run').touch()\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, which is the current one and first on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def written(text: str | bytes) -> Path:
    """An experiment file."""
    file = Path("plan.toml")
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def refused(capsys, *arguments: str) -> str:
    """The one line with which a command refuses its input, in a few seconds."""
    started = time.process_time()
    assert main(list(arguments)) == 2
    assert time.process_time() - started < 5.0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("hannan: ")
    assert len(lines[0]) < 1000
    return lines[0]


@pytest.mark.parametrize("options", [[], ["--dry-run"]])
@pytest.mark.parametrize(
    "table",
    [
        'type = "os:system"\ncommand = "touch run"',
        'type = "os.system"\ncommand = "touch run"',
        'type = "subprocess:run"\nargs = ["touch", "run"]',
        "type = \"builtins:exec\"\nsource = \"open('run', 'w')\"",
        'type = "pathlib:Path.touch"\nself = "run"',
        'type = "spy:Spy"',
        'type = "spy"',
        'type = "spy.Spy"',
        'type = "oracles.spy:Spy"',
        'type = "mine.spy:Spy"',
        'type = "mine/../spy:Spy"',
        'type = "hannan.core.params:os.system"\ncommand = "touch run"',
        'type = "hannan.cli:main"\narguments = ["completion", "bash"]',
        'type = "ContextFTPL"\noracle = { type = "os:system", command = "touch run" }',
        'type = "ContextFTPL"\npredictor = [[{ type = "os:system", command = "touch run" }]]',
        'type = "ContextFTPL.__init__"',
        'type = "ContextFTPL.save"\npath = "run"',
    ],
)
def test_no_name_leads_to_other_code(table, options, here, capsys):
    (here / "spy.py").write_text(SPY, encoding="utf-8")
    file = written(SMALL + f"[learners.hostile]\n{table}\n")
    assert "learners.hostile" in refused(capsys, "run", str(file), *options)
    assert not (here / "run").exists()
    assert "spy" not in sys.modules


def test_a_dry_run_runs_neither_the_file_beside_it_nor_a_package(here, monkeypatch, capsys):
    (here / "mine.py").write_text(SPY + "class Own: pass\n", encoding="utf-8")
    (here / "spy.py").write_text(SPY + "class Spy: pass\n", encoding="utf-8")
    about = here / "spy_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: spy-package\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[hannan.learners]\nSpy = spy:Spy\n", encoding="utf-8")
    registered.cache_clear()
    try:
        hostile = '[learners.a]\ntype = "Spy"\n[learners.b]\ntype = "mine:Own"\n'
        assert main(["run", "--dry-run", str(written(SMALL + hostile))]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "ours on planted, seed 0",
            "a on planted, seed 0",
            "b on planted, seed 0",
        ]
        assert not (here / "run").exists()
    finally:
        registered.cache_clear()


def test_a_dry_run_makes_nothing(here, monkeypatch):
    monkeypatch.setattr(hn.environments.PlantedPolicy, "__init__", None)
    monkeypatch.setattr(hn.ContextFTPL, "__init__", None)
    assert main(["run", "--dry-run", str(written(SMALL))]) == 0


def test_packages_are_not_looked_for_beside_the_file(tmp_path):
    """A file `pyarrow.py` that came with the experiment is not taken for pyarrow."""
    file = tmp_path / "plan.toml"
    file.write_text(SMALL, encoding="utf-8")
    read_plan(file)
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    "name", ["os", "os.system", "Path", "Path.cwd", "system", "_hidden", "", "value", "Own._hidden"]
)
def test_of_the_file_beside_it_only_what_it_defines_can_be_named(name, here):
    (here / "mine.py").write_text(
        "import os\nfrom os import system\nfrom pathlib import Path\nimport hannan as hn\n"
        "value = 3\ndef _hidden(): pass\n"
        "class Own(hn.baselines.UniformRandom):\n"
        "    @classmethod\n    def of_two(cls): return cls(2)\n"
        "    @classmethod\n    def _hidden(cls): return cls(3)\n",
        encoding="utf-8",
    )
    assert Workshop(folder=str(here)).build({"type": "mine:Own.of_two"}, "here", ()).n_actions == 2
    with pytest.raises(hn.ParameterError):
        find(f"mine:{name}", folder=str(here))


@pytest.mark.parametrize(
    "content", ["1 / 0", "def", "raise KeyError", "from os import nothing", "\0", "\udcff"]
)
def test_a_file_beside_it_that_cannot_be_run_is_refused_by_name(content, here, capsys):
    (here / "mine.py").write_bytes(content.encode("utf-8", "surrogateescape"))
    file = written(SMALL + '[learners.own]\ntype = "mine:Own"\n')
    assert "mine.py cannot be run" in refused(capsys, "run", str(file))


def test_two_experiments_have_a_file_of_their_own_each(tmp_path):
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "mine.py").write_text(f"def own(): return {number}\n", encoding="utf-8")
    for number in (1, 2, 1):
        found = Workshop(folder=str(tmp_path / str(number))).build({"type": "mine:own"}, "here", ())
        assert found == number


@pytest.mark.parametrize(
    "name",
    ["/tmp/x", "../x", "a/b", "a\\\\b", "..", ".", "", " ", ".hidden", "C:x", "x.", "x ", "NUL",
     "com1.txt", "a\\u0000b", "a\\nb", "n" * 300, "é" * 150],
)  # fmt: skip
def test_a_name_stays_inside_the_results_folder(name, here, capsys):
    file = written(f'name = "{name}"\n{SMALL}')
    for options in ([], ["--dry-run"]):
        assert "name must be a valid folder name" in refused(capsys, "run", str(file), *options)
    assert [path.name for path in here.iterdir()] == ["plan.toml"]


@pytest.mark.parametrize("name", ["quickstart", "a b", "2026-11", "v1.2_x", "Größe", "n" * 200])
def test_ordinary_names_are_taken(name):
    assert make_plan(_table(), name).name == name


def test_a_link_that_leads_out_of_the_results_is_not_followed(here, capsys):
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    (here / "results").mkdir()
    (here / "results" / "plan").symlink_to(elsewhere)
    assert "leads out of results" in refused(capsys, "run", str(written(SMALL)))
    assert list(elsewhere.iterdir()) == []


DEEP = 100_000


@pytest.mark.parametrize(
    "content",
    [
        SMALL + "[learners.x]\ntype = \"ContextFTPL\"\na = " + "[" * DEEP + "]" * DEEP,
        SMALL + "[learners.x]\ntype = \"ContextFTPL\"\na = " + "[" * 200 + "]" * 200,
        SMALL + "[learners.x]\ntype = \"ContextFTPL\"\na = " + "{a=" * DEEP + "1" + "}" * DEEP,
        SMALL + "[learners.x]\n" + ".".join("a" * DEEP) + " = 1",
        SMALL + "[" + ".".join("a" * DEEP) + "]",
        SMALL + "[learners.x]\n" + " . ".join(['"a"', "'b'"] * DEEP) + " = 1",
        SMALL + "".join(f"[learners.{'.'.join('a' * n)}]\n" for n in range(1, 500)),
        SMALL + "[learners.x]\ntype = \"ContextFTPL\"\nepsilon = " + "9" * 10_000,
        SMALL + "[learners.x]\ntype = \"ContextFTPL\"\nepsilon = " + "9" * 400,
        SMALL + "#" * 2**21,
        SMALL + "description = '''" + "\\n" * 2**20 + "'''",
        "a" * 2**20,
        '"' * 2**20,
        "[" * 2**20,
        "a." * 2**19,
        "\n" * 2**20 + "a = 2",
        b"\xff\xfe\x00",
        b"\0" * 1000,
        "seeds = 1_000_000_000_000_000_000\n" + SMALL,
        "seeds = " + "9" * 1000 + "\n" + SMALL,
        "seeds = [[1]]\n" + SMALL,
        "seeds = [1, 1.5]\n" + SMALL,
        "points = 1e300\n" + SMALL,
        "shared = [1]\n" + SMALL,
        SMALL + 'environments = [["planted"]]',
        SMALL + "epsilon = 1979-05-27",
        SMALL + "epsilon = nan",
        SMALL + "epsilon = inf",
        SMALL + "epsilon = {}",
        SMALL + 'oracle = "$ours"',
    ],
    ids=range(30),
)  # fmt: skip
@pytest.mark.parametrize("options", [[], ["--dry-run"]])
def test_deep_long_and_senseless_files_are_refused_in_bounded_time(content, options, here, capsys):
    file = written(content)
    if options and main(["run", str(file), *options]) == 0:
        return  # what only its class can refuse
    capsys.readouterr()
    refused(capsys, "run", str(file), *options)


def test_endless_files_and_folders_are_refused(here, capsys):
    if os.path.exists("/dev/zero"):
        assert "more than 1,048,576 bytes" in refused(capsys, "run", "/dev/zero")
    refused(capsys, "run", "missing.toml")


def _table() -> dict:
    return {
        "horizon": 5,
        "points": 5,
        "seeds": [0],
        "title": "t",
        "shared": {"rules": {"type": "AllPolicies", "n_contexts": 2, "n_actions": 2}},
        "environments": {
            "planted": {"type": "PlantedPolicy", "policies": "$rules", "good": 0.3},
            "arrays": {"type": "FromArrays", "contexts": [0, 1], "losses": [[0, 1], [1, 0]]},
        },
        "learners": {
            "ours": {
                "type": "ContextFTPL",
                "oracle": {"type": "FinitePolicies", "actions": [[0, 1], [1, 0]], "n_actions": 2},
                "predictor": {"type": "Mean"},
                "environments": ["planted"],
            },
            "uniform": {"type": "UniformRandom", "loss_range": [0.0, 1.0]},
        },
    }


STRANGE = [
    None, True, -1, 2**70, 10**400, 1e308, float("nan"), "", "$", "$ours", "$horizon", "x:y", "\0",
    [], [[]], {}, {"type": []}, {"type": "Trees"}, {"type": "mine:x"}, [{"type": "Mean"}], ["a", 1],
]  # fmt: skip


def _places(value, way=()):
    if way:
        yield way
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list):
            yield from _places(inner, (*way, key))
        else:
            yield (*way, key)


@pytest.mark.parametrize("way", list(_places(_table())), ids=lambda way: ".".join(map(str, way)))
def test_whatever_stands_where_only_our_errors_are_raised(way, tmp_path):
    for strange in STRANGE:
        table = _table()
        place = table
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = strange
        with suppress(hn.HannanError):
            plan = make_plan(table, folder=tmp_path)
            assert json.dumps([cell.table for cell in plan.cells])
            if plan.rounds < 1000:
                run(plan, tmp_path / "results")
