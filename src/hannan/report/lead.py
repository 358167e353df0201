"""What a page begins with where there is a question: the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from hannan.report.wording import NOTHING, fixed

_MOST_CLASSES = 12


@dataclass(frozen=True, slots=True)
class Lead:
    """An answer, and what is behind it, in the units of the data.

    Attributes
    ----------
    sentence
        The answer.
    best
        The name of the best choice, if there is one.
    rows
        By name: "mean", and where they are known "low" and "high" of its interval, and "regret".
    confusion
        "classes", "actions" and for each way of deciding its "counts" [class, action]; or None.
    notes, columns
        Sentences.
    snippet
        Code.
    """

    sentence: str
    best: str | None
    rows: Mapping[str, Mapping[str, Any]]
    confusion: Mapping[str, Any] | None
    notes: Sequence[str]
    columns: Sequence[str]
    snippet: str

    def html(self) -> str:
        """The beginning of the page."""
        parts = [
            f"<p class='answer'>{escape(self.sentence)}</p>",
            self._table(),
            *self._confusion(),
        ]
        notes, columns = (
            "".join(f"<li>{escape(text)}</li>" for text in texts)
            for texts in (self.notes, self.columns)
        )
        if notes:
            parts.append(f"<ul class='notes'>{notes}</ul>")
        if columns:
            listed = f"<ul class='notes'>{columns}</ul>"
            parts.append(f"<details><summary>Columns</summary>{listed}</details>")
        code = f"<pre>{escape(self.snippet)}</pre>"
        return "\n".join([*parts, f"<details><summary>The code</summary>{code}</details>"])

    def _table(self) -> str:
        # Four digits of the largest number.
        largest = max(abs(row["mean"] or 0.0) for row in self.rows.values())
        decimals = max(0, 4 - math.floor(math.log10(max(1.0, largest))))
        rows = []
        for name, row in self.rows.items():
            mean = NOTHING if row["mean"] is None else fixed(row["mean"], decimals)
            ends = [row.get(end) for end in ("low", "high")]
            shown = "" if None in ends else " to ".join(fixed(end, decimals) for end in ends)  # type: ignore[arg-type]
            if name == self.best:
                mean = f"<b>{mean}</b>"
            rows.append(
                f"<tr><th scope='row'>{escape(name)}</th><td class='n'>{mean}</td>"
                f"<td class='n soft'>{shown}</td></tr>"
            )
        return (
            "<table class='answers'><thead><tr><th scope='col'></th><th scope='col' class='n'>a row"
            "</th><th scope='col' class='n'>95 % interval over the data</th></tr></thead><tbody>"
            + "\n".join(rows)
            + "</tbody></table>"
        )

    def _confusion(self) -> list[str]:
        found = self.confusion
        if found is None or len(found["classes"]) > _MOST_CLASSES:
            return []
        tables = []
        heads = "".join(f"<th scope='col' class='n'>{escape(a)}</th>" for a in found["actions"])
        for who, counts in found["counts"].items():
            rows = "".join(
                f"<tr><th scope='row'>{escape(name)}</th>"
                + "".join(f"<td class='n'>{n:,}</td>" for n in counts[i])
                + "</tr>"
                for i, name in enumerate(found["classes"])
            )
            tables.append(
                f"<table class='confusion'><caption>{escape(who)}: what is done, by what is right"
                f"</caption><thead><tr><th scope='col'>right</th>{heads}</tr></thead>"
                f"<tbody>{rows}</tbody></table>"
            )
        return ["<div class='scroll confusions'>", *tables, "</div>"]
