"""Fake outcomes on future contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import FloatArray

_STREAM = 3  # 0 to 2 belong to Laplace noise


@dataclass(eq=False, repr=False)
class FuturePlayout:
    r"""Random playout: in each round, noise for every later round and none for the past.

    The future is the rest of a known sequence of contexts, or one draw from a pool per remaining
    round. The noise of a future round is a loss vector whose coordinates are

    - without a `rate`: independent :math:`N(0, \sigma^2)`, σ = `size`;
    - with a `rate`: zero, except that with probability `rate` one uniform coordinate is ±`size`,
      with a fair sign.

    Losses are linear, so only the sum over the future rounds of a context matters. One draw gives
    this sum, from the number of future rounds with the context. A round costs O(d K) for d
    distinct contexts, for any horizon. The noise of round n is a function of (key, n) and of the
    number of rounds drawn and dropped before it.

    Parameters
    ----------
    contexts
        Distinct contexts.
    order
        Number of each round's context if the sequence is known, T of them; else None.
    shares
        Probability of each context, independent over rounds, if the sequence is unknown; else None.
    horizon
        Number of rounds, T.
    n_actions
        Number of actions, K.
    size
        Size of the noise of a round.
    rate
        Probability that a round has noise; None for Gaussian noise in every round.
    key
        Key from `seed_key`.

    Examples
    --------
    >>> from hannan.perturbation import seed_key
    >>> playout = FuturePlayout(["a", "b"], [0, 1, 0], None, 3, 2, 1.0, None, seed_key(0))
    >>> playout.fakes(0)[0], playout.fakes(1)[0], playout.fakes(2)[0]
    (['a', 'b'], ['a'], [])
    """

    contexts: Sequence[Any]
    order: Any
    shares: FloatArray | None
    horizon: int
    n_actions: int
    size: float
    rate: float | None
    key: np.uint64

    def __post_init__(self) -> None:
        if self.order is not None:
            self.order = np.asarray(self.order, dtype=np.intp)
        # Number of rounds with each context after round `_at`, if the sequence is known.
        self._left = np.zeros(len(self.contexts), np.intp)
        self._at = self.horizon

    def fakes(self, time: int, dropped: int = 0) -> tuple[list[Any], FloatArray]:
        """Return the noise of round `time`, from 0: contexts and the total fake losses of each."""
        rng = self._generator(time, dropped, _STREAM)
        left = self._to_come(time, rng)
        if self.rate is not None:
            left = rng.binomial(left, self.rate)
        rows = np.flatnonzero(left)
        left = left[rows]
        if self.rate is not None:
            losses = self._spikes(left, rng)
        else:
            spread = self.size * np.sqrt(left)
            losses = spread[:, None] * rng.standard_normal((len(rows), self.n_actions))
        return [self.contexts[i] for i in rows.tolist()], losses

    def reseeded(self, key: np.uint64) -> FuturePlayout:
        """Return the same distribution under another key."""
        return replace(self, key=key)

    def uniform(self, time: int, dropped: int = 0) -> float:
        """Return a uniform variate for round `time`, independent of all noise."""
        return float(self._generator(time, dropped, _STREAM + 1).random())

    def _spikes(self, counts: NDArray[np.intp], rng: np.random.Generator) -> FloatArray:
        """Return for each context the sum of `counts` random one-hot vectors."""
        places = np.repeat(np.arange(len(counts)), counts) * self.n_actions
        places += rng.integers(self.n_actions, size=len(places))
        signs = 2.0 * rng.integers(2, size=len(places)) - 1.0
        sums = np.bincount(places, weights=signs, minlength=len(counts) * self.n_actions)
        return np.asarray(self.size * sums.reshape(len(counts), self.n_actions))

    def _to_come(self, time: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the number of rounds with each context after round `time`."""
        if self.order is None:
            assert self.shares is not None
            return rng.multinomial(max(0, self.horizon - time - 1), self.shares)
        if time < self._at:
            self._left = np.bincount(self.order[time + 1 :], minlength=len(self.contexts))
        else:
            for gone in self.order[self._at + 1 : time + 1]:
                self._left[gone] -= 1
        self._at = time
        return self._left

    def _generator(self, time: int, dropped: int, stream: int) -> np.random.Generator:
        counter = [0, dropped, stream, time]
        return np.random.Generator(np.random.Philox(key=int(self.key), counter=counter))
