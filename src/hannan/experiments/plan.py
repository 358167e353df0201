"""Experiment files (TOML) with learners, environments and seeds."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from hannan.core import ParameterError
from hannan.experiments.catalogue import at_place, check_types, code_of, nearest
from hannan.experiments.cell import Cell

_SETTINGS = ("name", "title", "description", "seeds", "horizon", "points", "folds")
_TABLES = {"shared": (), "environments": ("environments",), "learners": ("learners", "baselines")}
"""Tables of an experiment file, and the kinds of classes that are searched first for each."""
_POINTS = 100
_MOST_BYTES = 2**20
_MOST_CELLS = 100_000
_DEEPEST = 32  # nesting depth of tables and lists
# Reading a dotted key takes time that is quadratic in its parts.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:\.[ \t]*+{_PART}){{{_DEEPEST}}}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # on Windows
_NOT_IN_NAMES = re.compile(r"""[\x00-\x1f\x7f<>:"/\\|?*]""")


@dataclass(frozen=True)
class Plan:
    """An experiment: its name and its cells (runs of one learner with one seed), in order."""

    name: str
    title: str
    description: str
    cells: tuple[Cell, ...]

    @property
    def rounds(self) -> int:
        """Total number of rounds of all cells."""
        return sum(cell.horizon for cell in self.cells)


def read_plan(path: str | Path) -> Plan:
    """Read an experiment file (TOML) and check it by building its environments and learners.

    Parameters
    ----------
    path
        Path of the file. Relative paths in the file start from its folder.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hannan.experiments import read_plan
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "small.toml"
    >>> _ = file.write_text('''
    ... seeds = 2
    ... horizon = 100
    ... [environments.planted]
    ... type = "PlantedPolicy"
    ... policies = { type = "AllPolicies", n_contexts = 3, n_actions = 2 }
    ... [learners.ftpl]
    ... type = "ContextFTPL"
    ... ''')
    >>> [cell.label for cell in read_plan(file).cells]
    ['best policy in hindsight on planted, seed 0', 'ftpl on planted, seed 0',
     'best policy in hindsight on planted, seed 1', 'ftpl on planted, seed 1']
    """
    file = Path(path)
    table = _read(file)
    with at_place(file):
        return make_plan(table, file.stem, file.parent)


def read_outline(path: str | Path) -> Outline:
    """Read an experiment file and check it without building its objects.

    The function imports neither the packages that the file names nor the file `mine.py` next to it.
    """
    file = Path(path)
    table = _read(file)
    with at_place(file):
        return _outline(table, file.stem, file.parent)


def make_plan(
    table: Mapping[str, Any], name: str = "experiment", folder: str | Path | None = None
) -> Plan:
    """Make a plan from a table with the content of an experiment file.

    Parameters
    ----------
    table
        Settings and tables in the layout of an experiment file. Values must be of types that TOML
        can store.
    name
        Name of the experiment if the table has no "name". Default: "experiment".
    folder
        Folder of relative paths in the table and of your module `mine.py`. Default: None, so
        paths are relative to the working directory and the table cannot use `mine:Name`.

    Examples
    --------
    >>> from hannan.experiments import make_plan
    >>> plan = make_plan({
    ...     "horizon": 100,
    ...     "environments": {"jams": {"type": "FrequencyPunisher", "n_actions": 3}},
    ...     "learners": {"chance": {"type": "UniformRandom"}},
    ... })
    >>> [cell.label for cell in plan.cells], plan.rounds
    (['chance on jams, seed 0'], 100)
    """
    outline = _outline(table, name, folder)
    cells = tuple(cell for place in outline.environments for cell in _cells_of(place, outline))
    return Plan(outline.name, outline.title, outline.description, cells)


