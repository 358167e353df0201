"""Infer the kinds of the columns of a table from its first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from hannan.environments._columns import Table, as_float, is_empty, is_hole, listed
from hannan.environments._features import column_of, readable

MAX_WIDTH = 512  # largest width of a row that `Features` encodes
_ROWS = 20_000  # most rows in the sample
_CELLS = 2_000_000  # most cells in the sample
_LEVELS = 30  # most levels of a category with separate places
_MOST = 0.95  # least share of the cells that must look alike
_WORDS = 30  # most words for a missing value that are listed per column
_FEW = 20  # in fewer rows, a column of distinct values does not look like an identifier
_FLAGS = {"true", "false", "yes", "no", "y", "n", "t", "f"}
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y")
_FORMATS = [day + clock for clock in ("", " %H:%M", " %H:%M:%S") for day in _DAYS]
_ID_WORDS = {"id", "ids", "uuid", "guid", "key", "index", "idx", "nr", "no", "number", "rowid"}


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """Kinds of the columns of a table, and its number of rows."""

    kinds: dict[str, str]
    """Columns to use, with words for their kinds as `FromFile` takes them."""
    left_out: dict[str, str]
    """Unused columns, with the reason."""
    missing: dict[str, int]
    """Number of cells read as missing, for each column that has any.

    In a feature, this includes texts that its kind cannot read, such as "unknown" among numbers. In
    a column of actions or classes, only empty cells count.
    """
    rows: int
    decimal: str = "."
    """Decimal mark of numbers in text."""
    unread: dict[str, list[str]] = field(default_factory=dict)
    """Words read as missing, such as "unknown" among numbers; at most 30 per column."""


def look(
    table: Table,
    names: Sequence[str],
    asked: Mapping[str, str],
    chosen: bool,
    counted: Sequence[str],
    classes: Sequence[str] = (),
) -> ColumnKinds:
    """Infer the kinds of the columns `names`, and count missing cells there and in `counted`.

    `asked` declares the kinds of some columns. If `chosen`, all columns are used, even if they look
    useless. `classes` lists the columns of `counted` that hold actions or classes. The whole table
    is read, in batches: twice if it has features.
    """
    rows, sample, holes = _read(table, names, counted, classes)
    kinds: dict[str, tuple[str | None, str]] = {}
    for name in names:
        kind = asked.get(name)
        kinds[name] = kind, ""
        if kind is None or kind == "category":
            kinds[name] = _kind(name, sample[name], kind == "category", chosen)
    if sum(column_of(kind).width for kind, _ in kinds.values() if kind) > MAX_WIDTH:
        # A column without missing values needs no indicator.
        whole = {name: ("number only", "") for name, kind in kinds.items() if kind[0] == "number"}
        kinds |= {name: kind for name, kind in whole.items() if not holes[name]}
    used, left_out = _fitting(kinds)
    gaps, unread = _unread(table, used)
    holes |= gaps
    missing = {
        name: count for name, count in holes.items() if count and (name in used or name in counted)
    }
    decimal = getattr(getattr(table, "dialect", None), "decimal", ".")
    return ColumnKinds(used, left_out, missing, rows, decimal, unread)


def _unread(table: Table, kinds: Mapping[str, str]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Count the cells of columns that are read as missing, and collect the words among them."""
    columns = {name: column_of(kind) for name, kind in kinds.items()}
    counts = dict.fromkeys(columns, 0)
    words: dict[str, set[str]] = {name: set() for name in columns}
    for _, batch in table.batches(list(columns)) if columns else ():
        for name, column in columns.items():
            cells = listed(batch[name])
            found = readable(column, cells)
            counts[name] += sum(map(is_empty, found))
            if len(words[name]) < _WORDS:
                texts = (c for c, x in zip(cells, found, strict=True) if x is None)
                words[name] |= {c for c in texts if isinstance(c, str) and not is_hole(c)}
    return counts, {name: sorted(each)[:_WORDS] for name, each in words.items() if each}


