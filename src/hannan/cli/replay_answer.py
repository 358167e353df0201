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

from hannan.cli.replay_data import Stream
from hannan.cli.replay_table import confusion_table, decimals_of, fixed, replay_table
from hannan.experiments.over_data import OverData
from hannan.experiments.summary import Record, Row, compared, summarise
from hannan.report.lead import Lead

_FEW, _SHARE = 100, 0.01  # effective rounds below which an estimate is called rough
_KINDS = ("rule", "constant", "current")
_MOST_CLASSES = 12  # of a confusion table that is printed
_WORDS = {
    "number": "numbers",
    "category": "categories",
    "flag": "yes or no",
    "date": "dates",
    "time": "dates",
    "text": "text",
}


@dataclass(frozen=True)
class Player:
    """Someone or something that decides every row: a learner, a rule, an action, what was done."""

    row: Row
    kind: str
    record: Record
    place: int
    plain: dict[str, Any]
    """What is known of it as plain values, losses and rewards in the units of the file."""

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return self.row.learner

    @property
    def mean(self) -> float:
        """The mean loss in [0, 1]; infinite where nothing is known."""
        return math.inf if self.row.mean_loss is None else self.row.mean_loss.mean

    def __str__(self) -> str:
        return self.name if self.kind != "rule" or self.name.endswith("s") else f"a {self.name}"


