"""How much a mean would differ on other data of the same kind.

Consecutive rounds are kept together in blocks, since neighbours may be alike, and blocks are drawn
with replacement: the block bootstrap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core.validation import FloatArray

_DRAWS = 2000
_FEWEST = 10  # blocks
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of a 95 % interval."""

    low: float
    high: float


class OverData:
    """Means of several players over the same rounds, with intervals over the data.

    Parameters
    ----------
    curves
        Of each player: rounds "t" with the "loss" so far, and on a log "weight".

    Examples
    --------
    >>> t = list(range(10, 1001, 10))
    >>> rng = np.random.default_rng(0)
    >>> noisy = np.cumsum(rng.random(100) * 10).tolist()
    >>> players = OverData([{"t": t, "loss": noisy}, {"t": t, "loss": [0.4 * n for n in t]}])
    >>> players.interval(0)
    Range(low=0.49..., high=0.60...)
    >>> players.difference(0, 1).low > 0.0
    True
    """

    def __init__(self, curves: Sequence[Mapping[str, Any]]) -> None:
        self.known = False
        if not curves or any(curve["loss"] is None for curve in curves):
            return
        t = np.asarray(curves[0]["t"], dtype=np.float64)
        if any(list(curve["t"]) != list(curves[0]["t"]) for curve in curves):
            return
        kept = _even(t)
        if len(kept) < _FEWEST:
            return
        losses, weights = zip(*(_sums(curve, t, kept) for curve in curves), strict=True)
        n = len(kept)
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_DRAWS)
        with np.errstate(invalid="ignore", divide="ignore"):
            self._means = (drawn @ np.stack(losses, axis=1)) / (drawn @ np.stack(weights, axis=1))
        self.known = True

    def interval(self, player: int) -> Range | None:
        """Of the mean loss of a player."""
        return self._range(self._means[:, player]) if self.known else None

    def difference(self, player: int, other: int) -> Range | None:
        """Of what a player loses more than another, on the same data."""
        return self._range(self._means[:, player] - self._means[:, other]) if self.known else None

    def _range(self, values: FloatArray) -> Range | None:
        values = values[np.isfinite(values)]
        if len(values) < _DRAWS // 2:
            return None
        low, high = np.quantile(values, [(1.0 - _LEVEL) / 2.0, (1.0 + _LEVEL) / 2.0])
        return Range(float(low), float(high))


def _even(t: FloatArray) -> Any:
    """The places of points that are evenly spread, and of the last."""
    if len(t) < 2:
        return np.arange(len(t))
    stride = float(np.diff(t).max())
    return np.flatnonzero((t % stride == 0) | (t == t[-1]))


def _sums(curve: Mapping[str, Any], t: FloatArray, kept: Any) -> tuple[FloatArray, FloatArray]:
    """Losses and weights of each block."""
    so_far = np.array([np.nan if v is None else v for v in curve["loss"]], dtype=np.float64)
    weight = t
    if curve.get("weight") is not None:
        known = zip(curve["weight"], t, strict=True)
        weight = np.array([n if w is None else w for w, n in known], dtype=np.float64)
        so_far = np.where(weight > 0.0, so_far * weight / t, 0.0)
    return np.diff(so_far[kept], prepend=0.0), np.diff(weight[kept], prepend=0.0)
