"""Replay of measured speeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Environment, Oracle, ParameterError, Round
from hannan.core.arrays import as_array, as_floats
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.environments.congestion import check_links


class MeasuredSpeeds(Environment):
    r"""Travel times from measured speeds, in the order of the measurements.

    In round t the time of link i is :math:`\mathrm{length}_i / \mathrm{speed}_{t,i}`. Its loss is
    this time divided by `unit`, the longest time in the data.

    Parameters
    ----------
    speeds
        Array or frame [T, S]: a row for each round, a column for each link or, with `sensors`,
        for each sensor.
    length
        The length of each link.
    oracle
        The paths that regret compares with.
    sensors
        Integers [E, n]: the columns of `speeds` whose mean is a link's speed, such as the sensors
        at its two ends. Default: column i belongs to link i.
    slowest
        Lower speeds count as this one, because a sensor may report zero.

    Attributes
    ----------
    unit
        The travel time that counts as loss 1.
    """

    def __init__(
        self,
        speeds: Any,
        length: ArrayLike,
        oracle: Oracle | None = None,
        *,
        sensors: ArrayLike | None = None,
        slowest: float = 1.0,
    ) -> None:
        self.speeds = speeds
        self.length = length
        self.sensors = sensors
        self.slowest = check_positive(self, "slowest", slowest)
        self._length = self._numbers("length", length)
        good = self._length.ndim == 1 and len(self._length) > 0
        if not good or not (np.isfinite(self._length) & (self._length >= 0.0)).all():
            raise refuse(self, "length", "finite numbers, one for each link", length)
        if not (self._length > 0.0).any():
            raise refuse(self, "length", "positive for one link at least", length)
        self.n_actions = len(self._length)
        self.oracle = check_links(self, oracle, self.n_actions)
        table = self._numbers("speeds", speeds)
        if table.ndim != 2 or 0 in table.shape:
            raise ParameterError(
                f"MeasuredSpeeds needs speeds [T, S]; got an array of shape {table.shape}."
            )
        finite = np.isfinite(table).all(axis=1)
        if not finite.all():
            raise ParameterError(
                f"Speeds must be finite; row {int(np.argmin(finite))}, counting from 0, is not. "
                "Fill the gaps first."
            )
        self._speeds = table
        self._sensors = self._columns(sensors, table.shape[1])
        self.unit = max(float(self._times(t).max()) for t in range(len(table)))

    @property
    def horizon(self) -> int:
        return len(self._speeds)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if horizon > len(self._speeds):
            raise ParameterError(
                f"MeasuredSpeeds holds {len(self._speeds)} rounds; {horizon} were asked for."
            )
        for t in range(horizon):
            yield Round(None, self._times(t) / self.unit)

    def _times(self, t: int) -> np.ndarray:
        speed = self._speeds[t][self._sensors].mean(axis=1)
        return np.asarray(self._length / np.maximum(speed, self.slowest))

    def _numbers(self, name: str, given: Any) -> FloatArray:
        try:
            return as_floats(given)
        except (TypeError, ValueError):
            raise refuse(self, name, "an array of numbers", given) from None

    def _columns(self, sensors: ArrayLike | None, n_columns: int) -> np.ndarray:
        if sensors is None:
            if n_columns != self.n_actions:
                raise ParameterError(
                    f"MeasuredSpeeds got {n_columns} columns of speeds for {self.n_actions} links: "
                    "say with sensors= which columns belong to each link."
                )
            return np.arange(n_columns)[:, None]
        found = as_array(sensors)
        if found.ndim == 1:
            found = found[:, None]
        good = found.ndim == 2 and found.shape[0] == self.n_actions and found.shape[1] > 0
        if not good or not np.issubdtype(found.dtype, np.integer):
            raise refuse(self, "sensors", f"integers [{self.n_actions}, n]", sensors)
        if found.min() < 0 or found.max() >= n_columns:
            raise refuse(self, "sensors", f"columns from 0 to {n_columns - 1}", sensors)
        return found