class Answer:
    """The results of a replay, in the units of the file."""

    def __init__(
        self, stream: Stream, records: list[Record], times: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.stream, self.units = stream, stream.units
        games = compared(records)
        self.merged = _coinciding(games)
        rows = summarise(records, times)
        self.policies = records[0]["cell"]["policies"]["type"]
        self.best = None if rows[0].best is None else rows[0].best.mean
        self.found = rows[0].found
        own = [[g for g in games if g["cell"]["learner"]["name"] == row.learner] for row in rows]
        self._over = OverData([_mean_curve(played) for played in own])
        self.players: list[Player] = []
        for place, (row, played) in enumerate(zip(rows, own, strict=True)):
            kind = played[0]["cell"]["learner"]["type"]
            kind = kind if kind in _KINDS else "learner"
            plain = self._plain(row, kind, played[0]["result"].get("in_sample"), place)
            self.players.append(Player(row, kind, played[0], place, plain))
        self._bandit = any(row.feedback == "semi" for row in rows)
        # Where learners see one loss a row, a rule fitted to all losses is no choice.
        rules = ("rule",) if stream.logged or not self._bandit else ()
        self.choice = self.player("learner", "constant", *rules)
        self.current = self.player("current")
        self._decimals = decimals_of((row["mean"] for row in self.listed().values()), 4)

    def player(self, *kinds: str) -> Player | None:
        """The best one of some kinds, if there is any; an action alone in case of a tie."""
        candidates = [p for p in self.players if p.kind in kinds and math.isfinite(p.mean)]
        return min(
            candidates, key=lambda p: (round(p.mean, 12), p.kind != "constant"), default=None
        )

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
        choice, current, constant = self.choice, self.current, self.player("constant")
        if choice is None:
            return "The data say nothing about any choice: no logged action was ever played."
        costs, cost = ("earns", "earned") if self.units.rewards else ("costs", "cost")
        called = {
            "constant": f"“{choice}”",
            "rule": f"{choice} fitted to the other rows",
            "learner": f"{choice}, which learns as it goes",
        }
        would = f"{called[choice.kind]}, would have {cost} {self._interval_of(choice)}"
        if current is not None:
            now = f"What you do now {costs} {self._mean(current.mean)} a row"
            best = "; the best choice found here"
            if current.mean <= choice.mean:
                best = ", and nothing tried here does better: the best of it"
            return f"{now}{best}, {would}{self._clearly(choice, current)}."
        against = ""
        if constant is not None and constant is not choice:
            against = f", against {self._mean(constant.mean)} for “{constant}”"
            against += self._clearly(choice, constant)
        return f"The best choice found here, {would} a row{against}."

    def _interval_of(self, player: Player) -> str:
        mean = self._mean(player.mean)
        if player.plain["low"] is None:
            return mean
        low, high = (fixed(player.plain[end], self._decimals) for end in ("low", "high"))
        return f"{mean} (95 % interval {low} to {high})"

    def _clearly(self, choice: Player, other: Player) -> str:
        """Whether the difference shows over the data."""
        saved = choice.mean <= other.mean
        difference = self._over.interval(other.place, choice.place)
        amount = abs(self.units.difference(other.mean - choice.mean))
        # Three significant digits, and no fewer than the whole part has.
        word = f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
        word += " more" if saved is self.units.rewards else " less"
        if difference is None:
            return f", {word}"
        if difference[0] > 0.0 or difference[1] < 0.0:
            return f", clearly {word}"
        return f", {word}, which is not clear over these rows"

    @property
    def notes(self) -> list[str]:
        """What else there is to know, a sentence each."""
        notes = []
        choice, rule = self.choice, self.player("rule")
        learner, constant = self.player("learner"), self.player("constant")
        if choice is not None and choice.kind == "rule" and learner is not None:
            best = self._interval_of(learner)
            notes.append(f"Of those that learn as they go, {learner} is best: {best}.")
        if rule is not None and choice is not rule and choice is not None:
            sees = ", which sees all losses" if self._bandit and not self.stream.logged else ""
            notes.append(f"The best fixed rule found, {rule}{sees}: {self._interval_of(rule)}.")
        if self.current and choice and constant and choice is not constant:
            worse, difference = "", self._over.interval(constant.place, choice.place)
            if difference is not None:
                clear = difference[0] > 0.0
                worse = "clearly worse" if clear else "which is not clearly worse over these rows"
                worse = f", {worse}"
            notes.append(f"{constant}: {self._mean(constant.mean)}{worse}.")
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
            if player.row.hints is not None:
                notes.append(f"{player.name}: {player.row.hints.scaled(self.units.width)}.")
        return notes

    @property
    def columns(self) -> list[str]:
        """Which columns are used, which are not and why, and what is missing."""
        columns = self.stream.columns
        if columns is None:
            return []
        kinds = {n: _WORDS.get(kind.split(" ")[0], kind) for n, kind in columns.kinds.items()}
        lines = [f"used as {kind}: {names}" for kind, names in _grouped(kinds).items()]
        lines = lines or ["used: no columns, so all rows look alike"]
        unused = _grouped(columns.left_out).items()
        lines += [f"not used ({why}): {names}" for why, names in unused]
        missing = [f"{n} {c:,}" for n, c in columns.missing.items() if n in columns.kinds]
        if missing:
            lines.append(f"missing values, counted as such: {', '.join(missing[:12])}")
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
        path = Path("standard input") if str(data) == "-" else data
        title = f"{path}, {self.stream.rounds:,} rounds"
        if len(title) > console.width:
            title = f"{path.name}, {self.stream.rounds:,} rounds"
        table = replay_table(title, self.units.name, self.listed(), console.width)
        console.print(table, "", sep="\n")
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

    def as_dict(self) -> dict[str, Any]:
        """Plain values, losses and rewards in the units of the file."""
        columns = self.stream.columns
        return {
            "answer": self.sentence,
            "choice": self.choice and self.choice.plain,
            "rounds": self.stream.rounds,
            "units": self.units.name,
            "actions": self.stream.names,
            "policies": self.policies,
            "rows": [player.plain for player in self._shown],
            "best": self.units.mean(self.best),
            "found": self.found,
            "current": self.current and self.current.plain["mean"],
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
        best = self.player("constant")
        shown = [p for p in self.players if p.kind != "constant" or p is best]
        return [p for p in shown if p.name not in self.merged]

    def listed(self) -> dict[str, dict[str, Any]]:
        """What the table shows, by the name of its row."""
        rows = {player.name: dict(player.plain) for player in self._shown}
        for row in rows.values():
            if not self.stream.logged:
                del row["effective"]
            if row["kind"] != "learner":
                del row["rounds_per_second"]
        if self.best is not None:
            name = f"best of {self.policies}" if self.found is None else "best found, in-sample"
            mean = self.units.mean(self.best)
            rows[name] = {"mean": mean, "total": mean * self.stream.rounds}
        return rows

    def _plain(self, row: Row, kind: str, within: float | None, place: int) -> dict[str, Any]:
        units, loss = self.units, row.mean_loss
        over = None if loss is None else self._over.interval(place)
        low, high = (None, None) if over is None else sorted(map(units.mean, over))
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
            "regret": units.difference(row.regret and row.regret.mean),
            "certificate": units.difference(row.certificate and row.certificate.mean),
            "effective": row.effective,
            "rounds_per_second": row.rounds_per_second,
            "hints": row.hints and asdict(row.hints.scaled(units.width)),
        }

    def _mean(self, loss: float) -> str:
        """With as many decimals as in the table."""
        return fixed(self.units.mean(loss), self._decimals)


def _coinciding(games: list[Record]) -> dict[str, str]:
    """Learners whose losses are those of another one before them, at every point."""
    same: dict[str, str] = {}
    first: dict[str, str] = {}
    if len({game["cell"]["seed"] for game in games}) > 1:
        return same
    for game in games:
        learner = game["cell"]["learner"]
        if learner["type"] not in _KINDS:
            other = first.setdefault(repr(game["result"]["curve"]["loss"]), learner["name"])
            if other != learner["name"]:
                same[learner["name"]] = other
    return same


def _mean_curve(games: list[Record]) -> dict[str, Any]:
    """The curve of a player, averaged over seeds."""
    curves = [game["result"]["curve"] for game in games]
    if len(curves) == 1 or any(curve["loss"] is None for curve in curves):
        return dict(curves[0])
    losses = np.array([curve["loss"] for curve in curves], dtype=np.float64)
    return {**curves[0], "loss": np.mean(losses, axis=0).tolist()}


def _grouped(words: Mapping[str, str]) -> dict[str, str]:
    """The names that each of some words stands beside, as a list."""
    groups: dict[str, list[str]] = {}
    for name, word in words.items():
        groups.setdefault(word, []).append(name)
    return {word: _few(names) for word, names in groups.items()}


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:12])
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"
