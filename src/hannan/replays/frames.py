"""Frames as CSV files, which a replay reads several times, in batches."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from numbers import Number
from pathlib import Path
from typing import Any

from hannan.core import ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, is_lazy, missing
from hannan.environments._dialect import Dialect, find_decimal

DIALECT = {"delimiter": ",", "decimal": ".", "encoding": "utf-8", "header": True}
"""Dialect of the files. Only `decimal` differs, for frames with decimal commas in text."""
_LOOKED_AT = 200  # texts per column from which the decimal mark is inferred


def write_frame(
    frame: Any, path: Path, targets: list[str], decimal: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write a frame of pandas or polars, a table of pyarrow or a mapping of columns as CSV.

    Numbers get the decimal mark that the frame uses in text. Returns the dialect, and a mapping of
    each text in the columns `targets` to the original cell, so that actions keep their type.
    """
    if is_lazy(frame):
        raise ParameterError("hn.replay cannot read a LazyFrame: call .collect() first.")
    if not is_frame(frame) and not isinstance(frame, Mapping):
        raise ParameterError(
            "hn.replay needs a frame, a mapping of names to columns, or the path of a file; got "
            f"{type(frame).__name__}."
        )
    pairs = list(columns_of(frame) if is_frame(frame) else frame.items())
    twice = [name for name, count in Counter(str(name) for name, _ in pairs).items() if count > 1]
    if twice:
        raise ParameterError(f"Two columns of the frame have the name {twice[0]!r}: rename one.")
    cells = {str(name): as_list(column) for name, column in pairs}
    lengths = {len(column) for column in cells.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise ParameterError(
            f"A frame needs rows, and columns of equal length; got the lengths {sorted(lengths)}."
        )
    found = ([c.strip() for c in column if isinstance(c, str)] for column in cells.values())
    mark = decimal or find_decimal(column[:_LOOKED_AT] for column in found)
    texts = {name: _texts(column, mark) for name, column in cells.items()}
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(texts)
        table.writerows(zip(*texts.values(), strict=True))
    plain = Dialect(decimal=mark).plain
    originals: dict[str, Any] = {}
    for name in filter(texts.__contains__, targets):
        originals |= dict(zip(map(plain, texts[name]), cells[name], strict=True))
    return DIALECT | {"decimal": mark}, originals


def _texts(cells: list[Any], decimal: str) -> list[str]:
    """Return the cells of a column as text, empty for a missing value."""
    texts = ["" if missing(cell) else str(cell) for cell in cells]
    if decimal == ",":
        pairs = zip(texts, cells, strict=True)
        texts = [t.replace(".", ",") if isinstance(c, Number) else t for t, c in pairs]
    dated = [cell for cell in cells if isinstance(cell, datetime) and not missing(cell)]
    if dated and all(cell.time() == datetime.min.time() for cell in dated):
        texts = [text.removesuffix(" 00:00:00") for text in texts]
    return texts