def _read(
    table: Table, names: Sequence[str], counted: Sequence[str], classes: Sequence[str]
) -> tuple[int, dict[str, list[Any]], dict[str, int]]:
    """Return the number of rows, the first cells of each column, and counts of missing cells."""
    rows = 0
    sample: dict[str, list[Any]] = {name: [] for name in names}
    most = max(_FEW, min(_ROWS, _CELLS // max(1, len(names))))
    holes = dict.fromkeys([*names, *counted], 0)
    for _, batch in table.batches(list(holes)):
        left = max(0, most - rows)
        for name in holes:
            cells = listed(batch[name])
            if name in sample:
                sample[name] += [cell for cell in cells[:left] if not is_hole(cell)]
            holes[name] += sum(map(is_empty if name in classes else is_hole, cells))
        rows += len(next(iter(batch.values())))
    return rows, sample, holes


def _fitting(
    kinds: Mapping[str, tuple[str | None, str]],
) -> tuple[dict[str, str], dict[str, str]]:
    """Split the columns into those that fit, and the others with the reason."""
    used: dict[str, str] = {}
    left_out: dict[str, str] = {}
    width = 0
    for name, (kind, why) in kinds.items():
        need = 0 if kind is None else column_of(kind).width
        if kind is not None and width + need > MAX_WIDTH:
            kind, why = None, f"no room: a row can have at most {MAX_WIDTH} numbers"
        if kind is None:
            left_out[name] = why
        else:
            used[name] = kind
            width += need
    return used, left_out


def _kind(name: str, cells: list[Any], category: bool, chosen: bool) -> tuple[str | None, str]:
    """Return a word for the kind of a column, or None and the reason why it is not used."""
    if not cells:
        return None, "empty"
    distinct = set(map(str, cells))
    if len(distinct) == 1 and len(cells) >= _FEW and not chosen:
        return None, "always the same"
    levels = f"category {min(len(distinct), _LEVELS)}"
    if category:
        return levels, ""
    numbers = np.array([as_float(cell) for cell in cells])
    whole = numbers[np.isfinite(numbers)]
    if _are_numbers(cells, whole) and not _are_codes(cells):
        why = "" if chosen else _numbered(name, whole)
        return (None, why) if why else ("number", "")
    texts = [cell if isinstance(cell, str) else str(cell) for cell in cells]
    if {text.strip().lower() for text in texts} <= _FLAGS:
        return "flag", ""
    dates = _dates(cells)
    if dates is not None:
        return dates, ""
    different = len(distinct) == len(cells) and len(cells) > _FEW
    if not different and len(distinct) <= max(_LEVELS, len(cells) // 2):
        return levels, ""
    sentences = sum(text.count(" ") for text in texts) >= 2 * len(texts)
    if chosen:
        return ("text" if sentences else levels), ""
    why = "free text" if sentences else "looks like an identifier: nearly all values differ"
    return None, why


def _are_numbers(cells: Sequence[Any], found: Any) -> bool:
    """Return whether cells are numbers, except for a few or for one word for a missing value."""
    if len(found) >= _MOST * len(cells):
        return True
    if 2 * len(found) < len(cells) or len(np.unique(found)) <= _LEVELS:
        return False
    return len({str(cell).strip() for cell in cells if not np.isfinite(as_float(cell))}) == 1


def _are_codes(cells: Sequence[Any]) -> bool:
    """Return whether cells have digits with leading zeros (postcodes): names, not numbers."""
    return any(
        isinstance(cell, str) and len(cell) > 1 and cell[0] == "0" and cell.isdecimal()
        for cell in cells
    )


def _numbered(name: str, numbers: Any) -> str:
    """Return why whole numbers look like row identifiers; empty if they do not."""
    n = len(numbers)
    whole = np.array_equal(numbers, np.round(numbers))
    if n < _FEW or not whole or len(np.unique(numbers)) < n:
        return ""
    if np.all(np.diff(numbers) == 1):
        return "looks like a row number"
    words = set("".join(c if c.isalnum() else " " for c in name.lower()).split())
    named = words & _ID_WORDS or name.startswith("unnamed") or name.lower().endswith("id")
    # Random numbers from a narrow range would have repeated by now.
    span = float(numbers.max() - numbers.min()) + 1.0
    if named or n * n / (2.0 * span) > 10.0:
        return "looks like an identifier: all values differ"
    return ""


def _dates(cells: Sequence[Any]) -> str | None:
    """Return a word for dates, with their format, and with "time" if they have hours."""
    if all(not isinstance(cell, str) for cell in cells):
        timed = any(getattr(cell, "hour", 0) for cell in cells)
        return ("time" if timed else "date") if all(hasattr(c, "year") for c in cells) else None
    some = [str(cell).strip() for cell in cells[:: max(1, len(cells) // 500)]]
    if not any(character.isdigit() for character in some[0]):
        return None
    best, share = None, 0.0
    for form in ("", *_FORMATS):
        parsed = sum(_parses(text, form) for text in some) / len(some)
        if parsed > share:
            timed = "%H" in form or (not form and any(len(text) > 10 for text in some))
            best, share = f"{'time' if timed else 'date'} {form}".rstrip(), parsed
    return best if share >= _MOST else None


def _parses(text: str, form: str) -> bool:
    try:
        if form:
            datetime.strptime(text, form)
        elif len(text) < 8 or "-" not in text:
            return False
        else:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
