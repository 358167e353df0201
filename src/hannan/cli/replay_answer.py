"""What `hannan replay` found: one sentence that answers the question, and what is behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hannan.cli.replay_data import Stream
from hannan.cli.replay_table import confusion_table, decimals_of, replay_table
from hannan.experiments.hints import Hints
from hannan.experiments.over_data import OverData, Range
from hannan.experiments.summary import Record, Row, compared, summarise
from hannan.report.lead import Lead

_FEW, _SHARE = 100, 0.01  # effective rounds below which an estimate is called rough
_KINDS = ("rule", "constant", "current")
_MOST_CLASSES = 12  # of a confusion table that is printed


@dataclass(frozen=True)
class Player:
    """Someone or something that decides every row: a learner, a rule, an action, what was done."""

    row: Row
    kind: str
    record: Record
    place: int

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return self.row.learner

    @property
    def mean(self) -> float:
        """The mean loss in [0, 1]; infinite where nothing is known."""
        return math.inf if self.row.mean_loss is None else self.row.mean_loss.mean


class Answer:
    """The results of a replay, in the units of the file."""

    def __init__(
        self, stream: Stream, records: list[Record], times: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.stream = stream
        self.units = stream.units
        games = compared(records)
        self.merged = _coinciding(games)
        rows = summarise(records, times)
        self.policies = records[0]["cell"]["policies"]["type"]
        best = rows[0].best
        self.best = None if best is None else best.mean
        self.found = rows[0].found
        self.players: list[Player] = []
        for row in rows:
            game = next(g for g in games if g["cell"]["learner"]["name"] == row.learner)
            kind = game["cell"]["learner"]["type"]
            kind = kind if kind in _KINDS else "learner"
            self.players.append(Player(row, kind, game, len(self.players)))
        curves = [_mean_curve(games, player.name) for player in self.players]
        self._over = OverData(curves)
        self.choice = self._best_choice()

    def player(self, kind: str) -> Player | None:
        """The best one of a kind, if there is any."""
        candidates = [p for p in self.players if p.kind == kind and math.isfinite(p.mean)]
        return min(candidates, key=lambda player: player.mean, default=None)

    @property
    def current(self) -> Player | None:
        """What was really done."""
        return self.player("current")

    def _best_choice(self) -> Player | None:
        """Whoever would have cost least, an action alone in case of a tie.

        Where learners see one loss a row, a rule fitted to all losses is no choice.
        """
        kinds = {"learner", "constant"}
        if self.stream.logged or not self._bandit:
            kinds.add("rule")
        candidates = [p for p in self.players if p.kind in kinds and math.isfinite(p.mean)]
        return min(
            candidates, key=lambda p: (round(p.mean, 12), p.kind != "constant"), default=None
        )

    @property
    def _bandit(self) -> bool:
        return any(p.row.feedback == "semi" for p in self.players)

    @property
    def warning(self) -> str | None:
        """Which estimates are worth little."""
        rough = [
            f"{p.name} {p.row.effective:,.0f}"
            for p in self.players
            if p.kind in ("learner", "constant")
            and p.row.effective < max(_FEW, _SHARE * p.row.rounds)
            and p.row.effective < p.row.rounds
        ]
        if not rough:
            return None
        return (
            f"this log is worth few rounds of real play ({', '.join(rough)}, of "
            f"{self.stream.rounds:,}): these means are rough estimates."
        )

    # The sentence ---------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """What is done now costs so much, and the best choice would have cost so much."""
        choice, current = self.choice, self.current
        if choice is None:
            return "The data say nothing about any choice: no logged action was ever played."
        verbs = ("earns", "earned") if self.units.rewards else ("costs", "cost")
        would = f"{self._called(choice)}, would have {verbs[1]} {self._interval_of(choice)}"
        if current is None:
            said = f"The best choice found here, {would} a row"
            return f"{said}{self._beside_constant(choice)}."
        now = f"What you do now {verbs[0]} {self._mean(current.mean)} a row"
        if current.mean <= choice.mean:
            text = f"{now}, and nothing tried here does better: the best of it, {would}"
            return f"{text}{self._clearly(choice, current)}."
        return f"{now}; the best choice found here, {would}{self._clearly(choice, current)}."

    def _called(self, player: Player) -> str:
        """What the best choice is, and how it was measured."""
        if player.kind == "constant":
            return f"“{player.name}”"
        if player.kind == "rule":
            article = "" if player.name.endswith("s") else "a "
            return f"{article}{player.name} fitted to the other rows"
        return f"{player.name}, which learns as it goes"

    def _interval_of(self, player: Player) -> str:
        interval = self.interval(player)
        if interval is None:
            return self._mean(player.mean)
        ends = [self._in_units(interval.low), self._in_units(interval.high)]
        low, high = (self._text(end) for end in sorted(ends))
        return f"{self._mean(player.mean)} (95 % interval {low} to {high})"

    def _clearly(self, choice: Player, other: Player) -> str:
        """Whether the difference shows over the data."""
        saved = choice.mean <= other.mean
        difference = self._over.difference(other.place, choice.place)
        amount = _short(abs(self.units.difference(other.mean - choice.mean)))
        more = saved is self.units.rewards
        word = f"{amount} {'more' if more else 'less'}"
        if difference is None:
            return f", {word}"
        if difference.low > 0.0 or difference.high < 0.0:
            return f", clearly {word}"
        return f", {word}, which is not clear over these rows"

    def _beside_constant(self, choice: Player) -> str:
        constant = self.player("constant")
        if constant is None or constant is choice:
            return ""
        word = f"{self._mean(constant.mean)} for “{constant.name}”"
        return f", against {word}{self._clearly(choice, constant)}"

    @property
    def notes(self) -> list[str]:
        """What else there is to know, a sentence each."""
        notes = []
        choice, rule = self.choice, self.player("rule")
        learner, constant = self.player("learner"), self.player("constant")
        if choice is not None and choice.kind == "rule" and learner is not None:
            notes.append(
                f"Of those that learn as they go, {learner.name} is best: "
                f"{self._interval_of(learner)}."
            )
        if rule is not None and choice is not rule and choice is not None:
            sees = ", which sees all losses" if self._bandit and not self.stream.logged else ""
            article = "" if rule.name.endswith("s") else "a "
            notes.append(
                f"The best fixed rule found, {article}{rule.name}{sees}: {self._interval_of(rule)}."
            )
        if self.current and choice and constant and choice is not constant:
            worse = self._versus(choice, constant)
            notes.append(f"{constant.name}: {self._mean(constant.mean)}{worse}.")
        if self.best is not None and self.found is not None:
            notes += self._notes_of_hindsight(self.best)
        same = self.merged.items()
        notes += [f"{name} made the same choices as {other}." for name, other in same]
        return notes + self._notes_of_players()

    def _notes_of_hindsight(self, best: float) -> list[str]:
        where = "this log" if self.stream.logged else "all rows and measured on the same ones"
        notes = [
            f"Best found in hindsight, {self.found} fitted to {where}: "
            f"{self._mean(best)}; in-sample, so it looks better than it is."
        ]
        better = [p.name for p in self.players if p.mean < best and not self.stream.logged]
        if better:
            notes.append(
                f"{' and '.join(better)} did better than the best policy found: it is not the "
                "best there is."
            )
        return notes

    def _notes_of_players(self) -> list[str]:
        notes = []
        for player in self.players:
            count = player.record["result"].get("restarts")
            if count is not None:
                times = "once" if count == 1 else f"{count} times"
                what = "no drift found" if count == 0 else f"drift found, started over {times}"
                notes.append(f"{player.name}: {what}.")
            hints = self._hints(player.row)
            if hints is not None:
                notes.append(f"{player.name}: {hints}.")
        return notes

    def _versus(self, choice: Player, other: Player) -> str:
        difference = self._over.difference(other.place, choice.place)
        if difference is None:
            return ""
        clear = difference.low > 0.0
        return ", clearly worse" if clear else ", which is not clearly worse over these rows"

    @property
    def columns(self) -> list[str]:
        """Which columns are used, which are not and why, and what is missing."""
        columns = self.stream.columns
        if columns is None:
            return []
        kinds: dict[str, list[str]] = {}
        for name, kind in columns.kinds.items():
            kinds.setdefault(_WORDS.get(kind.split(" ")[0], kind), []).append(name)
        lines = [f"used as {kind}: {_few(names)}" for kind, names in kinds.items()] or [
            "used: no columns, so all rows look alike"
        ]
        reasons: dict[str, list[str]] = {}
        for name, why in columns.left_out.items():
            reasons.setdefault(why, []).append(name)
        lines += [f"not used ({why}): {_few(names)}" for why, names in reasons.items()]
        missing = {n: c for n, c in columns.missing.items() if n in columns.kinds}
        if missing:
            counts = ", ".join(f"{name} {count:,}" for name, count in list(missing.items())[:12])
            lines.append(f"missing values, counted as such: {counts}")
        if self.stream.dropped:
            wanting = [name for name in columns.missing if name not in columns.kinds]
            lines.append(
                f"left out: {self.stream.dropped:,} of {columns.rows:,} rows, because they lack "
                f"{_few(wanting)}"
            )
        return lines

    @property
    def confusion(self) -> dict[str, Any] | None:
        """How often each action was taken in each class: by the best choice, and now."""
        classes = getattr(self.stream.environment, "classes", None)
        tables: dict[str, Any] = {}
        for player in (self.choice, self.current):
            counts = player and player.record["result"].get("confusion")
            if player is not None and counts:
                tables[player.name] = counts
        if not classes or not tables:
            return None
        return {
            "classes": [str(c) for c in classes],
            "actions": self.stream.names,
            "counts": tables,
        }

    # Printing -------------------------------------------------------------------------------------

    def page(self, snippet: str) -> Lead:
        """What the report begins with."""
        best = None if self.choice is None else self.choice.name
        more = self.confusion, self.notes, self.columns, snippet
        return Lead(self.sentence, best, self.listed(), *more)

    def print(self, console: Console, snippet: str, data: Path) -> None:
        """The sentence, the table, and what is behind them."""
        wrap = not console.is_terminal  # whole words in a terminal, one line in a pipe
        console.print(f"[bold]{escape(self.sentence)}[/]", "", soft_wrap=wrap, sep="\n")
        console.print(self.table(data, console.width), "", sep="\n")
        confusion = self.confusion
        if confusion is not None and len(confusion["classes"]) <= _MOST_CLASSES:
            console.print(confusion_table(confusion), "", sep="\n")
        for text in self.notes:
            console.print(escape(text), soft_wrap=wrap, highlight=False)
        for text in self.columns:
            console.print(f"[dim]{escape(text)}[/]", soft_wrap=wrap, highlight=False)
        console.print(
            "", "The code:", "", escape(snippet), sep="\n", soft_wrap=True, highlight=False
        )

    def table(self, data: Path, width: int) -> Table:
        """A row for each learner, rule and reference, and for the best policy in hindsight."""
        path = Path("standard input") if str(data) == "-" else data
        title = f"{path}, {self.stream.rounds:,} rounds"
        if len(title) > width:
            title = f"{path.name}, {self.stream.rounds:,} rounds"
        return replay_table(title, self.units.name, self.listed(), width)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, losses and rewards in the units of the file."""
        columns = self.stream.columns
        return {
            "answer": self.sentence,
            "choice": None if self.choice is None else self._plain(self.choice),
            "rounds": self.stream.rounds,
            "units": self.units.name,
            "actions": self.stream.names,
            "policies": self.policies,
            "rows": [self._plain(player) for player in self._shown],
            "best": None if self.best is None else self._in_units(self.best),
            "found": self.found,
            "current": None if self.current is None else self._in_units(self.current.mean),
            "confusion": self.confusion,
            "columns": None if columns is None else asdict(columns),
            "not_used": [] if columns is None else list(columns.left_out),
            "rows_left_out": self.stream.dropped,
            "notes": self.notes,
            "warning": self.warning,
        }

    @property
    def _shown(self) -> list[Player]:
        """All but the actions that are not the best one, and learners that coincide."""
        constant = self.player("constant")
        return [
            p
            for p in self.players
            if (p.kind != "constant" or p is constant) and p.name not in self.merged
        ]

    def listed(self) -> dict[str, dict[str, Any]]:
        """What the table shows, by the name of its row."""
        rows = {player.name: self._plain(player) for player in self._shown}
        for name, row in rows.items():
            if not self.stream.logged:
                del row["effective"]
            if row["kind"] != "learner":
                del row["rounds_per_second"]
            rows[name] = row
        if self.best is not None:
            name = f"best of {self.policies}" if self.found is None else "best found, in-sample"
            mean = self._in_units(self.best)
            rows[name] = {"mean": mean, "total": mean * self.stream.rounds}
        return rows

    def _plain(self, player: Player) -> dict[str, Any]:
        units, row = self.units, player.row
        mean = None if row.mean_loss is None else units.mean(row.mean_loss.mean)
        interval = self.interval(player)
        ends = None if interval is None else sorted(map(units.mean, (interval.low, interval.high)))
        over_seeds = None if row.mean_loss is None else row.mean_loss.half_width
        regret, certificate = (
            None if value is None else units.difference(value.mean)
            for value in (row.regret, row.certificate)
        )
        within = player.record["result"].get("in_sample")
        return {
            "learner": row.learner,
            "kind": player.kind,
            "feedback": row.feedback,
            "mean": mean,
            "low": None if ends is None else ends[0],
            "high": None if ends is None else ends[1],
            "half_width": None if over_seeds is None else units.difference(over_seeds),
            "in_sample": None if within is None else units.mean(within),
            "total": None if mean is None else mean * row.rounds,
            "regret": regret,
            "certificate": certificate,
            "effective": row.effective,
            "rounds_per_second": row.rounds_per_second,
            "hints": None if (hints := self._hints(row)) is None else asdict(hints),
        }

    def interval(self, player: Player) -> Range | None:
        """Over the data, of the mean loss."""
        return self._over.interval(player.place) if math.isfinite(player.mean) else None

    def _hints(self, row: Row) -> Hints | None:
        return None if row.hints is None else row.hints.scaled(self.units.difference(1.0))

    def _in_units(self, loss: float) -> float:
        return self.units.mean(loss)

    def _text(self, value: float) -> str:
        """With as many decimals as in the table."""
        decimals = decimals_of((row["mean"] for row in self.listed().values()), 4)
        return f"{round(value, decimals) + 0.0:,.{decimals}f}"

    def _mean(self, loss: float) -> str:
        return self._text(self._in_units(loss))


