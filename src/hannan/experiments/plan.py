"""Experiment files: learners, environments and seeds, written down."""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from hannan.core import HannanError, ParameterError
from hannan.experiments.catalogue import nearest, outside_module
from hannan.experiments.cell import Cell

_KEYS = (
    "name",
    "title",
    "description",
    "seeds",
    "horizon",
    "points",
    "shared",
    "environments",
    "learners",
)
_POINTS = 100


@dataclass(frozen=True)
class Plan:
    """An experiment: its cells, in order, and what to call it."""

    name: str
    title: str
    description: str
    cells: tuple[Cell, ...]

    @property
    def rounds(self) -> int:
        """The rounds of all games together, as far as they are known."""
        return sum(cell.horizon or 0 for cell in self.cells)


def read_plan(path: str | Path) -> Plan:
    """Read an experiment file (TOML), and make sure that everything in it can be made.

    Parameters
    ----------
    path
        The file. Relative paths in it start from its folder.

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
    try:
        text = file.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{file} is not a text file in UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{file} is not valid TOML: {error}.") from None
    try:
        return make_plan(table, file.stem, file.parent)
    except HannanError as error:
        raise ParameterError(f"{file}: {error}") from None


def make_plan(
    table: Mapping[str, Any], name: str = "experiment", folder: str | Path | None = None
) -> Plan:
    """The experiment that a table describes, as `read_plan` finds it in a file.

    Parameters
    ----------
    table
        Of plain values: what a TOML file can hold.
    name
        What to call it, unless the table says.
    folder
        Where relative paths in it start from, and modules of one's own are looked for.

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
    for key in table:
        if key not in _KEYS:
            raise ParameterError(f"the experiment has no key {key!r}{nearest(key, _KEYS)}")
    environments = _tables(table, "environments")
    learners = _tables(table, "learners")
    shared = _tables(table, "shared", needed=False)
    points = _whole("points", table.get("points", _POINTS), 2)
    seeds = _seeds(table.get("seeds", 1))
    for learner, row in learners.items():
        if not isinstance(row.get("environments", []), list | tuple):
            raise ParameterError(
                f"learners.{learner}.environments must be a list of names; got "
                f"{row['environments']!r}."
            )
        for wanted in row.get("environments", []):
            if wanted not in environments:
                raise ParameterError(
                    f"learners.{learner}.environments: there is no environment "
                    f"{wanted!r}{nearest(str(wanted), environments)}"
                )
    cells: list[Cell] = []
    for place, world in environments.items():
        first = _first_cell(place, world, shared, points, folder, table.get("horizon"))
        who = [row for row in learners.values() if place in row.get("environments", environments)]
        cells += _cells_of(first, who, seeds)
    if not cells:
        raise ParameterError("no learner is to play in any environment.")
    if len({cell.label for cell in cells}) < len(cells):
        raise ParameterError("two learners have the same name.")
    return Plan(
        str(table.get("name", name)),
        str(table.get("title", table.get("name", name))),
        str(table.get("description", "")),
        tuple(cells),
    )


def _cells_of(
    first: Cell, learners: Sequence[Mapping[str, Any]], seeds: list[int]
) -> Iterator[Cell]:
    """The cells of one environment; each learner is made once, to see that it can be."""
    environment, policies = first.world()
    first = replace(first, data=_digest(first, ("environment", "policies", "shared")))
    cells = [replace(first, learner=row) for row in learners]
    for cell in cells:
        cell.player()
    cells = [
        replace(cell, data_of_learner=_digest(cell, ("learner", "shared_with_learner")))
        for cell in cells
    ]
    if environment.oblivious and policies is not None and cells:
        cells.insert(0, first)
    for seed in seeds:
        for cell in cells:
            yield replace(cell, seed=seed)


def _first_cell(
    name: str,
    world: Mapping[str, Any],
    shared: Mapping[str, Any],
    points: int,
    folder: str | Path | None,
    horizon: Any,
) -> Cell:
    policies = world.get("policies")
    if not (policies is None or isinstance(policies, Mapping) or str(policies).startswith("$")):
        raise ParameterError(
            f"environments.{name}.policies must be a table with a type, or the name of a shared "
            f"one, $NAME; got {policies!r}."
        )
    own = world.get("horizon", horizon)
    wanted = None if own is None else _whole(f"environments.{name}.horizon", own, 1)
    where = None if folder is None else str(Path(folder).resolve())
    cell = Cell(world, None, policies, shared, 0, wanted, points, folder=where)
    if wanted is None:
        environment = cell.world()[0]
        if environment.horizon is None:
            raise ParameterError(
                f"environments.{name} needs horizon, the number of rounds: "
                f"{world['type']} has no end."
            )
        cell = replace(cell, horizon=environment.horizon)
    return cell


def _tables(table: Mapping[str, Any], kind: str, needed: bool = True) -> dict[str, dict[str, Any]]:
    found = table.get(kind, {})
    if not isinstance(found, Mapping) or not all(isinstance(v, Mapping) for v in found.values()):
        raise ParameterError(f"{kind} must be tables: [{kind}.NAME], each with a type.")
    if needed and not found:
        raise ParameterError(f"no {kind} are given: add a table [{kind}.NAME] with a type.")
    if kind == "shared":
        return {name: dict(row) for name, row in found.items()}
    for name, row in found.items():
        if "name" in row:
            raise ParameterError(f"{kind}.{name} has its name already; give it a title instead.")
    return {name: {"name": name, **row} for name, row in found.items()}


def _digest(cell: Cell, parts: tuple[str, ...]) -> str | None:
    """Of the files and the modules from outside that these tables name.

    Other data or other code, other results. What they name must have been made before.
    """
    found: dict[str, str] = {}
    _digests([cell.table[part] for part in parts], cell.folder or ".", found)
    if not found:
        return None
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _digests(value: Any, folder: str, found: dict[str, str]) -> None:
    if isinstance(value, list):
        for inner in value:
            _digests(inner, folder, found)
    if not isinstance(value, Mapping):
        return
    for key, inner in value.items():
        file = None
        if key == "path" and isinstance(inner, str):
            file = Path(folder, inner)
        elif key == "type" and isinstance(inner, str):
            module = sys.modules.get(outside_module(inner) or "")
            file = Path(getattr(module, "__file__", None) or "")
        if file is not None and file.is_file():
            with file.open("rb") as stream:
                found[str(inner)] = hashlib.file_digest(stream, "sha256").hexdigest()
        _digests(inner, folder, found)


def _seeds(given: Any) -> list[int]:
    if isinstance(given, list | tuple | range):
        if not given or len(set(given)) < len(given):
            raise ParameterError(f"seeds must be different numbers, one at least; got {given!r}.")
        return [_whole("seeds", seed, 0) for seed in given]
    return list(range(_whole("seeds", given, 1)))


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}; got {value!r}.")
    return int(value)
