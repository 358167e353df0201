"""Files of Vowpal Wabbit as environments, read in batches."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from hannan.adapters.vw.dsjson import rounds_of_dsjson
from hannan.adapters.vw.encoding import Columns, hashed, listed
from hannan.adapters.vw.lines import MAX_ROUND, Lines
from hannan.adapters.vw.logs import Decisions, Logged, enough
from hannan.adapters.vw.rounds import UNSUPPORTED, Round
from hannan.adapters.vw.text import FORMATS, SLOTTED, check_format, rounds_of_text
from hannan.core import LossError, Oracle, ParameterError
from hannan.core.validation import check_integer, check_loss_range
from hannan.environments import FromLog
from hannan.environments._columns import Batches, Table, check_names
from hannan.environments._files import BATCH, TableFile

ENDINGS = (".vw", ".dsjson", ".json")

_LABELS = "label:action", "label:cost", "label:probability"
_LOOK = 1000  # lines
_MANY = 10_000  # columns, or actions
_LABEL = re.compile(r"[0-9]+(:[^: ]*)*$")


def is_vw(path: str | PathLike[str]) -> bool:
    """Whether the name of a file says that it is a log of VW."""
    return Path(path).name.lower().removesuffix(".gz").endswith(ENDINGS)


def format_of(
    path: str | PathLike[str],
    given: str | None = None,
    option: str = "format=",
    *,
    max_round: int | None = None,
    max_unpacked: int | None = None,
) -> str:
    """The format of a file: as given by an option, by its name, or by its first lines."""
    if given is not None:
        return check_format("FromVW", given, (*FORMATS, "dsjson"))
    if {suffix.lower() for suffix in Path(path).suffixes} & {".dsjson", ".json"}:
        return "dsjson"
    labels: list[str] = []
    lines = Lines(path, max_round or MAX_ROUND, max_unpacked=max_unpacked)
    for line in islice(lines, _LOOK):
        first = line.partition("|")[0].split(" ")[0]
        if first in SLOTTED:
            raise ParameterError(f"The file {str(path)!r} cannot be read: {UNSUPPORTED}.")
        if first.startswith("{"):
            return "dsjson"
        if first == "shared" or not line:
            return "cb_adf"
        labels += [first] if _LABEL.match(first) else []
    parts = {label.count(":") for label in labels}
    if parts and parts <= {0, 2} and 2 in parts:
        return "cb"
    if not lines.number:
        raise ParameterError(f"The file {str(path)!r} is empty.")
    raise ParameterError(
        f"The format of {str(path)!r} does not show in its first lines. Pass {option}, one of "
        f"{', '.join((*FORMATS, 'dsjson'))}."
    )


def _rounds(lines: Lines, format: str) -> Iterator[Round]:
    return rounds_of_dsjson(lines) if format == "dsjson" else rounds_of_text(lines, format)


class FromVW(FromLog):
    r"""The decisions of a VW log, for a learner to play: `FromLog` of a `cb`, `cb_adf` or dsjson.

    The file is read in batches. Actions are known by their position, from 0, and all of them must
    be available in every round; for logs where they change see `log_from_vw`.

    Parameters
    ----------
    path
        A file of text or of dsjson, also .gz.
    format
        "cb", "cb_adf" or "dsjson"; None goes by the name (.dsjson, .json) or the first lines.
    columns
        The entries of the contexts: names as in VW's audit, ``user^age``; or a number of columns
        to hash them to; None for all that occur.
    n_actions
        K; by default as many as occur.
    value_range
        (low, high) of the costs.
    method, baseline, floor, scale, oracle
        As in `FromLog`.
    max_round, max_unpacked
        As in `read_vw`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "ads.vw"
    >>> _ = file.write_text("1:0:0.5 |user age:31\n2:-1:0.5 |user age:18\n1:-1:0.5 |user age:40\n")
    >>> log = hn.adapters.FromVW(file, value_range=(-1, 0))
    >>> log.horizon, log.n_actions, log.features
    (3, 2, ['user^age'])
    >>> for this_round in log.rounds(3, np.random.default_rng(0)):
    ...     print(this_round.reveal(0, hn.Feedback.SEMI), this_round.weight)
    1.0 1.0
    None 0.0
    0.0 1.0
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        columns: Columns = None,
        n_actions: int | None = None,
        value_range: tuple[float, float] = (0.0, 1.0),
        method: str = "rejection",
        baseline: float | str = "running",
        floor: float | None = None,
        scale: str | None = "running",
        oracle: Oracle | None = None,
        max_round: int | None = None,
        max_unpacked: int | None = None,
    ) -> None:
        self.format = format_of(path, format, max_round=max_round, max_unpacked=max_unpacked)
        self.max_round = max_round
        self.columns = columns
        bounds = check_loss_range(self, value_range, "value_range")
        self._vw = _VWTable(path, self.format, columns, bounds, max_round, max_unpacked)
        K = enough(self, n_actions, self._vw.n_actions)
        super().__init__(
            path,
            context=self._vw.features or None,
            action=_LABELS[0],
            loss=_LABELS[1],
            propensity=_LABELS[2],
            actions=range(K),
            method=method,
            value_range=value_range,
            baseline=baseline,
            floor=floor,
            scale=scale,
            oracle=oracle,
            max_unpacked=max_unpacked,
        )

    def _table_at(self, path: str | PathLike[str]) -> Table:
        return self._vw


class _VWTable(TableFile):
    """A column for each feature, and the label; the file is read as often as asked."""

    def __init__(
        self,
        path: str | PathLike[str],
        format: str,
        columns: Columns,
        bounds: tuple[float, float],
        max_round: int | None = None,
        max_unpacked: int | None = None,
    ) -> None:
        self._format = format
        self._longest = MAX_ROUND
        if max_round is not None:
            self._longest = check_integer("FromVW", "max_round", max_round, 1)
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
        # What it has of columns was asked for, or is counted as they come.
        super().__init__(Path(path), sys.maxsize, max_unpacked)

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
            if max(len(names) if self._wanted is None else 0, self.n_actions) > _MANY:
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
        return [*self.features, *_LABELS]

    def _batches(self, columns: Sequence[str]) -> Batches:
        first, rows = 1, self._rows()
        while batch := list(islice(rows, BATCH)):
            labels = ((row.action, row.cost, row.probability) for row in batch)
            known: dict[str, Any] = dict(zip(_LABELS, zip(*labels, strict=True), strict=True))
            if self._hashed:
                table = hashed((row.features for row in batch), self._hashed)
                known |= zip(self.features, table.T, strict=True)
            for name in columns:
                if name not in known:
                    known[name] = [row.features.get(name, 0.0) for row in batch]
            yield first, {name: known[name] for name in columns}
            first += len(batch)

    def _rows(self) -> Iterator[Logged]:
        decisions = Decisions("position")
        lines = Lines(self.path, self._longest, max_unpacked=self._max_unpacked)
        for row in map(decisions.logged, _rounds(lines, self._format)):
            if row is None:
                continue
            if self._format == "cb" and row.available is not None:
                raise ParameterError(
                    f"The actions in {self.source} are not available in every round, which a "
                    "replay of a file does not know about. Make a log with log_from_vw."
                )
            if not self._bounds[0] <= row.cost <= self._bounds[1]:
                where = "The round that ends in line" if self._format == "cb_adf" else "Line"
                raise LossError(
                    f"{where} {lines.number} of {self.source}: the cost {row.cost:g} is outside "
                    f"value_range={self._bounds}."
                )
            yield row
