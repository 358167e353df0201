"""Plots by matplotlib, which is imported at the first plot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hannan._packages import package

_MOST = 40  # maximum rows of dots
_NOT_KNOWN = (math.nan, math.nan)


class Dot(NamedTuple):
    """A row of a plot: an estimate with a narrow interval, a wide interval, or both."""

    label: str
    value: float
    narrow: tuple[float, float] = _NOT_KNOWN
    wide: tuple[float, float] = _NOT_KNOWN


def axes(owner: Any, ax: Any, rows: int = 6) -> Any:
    """Return the axes to draw on: `ax`, or new axes with room for `rows` rows."""
    if ax is not None:
        return ax
    pyplot = package(
        "matplotlib.pyplot",
        f"{type(owner).__name__}.plot needs matplotlib, which is not installed. Install it "
        "with pip install 'hannan[report]'.",
    )
    size = 7.2, 1.6 + 0.38 * min(rows, _MOST)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def draw_dots(
    ax: Any,
    dots: Sequence[Dot],
    label: str,
    *,
    value: str = "estimate",
    narrow: str = "",
    wide: str = "",
) -> None:
    """Draw one row per dot, the first on top.

    Parameters
    ----------
    ax
        Axes to draw on.
    dots
        Rows of the plot. Only the first 40 are drawn.
    label
        Label of the horizontal axis: quantity and unit.
    value, narrow, wide
        Legend entries of the dots and of the two kinds of intervals. Intervals with an empty entry
        are not drawn, nor is an entry without intervals.
    """
    shown = dots[:_MOST]
    places = list(range(len(shown)))
    for words, ends, width in (
        (wide, [dot.wide for dot in shown], 1.5),
        (narrow, [dot.narrow for dot in shown], 4.5),
    ):
        if words and not all(map(math.isnan, (end for pair in ends for end in pair))):
            low, high = zip(*ends, strict=True)
            ax.hlines(places, low, high, color="C0", linewidth=width, label=words)
    values = [dot.value for dot in shown]
    if any(map(math.isfinite, values)):
        ax.plot(values, places, "o", color="C0", markersize=7, label=value)
    if len(shown) < len(dots):
        ax.set_ylabel(f"{len(shown)} of {len(dots):,} rows")
    _finish(ax, [dot.label for dot in shown], label)


def draw_bars(ax: Any, groups: Mapping[str, Mapping[str, float]], label: str) -> None:
    """Draw a bar with its value for each name, the first on top.

    Each group has a colour, and its name in the legend.
    """
    names: list[str] = []
    for colour, (group, bars) in zip(("C2", "C0"), groups.items(), strict=True):
        if bars:
            places = list(range(len(names), len(names) + len(bars)))
            look = {"height": 0.5, "color": colour, "alpha": 0.8, "label": group}
            drawn = ax.barh(places, list(bars.values()), **look)
            ax.bar_label(drawn, [f"{value:.4g}" for value in bars.values()], padding=4)
            names += bars
    ax.margins(x=0.15)
    _finish(ax, names, label)


def draw_line(ax: Any, at: float, label: str, ends: tuple[float, float] = _NOT_KNOWN) -> None:
    """Draw a vertical line to compare dots with, and a band for its interval, behind the dots."""
    look: dict[str, Any] = {"color": "C1", "zorder": 0.9}
    if all(map(math.isfinite, ends)):
        ax.axvspan(*ends, **look, alpha=0.18, linewidth=0, label="" if at == at else label)
    if math.isfinite(at):
        ax.axvline(at, **look, linestyle="--", label=label)


def legend(ax: Any) -> None:
    """Put the legend above the axes, where it covers nothing."""
    entries = ax.get_legend_handles_labels()[1]
    if entries:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
        drawn = ax.legend(**place, ncols=2, frameon=False, fontsize="small")
        for text in drawn.get_texts():
            text.set_parse_math(False)


def _finish(ax: Any, rows: Sequence[str], label: str) -> None:
    """Name the rows and the horizontal axis."""
    ax.set_yticks(range(len(rows)), [_short(name) for name in rows], parse_math=False)
    ax.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    ax.set_xlabel(label, parse_math=False)
    bare(ax, "x")


def bare(ax: Any, grid: str) -> None:
    """Remove the frame, and draw grid lines across one axis."""
    ax.grid(axis=grid, alpha=0.3)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _short(label: str) -> str:
    """Cut the middle of a long label: names often differ in their first or last letters."""
    return label if len(label) <= 40 else f"{label[:24]}…{label[-15:]}"
