"""Means of losses in the units of their file, and how much they would differ on other data.

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
class Units:
    """From losses in [0, 1] back to what the file holds."""

    low: float = 0.0
    high: float = 1.0
    rewards: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, Any]) -> Units:
        """Those of an environment, by its table in an experiment file."""
        found = environment.get("value_range")
        if not isinstance(found, list | tuple) or len(found) != 2:
            return cls()
        return cls(float(found[0]), float(found[1]), environment.get("reward") is not None)

    @property
    def name(self) -> str:
        """Of what is measured."""
        return "reward" if self.rewards else "loss"

    @property
    def width(self) -> float:
        """What a loss of 1 is more than none."""
        return self.high - self.low

    def mean(self, loss: Any) -> Any:
        """Mean losses as they would stand in the file; None, which is not known, stays None."""
        if loss is None:
            return None
        return self.high - loss * self.width if self.rewards else self.low + loss * self.width

    def difference(self, loss: Any) -> Any:
        """Differences of losses: positive is worse, also of rewards; None stays None."""
        return None if loss is None else loss * self.width


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
    (0.49..., 0.60...)
    >>> players.interval(0, 1)[0] > 0.0
    True
    """

    def __init__(self, curves: Sequence[Mapping[str, Any]]) -> None:
        self._means: FloatArray | None = None
        if not curves or any(curve["loss"] is None for curve in curves):
            return
        if any(list(curve["t"]) != list(curves[0]["t"]) for curve in curves):
            return
        t = np.asarray(curves[0]["t"], dtype=np.float64)
        # Points that are evenly spread, and the last.
        stride = float(np.diff(t).max()) if len(t) > 1 else 1.0
        kept = np.flatnonzero((t % stride == 0) | (t == t[-1])) if len(t) else t
        n = len(kept)
        if n < _FEWEST:
            return
        losses, weights = zip(*(_sums(curve, t, kept) for curve in curves), strict=True)
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_DRAWS)
        with np.errstate(invalid="ignore", divide="ignore"):
            self._means = (drawn @ np.stack(losses, axis=1)) / (drawn @ np.stack(weights, axis=1))

    def interval(self, player: int, other: int | None = None) -> tuple[float, float] | None:
        """The ends of a 95 % interval of what a player loses, or loses more than another."""
        if self._means is None:
            return None
        values = self._means[:, player]
        if other is not None:
            values = values - self._means[:, other]
        values = values[np.isfinite(values)]
        if len(values) < _DRAWS // 2:
            return None
        low, high = np.quantile(values, [(1.0 - _LEVEL) / 2.0, (1.0 + _LEVEL) / 2.0])
        return float(low), float(high)


def _sums(curve: Mapping[str, Any], t: FloatArray, kept: Any) -> tuple[FloatArray, FloatArray]:
    """Losses and weights of each block."""
    so_far = np.array([np.nan if v is None else v for v in curve["loss"]], dtype=np.float64)
    weight = t
    if curve.get("weight") is not None:
        known = zip(curve["weight"], t, strict=True)
        weight = np.array([n if w is None else w for w, n in known], dtype=np.float64)
        so_far = np.where(weight > 0.0, so_far * weight / t, 0.0)
    return np.diff(so_far[kept], prepend=0.0), np.diff(weight[kept], prepend=0.0)
