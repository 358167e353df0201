"""The first part of a page with an answer: sentence, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from hannan.report.course import course
from hannan.report.dots import DotRow, dots
from hannan.report.mistakes import mistakes
from hannan.report.wording import NBSP, NOTHING, amount, between, decimals_for, unbroken

_MOST_DOTS = 7
_PLAIN = {
    "stump": "rule with one question",
    "boosted trees": "many small decision trees",
    "hn.Decider": "the trained hn.Decider",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A way to decide every row; numbers are per row, in the units of the data.

    Attributes
    ----------
    name
        Name in the results, such as "linear rule", "hn.experts" or "always no".
    kind
        "rule", "learner", "constant" or "current".
    mean, low, high
        Mean, and ends of its 95 % confidence interval; None if unknown.
    difference, difference_low, difference_high
        Mean minus the mean of the current rule, and ends of the 95 % confidence interval; None
        without a current rule.
    """

    name: str
    kind: str
    mean: float | None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None

    @property
    def label(self) -> str:
        """Name of the choice in words that need no explanation."""
        words = {"current": "your current rule", "learner": "learning as it goes"}
        return words.get(self.kind, _PLAIN.get(self.name, self.name))


@dataclass(frozen=True, slots=True)
class Lead:
    """An answer with its numbers, in the units of the data.

    Attributes
    ----------
    sentence
        The answer.
    choices
        All measured choices, in any order.
    rows
        Number of rows, which converts means to totals.
    best
        Name of the best choice; None if it is unknown.
    rewards
        Whether the numbers are rewards instead of costs. Default False.
    unit
        Unit of the numbers, such as "€". Default None.
    rows_word
        Plural noun for rows, such as "customers". Default "rows".
    warning
        Sentence before the answer, for example about rows left out. Default None.
    confusion
        A mapping with "classes", "actions", "counts" (a table [class, action] for each choice) and,
        if known, "costs" [class, action]. Default None.
    course
        Pairs (number of rows, difference over them between the best choice and the current rule).
    notes, columns
        Sentences for specialists: remarks, and the use of each column.
    snippet
        Python code that repeats the replay and lets the best choice decide.
    """

    sentence: str
    choices: Sequence[Choice]
    rows: int
    best: str | None
    rewards: bool = False
    unit: str | None = None
    rows_word: str = "rows"
    warning: str | None = None
    confusion: Mapping[str, Any] | None = None
    course: Sequence[Sequence[float]] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)
    columns: Sequence[str] = field(default_factory=tuple)
    snippet: str = ""

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Lead:
        """Create a `Lead` from the plain values of `as_dict`."""
        choices = tuple(Choice(**choice) for choice in plain["choices"])
        return cls(**{**plain, "choices": choices})

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, from which `from_dict` creates an equal `Lead`."""
        return asdict(self)

    @property
    def current(self) -> Choice | None:
        """The current rule; None without one."""
        return next((choice for choice in self.choices if choice.kind == "current"), None)

    @property
    def ranking(self) -> list[Choice]:
        """Known choices, the best first, with only the best one of the learners."""
        known = [choice for choice in self.choices if choice.mean is not None]
        known.sort(key=self._loss)
        learners = [choice for choice in known if choice.kind == "learner"]
        return [choice for choice in known if choice.kind != "learner" or choice is learners[0]]

    @property
    def total(self) -> str | None:
        """Difference between the best choice and the current rule over all rows, as text.

        Examples
        --------
        >>> now = Choice("current", "current", 1.5)
        >>> best = Choice("linear rule", "rule", 1.0, 0.9, 1.1, -0.5, -0.6, -0.4)
        >>> lead = Lead("…", [now, best], 50_000, "linear rule", unit="€", rows_word="customers")
        >>> print(lead.total.replace(chr(160), " "))
        25,000 € less over 50,000 customers (95 % interval 20,000 to 30,000 € less)
        """
        best = self._best
        if best is None or best.difference is None or best.kind == "current":
            return None
        text = f"{self._over_all(best.difference)} over {self.rows:,} {self.rows_word}"
        return unbroken(f"{text} (95 % interval {self._range(best)})", self.unit)

    def html(self) -> str:
        """Return the first part of the page as HTML."""
        warning = f"<p class='warning' role='note'>{self._text(self.warning or '')}</p>"
        answer = [f"<p class='answer'>{self._text(self.sentence)}</p>"]
        if self.total is not None:
            head, _, interval = self.total.partition(" (")
            total = f"<b>{escape(head)}</b> ({escape(interval)}."
            answer.append(f"<p class='total'>In total {total}</p>")
        parts = [
            warning if self.warning else "",
            f"<div class='first'><div class='said'>{''.join(answer)}</div>",
            f"{self._picture()}</div>",
            f"<div class='second'>{self._table()}{self._course()}</div>",
            mistakes(self.confusion, self.unit, {c.name: c.label for c in self.choices}),
        ]
        return "\n".join(part for part in parts if part)

    def details(self) -> str:
        """Return the folded parts of the page as HTML: notes, columns and code."""
        parts = {
            "Notes": _listed(self.notes),
            "Columns": _listed(self.columns),
            "The code": f"<pre>{escape(self.snippet)}</pre>" if self.snippet else "",
        }
        return "\n".join(
            f"<details><summary>{head}</summary>{content}</details>"
            for head, content in parts.items()
            if content
        )

    def _loss(self, choice: Choice) -> float:
        mean = choice.mean or 0.0
        return -mean if self.rewards else mean

    def _text(self, text: str) -> str:
        return escape(unbroken(text, self.unit))

    @property
    def _best(self) -> Choice | None:
        return next((choice for choice in self.choices if choice.name == self.best), None)

    @property
    def _decimals(self) -> int:
        gap = None if self._best is None else self._best.difference
        return decimals_for([choice.mean for choice in self.ranking], self.unit, gap)

    def _per_row(self, value: float) -> str:
        return amount(value, self._decimals, self.unit)

    def _over_all(self, difference: float) -> str:
        whole = difference * self.rows
        word = "the same" if whole == 0 else "more" if whole > 0 else "less"
        size = abs(whole)
        return f"{amount(size, 0 if size >= 10 else 2, self.unit)}{NBSP}{word}" if whole else word

    def _range(self, choice: Choice) -> str:
        """Return the interval of a difference over all rows; ends of two signs have a word each."""
        low, high = choice.difference_low, choice.difference_high
        if low is None or high is None:
            return "not known"
        if low < 0 < high:
            return f"{self._over_all(low)} to {self._over_all(high)}"
        near, far = sorted(abs(end * self.rows) for end in (low, high))
        ends = between(near, far, 0 if far >= 10 else 2, self.unit)
        return f"{ends}{NBSP}{'more' if high > 0 else 'less'}"

    def _picture(self) -> str:
        shown = self.ranking
        drawn = [c for c in shown if c.kind == "current" or c.name == self.best]
        drawn += [c for c in shown if c not in drawn][: _MOST_DOTS - len(drawn)]
        rows = [
            DotRow(c.label, c.mean, c.low, c.high, self._per_row(c.mean), self._look(c))
            for c in shown
            if c in drawn and c.mean is not None
        ]
        if not rows:
            return ""
        measured = "Reward" if self.rewards else "Cost"
        side = "right" if self.rewards else "left"
        unit = f" in {self.unit}" if self.unit else ""
        caption = f"Means with 95 % confidence intervals. Further {side} is better."
        if self.current is not None:
            caption += " The dashed line is your current rule."
        title = f"{measured} per row{unit}"
        return (
            f"<figure class='dots'><figcaption><h3>{escape(title)}</h3>"
            f"<p>{self._text(caption)}</p></figcaption>{dots(title, rows, self._decimals)}</figure>"
        )

    def _course(self) -> str:
        best, points = self._best, self.course
        if best is None or best.difference_low is None or best.difference_high is None:
            return ""
        if len(points) < 2:
            return ""
        half = (best.difference_high - best.difference_low) / 2 * self.rows
        unit = f", in {self.unit}" if self.unit else ""
        side = "Above" if self.rewards else "Below"
        caption = (
            f"{best.label}, row by row{unit}. {side} the line is better. The band ends at the "
        )
        caption += "95 % confidence interval of the total."
        return (
            "<figure class='dots'><figcaption><h3>Difference to your current rule, so far</h3>"
            f"<p>{self._text(caption)}</p></figcaption>{course(points, half, self.unit)}</figure>"
        )

    def _look(self, choice: Choice) -> str:
        if choice.kind == "current":
            return "now"
        return "best" if choice.name == self.best else "other"

    def _table(self) -> str:
        compared = self.current is not None
        heads = [f"{'reward' if self.rewards else 'cost'} per row"]
        heads += [f"than your current rule, over {self.rows:,} {self.rows_word}"] * compared
        rows = "\n".join(self._row(choice, compared) for choice in self.ranking)
        columns = "".join(f"<th scope='col' class='n'>{escape(head)}</th>" for head in heads)
        return (
            "<table class='answers'><thead><tr><th scope='col'>choice, best first</th>"
            f"{columns}</tr></thead><tbody>\n{rows}\n</tbody></table>"
        )

    def _row(self, choice: Choice, compared: bool) -> str:
        mean = NOTHING if choice.mean is None else self._per_row(choice.mean)
        interval = ""
        if choice.low is not None and choice.high is not None:
            interval = between(choice.low, choice.high, self._decimals, self.unit)
        cells = [(mean, interval)]
        if compared:
            cells.append(self._against(choice))
        looks = {"now": "now", "best": "best", "other": ""}[self._look(choice)]
        shown = "".join(
            f"<td class='n'><span>{self._text(text)}</span><small>{self._text(small)}</small></td>"
            for text, small in cells
        )
        return f"<tr class='{looks}'><th scope='row'>{escape(choice.label)}</th>{shown}</tr>"

    def _against(self, choice: Choice) -> tuple[str, str]:
        if choice.kind == "current" or choice.difference is None:
            return NOTHING, ""
        known = choice.difference_low is not None
        return self._over_all(choice.difference), self._range(choice) if known else ""


def _listed(texts: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(unbroken(text))}</li>" for text in texts)
    return f"<ul class='notes'>{items}</ul>" if items else ""
