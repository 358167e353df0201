"""Mean losses in the units of their file, with block-bootstrap confidence intervals.

The bootstrap draws blocks of consecutive rounds with replacement, because neighbouring rows may be
alike. It cannot draw losses that occur in no row. So an interval is at least as wide as if one row
and a half more could lie at the other end of the range.
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
_Z = 1.96
_UNSEEN = 1.5  # rows at the other end of the range: 1.96 · 1.5 makes the rule of three


@dataclass(frozen=True, slots=True)
class LossUnits:
    """Conversion of losses in [0, 1] back to the units of the file."""

    low: float = 0.0
    high: float = 1.0
    rewards: bool = False
    unit: str = ""
    """Unit of the amounts, such as €."""

    @classmethod
    def of(cls, environment: Mapping[str, Any], unit: str = "") -> LossUnits:
        """Read the units of an environment from its table in an experiment file."""
        ends = environment.get("value_range")
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            return cls(unit=unit)
        return cls(float(ends[0]), float(ends[1]), environment.get("reward") is not None, unit)

    @property
    def name(self) -> str:
        """Name of the measured quantity: "reward" or "loss"."""
        return "reward" if self.rewards else "loss"

    @property
    def width(self) -> float:
        """Difference between a loss of 1 and a loss of 0, in the units of the file."""
        return self.high - self.low

    def mean(self, loss: Any) -> Any:
        """Convert a mean loss to the units of the file; None (unknown) stays None."""
        if loss is None:
            return None
        return self.high - loss * self.width if self.rewards else self.low + loss * self.width

    def difference(self, loss: Any) -> Any:
        """Convert a difference of losses: positive is worse, also for rewards; None stays None."""
        return None if loss is None else loss * self.width


class OverData:
    """Mean losses of several policies over the same rounds, with intervals over the data.

    Parameters
    ----------
    curves
        Curve of each policy: rounds "t" with the "loss" so far, and on a log "weight".
    effective
        Effective sample size of each policy's mean, which on a log is less than the number of
        rounds. Default: None, for the number of rounds.

    Examples
    --------
    >>> t = list(range(10, 1001, 10))
    >>> rng = np.random.default_rng(0)
    >>> noisy = np.cumsum(rng.random(100) * 10).tolist()
    >>> means = OverData([{"t": t, "loss": noisy}, {"t": t, "loss": [0.4 * n for n in t]}])
    >>> means.interval(0)
    (0.49..., 0.60...)
    >>> means.interval(0, 1)[0] > 0.0
    True
    """

    def __init__(
        self, curves: Sequence[Mapping[str, Any]], effective: Sequence[float] | None = None
    ) -> None:
        self._means: FloatArray | None = None
        if not curves or any(curve["loss"] is None for curve in curves):
            return
        if any(list(curve["t"]) != list(curves[0]["t"]) for curve in curves):
            return
        t = np.asarray(curves[0]["t"], dtype=np.float64)
        # Use the evenly spread points and the last one.
        stride = float(np.diff(t).max()) if len(t) > 1 else 1.0
        kept = np.flatnonzero((t % stride == 0) | (t == t[-1])) if len(t) else t
        n = len(kept)
        if n < _FEWEST:
            return
        losses, weights = map(
            np.array, zip(*(_sums(curve, t, kept) for curve in curves), strict=True)
        )
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_DRAWS)
        with np.errstate(invalid="ignore", divide="ignore"):
            self._means = (drawn @ losses.T) / (drawn @ weights.T)
            self._mean = losses.sum(axis=1) / weights.sum(axis=1)
            worth = np.full(len(curves), t[-1]) if effective is None else np.asarray(effective)
            self._unseen = _UNSEEN / worth

    def interval(self, player: int, other: int | None = None) -> tuple[float, float] | None:
        """Return a 95 % interval of a policy's mean loss, or of its difference to another one."""
        drawn = self._drawn([player], other)
        if drawn is None:
            return None
        values, mean, unseen = drawn[0][:, 0], drawn[1][0], _Z * drawn[2][0]
        low, high = np.quantile(values, [(1.0 - _LEVEL) / 2.0, (1.0 + _LEVEL) / 2.0])
        return (
            float(mean - np.hypot(max(0.0, mean - low), unseen)),
            float(mean + np.hypot(max(0.0, high - mean), unseen)),
        )

    def together(self, players: Sequence[int], other: int) -> dict[int, tuple[float, float]]:
        """Return simultaneous 95 % intervals of the differences to the policy `other`.

        You can pick the best policy by the same data, and its interval stays valid. All intervals
        have the same width in standard errors: in 95 % of the bootstrap draws it covers the largest
        deviation of any difference.
        """
        known = [player for player in players if self._drawn([player], other) is not None]
        drawn = self._drawn(known, other) if known else None
        if drawn is None:
            return {}
        values, mean, unseen = drawn
        error = np.hypot(values.std(axis=0), unseen)
        largest = (np.abs(values - mean) / np.maximum(error, 1e-300)).max(axis=1)
        reach = max(_Z, float(np.quantile(largest, _LEVEL))) * error
        return {
            player: (float(mean[i] - reach[i]), float(mean[i] + reach[i]))
            for i, player in enumerate(known)
        }

    def _drawn(
        self, players: Sequence[int], other: int | None
    ) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return drawn means [draw, policy], the means, and the errors due to unseen losses."""
        if self._means is None:
            return None
        places = list(players)
        values, mean, unseen = self._means[:, places], self._mean[places], self._unseen[places]
        if other is not None:
            values, mean = values - self._means[:, [other]], mean - self._mean[other]
            unseen = np.maximum(unseen, self._unseen[other])
        values = values[np.isfinite(values).all(axis=1)]
        return None if len(values) < _DRAWS // 2 else (values, mean, unseen)


def _sums(curve: Mapping[str, Any], t: FloatArray, kept: Any) -> tuple[FloatArray, FloatArray]:
    """Return the total losses and weights of each block."""
    so_far = np.array([np.nan if v is None else v for v in curve["loss"]], dtype=np.float64)
    weight = t
    if curve.get("weight") is not None:
        known = zip(curve["weight"], t, strict=True)
        weight = np.array([n if w is None else w for w, n in known], dtype=np.float64)
        so_far = np.where(weight > 0.0, so_far * weight / t, 0.0)
    return np.diff(so_far[kept], prepend=0.0), np.diff(weight[kept], prepend=0.0)
