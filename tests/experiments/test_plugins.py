"""Classes of other packages: found, listed, played, and harmless where they are broken."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hannan as hn
from hannan.cli import main
from hannan.experiments import make_plan, run
from hannan.experiments.catalogue import BASES, find, registered, short_name

SOURCE = '''
"""A package that knows nothing of this test."""
import numpy as np
import hannan as hn


class Coins(hn.Environment):
    """Fair coins, one for each action.

    Examples
    --------
    >>> Coins(2).n_actions
    2
    """

    def __init__(self, n_actions=2):
        self.n_actions = n_actions

    @classmethod
    def many(cls):
        return cls(n_actions=9)

    @property
    def contexts(self):
        return [0]

    def rounds(self, horizon, rng):
        for _ in range(horizon):
            yield hn.Round(0, rng.integers(2, size=self.n_actions).astype(float))


class Fixed(hn.Oracle):
    """Policies that play the same everywhere."""

    def __init__(self, n_actions):
        self.n_actions = n_actions
        self._inner = hn.oracles.AllPolicies(1, n_actions)

    @property
    def contexts(self):
        return [0]

    def check_context(self, context):
        return self._inner.check_context(context)

    def objective(self):
        return self._inner.objective()

    def noise(self, contexts, key, stream, memory):
        return self._inner.noise(contexts, key, stream, memory)


class Paths(Fixed):
    """A name that Hannan has already."""


class First(hn.Learner):
    """Plays the first action."""

    def __init__(self, n_actions=2):
        super().__init__()
        self.n_actions = n_actions

    def _act(self, opened):
        opened.play(0)

    def _update(self, opened, loss):
        pass


class Unfinished(hn.Oracle):
    pass


number = 3
'''
POINTS = """
[hannan.environments]
Coins = tiny_package:Coins

[hannan.oracles]
Fixed = tiny_package:Fixed
Paths = tiny_package:Paths
Gone = tiny_package:Gone
NoModule = no_such_module:Thing
Exploding = exploding_module:Thing
Number = tiny_package:number
Learner = tiny_package:First
Unfinished = tiny_package:Unfinished

[hannan.learners]
First = tiny_package:First
"""


def install(folder: Path, name: str, points: str) -> None:
    """What an installer leaves behind, as far as Python asks for it."""
    info = folder / f"{name.replace('-', '_')}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of packages on the path; what it brought is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "tiny_package.py").write_text(SOURCE)
    (folder / "exploding_module.py").write_text("raise RuntimeError('out of paper')\n")
    install(folder, "tiny-package", POINTS)
    monkeypatch.syspath_prepend(str(folder))
    registered.cache_clear()
    yield folder
    registered.cache_clear()
    for name in ("tiny_package", "exploding_module"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def test_registered_classes_are_found_by_name(site):
    tiny = importlib.import_module("tiny_package")
    assert find("Coins") is tiny.Coins
    assert find("environments.Coins") is tiny.Coins
    assert find("tiny-package.Coins") is tiny.Coins
    assert find("oracles.tiny-package.Fixed") is tiny.Fixed
    assert find("Coins.many")().n_actions == 9
    assert find("tiny-package.Coins.many")().n_actions == 9
    with pytest.raises(hn.ParameterError, match="Coins has no constructor 'few'"):
        find("Coins.few")
    with pytest.raises(hn.ParameterError, match="did you mean 'Coins'"):
        find("Coin")


def test_nothing_is_imported_before_it_is_asked_for(site):
    assert find("AllPolicies") is hn.oracles.AllPolicies
    assert {entry.name for entry in registered("environments")} == {"Coins"}
    with pytest.raises(hn.ParameterError):
        find("Tassels")
    assert "tiny_package" not in sys.modules


def test_hannans_own_names_win(site):
    assert find("Paths") is hn.oracles.Paths
    assert find("tiny-package.Paths") is importlib.import_module("tiny_package").Paths
    names = {entry.name: short_name(entry) for entry in registered("oracles")}
    assert names["Paths"] == "tiny-package.Paths"
    assert names["Fixed"] == "Fixed"


def test_two_packages_with_one_name_are_told_apart(site):
    (site / "other_package.py").write_text(SOURCE)
    install(site, "other-package", "[hannan.environments]\nCoins = other_package:Coins\n")
    registered.cache_clear()
    with pytest.raises(hn.ParameterError, match=r"'other-package\.Coins' or 'tiny-package\.Coins'"):
        find("Coins")
    assert find("other-package.Coins").__module__ == "other_package"
    assert [short_name(entry) for entry in registered("environments")] == [
        "other-package.Coins",
        "tiny-package.Coins",
    ]
    sys.modules.pop("other_package")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Gone", "no attribute 'Gone'"),
        ("NoModule", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("Exploding", "RuntimeError: out of paper"),
        ("Number", "is 3, not a subclass of hannan.Oracle"),
        ("Learner", "First'>, not a subclass of hannan.Oracle"),
        ("Unfinished", "abstract: it lacks check_context, noise, objective"),
    ],
)
def test_a_broken_one_is_told_by_name_and_spoils_nothing(site, name, told):
    with pytest.raises(hn.ParameterError, match=told) as caught:
        find(name, ("oracles",))
    assert f"{name!r} of the package 'tiny-package'" in str(caught.value)
    assert find("Fixed").__name__ == "Fixed"


def test_the_list_shows_them_with_their_package(site, capsys):
    assert main(["list", "oracles", "environments"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Coins Fair coins, one for each action. (tiny-package 1.5)" in printed
    assert "tiny-package.Paths A name that Hannan has already. (tiny-package 1.5)" in printed
    assert "Exploding cannot be loaded: exploding_module:Thing cannot be imported:" in printed
    assert main(["list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    classes = {name for name in hn.oracles.__all__ if issubclass(vars(hn.oracles)[name], hn.Oracle)}
    assert set(told["oracles"]) == classes
    assert set(told["outside"]) == {"oracles", "environments", "learners"}
    assert told["outside"]["environments"]["Coins"] == {
        "summary": "Fair coins, one for each action.",
        "package": "tiny-package 1.5",
        "error": None,
    }
    assert "out of paper" in told["outside"]["oracles"]["Exploding"]["error"]


def test_without_other_packages_the_list_is_as_before(capsys):
    if any(registered(kind) for kind in BASES):
        pytest.skip("a package with classes for Hannan is installed here")
    assert main(["list", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {*BASES, "options"}


EXPERIMENT = """
horizon = 40
seeds = 1