@dataclass(frozen=True)
class Outline:
    """Content of an experiment file before its objects are built."""

    name: str
    title: str
    description: str
    environments: dict[str, dict[str, Any]]
    learners: dict[str, dict[str, Any]]
    shared: dict[str, dict[str, Any]]
    seeds: Sequence[int]
    points: int
    folds: int
    horizon: Any
    folder: str | None

    def players(self, environment: str) -> list[dict[str, Any]]:
        """Return the tables of the learners that run in an environment."""
        rows = self.learners.values()
        return [row for row in rows if environment in row.get("environments", self.environments)]

    @property
    def games(self) -> list[str]:
        """A line for each run: a learner in an environment with a seed."""
        return [
            f"{row['name']} on {environment}, seed {seed}"
            for environment in self.environments
            for seed in self.seeds
            for row in self.players(environment)
        ]


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        text = content.decode("utf-8")
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{file} is not a text file in UTF-8.") from None
    if len(content) > _MOST_BYTES:
        raise ParameterError(
            f"{file} has more than {_MOST_BYTES:,} bytes, the limit for an experiment file. Put "
            "data into separate files and read them with FromFile."
        )
    try:
        if _LONG_KEY.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise ParameterError(f"{file} has tables more than {_DEEPEST} deep.") from None
    except ValueError as error:  # wrong TOML, or an integer of thousands of digits
        raise ParameterError(f"{file} is not valid TOML: {error}.") from None


def _outline(table: Mapping[str, Any], name: str, folder: str | Path | None) -> Outline:
    keys = (*_SETTINGS, *_TABLES)
    for key in table:
        if key not in keys:
            raise ParameterError(f"the experiment has no key {key!r}{nearest(str(key), keys)}")
    _check_depth(table)
    tables = {kind: _tables(table, kind) for kind in ("environments", "learners", "shared")}
    for learner, row in tables["learners"].items():
        _check_worlds(f"learners.{learner}.environments", row, tables["environments"])
    outline = Outline(
        _check_name(str(table.get("name", name))),
        str(table.get("title", table.get("name", name))),
        str(table.get("description", "")),
        seeds=_seeds(table.get("seeds", 1)),
        points=_whole("points", table.get("points", _POINTS), 2),
        folds=_whole("folds", table.get("folds", 0), 0),
        horizon=table.get("horizon"),
        folder=None if folder is None else str(Path(folder).resolve()),
        **tables,
    )
    games = sum(len(outline.players(place)) for place in outline.environments)
    if not games:
        raise ParameterError(
            "no learner runs in any environment: name an environment in `environments` of a "
            "learner, or leave that key out."
        )
    if games * len(outline.seeds) > _MOST_CELLS:
        raise ParameterError(
            f"{games} pairs of learner and environment with {len(outline.seeds)} seeds are more "
            f"than {_MOST_CELLS:,} runs, the limit of one experiment. Split the experiment."
        )
    for kind, kinds in _TABLES.items():
        for own, row in tables[kind].items():
            check_types({"type": None, **row}, f"{kind}.{own}", kinds, outline.folder)
    return outline


def _check_worlds(place: str, row: Mapping[str, Any], environments: Mapping[str, Any]) -> None:
    """Raise `ParameterError` unless `environments` of a learner is a list of known names."""
    wanted = row.get("environments", [])
    if not isinstance(wanted, list | tuple):
        raise ParameterError(f"{place} must be a list of names; got {wanted!r}.")
    for name in wanted:
        if not isinstance(name, str) or name not in environments:
            near = nearest(str(name), environments)
            raise ParameterError(f"{place}: there is no environment {name!r}{near}")


