"""The answer of a replay: one sentence, a table and notes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from hannan.experiments.over_data import OverData
from hannan.experiments.summary import Record, Row, compared, summarise
from hannan.replays.data import ReplayData
from hannan.replays.table import confusion_table, fixed, replay_table
from hannan.report.lead import Choice, Lead
from hannan.report.mistakes import bill
from hannan.report.wording import decimals_for

_FEW, _SHARE = 100, 0.01  # effective sample size below which an estimate is called rough
_FEWEST = 30  # effective sample size of a choice that leads the answer
_ROUNDED = 0.01  # error of a mean importance weight that rounded propensities may cause
_RARE = 0.05  # share of a class that a rule may ignore if all mistakes cost the same
_KINDS = ("rule", "constant", "current", "decider")
_MOST_POINTS = 120  # points of a curve
_MOST_CLASSES = 12  # classes of a confusion table that is printed
_WORDS = {
    "number": "numbers",
    "category": "categories",
    "flag": "yes or no",
    "date": "dates",
    "time": "dates",
    "text": "text",
}


@dataclass(frozen=True)
class Comparator:
    """A way to decide every row: a learner, a fitted rule, one action, or the current rule."""

    row: Row
    kind: str
    record: Record
    place: int
    curve: dict[str, Any]
    plain: dict[str, Any]
    """Results, with losses and rewards in the units of the file."""
    unseen: float = 0.0
    """Share of the rows in which it chooses an action that the log never takes there."""

    @property
    def name(self) -> str:
        """Name in the table."""
        return self.row.learner

    @property
    def mean(self) -> float:
        """Mean loss in [0, 1]; infinite if it is unknown."""
        return math.inf if self.row.mean_loss is None else self.row.mean_loss.mean

    def __str__(self) -> str:
        return self.name if self.kind != "rule" or self.name.endswith("s") else f"a {self.name}"


class ReplayAnswer:
    """The results of a replay, in the units of the file."""

    def __init__(
        self, data: ReplayData, records: list[Record], times: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.data, self.units = data, data.units
        runs = compared(records, spare=True)
        self.merged = _coinciding(runs)
        rows = summarise(records, times, spare=True)
        self.policies = records[0]["cell"]["policies"]["type"]
        self.best = None if rows[0].best is None else rows[0].best.mean
        self.model = rows[0].found
        own = [[r for r in runs if r["cell"]["learner"]["name"] == row.learner] for row in rows]
        curves = [_mean_curve(of_row) for of_row in own]
        over = OverData(curves, [row.effective for row in rows])
        self.comparators: list[Comparator] = []
        for place, (row, of_row) in enumerate(zip(rows, own, strict=True)):
            kind = of_row[0]["cell"]["learner"]["type"]
            kind = kind if kind in _KINDS else "learner"
            within = of_row[0]["result"].get("in_sample")
            # A learner runs by rejection sampling: every row counts with the same probability.
            chance = 1.0 if kind in ("rule", "constant", "current") else data.chance
            unseen = _unseen(of_row[0]["result"], chance)
            plain = self._plain(row, kind, within, _widened(over.interval(place), unseen))
            self.comparators.append(
                Comparator(row, kind, of_row[0], place, curves[place], plain, unseen)
            )
        self._bandit = any(row.feedback == "bandit" for row in rows)
        # With bandit feedback, a rule fitted to the losses of all actions is not comparable.
        rules = ("rule",) if data.logged or not self._bandit else ()
        self.choice = self.comparator("learner", "constant", *rules)
        self.current = self.comparator("current")
        self.reference = self.current or self.comparator("constant")
        self._compare(over)
        means = [row["mean"] for row in self.listed().values()]
        gap = None if self.choice is None else self.choice.plain["difference"]
        self._decimals = decimals_for(means, self.units.unit, gap)

    def comparator(self, *kinds: str) -> Comparator | None:
        """Return the best comparator of some kinds; of equal ones, a single action.

        A comparator with a small effective sample size, or with actions that the log never takes
        in some rows, is returned only if there is no other.
        """
        known = [p for p in self.comparators if p.kind in kinds and math.isfinite(p.mean)]
        seen = [p for p in known if not p.unseen] or known
        enough = [p for p in seen if p.row.effective >= min(_FEWEST, p.row.rounds)]
        return min(
            enough or seen,
            key=lambda p: (round(p.mean, 12), p.kind != "constant"),
            default=None,
        )

    def _compare(self, over: OverData) -> None:
        """Add to each comparator its difference to the current rule or the best single action."""
        reference, units = self.reference, self.units
        if reference is None:
            return
        others = [p.place for p in self.comparators if p is not reference and math.isfinite(p.mean)]
        # A Decider that is trained later does not change the intervals of the other comparators.
        later = [place for place in others if self.comparators[place].kind == "decider"]
        first = [place for place in others if place not in later]
        together = over.together(first, reference.place) | over.together(later, reference.place)
        sign = -1.0 if units.rewards else 1.0
        for place in others:
            plain = self.comparators[place].plain
            plain["difference"] = plain["mean"] - reference.plain["mean"]
            if place in together:
                wide = _widened(together[place], self.comparators[place].unseen, reference.mean)
                ends = sorted(sign * units.difference(end) for end in wide or ())
                plain["difference_low"], plain["difference_high"] = ends

    @property
    def caution(self) -> str:
        """First words of the answer: rows left out, copies of rows, and rare classes."""
        return f"{self.data.caution} {self._rare}".strip()

    @property
    def warning(self) -> str | None:
        """Warning about rows left out, copies, rare classes and rough estimates; None without."""
        return f"{self.caution} {self._rough}".strip() or None

    @property
    def _rough(self) -> str:
        rough = [
            f"{p.name} {p.row.effective:,.0f}"
            for p in self._shown
            if p.kind in ("learner", "constant")
            and p.row.effective < max(_FEW, _SHARE * p.row.rounds)
            and p.row.effective < p.row.rounds
        ]
        if not rough:
            return ""
        return (
            f"the effective sample size is small ({', '.join(rough)}, of {self.data.rounds:,} "
            "rows): these means are rough estimates."
        )

    # The sentence ---------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """The answer: costs of the current rule and of the best choice, with any caution before."""
        return f"{self.caution} {self._comparison()}".lstrip()

    def _comparison(self, page: bool = False) -> str:
        """Compare the best choice with the current rule; leave out the total on a page."""
        choice, current, reference = self.choice, self.current, self.reference
        if choice is None or reference is None:
            return "The log does not show how good any choice is: no choice took a logged action."
        total = not page or current is None
        costs, cost = ("earns", "earned") if self.units.rewards else ("costs", "cost")
        would = f"{self._called(choice, page)}, would have {cost} {self._interval_of(choice)}"
        if current is not None:
            now = f"Your current rule {costs} {self._mean(current.mean)} per row"
            best = "; the best choice found here"
            if current.mean <= choice.mean:
                best = ", and no choice found here is better; the best of them"
            return f"{now}{best}, {would}{self._clearly(choice, total)}{self.data.assumption}."
        against = ""
        if choice is not reference:
            against = f", against {self._mean(reference.mean)} for “{reference}”"
            against += self._clearly(choice)
        return f"The best choice found here, {would} per row{against}."

    def _called(self, choice: Comparator, page: bool) -> str:
        """Name a choice as the table does; a page has words that need no explanation."""
        if choice.kind == "learner":
            return f"{choice}, which learns as it goes"
        name = self._choice(choice).label if page else choice.name
        if choice.kind == "constant":
            return f"“{name}”"
        return f"{name if name.endswith('s') else f'a {name}'} fitted to the other rows"

    def _interval_of(self, comparator: Comparator) -> str:
        mean = self._mean(comparator.mean)
        if comparator.plain["low"] is None:
            return mean
        low, high = (fixed(comparator.plain[end], self._decimals) for end in ("low", "high"))
        return f"{mean} (95 % interval {low} to {high})"

    def _clearly(self, choice: Comparator, total: bool = True) -> str:
        """Describe the difference to the current rule, per row and in total, and its certainty."""
        plain, rounds = choice.plain, self.data.rounds
        difference = plain["difference"]
        more = difference >= 0.0 if self.units.rewards else difference > 0.0
        sign, word = (1.0, "more") if more else (-1.0, "less")
        whole = abs(difference) * rounds
        decimals = 0 if whole >= 100.0 else decimals_for([whole], self.units.unit)
        text = f"{self._amount(abs(difference))} {word} per row"
        if total:
            text += f", {self._with_unit(fixed(whole, decimals))} {word} over {rounds:,} rows"
        if plain["difference_low"] is None:
            return f": {text}"
        ends = sorted(sign * plain[end] * rounds for end in ("difference_low", "difference_high"))
        low, high = (fixed(abs(end), decimals) for end in ends)
        if ends[0] > 0.0:
            text = text if self.data.copies else f"clearly {text}"
        else:
            text += ", which is not clear"
            low, high = f"{low} {'less' if more else 'more'}", f"{high} {word}"
        return f": {text} (95 % interval {low} to {high})" if total else f": {text}"

    @property
    def clear(self) -> bool:
        """Whether the interval of the difference between choice and current rule excludes 0."""
        plain = None if self.choice is None else self.choice.plain
        if plain is None or plain["difference_low"] is None:
            return False
        return bool(plain["difference_low"] > 0.0 or plain["difference_high"] < 0.0)

    @property
    def notes(self) -> list[str]:
        """Further facts, one sentence each."""
        notes = []
        choice, rule = self.choice, self.comparator("rule")
        learner, constant = self.comparator("learner"), self.comparator("constant")
        if choice is not None and choice.kind == "rule" and learner is not None:
            best = self._interval_of(learner)
            notes.append(f"{learner} is the best choice that learns as it goes: {best}.")
        if rule is not None and choice is not rule and choice is not None:
            full = self._bandit and not self.data.logged
            fit = ", fitted to the losses of all actions" if full else ""
            notes.append(f"The best fixed rule found, {rule}{fit}: {self._interval_of(rule)}.")
        if self.current and choice and constant and choice is not constant:
            notes.append(f"The best single action, {constant}: {self._interval_of(constant)}.")
        if self.best is not None and self.model is not None:
            notes += self._notes_of_hindsight(self.best)
        same = self.merged.items()
        notes += [f"{name} made the same choices as {other}." for name, other in same]
        return notes + self._notes_of_comparators()

    @property
    def _rare(self) -> str:
        """Warn of a rare class if all mistakes cost the same; otherwise empty."""
        counts = next(
            (c for p in self.comparators if (c := p.record["result"].get("confusion")) is not None),
            None,
        )
        if counts is None or "cost" in self.data.table:
            return ""
        shares = np.sum(counts, axis=1) / max(1, np.sum(counts))
        if not 0.0 < shares.min() < _RARE:
            return ""
        ratio = " : ".join(
            f"{100 * share:.3g}" for share in sorted(shares.tolist())[:_MOST_CLASSES]
        )
        return (
            f"Your classes are {ratio} % of the rows, and every mistake costs 1. Missing a rare "
            "class therefore looks cheap: pass the cost of each mistake as cost=."
        )

    def _notes_of_hindsight(self, best: float) -> list[str]:
        where = "this log" if self.data.logged else "all rows and measured on the same rows"
        notes = [
            f"Best found in hindsight, {self.model} fitted to {where}: "
            f"{self._mean(best)}; in-sample, so it looks better than it is."
        ]
        better = [p.name for p in self.comparators if p.mean < best and not self.data.logged]
        if better:
            notes.append(
                f"{' and '.join(better)} did better than this policy, so a better policy than the "
                "one found must exist."
            )
        return notes

    def _notes_of_comparators(self) -> list[str]:
        notes = []
        unseen = [f"{p.name} {100 * p.unseen:.2g} %" for p in self.comparators if p.unseen]
        if unseen:
            notes.append(
                "In some rows, the log never takes the action of a choice. The interval of the "
                f"choice allows for any outcome there: {', '.join(unseen[:_MOST_CLASSES])}."
            )
        for comparator in self.comparators:
            count = comparator.record["result"].get("restarts")
            if count is not None:
                times = "once" if count == 1 else f"{count} times"
                drift = "no drift found" if count == 0 else f"drift found, restarted {times}"
                notes.append(f"{comparator.name}: {drift}.")
        return notes

    @property
    def columns(self) -> list[str]:
        """Columns that are used, columns that are not and why, and missing values."""
        columns = self.data.columns
        if columns is None:
            return []
        kinds = {n: _WORDS.get(kind.split(" ")[0], kind) for n, kind in columns.kinds.items()}
        lines = [f"used as {kind}: {names}" for kind, names in _grouped(kinds).items()]
        lines = lines or ["used: no columns, so every row gets the same decision"]
        unused = _grouped(columns.left_out).items()
        lines += [f"not used ({why}): {names}" for why, names in unused]
        missing = [f"{n} {c:,}" for n, c in columns.missing.items() if n in columns.kinds]
        if missing:
            lines.append(f"missing values, treated as a separate value: {', '.join(missing[:12])}")
        if self._left_out:
            lines.append(str(self.data.rows_left_out))
        return lines

    @property
    def _left_out(self) -> int:
        rows = self.data.rows_left_out
        return 0 if rows is None else rows.rows

    @property
    def confusion(self) -> dict[str, Any] | None:
        """Counts of actions per class, of the best choice and of the current rule; None without."""
        classes = getattr(self.data.environment, "classes", None)
        tables: dict[str, Any] = {}
        for comparator in (self.choice, self.current):
            counts = comparator and comparator.record["result"].get("confusion")
            if comparator is not None and counts:
                tables[comparator.name] = counts
        if not classes or not tables:
            return None
        table: dict[str, Any] = {
            "classes": [str(c) for c in classes],
            "actions": self.data.names,
            "counts": tables,
        }
        prices = self.data.table.get("cost")
        if prices:
            # By default a right decision costs 0 and a mistake costs 1.
            table["costs"] = [
                [prices.get(c, {}).get(a, float(c != a)) for a in table["actions"]]
                for c in table["classes"]
            ]
        return table

    # Printing -------------------------------------------------------------------------------------

    def page(self, snippet: str) -> Lead:
        """Return the beginning of the report."""
        return Lead(
            self._comparison(page=True),
            [self._choice(comparator) for comparator in self._shown],
            self.data.rounds,
            None if self.choice is None else self.choice.name,
            rewards=self.units.rewards,
            unit=self.units.unit or None,
            warning=self.warning,
            confusion=self.confusion,
            course=self._course,
            notes=self.notes,
            columns=self.columns,
            snippet=snippet,
        )

    @property
    def _course(self) -> list[tuple[int, float]]:
        """Numbers of rows, each with the difference so far between choice and current rule."""
        if self.choice is None or self.current is None:
            return []
        (t, ours), (_, theirs) = (
            (p.curve["t"], p.curve["loss"] or []) for p in (self.choice, self.current)
        )
        sign = -1.0 if self.units.rewards else 1.0
        pairs = [
            (int(row), sign * self.units.difference(a - b))
            for row, a, b in zip(t, ours, theirs, strict=False)
            if a is not None and b is not None
        ]
        return pairs[:: max(1, len(pairs) // _MOST_POINTS)][:-1] + pairs[-1:]

    def _choice(self, comparator: Comparator) -> Choice:
        """Return a comparator's results for the report, with any difference to the current rule."""
        names = ["mean", "low", "high"]
        if self.current is not None:
            names += ["difference", "difference_low", "difference_high"]
        return Choice(comparator.name, comparator.kind, *(comparator.plain[name] for name in names))

    def print(self, console: Console, snippet: str, name: str) -> None:
        """Print the sentence, the table, the notes, the use of columns, and the code."""
        wrap = not console.is_terminal  # whole words in a terminal, one line in a pipe
        sentence = f"[bold]{escape(self.sentence)}[/]"
        console.print(sentence, "", soft_wrap=wrap, sep="\n", highlight=False)
        title = f"{name}, {self.data.rounds:,} rounds"
        if len(title) > console.width:
            title = f"{Path(name).name}, {self.data.rounds:,} rounds"
        table = replay_table(title, self.units, self.listed(), console.width)
        console.print(table, "", sep="\n")
        confusion = self.confusion
        if confusion is not None and len(confusion["classes"]) <= _MOST_CLASSES:
            console.print(confusion_table(confusion), "", sep="\n")
            if "costs" in confusion:
                for who, counts in confusion["counts"].items():
                    text = f"{who}: {bill(counts, confusion['costs'], self.units.unit)}"
                    console.print(escape(text), soft_wrap=wrap, highlight=False)
                console.print()
        for text in self.notes:
            console.print(escape(text), soft_wrap=wrap, highlight=False)
        for text in self.columns:
            console.print(f"[dim]{escape(text)}[/]", soft_wrap=wrap, highlight=False)
        console.print(
            "", "The code:", "", escape(snippet), sep="\n", soft_wrap=True, highlight=False
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, with losses and rewards in the units of the file."""
        columns = self.data.columns
        return {
            "answer": self.sentence,
            "choice": self.choice and self.choice.plain,
            "rounds": self.data.rounds,
            "units": self.units.name,
            "actions": self.data.names,
            "policies": self.policies,
            "rows": [comparator.plain for comparator in self._shown],
            "best": self.units.mean(self.best),
            "found": self.model,
            "current": self.current and self.current.plain["mean"],
            "confusion": self.confusion,
            "columns": None if columns is None else asdict(columns),
            "not_used": [] if columns is None else list(columns.left_out),
            "rows_left_out": self._left_out,
            "notes": self.notes,
            "warning": self.warning,
        }

    @property
    def _shown(self) -> list[Comparator]:
        """Comparators of the table: of single actions the best one, of equal learners the first."""
        best = self.comparator("constant")
        shown = [p for p in self.comparators if p.kind != "constant" or p is best]
        return [p for p in shown if p.name not in self.merged]

    def ranked(self) -> list[Comparator]:
        """Return the comparators of the table, the best first."""
        return sorted(self._shown, key=lambda comparator: comparator.mean)

    def overview(self) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[int]]:
        """Return headings and rows for a notebook, and the index of the current rule's row."""
        unit = f" {self.units.unit}" if self.units.unit else ""
        compared = "current rule" if self.current is not None else "best single action"
        mean, difference = f"mean {self.units.name} per row{unit}", f"difference to the {compared}"
        heads = ("", mean, "95 % interval", difference, "95 % interval", f"total{unit}")
        rows: list[tuple[str, ...]] = []
        marked, listed = [], self.listed()
        decimals = decimals_for([row["total"] for row in listed.values()], self.units.unit)
        for place, (name, row) in enumerate(listed.items()):
            if row.get("kind") == "current":
                marked.append(place)
                name = "your current rule"
            total = row["total"]
            rows.append((
                name,
                *self._figures(row, "mean", "low", "high"),
                *self._figures(row, "difference", "difference_low", "difference_high"),
                "" if total is None else fixed(total, decimals),
            ))  # fmt: skip
        return heads, rows, marked

    def _figures(self, row: Mapping[str, Any], *keys: str) -> tuple[str, str]:
        """Return a number of a row and its interval as text; empty if they are unknown."""
        value, low, high = (
            None if row.get(key) is None else fixed(row[key], self._decimals) for key in keys
        )
        return value or "", "" if low is None or high is None else f"{low} to {high}"

    def listed(self) -> dict[str, dict[str, Any]]:
        """Return the rows of the table as a mapping from their names, the best first."""
        rows = {comparator.name: dict(comparator.plain) for comparator in self.ranked()}
        for row in rows.values():
            if not self.data.logged:
                del row["effective"]
            if row["kind"] != "learner":
                del row["rounds_per_second"]
        if self.best is not None:
            name = f"best of {self.policies}" if self.model is None else "best found, in-sample"
            mean = self.units.mean(self.best)
            rows[name] = {"mean": mean, "total": mean * self.data.rounds}
        return rows

    def _plain(
        self, row: Row, kind: str, within: float | None, over: tuple[float, float] | None
    ) -> dict[str, Any]:
        units, loss = self.units, row.mean_loss
        known = over is not None and loss is not None
        possible = np.clip(over or (), 0.0, 1.0).tolist()
        low, high = sorted(map(units.mean, possible)) if known else (None, None)
        mean = units.mean(loss and loss.mean)
        return {
            "learner": row.learner,
            "kind": kind,
            "feedback": row.feedback,
            "mean": mean,
            "low": low,
            "high": high,
            "half_width": units.difference(loss and loss.half_width),
            "in_sample": units.mean(within),
            "total": None if mean is None else mean * row.rounds,
            **dict.fromkeys(("difference", "difference_low", "difference_high")),
            "regret": units.difference(row.regret and row.regret.mean),
            "certificate": units.difference(row.certificate and row.certificate.mean),
            "effective": row.effective,
            "rounds_per_second": row.rounds_per_second,
            "hints": row.hints and asdict(row.hints.scaled(units.width)),
        }

    def _mean(self, loss: float) -> str:
        """Return a mean loss as text in the units of the file, with the decimals of the table."""
        return self._with_unit(fixed(self.units.mean(loss), self._decimals))

    def _amount(self, value: float) -> str:
        return self._with_unit(fixed(value, decimals_for([value], self.units.unit)))

    def _with_unit(self, text: str) -> str:
        return f"{text} {self.units.unit}".rstrip()


def _unseen(result: Mapping[str, Any], chance: float | None) -> float:
    """Return the share of rows in which a choice takes an action that the log never takes there.

    Without such rows, importance weights have mean `chance`. A difference of less than three
    standard errors counts as 0.
    """
    weights = result["curve"].get("weight")
    if chance is None or not weights or not result["effective"]:
        return 0.0
    n = result["rounds"]
    mean = weights[-1] / n / chance
    error = math.sqrt(mean * mean * max(0.0, n / result["effective"] - 1.0) / n)
    missing = 1.0 - mean
    return missing if missing > max(3.0 * error, _ROUNDED) else 0.0


def _widened(
    interval: tuple[float, float] | None, unseen: float, reference: float = 0.0
) -> tuple[float, float] | None:
    """Widen an interval for (loss in [0, 1]) - reference: unseen rows may have any loss."""
    if interval is None or not unseen:
        return interval
    low, high = ((1.0 - unseen) * (end + reference) for end in interval)
    return low - reference, high + unseen - reference


def _coinciding(runs: list[Record]) -> dict[str, str]:
    """Return the learners with the same losses as an earlier one, with the name of that one."""
    same: dict[str, str] = {}
    first: dict[str, str] = {}
    if len({run["cell"]["seed"] for run in runs}) > 1:
        return same
    for run in runs:
        learner = run["cell"]["learner"]
        if learner["type"] not in _KINDS:
            other = first.setdefault(repr(run["result"]["curve"]["loss"]), learner["name"])
            if other != learner["name"]:
                same[learner["name"]] = other
    return same


def _mean_curve(runs: list[Record]) -> dict[str, Any]:
    """Average the curves of a comparator over seeds."""
    curves = [run["result"]["curve"] for run in runs]
    if len(curves) == 1 or any(curve["loss"] is None for curve in curves):
        return dict(curves[0])
    losses = np.array([curve["loss"] for curve in curves], dtype=np.float64)
    return {**curves[0], "loss": np.mean(losses, axis=0).tolist()}


def _grouped(words: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping from each word to its names, as a list with commas."""
    groups: dict[str, list[str]] = {}
    for name, word in words.items():
        groups.setdefault(word, []).append(name)
    return {word: _few(names) for word, names in groups.items()}


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"
