"""Frames as files: a replay reads its rows several times, in batches."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from hannan.core import ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame, is_lazy, missing

DIALECT = {"delimiter": ",", "decimal": ".", "encoding": "utf-8", "header": True}
"""How frames are written."""


def write_frame(frame: Any, path: Path, targets: list[str]) -> dict[str, dict[str, Any]]:
    """Write a frame of pandas or polars, a table of pyarrow or a mapping of columns as CSV.

    Returns what the cells of the columns `targets` were, by their text: names of actions in the
    caller's own types.
    """
    if is_lazy(frame):
        raise ParameterError("A LazyFrame has no rows yet: call .collect() first.")
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
            f"A frame needs columns of one length, and rows; got the lengths {sorted(lengths)}."
        )
    texts = {name: _texts(column) for name, column in cells.items()}
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(texts)
        table.writerows(zip(*texts.values(), strict=True))
    return {
        name: dict(zip(texts[name], cells[name], strict=True)) for name in targets if name in texts
    }


def _texts(cells: list[Any]) -> list[str]:
    """Return the cells of a column as text: nothing where a value is missing."""
    texts = ["" if missing(cell) else str(cell) for cell in cells]
    dated = [cell for cell in cells if isinstance(cell, datetime) and not missing(cell)]
    if dated and all(cell.time() == datetime.min.time() for cell in dated):
        texts = [text.removesuffix(" 00:00:00") for text in texts]
    return texts