_WORDS = {
    "number": "numbers",
    "category": "categories",
    "flag": "yes or no",
    "date": "dates",
    "time": "dates",
    "text": "text",
}


def _coinciding(games: list[Record]) -> dict[str, str]:
    """Learners whose losses are those of another one before them, at every point."""
    same: dict[str, str] = {}
    curves: dict[str, str] = {}
    for game in games:
        learner = game["cell"]["learner"]
        if learner["type"] in _KINDS or len({g["cell"]["seed"] for g in games}) > 1:
            continue
        name, curve = learner["name"], repr(game["result"]["curve"]["loss"])
        if curve in curves:
            same[name] = curves[curve]
        else:
            curves[curve] = name
    return same


def _mean_curve(games: list[Record], name: str) -> dict[str, Any]:
    """The curve of a player, averaged over seeds."""
    curves = [g["result"]["curve"] for g in games if g["cell"]["learner"]["name"] == name]
    if len(curves) == 1 or any(curve["loss"] is None for curve in curves):
        return dict(curves[0])
    losses = [[math.nan if v is None else v for v in curve["loss"]] for curve in curves]
    return {**curves[0], "loss": np.mean(losses, axis=0).tolist()}


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"


def _short(value: float) -> str:
    """Three significant digits, and no fewer than the whole part has."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
