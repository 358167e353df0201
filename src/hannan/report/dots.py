"""The figure of choices: a dot with an interval for each, and a line for the current rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hannan.report.wording import fixed

_ROW, _AXIS = 36, 30  # pixels
_LEFT, _RIGHT = 2.0, 98.0  # per cent of the width


@dataclass(frozen=True, slots=True)
class DotRow:
    """A row of the figure: a mean with its interval, a text, and the look: now, best or other."""

    label: str
    mean: float
    low: float | None
    high: float | None
    text: str
    look: str

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval; the mean twice if the interval is unknown."""
        known = self.low is not None and self.high is not None
        return (self.low, self.high) if known else (self.mean, self.mean)  # type: ignore[return-value]


def dots(title: str, rows: Sequence[DotRow], decimals: int) -> str:
    """Return the picture as SVG: positions are per cent of the width, so text keeps its size.

    Examples
    --------
    >>> picture = dots("Cost", [DotRow("now", 2.0, 1.9, 2.1, "2.00", "now")], 2)
    >>> picture.count("<circle"), "now: 2.00, 95&nbsp;% interval 1.90 to 2.10" in picture
    (1, True)
    """
    ends = [end for row in rows for end in row.ends]
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)

    def at(value: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low), 2)

    bottom = _ROW * len(rows) + 2
    description = "; ".join(_described(row, decimals) for row in rows)
    parts = [
        f"<svg class='picture' role='img' width='100%' height='{bottom + _AXIS}'>",
        f"<title>{escape(title)}</title><desc>{description}</desc>",
    ]
    current = next((row.mean for row in rows if row.look == "now"), None)
    values, places = ticks(low, high)
    for tick in values:
        x = at(tick)
        anchor = "start" if x < 8 else "end" if x > 92 else "middle"
        parts.append(f"<line class='tick' x1='{x}%' x2='{x}%' y1='0' y2='{bottom}'/>")
        text = fixed(tick, places)
        parts.append(
            f"<text class='scale' x='{x}%' y='{bottom + 18}' text-anchor='{anchor}'>{text}</text>"
        )
    parts.append(f"<line class='floor' x1='0' x2='100%' y1='{bottom}' y2='{bottom}'/>")
    if current is not None:
        x = at(current)
        parts.append(f"<line class='today' x1='{x}%' x2='{x}%' y1='0' y2='{bottom}'/>")
    for i, row in enumerate(rows):
        y = _ROW * i
        (left, right), middle = map(at, row.ends), at(row.mean)
        parts.append(
            f"<g class='{row.look}'><title>{_described(row, decimals)}</title>"
            f"<text x='0' y='{y + 15}'>{escape(row.label)}</text>"
            f"<text class='value' x='100%' y='{y + 15}' text-anchor='end'>{escape(row.text)}</text>"
            f"<line x1='{left}%' x2='{right}%' y1='{y + 26}' y2='{y + 26}'/>"
            f"<circle cx='{middle}%' cy='{y + 26}' r='5'/></g>"
        )
    return "\n".join([*parts, "</svg>"])


def _described(row: DotRow, decimals: int) -> str:
    text = f"{escape(row.label)}: {escape(row.text)}"
    if row.low is None or row.high is None:
        return text
    ends = f"{fixed(row.low, decimals)} to {fixed(row.high, decimals)}"
    return f"{text}, 95&nbsp;% interval {ends}"


def ticks(low: float, high: float) -> tuple[list[float], int]:
    """Return two to six round numbers between `low` and `high`, and the decimals they need.

    >>> ticks(0.99, 1.56)
    ([1.0, 1.2, 1.4], 1)
    """
    rough = (high - low) / 4
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = next(d for d in range(12) if math.isclose(round(step, d), step) or d == 11)
    return [round(k * step, decimals) for k in range(first, last + 1)], decimals
