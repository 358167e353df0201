"""HTML for notebooks: readable in light and dark themes, without scripts or external resources."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from html import escape

_NUMBER = re.compile(r"[-−]?\d|-$|$")  # beginning of a cell of numbers; "-" marks a missing one
_LINE = "1px solid rgba(128,128,128,.4)"
_SHORT = 25  # letters
_MARKED = "background:rgba(128,128,128,.18);font-weight:bold"


def page(*parts: str) -> str:
    """Return the parts of a display in one column."""
    return f'<div style="max-width:72em">{"".join(parts)}</div>'


def paragraph(text: str, *, strong: bool = False, warning: bool = False) -> str:
    """Return a line of text.

    >>> paragraph("a < b", strong=True)
    '<p style="margin:.3em 0"><b>a &lt; b</b></p>'
    """
    style = "margin:.3em 0"
    if warning:
        style += ";padding:.2em .6em;border-left:.3em solid #d08700"
    words = f"<b>{escape(text)}</b>" if strong else escape(text)
    return f'<p style="{style}">{words}</p>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], marked: Container[int] = (), most: int = 40
) -> str:
    """Return a table: numeric columns are right-aligned, all other columns left-aligned.

    Without rows, return a sentence that says so.

    Parameters
    ----------
    heads, rows
        Text of all cells.
    marked
        Numbers of the rows to show in bold on a grey background. Default: no rows.
    most
        Maximum number of rows to show, default 40; a line below counts the omitted rows.
    """
    every = list(rows)
    if not every:
        return paragraph("There is nothing to show yet.")
    shown = every[:most]
    numbers = [i > 0 and all(_NUMBER.match(row[i]) for row in shown) for i, _ in enumerate(heads)]
    ruled = f"vertical-align:bottom;border-bottom:{_LINE}"
    looks = [f' style="{_MARKED}"' if place in marked else "" for place in range(len(shown))]
    lines = [
        f"<tr{look}>{_cells('td', row, numbers)}</tr>"
        for look, row in zip(looks, shown, strict=True)
    ]
    more = len(every) - len(shown)
    left_out = paragraph(f"… and {more:,} more") if more else ""
    return (
        '<div style="overflow-x:auto"><table style="margin:.5em 0;border-collapse:collapse">'
        f"<thead><tr>{_cells('th', heads, numbers, ruled)}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>{left_out}"
    )


def _cells(tag: str, texts: Sequence[str], numbers: Sequence[bool], more: str = "") -> str:
    """Return the cells of a row; numbers, short text and the first cell stay on one line."""
    cells = []
    for place, (text, number) in enumerate(zip(texts, numbers, strict=True)):
        side = "right" if number else "left"
        whole = "white-space:nowrap;" if number or not place or len(text) < _SHORT else ""
        look = more or f"{whole}vertical-align:top"
        style = f"text-align:{side};padding:.3em .8em .3em 0;{look}"
        cells.append(f'<{tag} style="{style}">{escape(text)}</{tag}>')
    return "".join(cells)


def folded(title: str, lines: Sequence[str]) -> str:
    """Return a collapsed list of lines, or an empty string without lines."""
    if not lines:
        return ""
    entries = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<details><summary>{escape(title)}</summary><ul>{entries}</ul></details>"
