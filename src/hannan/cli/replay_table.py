"""The table of `hannan replay`: one format for each column, and no wider than the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from hannan.cli.output import plain_table

Rows = Mapping[str, Mapping[str, Any]]


class _Column(NamedTuple):
    key: str
    heading: str
    digits: int  # decimals of numbers between one and ten; of larger ones fewer
    alike: tuple[str, ...]  # the keys whose numbers decide on decimals


_COLUMNS = (
    _Column("mean", "mean", 4, ("mean",)),
    _Column("low", "from", 4, ("mean",)),
    _Column("high", "to", 4, ("mean",)),
    _Column("half_width", "± seeds", 4, ("mean",)),
    _Column("total", "total", 2, ("total",)),
    _Column("regret", "regret", 2, ("regret", "certificate")),
    _Column("certificate", "certificate", 2, ("regret", "certificate")),
    _Column("effective", "effective", 2, ("effective",)),
    _Column("rounds_per_second", "rounds/s", 0, ("rounds_per_second",)),
)
_SPARE = ("rounds/s", "total", "regret")  # left out where there is no room, in this order
_GAP = 2


def replay_table(title: str, units: str, rows: Rows, width: int) -> Table:
    """Rows by name, with values by key; what no row has makes no column.

    `units` says what `mean` is a mean of, and `width` is that of the terminal.
    """
    columns: dict[str, list[str]] = {}
    for column in _COLUMNS:
        texts = _texts(column, rows)
        if any(texts):
            columns[f"mean {units}" if column.key == "mean" else column.heading] = texts
    for heading in _SPARE:
        wide = [max(map(len, (head, *texts))) for head, texts in columns.items()]
        if max(map(len, rows)) + sum(_GAP + entry for entry in wide) > width:
            columns.pop(heading, None)
    # Rich would fold a title at the width of the table, which may be far less than the terminal's.
    fits = len(title) <= width
    table = plain_table(Text(title, no_wrap=fits, overflow="ignore" if fits else "fold"))
    table.add_column("", no_wrap=True)
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for i, name in enumerate(rows):
        table.add_row(escape(name), *(texts[i] for texts in columns.values()))
    return table


def _texts(column: _Column, rows: Rows) -> list[str]:
    values = [row.get(column.key) for row in rows.values()]
    compared = [row.get(key) for row in rows.values() for key in column.alike]
    decimals = decimals_of(compared, column.digits)
    missing = "-" if column.key == "mean" else ""
    return [missing if value is None else fixed(value, decimals) for value in values]


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; adding zero turns what was rounded to -0 into 0."""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def decimals_of(values: Iterable[float | None], digits: int) -> int:
    """Decimals that suit all of these numbers: so many, or fewer if the largest is ten or more.

    Where all are below 0.1 there are as many more as it takes to tell them apart.
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if largest == 0.0:
        return 0
    return max(0, digits - math.floor(math.log10(largest)) - (largest < 1.0))


def confusion_table(confusion: Mapping[str, Any]) -> Table:
    """How often each action was taken where each class was right, by the best choice and now."""
    table = plain_table("what was done, by what was right")
    table.add_column("right", no_wrap=True)
    for who in confusion["counts"]:
        for action in confusion["actions"]:
            table.add_column(escape(f"{who}:\n{action}"), justify="right")
    for i, name in enumerate(confusion["classes"]):
        cells = [f"{n:,}" for counts in confusion["counts"].values() for n in counts[i]]
        table.add_row(escape(name), *cells)
    return table
