"""Logs of sets of elements: routes, slates and assignments, with the losses of their elements."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.arrays import as_floats, as_list, as_rows
from hannan.core.params import short
from hannan.core.rounds import IntArray, is_action
from hannan.core.validation import FloatArray, LossRange, check_integer, refuse
from hannan.off_policy.log import TINY
from hannan.off_policy.rules import takes_available
from hannan.off_policy.sets import WatchedSets, counted_weights

_COLUMNS = ("context", "elements", "losses", "propensities", "available")


class LoggedSet(NamedTuple):
    """One round of a log of sets."""

    context: Any
    action: IntArray
    losses: FloatArray
    propensities: FloatArray
    available: IntArray | None


@dataclass(frozen=True, eq=False, repr=False)
class SetLog:
    """Log of sets of elements, with the propensity and the loss of each chosen element.

    The loss of a set is the sum over its elements. `evaluate` estimates the mean loss of rules that
    choose other sets, and `Watch.over` gives anytime-valid intervals. Iteration goes over rounds.

    Parameters
    ----------
    contexts
        n contexts, or None for a problem without contexts.
    actions
        For each round, the chosen elements: rising integers from 0 to n_actions - 1.
    losses
        For each round, the losses of the chosen elements; NaN if missing.
    propensities
        For each round, the probability of each chosen element to be chosen, in (0, 1].
    n_actions
        Number of elements.
    max_chosen
        Largest number of elements of a set. Default: the largest one in the log.
    available
        For each round, the available elements, or None for all elements. Default: all.
    draws
        Number of draws from which the propensities were estimated, as in `Recorder`; None if they
        are exact.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.SetLog(
    ...     contexts=["rain", "sun"],
    ...     actions=[[0, 2], [1]],
    ...     losses=[[0.5, 1.0], [2.0]],
    ...     propensities=[[0.5, 1.0], [0.25]],
    ...     n_actions=3,
    ... )
    >>> log
    <SetLog: 2 rounds, sets of up to 2 of 3 elements, mean loss 1.75, propensities from 0.25>

    Files have a row for each round, CSV or JSON lines:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log.to_file(f"{folder}/routes.jsonl")
    ...     hn.off_policy.SetLog.from_file(f"{folder}/routes.jsonl", n_actions=3) == log
    True
    """

    contexts: Any
    actions: Any
    losses: Any
    propensities: Any
    n_actions: int
    max_chosen: int | None = None
    available: Any = None
    draws: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_integer(self, "n_actions", self.n_actions, 1)
        if self.draws is not None:
            check_integer(self, "draws", self.draws, 2)
        actions = [self._elements("actions", row) for row in self.actions]
        put(self, "actions", actions)
        contexts = [None] * len(actions) if self.contexts is None else list(as_rows(self.contexts))
        put(self, "contexts", contexts)
        largest = max((len(action) for action in actions), default=1)
        least = max(largest, 1)
        m = least if self.max_chosen is None else self.max_chosen
        put(self, "max_chosen", check_integer(self, "max_chosen", m, least, self.n_actions + 1))
        for name in ("losses", "propensities"):
            put(self, name, [self._numbers(name, row) for row in getattr(self, name)])
        offers = [None] * len(actions) if self.available is None else list(self.available)
        offers = [None if row is None else self._elements("available", row) for row in offers]
        put(self, "available", offers)
        self._check_lengths()
        wrong = [t for t, q in enumerate(self.propensities) if not ((q >= TINY) & (q <= 1.0)).all()]
        if wrong:
            raise ParameterError(
                "The propensities of a SetLog must be probabilities in (0, 1]; round "
                f"{wrong[0]} has {self.propensities[wrong[0]]}."
            )

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[LoggedSet]:
        columns = self.contexts, self.actions, self.losses, self.propensities, self.available
        return (LoggedSet(*row) for row in zip(*columns, strict=True))

    def __eq__(self, other: object) -> bool:
        """Return whether all rounds are equal, as files hold them."""
        if not isinstance(other, SetLog):
            return NotImplemented
        facts = [(log.n_actions, log.max_chosen, log.draws) for log in (self, other)]
        return facts[0] == facts[1] and [*self._rows()] == [*other._rows()]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        facts = f"{len(self)} rounds, sets of up to {self.max_chosen} of {self.n_actions} elements"
        if len(self):
            mean = np.mean([np.nansum(row) for row in self.losses])
            least = min((q.min(initial=1.0) for q in self.propensities), default=1.0)
            facts += f", mean loss {mean:.4g}, propensities from {least:.4g}"
        return f"<SetLog: {facts}>"

    def weights(self, propensities: FloatArray) -> FloatArray:
        """Return the weights of a round's elements, as a `Watch` takes them."""
        if self.draws is None:
            return counted_weights(propensities, 0)
        m = self.draws - 1
        return counted_weights((propensities * self.draws - 1.0) / m, m)

    def complete(self, loss_range: LossRange | None) -> list[FloatArray]:
        """Return the losses of each round; missing ones as the largest loss of the range."""
        if loss_range is None and any(np.isnan(row).any() for row in self.losses):
            raise ParameterError(
                "The log has missing losses. Pass loss_range=(low, high) with the range of the "
                "elements' losses: missing losses then count as high."
            )
        high = math.nan if loss_range is None else loss_range[1]
        return [np.where(np.isnan(row), high, row) for row in self.losses]

    def estimates(
        self, policy: Any, losses: list[FloatArray], predicts: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return estimates of a policy's loss in each round, and the mean weights of its elements.

        With `predicts`, the mean losses of the elements in earlier rounds are subtracted before
        losses are weighted, and added for all elements of the policy's set.
        """
        sets = WatchedSets("SetLog", self.n_actions, self.n_actions, (0.0, 1.0), None)
        told = callable(policy) and takes_available(policy)
        seen = np.zeros((2, self.n_actions))
        terms, ratios = np.zeros(len(self)), np.ones(len(self))
        for t, (row, observed) in enumerate(zip(self, losses, strict=True)):
            chosen = sets.target("policy", policy, told, row.context, row.available, {})
            if chosen is None:
                raise ParameterError(
                    f"policy= chooses an unavailable element in round {t}. Pass a function "
                    "policy(context, available) that returns a set of available elements."
                )
            means = seen[0] / np.maximum(seen[1], 1.0) if predicts else seen[0] * 0.0
            weights = np.isin(row.action, chosen) / row.propensities
            terms[t] = means[chosen].sum() + weights @ (observed - means[row.action])
            if len(chosen):
                ratios[t] = weights.sum() / len(chosen)
            seen[:, row.action] += observed, np.ones(len(observed))
        return terms, ratios

    def to_file(self, path: str | PathLike[str]) -> None:
        """Write the rounds to a CSV file, or to JSON lines if the name ends in .jsonl.

        Cells hold JSON, so contexts must be numbers, texts, lists, or mappings from texts to these.
        """
        rows, comma = [*self._rows()], _is_csv(path)
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            if comma:
                writer = csv.writer(file)
                writer.writerows([_COLUMNS, *rows])
            else:
                for row in rows:
                    cells = zip(_COLUMNS, row, strict=True)
                    file.write("{" + ", ".join(f'"{name}": {cell}' for name, cell in cells) + "}\n")

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        n_actions: int,
        max_chosen: int | None = None,
        draws: int | None = None,
    ) -> Self:
        """Read a log that `to_file` wrote.

        Parameters
        ----------
        path
            Path of the file.
        n_actions, max_chosen, draws
            As in `SetLog`; files do not hold them.
        """
        with Path(path).open(encoding="utf-8", newline="") as file:
            try:
                if _is_csv(path):
                    table = csv.DictReader(file)
                    rows = [{name: json.loads(row[name]) for name in _COLUMNS} for row in table]
                else:
                    rows = [json.loads(line) for line in file]
                columns = [[row[name] for row in rows] for name in _COLUMNS]
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputTypeError(
                    f"{path} must have the columns {', '.join(_COLUMNS)}, with JSON in each cell, "
                    f"as SetLog.to_file writes them ({error!r:.100})."
                ) from None
        contexts, actions, losses, propensities, available = columns
        return cls(contexts, actions, losses, propensities, n_actions, max_chosen, available, draws)

    def _rows(self) -> Iterator[list[str]]:
        """Return the cells of each round as JSON."""
        for row in self:
            yield [json.dumps(_plain(cell), ensure_ascii=False) for cell in row]

    def _elements(self, name: str, row: Any) -> IntArray:
        elements = np.asarray(as_list(row), dtype=None if len(row) else np.intp)
        sound = elements.dtype.kind in "iu"
        elements = elements.astype(np.intp) if sound else elements
        if not sound or not is_action(elements, self.n_actions, sets=True):
            raise ParameterError(
                f"The {name} of a SetLog must be sets, rising integers from 0 to "
                f"{self.n_actions - 1}; got {short(row)}. Sort the elements of each set, and its "
                "losses and propensities in the same order."
            )
        return elements

    def _numbers(self, name: str, row: Any) -> FloatArray:
        try:
            numbers = as_floats(row)
        except (TypeError, ValueError):
            raise refuse(self, name, "numbers for each round", row) from None
        if numbers.ndim != 1 or np.isinf(numbers).any():
            raise refuse(self, name, "a list of finite numbers for each round", row)
        return numbers

    def _check_lengths(self) -> None:
        columns = self.contexts, self.losses, self.propensities, self.available
        if any(len(column) != len(self) for column in columns):
            lengths = [len(column) for column in columns]
            raise ParameterError(
                f"A SetLog of {len(self)} rounds needs as many contexts, losses, propensities and "
                f"sets of available elements; got {lengths}."
            )
        for t, (_, action, losses, q, _) in enumerate(self):
            if not len(action) == len(losses) == len(q):
                raise ParameterError(
                    f"Round {t} of a SetLog has {len(action)} elements; it needs as many losses "
                    f"and propensities, got {len(losses)} and {len(q)}."
                )


def _is_csv(path: str | PathLike[str]) -> bool:
    kind = Path(path).suffix.lower()
    if kind not in (".csv", ".jsonl"):
        raise refuse("SetLog", "path", "the name of a .csv or .jsonl file", str(path))
    return kind == ".csv"


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it: arrays as lists, and missing numbers as null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return [None if isinstance(each, float) and each != each else each for each in value]
    if isinstance(value, tuple):
        return list(value)
    return value.item() if isinstance(value, np.generic) else value