def _check_depth(table: Mapping[str, Any]) -> None:
    level: list[Any] = [table]
    for _ in range(_DEEPEST + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
    if level:
        raise ParameterError(f"the experiment has tables more than {_DEEPEST} deep.")


def _check_name(name: str) -> str:
    """Return the name if it is valid as the name of a folder on every system, or raise."""
    wrong = _NOT_IN_NAMES.search(name) or _RESERVED.fullmatch(name) or len(name.encode()) > 200
    if wrong or not name.strip() or name[0] in ". " or name[-1] in ". ":
        raise ParameterError(
            "name must be a valid folder name: no separators, colons or other special characters, "
            f"no full stop or space at its ends, at most 200 bytes; got {name[:80]!r}."
        )
    return name


def _cells_of(place: str, outline: Outline) -> Iterator[Cell]:
    """Yield the cells of one environment; build each learner once as a check."""
    first = _first_cell(place, outline)
    environment, policies = first.world()
    first = replace(first, data=_digest(first, ("environment", "policies", "shared")))
    cells = [replace(first, learner=row) for row in outline.players(place)]
    for i, cell in enumerate(cells):
        cell.make_learner()
        digest = _digest(cell, ("learner", "shared_with_learner"))
        cells[i] = replace(cell, data_of_learner=digest)
    if environment.oblivious and policies is not None and cells:
        cells.insert(0, first)
    for cell in cells:
        try:
            json.dumps(cell.table, allow_nan=False)
        except (TypeError, ValueError) as error:  # a results file cannot store the value
            raise ParameterError(
                f"{cell.label}: tables may hold finite numbers, text, true and false, lists and "
                f"tables of these: {error}."
            ) from None
    for seed in outline.seeds:
        yield from (replace(cell, seed=seed) for cell in cells)


def _first_cell(name: str, outline: Outline) -> Cell:
    world = outline.environments[name]
    policies = world.get("policies")
    if not (policies is None or isinstance(policies, Mapping) or str(policies).startswith("$")):
        raise ParameterError(
            f"environments.{name}.policies must be a table with a type, or $NAME, the name of a "
            f"shared table; got {policies!r}."
        )
    wanted = world.get("horizon", outline.horizon)
    if wanted is not None:
        wanted = _whole(f"environments.{name}.horizon", wanted, 1)
    cell = Cell(world, None, policies, outline.shared, 0, wanted, outline.points)
    cell = replace(cell, folder=outline.folder, folds=outline.folds)
    if wanted is None:
        wanted = cell.world()[0].horizon
    if wanted is None:
        raise ParameterError(
            f"environments.{name} needs horizon=, a number of rounds: {world['type']} is endless."
        )
    return replace(cell, horizon=wanted)


def _tables(table: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    found = table.get(kind, {})
    if not isinstance(found, Mapping) or not all(isinstance(v, Mapping) for v in found.values()):
        raise ParameterError(f"{kind} must be tables: [{kind}.NAME], each with a type.")
    if kind == "shared":
        return {name: dict(row) for name, row in found.items()}
    if not found:
        raise ParameterError(f"no {kind} are given: add a table [{kind}.NAME] with a type.")
    for name, row in found.items():
        if "name" in row:
            raise ParameterError(
                f"{kind}.{name} already has a name; set `title` instead of `name`."
            )
    return {name: {"name": name, **row} for name, row in found.items()}


def _digest(cell: Cell, parts: tuple[str, ...]) -> str | None:
    """Return a digest of the files and modules outside Hannan that some tables name.

    The digest is part of the key of a cell, because other data or code give other results. The
    objects of the tables must have been built before.
    """
    found = {}
    for name, file in _outside([cell.table[part] for part in parts], cell.folder):
        if file is not None and file.is_file():
            with file.open("rb") as stream:
                found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    if not found:
        return None
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _outside(value: Any, folder: str | None) -> Iterator[tuple[str, Path | None]]:
    """Yield the paths and types in a value, each with its file outside of Hannan, if any."""
    if isinstance(value, list):
        for inner in value:
            yield from _outside(inner, folder)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "path" and isinstance(inner, str):
                yield inner, Path(folder or ".", inner)
            elif key == "type" and isinstance(inner, str):
                yield inner, code_of(inner, folder)
            yield from _outside(inner, folder)


def _seeds(given: Any) -> Sequence[int]:
    if isinstance(given, list | tuple | range):
        seeds = [_whole("seeds", seed, 0) for seed in given]
        if not seeds or len(set(seeds)) < len(seeds):
            raise ParameterError(f"seeds must be one or more different numbers; got {given!r}.")
        return seeds
    return range(min(_whole("seeds", given, 1), 2**62))  # a longer one has no len()


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}; got {value!r}.")
    return int(value)
