"""Scale features by statistics of the rows so far."""

from __future__ import annotations

import numpy as np

from hannan.core.validation import FloatArray
from hannan.kernels import standardise as kernel


class RunningUnit:
    """Scale each feature to [0, 1] by its minimum and maximum over the rows so far.

    >>> scale = RunningUnit()
    >>> [scale(np.array([x])).tolist() for x in (3.0, 5.0, 4.0)]
    [[0.0], [1.0], [0.5]]
    """

    def __init__(self) -> None:
        self._low: FloatArray | None = None
        self._high: FloatArray | None = None

    def __call__(self, row: FloatArray) -> FloatArray:
        self._low = row if self._low is None else np.minimum(self._low, row)
        self._high = row if self._high is None else np.maximum(self._high, row)
        return unit(row, self._low, self._high)


class RunningStandard:
    """Scale each feature to mean 0 and variance 1 over the rows so far, for one row or many.

    >>> scale = RunningStandard()
    >>> [scale(np.array([x])).tolist() for x in (3.0, 5.0)]
    [[0.0], [1.0]]
    """

    def __init__(self) -> None:
        self._count = 0
        self._mean: FloatArray = np.empty(0)
        self._squares: FloatArray = np.empty(0)

    def __call__(self, rows: FloatArray) -> FloatArray:
        table = rows.reshape(-1, rows.shape[-1])
        if self._count == 0:
            self._mean, self._squares = np.zeros(table.shape[1]), np.zeros(table.shape[1])
        scaled = np.empty_like(table)
        kernel.standardise(table, self._count, self._mean, self._squares, scaled)
        self._count += len(table)
        return scaled.reshape(rows.shape)


RUNNING = {"running-unit": RunningUnit, "running-standard": RunningStandard}
"""Scalers by the names that parameters use."""


def unit(rows: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Scale features to [0, 1] by the bounds of each; a constant feature becomes 0."""
    span = high - low
    varies = span > 0.0
    return np.where(varies, (rows - low) / np.where(varies, span, 1.0), 0.0)
