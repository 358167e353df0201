"""What the columns of a table seem to hold, by its first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from hannan.environments._columns import Table, as_float, is_empty, is_hole, listed
from hannan.environments._features import column_of, readable

MAX_WIDTH = 512  # numbers that `Features` makes of a row at most
_ROWS = 20_000  # that are looked at
_CELLS = 2_000_000
_LEVELS = 30  # of a category that all have a place of their own
_MOST = 0.95  # of the cells, that must look alike
_WORDS = 30  # for a missing value, of a column
_FEW = 20  # rows, in which nothing is called an identifier for being different everywhere
_FLAGS = {"true", "false", "yes", "no", "y", "n", "t", "f"}
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y")
_FORMATS = [day + clock for clock in ("", " %H:%M", " %H:%M:%S") for day in _DAYS]
_ID_WORDS = {"id", "ids", "uuid", "guid", "key", "index", "idx", "nr", "no", "number", "rowid"}


@dataclass(frozen=True, slots=True)
class Columns:
    """Kinds of the columns of a table, and its number of rows."""

    kinds: dict[str, str]
    """Columns to be used, with words for their kinds as `FromFile` takes them."""
    left_out: dict[str, str]
    """Columns that are not used, and why."""
    missing: dict[str, int]
    """Cells that are read as missing, by column; where there are any.

    Of a feature also texts that its kind cannot read, such as "unknown" among numbers; of a column
    of actions or classes only empty cells.
    """
    rows: int
    decimal: str = "."
    """The decimal mark of numbers in text."""
    unread: dict[str, list[str]] = field(default_factory=dict)
    """Words that are read as missing, such as "unknown" among numbers; 30 of a column at most."""


def look(
    table: Table,
    names: Sequence[str],
    asked: Mapping[str, str],
    chosen: bool,
    counted: Sequence[str],
    classes: Sequence[str] = (),
) -> Columns:
    """Kinds of the columns `names`, and how many cells are missing in them and in `counted`.

    `asked` says the kinds of some columns. Columns that are `chosen` are used, whatever they
    look like. Those of `counted` that hold actions or classes are `classes`. The whole table is
    read, in batches: twice if it has features.
    """
    rows, sample, holes = _read(table, names, counted, classes)
    kinds: dict[str, tuple[str | None, str]] = {}
    for name in names:
        kind = asked.get(name)
        kinds[name] = kind, ""
        if kind is None or kind == "category":
            kinds[name] = _kind(name, sample[name], kind == "category", chosen)
    if sum(column_of(kind).width for kind, _ in kinds.values() if kind) > MAX_WIDTH:
        # Where nothing is missing no number has to say so.
        whole = {name: ("number only", "") for name, kind in kinds.items() if kind[0] == "number"}
        kinds |= {name: kind for name, kind in whole.items() if not holes[name]}
    used, left_out = _fitting(kinds)
    gaps, unread = _unread(table, used)
    holes |= gaps
    missing = {
        name: count for name, count in holes.items() if count and (name in used or name in counted)
    }
    decimal = getattr(getattr(table, "dialect", None), "decimal", ".")
    return Columns(used, left_out, missing, rows, decimal, unread)


def _unread(table: Table, kinds: Mapping[str, str]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Count the cells of columns that are read as missing; also the words among them."""
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
    """Read the number of rows, the first cells of each column, and how many are missing."""
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
    """Tell the columns to use, as many as there is room for, from the others and why."""
    used: dict[str, str] = {}
    left_out: dict[str, str] = {}
    width = 0
    for name, (kind, why) in kinds.items():
        need = 0 if kind is None else column_of(kind).width
        if kind is not None and width + need > MAX_WIDTH:
            kind, why = None, f"no room: rows become {MAX_WIDTH} numbers at most"
        if kind is None:
            left_out[name] = why
        else:
            used[name] = kind
            width += need
    return used, left_out


def _kind(name: str, cells: list[Any], category: bool, chosen: bool) -> tuple[str | None, str]:
    """A word for the kind of a column, or None and why it is not used."""
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
    why = "free text" if sentences else "looks like an identifier: nearly every row has another"
    return None, why


def _are_numbers(cells: Sequence[Any], found: Any) -> bool:
    """Whether cells are numbers but for a few, or but for one word for a missing value."""
    if len(found) >= _MOST * len(cells):
        return True
    if 2 * len(found) < len(cells) or len(np.unique(found)) <= _LEVELS:
        return False
    return len({str(cell).strip() for cell in cells if not np.isfinite(as_float(cell))}) == 1


def _are_codes(cells: Sequence[Any]) -> bool:
    """Digits with leading zeros, such as postcodes: names, not numbers."""
    return any(
        isinstance(cell, str) and len(cell) > 1 and cell[0] == "0" and cell.isdecimal()
        for cell in cells
    )


def _numbered(name: str, numbers: Any) -> str:
    """Why whole numbers look as if they only told rows apart; empty if they do not."""
    n = len(numbers)
    whole = np.array_equal(numbers, np.round(numbers))
    if n < _FEW or not whole or len(np.unique(numbers)) < n:
        return ""
    if np.all(np.diff(numbers) == 1):
        return "counts the rows"
    words = set("".join(c if c.isalnum() else " " for c in name.lower()).split())
    named = words & _ID_WORDS or name.startswith("unnamed") or name.lower().endswith("id")
    # Numbers drawn from a narrow range would have met by now.
    span = float(numbers.max() - numbers.min()) + 1.0
    if named or n * n / (2.0 * span) > 10.0:
        return "looks like an identifier: every row has another"
    return ""


def _dates(cells: Sequence[Any]) -> str | None:
    """A word for dates, with their format and with "time" where they have hours."""
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
