"""Means over seeds, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    r"""Means over seeds with their 95 % t-intervals, at one or at many points.

    $\bar x \pm t_{n-1, 0.975}\, s / \sqrt n$ for the n known values at a point. The limits are NaN
    if n < 2, the mean if n = 0.

    >>> x = Spread.of([1.0, 2.0, 3.0])
    >>> print(f"{x.mean:.3f} from {x.low:.3f} to {x.high:.3f}")
    2.000 from -0.484 to 4.484
    """

    mean: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, values: ArrayLike) -> Spread:
        """Average over the first axis, without unknown values (NaN)."""
        x = np.asarray(values, dtype=np.float64)
        known = np.isfinite(x)
        n = known.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, x, 0.0).sum(axis=0) / n
            square = (np.where(known, x - mean, 0.0) ** 2).sum(axis=0) / (n - 1)
            half = stdtrit(np.maximum(n - 1, 1), 0.975) * np.sqrt(square / n)
        half = np.where(n > 1, half, np.nan)
        return cls(mean, mean - half, mean + half)

    @property
    def known(self) -> bool:
        """Whether the mean is known at any point."""
        return bool(np.isfinite(self.mean).any())

    @property
    def half(self) -> float:
        """Half the width of the interval; NaN for a single seed."""
        return float(self.high - self.mean)


def growth(t: FloatArray, regret: FloatArray) -> float | None:
    """Return the exponent b of the power function a·t^b that fits a curve best from T/10 on.

    The fit is by least squares on logarithms. Returns None if the curve is negative or zero too
    often, because no power describes a learner that beats the best policy.

    >>> t = np.arange(1.0, 200.0)
    >>> print(f"{growth(t, 3 * np.sqrt(t)):.3f}")
    0.500
    """
    late = np.isfinite(regret) & (t >= t[-1] / 10) if len(t) else np.zeros(0, dtype=bool)
    positive = late & (regret > 0)
    if positive.sum() < 5 or positive.sum() < 0.8 * late.sum():
        return None
    x, y = np.log(t[positive]), np.log(regret[positive])
    x -= x.mean()
    return float(x @ y / (x @ x))
