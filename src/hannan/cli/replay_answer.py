"""What `hannan replay` prints: a table, and one sentence that answers the question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hannan.cli.replay_data import Stream
from hannan.cli.replay_table import decimals_of, replay_table
from hannan.experiments.hints import Hints
from hannan.experiments.summary import Record, Row, summarise

_FEW, _SHARE = 100, 0.01  # effective rounds below which an estimate is called rough
_Z = 1.96


class Answer:
    """The results of a replay, in the units of the file."""

    def __init__(
        self, stream: Stream, records: list[Record], times: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.stream = stream
        self.units = stream.units
        self.rows = summarise(records, times)
        best = self.rows[0].best
        self.best = None if best is None else best.mean
        self.policies = records[0]["cell"]["policies"]["type"]
        self.found = self.rows[0].found

    @property
    def warning(self) -> str | None:
        """Which estimates are worth little."""
        rough = [
            f"{row.learner} {row.effective:,.0f}"
            for row in self.rows
            if row.effective < max(_FEW, _SHARE * row.rounds) and row.effective < row.rounds
        ]
        if not rough:
            return None
        return (
            f"this log is worth few rounds of real play ({', '.join(rough)}, of "
            f"{self.stream.rounds:,}): these means are rough estimates."
        )

    @property
    def sentence(self) -> str:
        """What a learner would have cost, beside the best policy and beside what is used now."""
        ours = self.rows[0]
        if ours.mean_loss is None:
            return f"The log says nothing about {ours.learner}: it never played a logged action."
        verb = "earned" if self.units.rewards else "cost"
        mean = ours.mean_loss.mean
        said = f"{ours.learner} would have {verb} {self._mean(mean)} a round"
        others = []
        if self.best is not None:
            name = "the best policy in hindsight"
            if self.found is not None:
                name = f"the best policy found in hindsight, by {self.found}"
            if self.stream.logged:
                name += ", fitted to this log, which looks better than it is"
            others.append(self._against(mean, self.best, name))
        if self.stream.current is not None:
            others.append(self._against(mean, self.stream.current, "what you use now"))
        return said + (": " if others else "") + ", and ".join(others) + "."

    @property
    def notes(self) -> list[str]:
        """How well hints did, and which learners beat the best policy found."""
        hints = [(row.learner, self._hints(row)) for row in self.rows]
        notes = [f"{name}: {found}." for name, found in hints if found is not None]
        best = self.best
        if self.found is not None and best is not None and not self.stream.logged:
            means = [(row.learner, row.mean_loss) for row in self.rows]
            better = [name for name, mean in means if mean is not None and mean.mean < best]
            if better:
                notes.append(
                    f"{' and '.join(better)} did better than the best policy found: it is not the "
                    "best there is."
                )
        return notes

    def print(self, console: Console) -> None:
        """The table and the sentence."""
        console.print(self.table(console.width), "")
        if self.stream.unused:
            names = escape(", ".join(self.stream.unused))
            console.print(f"[dim]not used because they hold text: {names} (see --categorical)[/]")
        # Whole words in a terminal, one line in a pipe.
        for text in (*self.notes, self.sentence):
            console.print(escape(text), soft_wrap=not console.is_terminal)

    def table(self, width: int) -> Table:
        """A row for each learner, for what is done now and for the best policy in hindsight."""
        path = Path(self.stream.environment.path)
        title = f"{path}, {self.stream.rounds:,} rounds"
        if len(title) > width:
            title = f"{path.name}, {self.stream.rounds:,} rounds"
        return replay_table(title, self.units.name, self._listed(), width)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, losses and rewards in the units of the file."""
        return {
            "rounds": self.stream.rounds,
            "units": self.units.name,
            "actions": self.stream.names,
            "policies": self.policies,
            "rows": [self._plain(row) for row in self.rows],
            "best": None if self.best is None else self.units.mean(self.best),
            "found": self.found,
            "current": (
                None if self.stream.current is None else self.units.mean(self.stream.current)
            ),
            "not_used": self.stream.unused,
            "notes": self.notes,
            "warning": self.warning,
            "answer": self.sentence,
        }

    def _listed(self) -> dict[str, dict[str, Any]]:
        """What the table shows, by the name of its row."""
        rows = {row.learner: self._plain(row) for row in self.rows}
        for name, row in rows.items():
            if not self.stream.logged:
                del row["effective"]
            if name == "current" or name.startswith("always "):
                del row["rounds_per_second"]
        references = {"current": self.stream.current} if self.stream.logged else {}
        name = f"best of {self.policies}" if self.found is None else "best found"
        references[name] = self.best
        for name, loss in references.items():
            if loss is not None:
                mean = self.units.mean(loss)
                rows[name] = {"mean": mean, "total": mean * self.stream.rounds}
                if name == "current" and self.best is not None:
                    worse = (loss - self.best) * self.stream.rounds
                    rows[name]["regret"] = self.units.difference(worse)
        return rows

    def _plain(self, row: Row) -> dict[str, Any]:
        units = self.units
        mean = None if row.mean_loss is None else units.mean(row.mean_loss.mean)
        half = self._half_width(row)
        regret, certificate = (
            None if value is None else units.difference(value.mean)
            for value in (row.regret, row.certificate)
        )
        return {
            "learner": row.learner,
            "feedback": row.feedback,
            "mean": mean,
            "half_width": None if half is None else units.difference(half),
            "total": None if mean is None else mean * row.rounds,
            "regret": regret,
            "certificate": certificate,
            "effective": row.effective,
            "rounds_per_second": row.rounds_per_second,
            "hints": None if (hints := self._hints(row)) is None else asdict(hints),
        }

    def _hints(self, row: Row) -> Hints | None:
        return None if row.hints is None else row.hints.scaled(self.units.difference(1.0))

    def _half_width(self, row: Row) -> float | None:
        """Of a 95 % interval: over seeds, or where a log only estimates play, over logs.

        Losses in [0, 1] with mean m vary by m(1 - m) at most; Wilson's interval for as many of
        them as the log is worth.
        """
        if row.mean_loss is None or not self.stream.logged:
            return None if row.mean_loss is None else row.mean_loss.half_width
        m, n = min(max(row.mean_loss.mean, 0.0), 1.0), row.effective
        wide = math.sqrt(m * (1.0 - m) / n + (_Z / (2.0 * n)) ** 2)
        return _Z * wide / (1.0 + _Z**2 / n)

    def _mean(self, loss: float) -> str:
        """With as many decimals as in the table."""
        decimals = decimals_of((row["mean"] for row in self._listed().values()), 4)
        return f"{self.units.mean(loss):,.{decimals}f}"

    def _against(self, loss: float, other: float, name: str) -> str:
        worse = self.units.difference(loss - other)
        more = (worse > 0.0) is not self.units.rewards
        word = "more" if more else "less"
        return f"{_short(abs(worse))} {word} than {name} ({self._mean(other)})"


def _short(value: float) -> str:
    """Three significant digits, and no fewer than the whole part has."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
