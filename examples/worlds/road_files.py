"""Readers of road networks: tables of links, and the Transportation Networks collection."""

from __future__ import annotations

import csv
import math
import re
import zlib
from collections.abc import Hashable, Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from hannan import ParameterError
from hannan._compressed_files import open_unpacked
from hannan.core.validation import FloatArray
from hannan.networks import RoadNetwork

_OPTIONAL = ("capacity", "b", "power", "length", "speed", "toll", "link_type", "flow")
_METADATA = re.compile(r"<([^>]*)>\s*(.*)")
_NEEDED = 7  # init node, term node, capacity, length, free flow time, b, power
_MORE = ("speed", "toll", "link_type")


def read_edges(
    path: str | PathLike[str],
    *,
    rename: Mapping[str, str] | None = None,
    zones: Iterable[Hashable] = (),
    max_unpacked: int | None = None,
) -> RoadNetwork:
    """Read a road network from a table of comma-separated values with a header.

    Columns `tail` and `head` name the nodes, as integers if all of them are integers, else as
    strings. `free_flow_time` is a column, else length divided by speed, else the length. The other
    columns of `RoadNetwork` are optional, and all further columns are ignored.

    Parameters
    ----------
    path
        The file; it is unpacked if its name ends in .gz.
    rename
        From the name of a column in the file to the name here, such as ``{"ue_flow": "flow"}``.
    zones
        Nodes that no route may pass through.
    max_unpacked
        Maximum bytes of an unpacked .gz file. Default: 50 times its size, and at least 16 MiB.
    """
    text = _read_text(path, max_unpacked)
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


def read_tntp(path: str | PathLike[str], *, max_unpacked: int | None = None) -> RoadNetwork:
    """Read a road network from a `*_net.tntp` file.

    Such a file has lines ``<NAME> value`` down to ``<END OF METADATA>``, comments that begin with
    ``~``, and for each link a row that ends with a semicolon: init node, term node, capacity,
    length, free flow time, b, power, speed, toll, link type. Nodes below the first through node
    become the network's `zones`.

    Parameters
    ----------
    path
        The file; it is unpacked if its name ends in .gz.
    max_unpacked
        Maximum bytes of an unpacked .gz file. Default: 50 times its size, and at least 16 MiB.
    """
    metadata: dict[str, str] = {}
    rows: list[list[float]] = []
    for number, line in enumerate(_read_text(path, max_unpacked).splitlines(), start=1):
        text = line.partition("~")[0].strip()
        found = _METADATA.fullmatch(text)
        if found:
            metadata[found[1].strip().upper()] = found[2].strip()
        elif text:
            rows.append(_row(text, number))
    if not rows:
        raise ParameterError(f"{path} holds no links: is it a *_net.tntp file?")
    stated = _integer(metadata, "NUMBER OF LINKS")
    if stated is not None and stated != len(rows):
        raise ParameterError(f"{path} announces {stated} links and holds {len(rows)}.")
    first = _integer(metadata, "FIRST THRU NODE")
    columns = list(zip(*(row[: min(map(len, rows))] for row in rows), strict=True))
    more = dict(zip(_MORE, columns[_NEEDED:], strict=False))
    tails, heads = ([int(node) for node in ends] for ends in columns[:2])
    return RoadNetwork(
        tails,
        heads,
        columns[4],
        capacity=columns[2],
        length=columns[3],
        b=columns[5],
        power=columns[6],
        zones=[node for node in {*tails, *heads} if 1 <= node < (first or 1)],
        **more,
    )


def _row(text: str, line: int) -> list[float]:
    try:
        row = [float(word) for word in text.partition(";")[0].split()]
    except ValueError:
        raise ParameterError(f"Line {line} is not made of numbers: {text[:80]!r}.") from None
    if not all(map(math.isfinite, row[:2])):
        raise ParameterError(f"Line {line} has a node that is no number: {text[:80]!r}.")
    if len(row) < _NEEDED:
        raise ParameterError(
            f"Line {line} has {len(row)} columns; a link has {_NEEDED} at least (init node, term "
            "node, capacity, length, free flow time, b, power)."
        )
    return row


def _integer(metadata: dict[str, str], name: str) -> int | None:
    if name not in metadata:
        return None
    try:
        return int(metadata[name])
    except ValueError:
        got = metadata[name][:80]
        raise ParameterError(f"<{name}> should be an integer; got {got!r}.") from None


def _read_text(path: str | PathLike[str], max_unpacked: int | None = None) -> str:
    """Return the text of a file, unpacked if its name ends in .gz."""
    try:
        with open_unpacked(path, max_unpacked) as stream:
            return stream.read().decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"The file {str(path)!r} cannot be read: {why}.") from error
