"""Self-tuning of several perturbed leaders together, valid with delayed feedback."""

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
"""Factor on G. Learners often choose the same action, so 1 would be more noise than needed."""

_STREAMS = np.uint64(6), np.uint64(7)  # random streams of choices and of hidden noise draws


class Tuning(Stored):
    r"""Instability costs D of several leaders, discounted like their losses.

    A round adds :math:`f(a') - f(b)` to D. Here a' is the leader's action, and b its action given
    all losses known now, under the same noise at the largest scale so far. With delayed feedback
    the difference may be negative, so the noise follows the peak of D. The unit of all numbers is
    a loss of the next round.
    """

    stored = State(state=Array().where(lambda self, state: (state[kernel.PEAK :] >= 0.0).all()))

    def __init__(self, discounts: Sequence[float]) -> None:
        self._discounts = np.array(discounts, dtype=np.float64)
        self.state = np.zeros((3, len(discounts)))

    @property
    def D(self) -> FloatArray:
        """Instability cost of each leader."""
        return np.asarray(self.state[kernel.D])

    @property
    def peak(self) -> FloatArray:
        """The largest D so far."""
        return np.asarray(self.state[kernel.PEAK])

    @property
    def top(self) -> FloatArray:
        """Largest scale among the decisions with feedback."""
        return np.asarray(self.state[kernel.TOP])

    def scales(self, G: float) -> FloatArray:
        """Return 1/ε of each leader in the next round."""
        return self.state[kernel.PEAK] / G if G > 0.0 else np.zeros(self.state.shape[1])

    def reached(self, scales: FloatArray, missed: int) -> FloatArray:
        """Return the largest scales including a round decided `missed` losses ago at `scales`."""
        if missed:
            scales = scales * self._discounts**missed
        return np.maximum(self.state[kernel.TOP], scales)  # type: ignore[no-any-return]

    def after(self, top: FloatArray, before: FloatArray, after: FloatArray) -> None:
        """Add a round, given the losses of the leaders' actions before and after its losses."""
        kernel.measure(self.state, self._discounts, top, before, after)


class MetaLearner(Stored):
    r"""A self-tuned perturbed leader among a few base learners, by their losses.

    It chooses like `ContextFTPL(…, epsilon=SelfTuned(EAGERNESS))` with one expert per base
    learner; G has a closed form. A round holds the number `first` of its draw, its scale 1/ε as
    `meta_scale`, and the index `followed` of its choice. If `measures_delays`, it also holds
    `hidden_followed`, the choice under the hidden noise draw.
    """

    stored = State(_key=NoiseKey(), totals=Array(), tuning=Part(), stability=Number())

    def __init__(self, count: int, key: np.uint64) -> None:
        self._key = key
        self.totals = np.zeros(count)  # total loss of each base learner
        self.tuning = Tuning([1.0])
        self.stability = 0.0  # bound on the instability cost, from the ranges of the losses
        self.G = mean_of_maximum(count)

    @property
    def scale(self) -> float:
        """1/ε in the next round."""
        return self.tuning.state.item(kernel.PEAK) / (EAGERNESS * self.G) if self.G > 0.0 else 0.0

    def choose(self, opened: Any, *, hidden: bool) -> int:
        """Return the index of the base learner to follow in a round."""
        noise = self._key, _STREAMS[hidden], opened.first, opened.meta_scale
        return kernel.choose(self.totals, *noise)  # type: ignore[no-any-return]

    def learn(self, opened: Any, costs: FloatArray, out_of_order: bool) -> None:
        """Learn from the loss of each base learner in a round.

        An `out_of_order` round without a hidden noise draw counts at its largest possible cost.
        """
        chosen = opened.hidden_followed if opened.measures_delays else opened.followed
        scale = opened.meta_scale
        noise = self._key, _STREAMS[opened.measures_delays], opened.first, scale
        spread = kernel.learn(self.totals, self.tuning.state, costs, chosen, *noise, out_of_order)
        self.stability += spread * spread / scale if spread < scale else spread

    def bound(self, rounds: int, width: float, restarts: int = 0) -> float:
        """Return a bound on the expected regret against any base learner in `rounds` rounds."""
        games = restarts + 1
        root = math.sqrt(2.0 * EAGERNESS * self.G * games * rounds)
        return width * (1.0 + 1.0 / EAGERNESS) * (root + games)

    def distribution(self, scale: float) -> FloatArray:
        """Return the probability of following each base learner in the next round."""
        distribution = np.zeros(len(self.totals))
        if scale == 0.0:
            distribution[self.totals.argmin()] = 1.0
        else:
            argmin_distribution(self.totals, scale, distribution)
        return distribution
