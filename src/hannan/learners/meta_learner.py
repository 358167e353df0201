"""Self-tuning of many leaders at once, which losses that come late do not invalidate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.core.state import Array, NoiseKey, Number, Part, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels import tuning as kernel
from hannan.kernels.distribution import argmin_distribution
from hannan.perturbation.laplace import mean_of_maximum

EAGERNESS = 4.0
"""Factor on G. Learners often do the same, so that 1 would be more noise than they need."""

_STREAMS = np.uint64(6), np.uint64(7)  # of what is played, and of shadows


class Tuning(Stored):
    r"""What instability has cost each of several leaders, discounted like its losses.

    A round adds :math:`f(a') - f(b)` to D: a' is what the leader did, and b what it would do
    knowing all losses learned by now, under the same noise at the largest scale so far. After a
    late loss that may be negative, so noise follows the peak of D. All numbers are in units of a
    loss of the round to come.
    """

    stored = State(state=Array().where(lambda self, state: (state[kernel.PEAK :] >= 0.0).all()))

    def __init__(self, discounts: Sequence[float]) -> None:
        self._discounts = np.array(discounts, dtype=np.float64)
        self.state = np.zeros((3, len(discounts)))

    @property
    def D(self) -> FloatArray:
        """What instability has cost."""
        return np.asarray(self.state[kernel.D])

    @property
    def peak(self) -> FloatArray:
        """The largest D so far."""
        return np.asarray(self.state[kernel.PEAK])

    @property
    def top(self) -> FloatArray:
        """The largest scale at which a round was decided that has been learned."""
        return np.asarray(self.state[kernel.TOP])

    def scales(self, G: float) -> FloatArray:
        """1/ε of each leader in the round to come."""
        return self.state[kernel.PEAK] / G if G > 0.0 else np.zeros(self.state.shape[1])

    def reached(self, scales: FloatArray, missed: int) -> FloatArray:
        """The largest scales once a round is counted, decided so many losses ago at these."""
        if missed:
            scales = scales * self._discounts**missed
        return np.maximum(self.state[kernel.TOP], scales)  # type: ignore[no-any-return]

    def after(self, top: FloatArray, before: FloatArray, after: FloatArray) -> None:
        """A round has been learned: what was lost in it, and would be lost knowing it."""
        kernel.measure(self.state, self._discounts, top, before, after)


class MetaLearner(Stored):
    r"""A self-tuned perturbed leader among a few learners, by what each would have lost.

    It plays like `ContextFTPL(…, epsilon=SelfTuned(EAGERNESS))` for so many experts; G is known in
    closed form. A round has the number `first` of its draw, its scale 1/ε, `meta_scale`, and whom
    it followed, also under noise that nobody sees where it is `measures_delays`.
    """

    stored = State(_key=NoiseKey(), totals=Array(), tuning=Part(), stability=Number())

    def __init__(self, count: int, key: np.uint64) -> None:
        self._key = key
        self.totals = np.zeros(count)  # what each learner has lost
        self.tuning = Tuning([1.0])
        self.stability = 0.0  # at most what instability can have cost, by the ranges of the losses
        self.G = mean_of_maximum(count)

    @property
    def scale(self) -> float:
        """1/ε in the round to come."""
        return self.tuning.state.item(kernel.PEAK) / (EAGERNESS * self.G) if self.G > 0.0 else 0.0

    def choose(self, opened: Any, *, hidden: bool) -> int:
        """Whom to follow in a round."""
        noise = self._key, _STREAMS[hidden], opened.first, opened.meta_scale
        return kernel.choose(self.totals, *noise)  # type: ignore[no-any-return]

    def learn(self, opened: Any, costs: FloatArray, out_of_order: bool) -> None:
        """What each learner has lost in a round.

        One overtaken by others without a shadow of its own is charged all it can have cost.
        """
        chosen = opened.hidden_followed if opened.measures_delays else opened.followed
        scale = opened.meta_scale
        noise = self._key, _STREAMS[opened.measures_delays], opened.first, scale
        spread = kernel.learn(self.totals, self.tuning.state, costs, chosen, *noise, out_of_order)
        self.stability += spread * spread / scale if spread < scale else spread

    def bound(self, rounds: int, width: float, restarts: int = 0) -> float:
        """At most what is lost more than by any learner, in expectation, in so many rounds."""
        games = restarts + 1
        root = math.sqrt(2.0 * EAGERNESS * self.G * games * rounds)
        return width * (1.0 + 1.0 / EAGERNESS) * (root + games)

    def distribution(self, scale: float) -> FloatArray:
        """The probability of following each learner in the round to come."""
        distribution = np.zeros(len(self.totals))
        if scale == 0.0:
            distribution[self.totals.argmin()] = 1.0
        else:
            argmin_distribution(self.totals, scale, distribution)
        return distribution
