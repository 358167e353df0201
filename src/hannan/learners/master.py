"""Self-tuning of many leaders at once, which losses that come late do not invalidate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels.law import argmin_law
from hannan.perturbation import LaplaceNoise
from hannan.perturbation.laplace import mean_of_maximum

_STREAMS = (6, 7)  # of what is played, and of shadows; 0 to 5 belong to others


class Tuning(Stored):
    r"""What instability has cost each of several leaders, discounted like its losses.

    A round adds :math:`f(a') - f(b)` to D: a' is what the leader did, and b what it would do
    knowing all losses learned by now, under the same noise at the largest scale so far. After a
    late loss that may be negative, so noise follows the peak of D. All numbers are in units of a
    loss of the round to come.

    Attributes
    ----------
    D, peak, top
        D and its peak; the largest scale at which an answered round was decided.
    """

    _derived = frozenset({"_discounts"})

    def __init__(self, discounts: Sequence[float]) -> None:
        self._discounts = np.array(discounts, dtype=np.float64)
        self.D = np.zeros(len(discounts))
        self.peak = np.zeros(len(discounts))
        self.top = np.zeros(len(discounts))

    def scales(self, G: float) -> FloatArray:
        """1/ε of each leader in the round to come."""
        return self.peak / G if G > 0.0 else np.zeros(len(self.peak))

    def reached(self, scales: FloatArray, missed: int) -> FloatArray:
        """The largest scales once a round is counted, decided so many losses ago at these."""
        if missed:
            scales = scales * self._discounts**missed
        return np.maximum(self.top, scales)

    def after(self, gaps: FloatArray, top: FloatArray) -> None:
        """A round has been learned."""
        self.D += gaps
        np.maximum(self.peak, self.D, out=self.peak)
        self.top = top * self._discounts
        self.D *= self._discounts
        self.peak *= self._discounts


class Master(Stored):
    r"""A self-tuned perturbed leader among a few learners, by what each would have lost.

    Its law is that of `ContextFTPL` for so many experts; G is known in closed form.

    Attributes
    ----------
    totals
        What each learner has lost.
    tuning
        Of its single leader.
    stability
        At most what instability can have cost, by the ranges of the losses.
    """

    _derived = frozenset({"_noises", "G"})

    def __init__(self, count: int, key: np.uint64) -> None:
        self._key = key
        self.totals = np.zeros(count)
        self.tuning = Tuning([1.0])
        self.stability = 0.0
        self.G = mean_of_maximum(count)
        self._restored()

    def _restored(self) -> None:
        count = len(self.totals)
        self._noises = [LaplaceNoise([0], count, self._key, stream) for stream in _STREAMS]

    @property
    def scale(self) -> float:
        """1/ε in the round to come."""
        return float(self.tuning.scales(self.G)[0])

    def choose(self, number: int, scale: float, shadow: bool) -> int:
        """Whom to follow, under draw `number`."""
        return self._leader(self.totals, number, scale, shadow)

    def learn(
        self, costs: FloatArray, chosen: int, number: int, scale: float, shadow: bool, late: bool
    ) -> None:
        """What each learner has lost in a round that was decided at this scale.

        `chosen` is whom the noise of the measurement followed. A round overtaken by others without
        a shadow of its own (`late`) is charged all it can have cost.
        """
        spread = float(costs.max() - costs.min())
        self.stability += spread * spread / scale if spread < scale else spread
        self.totals += costs
        top = self.tuning.reached(np.array([scale]), 0)
        gap = spread
        if not late:
            gap = float(costs[chosen] - costs[self._leader(self.totals, number, top[0], shadow)])
        self.tuning.after(np.array([gap]), top)

    def law(self, scale: float) -> FloatArray:
        """The probability of following each learner in the round to come."""
        law = np.zeros(len(self.totals))
        if scale == 0.0:
            law[self.totals.argmin()] = 1.0
        else:
            argmin_law(self.totals, scale, law)
        return law

    def _leader(self, totals: FloatArray, number: int, scale: float, shadow: bool) -> int:
        if scale == 0.0:
            return int(totals.argmin())
        return int((totals + scale * self._noises[shadow].unit(number)[0]).argmin())
