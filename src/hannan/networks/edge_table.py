"""Plain tables of links."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from hannan.core import ParameterError
from hannan.core.validation import FloatArray
from hannan.networks._files import read_text
from hannan.networks.road_network import RoadNetwork

_OPTIONAL = ("capacity", "b", "power", "length", "speed", "toll", "link_type", "flow")


def read_edges(
    path: str | PathLike[str],
    *,
    rename: Mapping[str, str] | None = None,
    zones: Iterable[Hashable] = (),
    max_unpacked: int | None = None,
) -> RoadNetwork:
    """A road network from a table of comma-separated values with a header.

    Columns `tail` and `head` name the nodes; they become integers if all of them are, else strings.
    `free_flow_time` is a column, or length divided by speed, or else the length. The other columns
    of `RoadNetwork` are used if present, and all others are ignored.

    Parameters
    ----------
    path
        The file; a name ending in .gz is unpacked.
    rename
        From a name in the file to the one used here, such as ``{"ue_flow": "flow"}``.
    zones
        Nodes that must not be passed through.
    max_unpacked
        Bytes that a .gz file may unpack to; by default 50 times its size, and at least 16 MiB.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "roads.csv"
    ...     _ = file.write_text("tail,head,metres\\nhome,shop,300\\nshop,work,700\\n")
    ...     roads = read_edges(file, rename={"metres": "length"})
    >>> roads.links, roads.free_flow_time
    ([('home', 'shop'), ('shop', 'work')], array([300., 700.]))
    """
    text = read_text(path, max_unpacked)
    try:
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error as error:
        raise ParameterError(f"{path} is not a table of comma-separated values: {error}.") from None
    names = [(rename or {}).get(name.strip(), name.strip()) for name in rows[0]] if rows else []
    for needed in ("tail", "head"):
        if needed not in names:
            raise ParameterError(
                f"{path} has no column {needed!r}, only {str(names)[:200]}. Name it with rename=."
            )
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise ParameterError(f"Row {number} of {path} has {len(row)} of {len(names)} columns.")
    columns: dict[str, list[str]] = {
        name: [row[i].strip() for row in rows[1:]] for i, name in enumerate(names)
    }
    found: dict[str, Any] = {
        name: _numbers(name, columns[name]) for name in _OPTIONAL if name in columns
    }
    nodes = _nodes(columns["tail"] + columns["head"])
    middle = len(columns["tail"])
    time = _free_flow_time(columns, found)
    return RoadNetwork(nodes[:middle], nodes[middle:], time, zones=zones, **found)


def _free_flow_time(columns: dict[str, list[str]], found: dict[str, FloatArray]) -> FloatArray:
    if "free_flow_time" in columns:
        return _numbers("free_flow_time", columns["free_flow_time"])
    if "length" not in found:
        raise ParameterError(
            "An edge table needs a column free_flow_time, or length (and speed); got "
            f"{str(list(columns))[:200]}. Name it with rename=."
        )
    speed = found.get("speed", np.ones(1))
    if not (speed > 0.0).all():
        raise ParameterError("Speeds must be positive where free_flow_time is length over speed.")
    return found["length"] / speed


def _numbers(name: str, words: list[str]) -> FloatArray:
    try:
        return np.array([float(word) for word in words])
    except ValueError:
        raise ParameterError(f"Column {name!r} holds something that is not a number.") from None


def _nodes(words: list[str]) -> list[Any]:
    try:
        return [int(word) for word in words]
    except ValueError:
        return list(words)