[environments.coins]
type = "Coins"
n_actions = 3
policies = { type = "Fixed", n_actions = 3 }

[learners.ours]
type = "ContextFTPL"

[learners.theirs]
type = "tiny-package.First"
"""


@pytest.mark.slow
def test_an_experiment_plays_them_from_the_command_line(site, tmp_path):
    file = tmp_path / "coins.toml"
    file.write_text(EXPERIMENT)
    command = [sys.executable, "-m", "hannan", "run", str(file), "--json"]
    command += ["--output", str(tmp_path / "out")]
    # A fresh interpreter has the folder on its path alone, as an installed package would be.
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(site)},
    )
    assert done.returncode == 0, done.stderr
    assert {"ours", "theirs"} <= {row["learner"] for row in json.loads(done.stdout)["rows"]}


TABLE = {
    "horizon": 40,
    "seeds": 1,
    "environments": {"coins": {"type": "Coins", "policies": {"type": "Fixed", "n_actions": 2}}},
    "learners": {"ours": {"type": "ContextFTPL"}, "theirs": {"type": "First"}},
}


def test_other_code_of_a_package_is_another_cell(site, tmp_path):
    keys = [cell.key for cell in make_plan(TABLE).cells]
    assert [cell.key for cell in make_plan(TABLE).cells] == keys
    assert len(run(make_plan(TABLE), tmp_path / "out").records) == len(keys)
    (site / "tiny_package.py").write_text(SOURCE + "\n# changed\n")
    assert all(new.key != old for new, old in zip(make_plan(TABLE).cells, keys, strict=True))


def test_an_error_names_the_place_in_the_file(site):
    broken = {**TABLE, "learners": {"x": {"type": "ContextFTPL", "oracle": {"type": "Exploding"}}}}
    with pytest.raises(hn.ParameterError, match=r"learners\.x\.oracle: 'Exploding' of the package"):
        make_plan(broken)


def test_the_contract_checks_apply(site):
    hn.checks.check_oracle(find("Fixed")(n_actions=3))
    hn.checks.check_environment(find("Coins")(2))


def test_show_versions_names_the_packages(site, capsys):
    hn.show_versions()
    assert "tiny-package" in capsys.readouterr().out


def test_a_package_without_the_class_is_not_said_to_be_missing(site):
    with pytest.raises(hn.ParameterError) as caught:
        find("tiny-package.Fixd")
    told = str(caught.value)
    assert told == "the package 'tiny-package' has registered no 'Fixd'; did you mean 'Fixed'?"
    with pytest.raises(hn.ParameterError, match="'tiny-package' has registered no 'Nope'; there"):
        find("environments.tiny-package.Nope")


def test_misspelt_groups_are_told_and_nothing_is_padded(site, capsys):
    install(site, "other", "[hannan.oracle]\nFixed = tiny_package:Fixed\n")
    importlib.invalidate_caches()
    for options in (["oracles"], ["--json"]):
        assert main(["list", *options]) == 0
        printed = capsys.readouterr()
        assert (
            "hannan.oracle (other) is not an entry point group of Hannan: did you mean"
            in printed.err
        )
        assert not any(line.endswith(" ") for line in printed.out.splitlines())
    assert set(json.loads(printed.out)) == {*BASES, "options", "outside"}
