"""Confusion tables: counts and costs of actions per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from hannan.report.wording import amount

_MOST_CLASSES = 12
_MOST_TERMS = 4


def mistakes(
    confusion: Mapping[str, Any] | None,
    unit: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Return a table for each choice; an empty text if there are too many classes.

    Parameters
    ----------
    confusion
        A mapping with "classes", "actions", "counts" (a table [class, action] for each choice) and,
        if known, "costs" [class, action].
    unit
        Unit of the costs, or None.
    labels
        Labels of the choices in "counts". Default: their names.
    """
    if confusion is None or len(confusion["classes"]) > _MOST_CLASSES:
        return ""
    costs = confusion.get("costs")
    heads = "".join(f"<th scope='col' class='n'>{escape(a)}</th>" for a in confusion["actions"])
    tables = []
    for who, counts in confusion["counts"].items():
        rows = []
        for i, name in enumerate(confusion["classes"]):
            prices = None if costs is None else costs[i]
            cells = "".join(_cell(n, prices and prices[k], unit) for k, n in enumerate(counts[i]))
            rows.append(f"<tr><th scope='row'>{escape(name)}</th>{cells}</tr>")
        total = "" if costs is None else f"<br>{escape(bill(counts, costs, unit))}"
        label = escape((labels or {}).get(who, who))
        tables.append(
            f"<table class='confusion'><caption><b>{label}</b>{total}</caption>"
            f"<thead><tr><th scope='col'>right answer ↓, decision →</th>{heads}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )
    shown = "\n".join(tables)
    return f"<h3 class='part'>Decisions and mistakes</h3>\n<div class='confusions'>{shown}</div>"


def bill(
    counts: Sequence[Sequence[int]], costs: Sequence[Sequence[float]], unit: str | None
) -> str:
    """Return the total cost of all decisions as a sum, the largest term first.

    Examples
    --------
    >>> print(bill([[9000, 1394], [540, 60]], [[0, 6], [80, 0]], "€").replace(chr(160), " "))
    540 × 80 € + 1,394 × 6 € = 51,564 €
    """
    pairs = [
        (n, float(cost))
        for row, prices in zip(counts, costs, strict=True)
        for n, cost in zip(row, prices, strict=True)
        if n and cost
    ]
    pairs.sort(key=lambda pair: -abs(pair[0] * pair[1]))
    terms = [f"{n:,} × {_price(cost, unit)}" for n, cost in pairs[:_MOST_TERMS]]
    terms += ["…"] * (len(pairs) > _MOST_TERMS)
    whole = _price(sum(n * cost for n, cost in pairs), unit)
    return f"{' + '.join(terms)} = {whole}" if terms else whole


def _cell(count: int, cost: float | None, unit: str | None) -> str:
    small = f"× {_price(cost, unit)} = {_price(count * cost, unit)}" if cost else ""
    return f"<td class='n'><span>{count:,}</span><small>{escape(small)}</small></td>"


def _price(cost: float, unit: str | None) -> str:
    return amount(cost, 0 if float(cost).is_integer() else 2, unit)
