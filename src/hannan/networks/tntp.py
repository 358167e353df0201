"""The text format of the Transportation Networks collection."""

from __future__ import annotations

import math
import re
from os import PathLike

from hannan.core import ParameterError
from hannan.networks._files import read_text
from hannan.networks.road_network import RoadNetwork

_METADATA = re.compile(r"<([^>]*)>\s*(.*)")
_NEEDED = 7  # init node, term node, capacity, length, free flow time, b, power
_MORE = ("speed", "toll", "link_type")


def read_tntp(path: str | PathLike[str], *, max_unpacked: int | None = None) -> RoadNetwork:
    """A road network from a `*_net.tntp` file.

    Such a file has lines ``<NAME> value`` down to ``<END OF METADATA>``, comments that begin with
    ``~``, and for each link a row that ends with a semicolon: init node, term node, capacity,
    length, free flow time, b, power, speed, toll, link type. Nodes below the first through node
    become the network's `zones`.

    Parameters
    ----------
    path
        The file; a name ending in .gz is unpacked.
    max_unpacked
        Bytes that a .gz file may unpack to; by default 50 times its size, and at least 16 MiB.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> text = '''<NUMBER OF NODES> 3
    ... <FIRST THRU NODE> 2
    ... <NUMBER OF LINKS> 2
    ... <END OF METADATA>
    ... ~ init term capacity length time b power speed toll type ;
    ... 1 2 900 1.5 2.0 0.15 4 0 0 1 ;
    ... 2 3 900 1.5 1.0 0.15 4 0 0 1 ;'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "Tiny_net.tntp"
    ...     _ = file.write_text(text)
    ...     roads = read_tntp(file)
    >>> roads.links, sorted(roads.zones)
    ([(1, 2), (2, 3)], [1])
    """
    metadata: dict[str, str] = {}
    rows: list[list[float]] = []
    for number, line in enumerate(read_text(path, max_unpacked).splitlines(), start=1):
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
