"""Files of Vowpal Wabbit: their formats by name and by look, and their rounds as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from hannan.adapters.vw.decisions import Decisions
from hannan.adapters.vw.dsjson import rounds_of_dsjson
from hannan.adapters.vw.encoding import Columns, flat, hashed, listed
from hannan.adapters.vw.lines import MAX_ROUND, Lines
from hannan.adapters.vw.rounds import CsoaaRound, Round
from hannan.adapters.vw.text import FORMATS, rounds_of_text
from hannan.core import LossError, ParameterError
from hannan.core.validation import check_choice, check_integer
from hannan.environments._columns import Batches, check_names
from hannan.environments._files import BATCH, TableFile

ENDINGS = (".vw", ".dsjson", ".json")
ACTION, COST, PROBABILITY = "label:action", "label:cost", "label:probability"

_LOOK = 1000  # lines
_MANY = 10_000  # columns, or actions
Bounds = tuple[float, float]
_LABEL = re.compile(r"[0-9]+(:[^: ]*)*$")


def is_vw(path: str | PathLike[str]) -> bool:
    """Whether the name of a file says that it is a log of VW."""
    return Path(path).name.lower().removesuffix(".gz").endswith(ENDINGS)


def format_of(path: str | PathLike[str], given: str | None = None, option: str = "format=") -> str:
    """The format of a file: as given by an option, by its name, or by its first lines."""
    if given is not None:
        return check_choice("FromVW", "format", given, (*FORMATS, "dsjson"))
    if any(suffix.lower() in (".dsjson", ".json") for suffix in Path(path).suffixes):
        return "dsjson"
    labels: list[str] = []
    lines = Lines(path, MAX_ROUND)
    for line in islice(lines, _LOOK):
        first = line.partition("|")[0].split(" ")[0]
        if first == "ccb" or first.startswith("{"):
            return "ccb" if first == "ccb" else "dsjson"
        if first == "shared" or not line:
            return "cb_adf"
        labels += [first] if _LABEL.match(first) else []
    parts = {label.count(":") for label in labels}
    if parts and parts <= {0, 2} and 2 in parts:
        return "cb"
    if parts and parts <= {0, 1} and 1 in parts:
        return "csoaa"
    if not lines.number:
        raise ParameterError(f"The file {str(path)!r} is empty.")
    raise ParameterError(
        f"The format of {str(path)!r} does not show in its first lines. Pass {option}, one of "
        f"{', '.join((*FORMATS, 'dsjson'))}."
    )


def _rounds(lines: Lines, format: str) -> Iterator[Round]:
    return rounds_of_dsjson(lines) if format == "dsjson" else rounds_of_text(lines, format)


class _Row(NamedTuple):
    features: dict[str, float]
    label: tuple[Any, ...]
    size: int  # of the set of actions, as far as the round tells
    weight: float


class VWTable(TableFile):
    """A column for each feature, and the label; the file is read as often as asked.

    Attributes
    ----------
    features
        The columns of the context.
    n_actions
        K, as found.
    """

    def __init__(
        self, path: str | PathLike[str], format: str, columns: Columns, bounds: Bounds | None
    ) -> None:
        self._format = format
        self._bounds = bounds  # of the costs
        self._hashed = 0
        self.features: list[str] = []
        self._wanted = columns
        if isinstance(columns, int):
            self._hashed = check_integer("FromVW", "columns", columns, 1)
            self.features = [f"#{i}" for i in range(columns)]
        elif columns is not None:
            self.features = listed("FromVW", columns)
        self.n_actions = 0
        super().__init__(Path(path))

    def _header(self) -> list[str]:
        names: set[str] = set()
        missing = set() if self._hashed else set(self.features)
        sets: set[int] = set()
        weights: set[float] = set()
        for row in self._rows():
            missing -= row.features.keys()
            if self._wanted is None or (missing and len(names) < _MANY):
                names |= row.features.keys()
            sets.add(row.size)
            weights.add(row.weight)
            self.n_actions = max(self.n_actions, row.size)
            if (self._wanted is None and len(names) > _MANY) or self.n_actions > _MANY:
                raise ParameterError(
                    f"{self._Source} has more than {_MANY} features or actions. Name the features "
                    "that are needed, columns=[…], or hash them, columns=256."
                )
        if not sets:
            raise ParameterError(f"{self._Source} has no round with a cost.")
        if len(sets) > 1 and self._format != "cb":
            raise ParameterError(
                f"The number of actions in {self.source} changes, from {min(sets)} to {max(sets)}, "
                "and actions are known here by their position. Make a log with log_from_vw."
            )
        if len(weights) > 1:
            raise ParameterError(f"{self._Source} has records of different pdrop; take one kind.")
        check_names(self.source, [name for name in self.features if name in missing], sorted(names))
        self.features = self.features or sorted(names)
        return [*self.features, *self.labels]

    @property
    def labels(self) -> list[str]:
        """The columns that tell what was done and what it cost; or the cost of each action."""
        if self._format == "csoaa":
            return [f"cost:{k}" for k in range(self.n_actions)]
        return [ACTION, COST, PROBABILITY]

    def _batches(self, columns: Sequence[str]) -> Batches:
        first, rows = 1, self._rows()
        while batch := list(islice(rows, BATCH)):
            labels = zip(*(row.label for row in batch), strict=True)
            known: dict[str, Any] = dict(zip(self.labels, labels, strict=True))
            if self._hashed:
                table = hashed((row.features for row in batch), self._hashed)
                known |= zip(self.features, table.T, strict=True)
            for name in columns:
                if name not in known:
                    known[name] = [row.features.get(name, 0.0) for row in batch]
            yield first, {name: known[name] for name in columns}
            first += len(batch)

    def _rows(self) -> Iterator[_Row]:
        decisions = Decisions("position")
        lines = Lines(self.path, MAX_ROUND)
        for this_round in _rounds(lines, self._format):
            if isinstance(this_round, CsoaaRound):
                if any(cost is not None for cost in this_round.costs.values()):
                    costs = self._costs(this_round, lines.number)
                    self._check_costs(costs, lines.number)
                    yield _Row(flat(this_round.context), costs, len(costs), 1.0)
                continue
            for row in decisions.of(this_round):
                self._check_available(row.available)
                self._check_costs([row.cost], lines.number)
                count = row.action + 1 if row.available is None else len(row.available)
                label = row.action, row.cost, row.probability
                yield _Row(row.features, label, count, row.weight)

    def _check_costs(self, costs: Sequence[float], line: int) -> None:
        if self._bounds is None:
            return
        low, high = self._bounds
        for cost in costs:
            if not low <= cost <= high:
                where = "The round that ends in line" if self._format == "cb_adf" else "Line"
                raise LossError(
                    f"{where} {line} of {self.source}: the cost {cost:g} is outside "
                    f"value_range={self._bounds}."
                )

    def _costs(self, this_round: CsoaaRound, line: int) -> tuple[Any, ...]:
        costs = tuple(this_round.costs.get(k) for k in range(len(this_round.costs)))
        if None in costs:
            raise ParameterError(
                f"Line {line} of {self.source} does not tell the cost of all actions from 1 on. "
                "Read it with environment_from_vw, which can fill them in."
            )
        return costs

    def _check_available(self, available: tuple[int, ...] | None) -> None:
        if self._format == "ccb" or (self._format == "cb" and available is not None):
            raise ParameterError(
                f"The actions in {self.source} are not available in every round, which a replay "
                "of a file does not know about. Make a log with log_from_vw."
            )
