"""The table of a replay: one format for each column, and no wider than the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from hannan.experiments.over_data import LossUnits
from hannan.report.wording import decimals_for

Rows = Mapping[str, Mapping[str, Any]]


class _Column(NamedTuple):
    key: str
    heading: str
    alike: tuple[str, ...]  # keys of the numbers that determine the decimals


_COLUMNS = (
    _Column("mean", "mean", ("mean",)),
    _Column("low", "from", ("mean",)),
    _Column("high", "to", ("mean",)),
    _Column("half_width", "± seeds", ("mean",)),
    _Column("difference", "to current", ("mean",)),
    _Column("total", "total", ("total",)),
    _Column("regret", "regret", ("regret", "certificate")),
    _Column("certificate", "certificate", ("regret", "certificate")),
    _Column("effective", "effective", ("effective",)),
    _Column("rounds_per_second", "rounds/s", ("rounds_per_second",)),
)
_SPARE = ("rounds/s", "regret", "total")  # omitted in this order if the table is too wide
_COUNTS = ("effective", "rounds_per_second")
_GAP = 2


def plain_table(title: str | Text) -> Table:
    """Return a table without a border, with a bold title at the left."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def replay_table(title: str, units: LossUnits, rows: Rows, width: int) -> Table:
    """Return a table of named rows, whose values have the keys of `_COLUMNS`.

    A column without any value is omitted. `units` gives the unit of `mean`, and `width` is the
    width of the terminal.
    """
    columns: dict[str, list[str]] = {}
    for column in _COLUMNS:
        texts = _texts(column, rows, units.unit)
        if any(texts):
            columns[_heading(column, units)] = texts
    for heading in _SPARE:
        wide = [max(map(len, (head, *texts))) for head, texts in columns.items()]
        if max(map(len, rows)) + sum(_GAP + entry for entry in wide) > width:
            columns.pop(heading, None)
    # Rich would fold a title at the width of the table, which may be much narrower.
    fits = len(title) <= width
    table = plain_table(Text(title, no_wrap=fits, overflow="ignore" if fits else "fold"))
    table.add_column("", no_wrap=True)
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for i, (name, row) in enumerate(rows.items()):
        # The best policy in hindsight cannot be chosen, so its row has no kind.
        style = {"current": "bold", None: "dim"}.get(row.get("kind"))
        table.add_row(escape(name), *(texts[i] for texts in columns.values()), style=style)
    return table


def _heading(column: _Column, units: LossUnits) -> str:
    if column.key != "mean":
        return column.heading
    return f"mean {units.name}" + (f", {units.unit}" if units.unit else "")


def _texts(column: _Column, rows: Rows, unit: str) -> list[str]:
    values = [row.get(column.key) for row in rows.values()]
    compared = [row.get(key) for row in rows.values() for key in column.alike]
    decimals = 0 if column.key in _COUNTS else decimals_for(compared, unit)
    missing = "-" if column.key == "mean" else ""
    return [missing if value is None else fixed(value, decimals) for value in values]


def fixed(value: float, decimals: int) -> str:
    """Return a number as text with this number of decimals; adding zero turns -0 into 0."""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def confusion_table(confusion: Mapping[str, Any]) -> Table:
    """Return counts of actions per right class, for the best choice and the current rule."""
    table = plain_table("decisions by right answer")
    table.add_column("right", no_wrap=True)
    for who in confusion["counts"]:
        for action in confusion["actions"]:
            table.add_column(escape(f"{who}:\n{action}"), justify="right")
    for i, name in enumerate(confusion["classes"]):
        cells = [f"{n:,}" for counts in confusion["counts"].values() for n in counts[i]]
        table.add_row(escape(name), *cells)
    return table
