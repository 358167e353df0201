"""The figure of the difference to the current rule, from the first row to the last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from hannan.report.dots import ticks
from hannan.report.wording import amount, fixed

_HEIGHT, _FLOOR = 230, 28  # pixels for the curve, and for the numbers below
_ABOVE = 16  # pixels for the name of the line at the top


def course(points: Sequence[Sequence[float]], half: float, unit: str | None) -> str:
    """Draw the difference so far as SVG.

    Parameters
    ----------
    points
        At least two pairs (number of rows, difference over these rows).
    half
        Half the width of the interval at the last row. Before, the width grows as the square root
        of the number of rows.
    unit
        Unit of the differences, or None.

    Examples
    --------
    >>> picture = course([(100, -20.0), (200, -50.0)], 10.0, "€")
    >>> picture.count("<path"), "−60" in picture
    (2, True)
    """
    end = points[-1][0]
    rows = [(0.0, 0.0), *((float(t), float(value)) for t, value in points)]
    band = [(t, value, half * math.sqrt(t / end)) for t, value in rows]
    low = min(value - width for _, value, width in band)
    high = max(value + width for _, value, width in band)
    low, high = (low, high) if low < high else (low - 1.0, high + 1.0)

    def y(value: float) -> float:
        return round(_ABOVE + (_HEIGHT - _ABOVE - 4) * (high - value) / (high - low), 1)

    def path(pairs: Sequence[tuple[float, float]]) -> str:
        return "L".join(f"{round(1000 * t / end, 1)} {y(value)}" for t, value in pairs)

    upper = [(t, value + width) for t, value, width in band]
    lower = [(t, value - width) for t, value, width in reversed(band)]
    values, decimals = ticks(low, high)
    parts = [
        f"<svg class='picture course' role='img' width='100%' height='{_HEIGHT + _FLOOR}'>",
        f"<title>{escape(amount(points[-1][1], decimals, unit))} after {end:,.0f} rows</title>",
        f"<svg width='100%' height='{_HEIGHT}' viewBox='0 0 1000 {_HEIGHT}' "
        "preserveAspectRatio='none'>",
        f"<path class='reach' d='M{path(upper)}L{path(lower)}Z'/>",
        f"<path class='line' d='M{path(rows)}'/></svg>",
    ]
    for value in values:
        kind, height = "tick" if value else "today", y(value)
        parts.append(f"<line class='{kind}' x1='0' x2='100%' y1='{height}' y2='{height}'/>")
        if value:
            text = escape(fixed(value, decimals))
            parts.append(f"<text class='scale' x='0' y='{max(11.0, height - 4)}'>{text}</text>")
    # The name of the line and the end of the curve are on opposite sides of the line.
    aside = y(0.0) + (14 if points[-1][1] > 0 else -5)
    parts.append(f"<text x='100%' y='{aside}' text-anchor='end'>your current rule</text>")
    places = (("0%", "start", 0.0), ("50%", "middle", end / 2), ("100%", "end", end))
    parts += [
        f"<text class='scale' x='{x}' y='{_HEIGHT + 22}' text-anchor='{anchor}'>{row:,.0f}</text>"
        for x, anchor, row in places
    ]
    return "\n".join([*parts, "</svg>"])
