"""Numbers and lists as text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hannan.report.spread import Spread

NOTHING = "–"
NBSP = "\N{NO-BREAK SPACE}"

_SHOWN_ELSEWHERE = ("name", "title", "type", "horizon", "policies", "environments")

_BEFORE = ("$", "£", "¥", "US$")  # units that precede the number

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with this number of significant digits; large integers in full.

    >>> number(0.045211), number(151.83), number(12345.6), number(-2.5), number(None)
    ('0.0452', '152', '12,346', '−2.50', '–')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    if decimals > 7:
        return f"{value:.{digits - 1}e}".replace("-", "−")
    return fixed(value, decimals)


def fixed(value: float, decimals: int) -> str:
    """Return a number with this number of decimals, and with a minus sign (−)."""
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "−") if text.strip("-0.,") else text.removeprefix("-")


def amount(value: float, decimals: int, unit: str | None = None) -> str:
    """Return a number with its unit, on the same line.

    >>> amount(24212.4, 0, "€").replace(NBSP, " "), amount(-3.5, 2, "$"), amount(0.25, 2)
    ('24,212 €', '−$3.50', '0.25')
    """
    text = fixed(value, decimals)
    if not unit:
        return text
    if unit in _BEFORE:
        return f"−{unit}{text[1:]}" if text.startswith("−") else f"{unit}{text}"
    return f"{text}{NBSP}{unit}"


def between(low: float, high: float, decimals: int, unit: str | None = None) -> str:
    """Return an interval with one unit at the end, or a unit before each number.

    >>> between(0.994, 1.41, 2, "€").replace(NBSP, " "), between(-3, 4, 0, "$")
    ('0.99 to 1.41 €', '−$3 to $4')
    """
    first = unit if unit in _BEFORE else None
    return f"{amount(low, decimals, first)} to {amount(high, decimals, unit)}"


def decimals_for(
    values: Iterable[float | None], unit: str | None = None, gap: float | None = None
) -> int:
    """Return the number of decimals that suits all values.

    Values have two decimals, and none from 1,000 on. Rates below 1, and amounts below 0.01 with a
    unit, have three significant digits. A small `gap` between the values has one.

    >>> decimals_for([1.52, 1.03]), decimals_for([0.27]), decimals_for([5321.0])
    (2, 3, 0)
    >>> decimals_for([0.27], "€"), decimals_for([0.0345], "€"), decimals_for([1.512], "€", 0.003)
    (2, 2, 3)
    """
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if largest == 0.0:
        return 0
    if largest >= 1000.0:
        return 0
    decimals = 2 if largest >= (0.01 if unit else 1.0) else 2 - math.floor(math.log10(largest))
    if gap is not None and 0.0 < abs(gap) < 1.0:
        decimals = max(decimals, -math.floor(math.log10(abs(gap))))
    return decimals


def unbroken(text: str, unit: str | None = None) -> str:
    """Return text with numbers on one line with their units, and "95 %" with "interval".

    >>> unbroken("95 % interval 3 € to 4 €", "€") == "95_%_interval 3_€ to 4_€".replace("_", NBSP)
    True
    """
    units = "|".join(map(re.escape, ["%", *([unit] if unit else [])]))
    return re.sub(rf"(?<=\d) (?=(?:{units})(?!\w))|(?<=%) (?=interval)", NBSP, text)


def plus_minus(spread: Spread) -> str:
    """Return a mean with four digits, and half its confidence interval with one or two.

    >>> plus_minus(Spread(0.045211, 0.04401, 0.046412))
    '0.0452 ± 0.0012'
    >>> plus_minus(Spread(0.25891, 0.25828, 0.25954))
    '0.2589 ± 0.0006'
    """
    mean, half = float(spread.mean), spread.half
    if not math.isfinite(half) or half <= 0:
        return number(mean, 4)
    first = -math.floor(math.log10(half))
    four = 3 - math.floor(math.log10(abs(mean))) if mean else first
    decimals = min(7, max(0, first, min(first + 1, four)))
    return f"{fixed(mean, decimals)} ± {fixed(half, decimals)}"


def duration(seconds: float) -> str:
    """Return seconds in a suitable unit.

    >>> duration(0.0000123), duration(0.5)
    ('12.3 µs', '500 ms')
    """
    if not math.isfinite(seconds):
        return NOTHING
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds / 1e-9)} ns"


def counted(n: int, noun: str) -> str:
    """Return a number and a noun, with numbers up to ten in words.

    >>> counted(3, "seed"), counted(1, "seed"), counted(40, "seed")
    ('three seeds', 'one seed', '40 seeds')
    """
    many = _WORDS[n] if n < len(_WORDS) else f"{n:,}"
    return f"{many} {noun}{'' if n == 1 else 's'}"


def span(numbers: set[int], noun: str) -> str:
    """Return the range of some numbers, and a noun.

    >>> span({3}, "seed"), span({3, 12}, "seed")
    ('three seeds', '3 to 12 seeds')
    """
    low, high = min(numbers), max(numbers)
    return counted(high, noun) if low == high else f"{low:,} to {high:,} {noun}s"


def listed(items: Sequence[str]) -> str:
    """Return items as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def described(table: Mapping[str, Any]) -> str:
    """Return the parameters in a table of an experiment file, in one line.

    >>> described({"name": "x", "type": "A", "k": 3, "oracle": {"type": "B", "n": [1, 2]}})
    'k = 3, oracle = B(n = [1, 2])'
    """
    own = {key: value for key, value in table.items() if key not in _SHOWN_ELSEWHERE}
    return ", ".join(f"{key} = {written(value)}" for key, value in own.items())


def written(value: Any) -> str:
    """Return a value of an experiment file as text; a table with a type looks like a call.

    >>> written({"type": "Ridge", "alpha": 0.1})
    'Ridge(alpha = 0.1)'
    """
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k} = {written(v)}" for k, v in value.items() if k != "type")
        return f"{value['type']}({inner})" if "type" in value else f"{{{inner}}}"
    if isinstance(value, list | tuple):
        shown = ", ".join(map(written, value[:8]))
        return f"[{shown}, … {len(value)} values]" if len(value) > 8 else f"[{shown}]"
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 200 else text[:199] + "…"
