"""Loss of single items beyond the prediction from their features."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hannan.core.state import Array, Count, Key, ListOf, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray


class ItemTerms(Stored):
    r"""Shrunk means of the residuals of the items that were played last.

    The estimated extra loss of item i, played :math:`n_i` times, beyond the prediction from its
    features is :math:`\sum r/(n_i + \sigma^2/\tau^2)`. Here σ² is the variance of a residual, and
    τ² the variance between items. τ² is estimated online: the product of an item's residual and the
    mean of its earlier residuals is τ² on average. One standard error is subtracted, so that item
    terms are used only if items clearly differ.

    If there are `capacity` items, a new item replaces the item that was played longest ago.

    """

    stored = State(
        _ids=ListOf(Key(), most="capacity").where(lambda self, ids: len(set(ids)) == len(ids)),
        _played=Array(low=0.0),
        _sums=Array(),
        _last=Array(low=0),
        _time=Count(),
        _alike=Array().where(lambda self, alike: (alike[1:] >= 0.0).all()),
    )
    room_for = ("capacity",)

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._ids: list[Hashable] = []
        self._places: dict[Hashable, int] = {}
        self._played: FloatArray = np.zeros(capacity)
        self._sums: FloatArray = np.zeros(capacity)
        self._last = np.zeros(capacity, np.int64)
        self._time = 0
        self._alike: FloatArray = np.zeros(3)  # sums of r · Σr, of n, and of (r · Σr)²

    def _params_to_store(self) -> dict[str, Any]:
        return {"capacity": self.capacity}

    def _restored(self) -> None:
        self._places = {each: place for place, each in enumerate(self._ids)}

    def variance(self) -> float:
        """Return τ² minus one standard error, or 0 if items do not differ."""
        total, weight, squares = self._alike.tolist()
        return max(0.0, (total - float(np.sqrt(squares))) / weight) if weight else 0.0

    def look(
        self, ids: tuple[Hashable, ...] | None, n: int, deviation: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the extra loss of each of n items, and its variance in units of σ²."""
        offsets, spreads = np.zeros(n), np.zeros(n)
        variance = self.variance() if ids is not None and self._ids else 0.0
        if ids is None or variance == 0.0:
            return offsets, spreads
        shrink, get = deviation**2 / variance, self._places.get
        for k, each in enumerate(ids):
            place = get(each)
            played = shrink if place is None else shrink + self._played[place]
            if place is not None:
                offsets[k] = self._sums[place] / played
            spreads[k] = 1.0 / played
        return offsets, spreads

    def learn(self, item: Hashable, residual: float) -> None:
        """Learn from the residual of a played item."""
        self._time += 1
        place = self._places.get(item)
        if place is None:
            place = self._room(item)
        elif self._played[place]:
            product = residual * self._sums[place]
            self._alike += (product, self._played[place], product * product)
        self._played[place] += 1.0
        self._sums[place] += residual
        self._last[place] = self._time

    def _room(self, item: Hashable) -> int:
        """Return a place for a new item."""
        if len(self._ids) < self.capacity:
            self._ids.append(item)
            place = len(self._ids) - 1
        else:
            place = int(self._last.argmin())
            del self._places[self._ids[place]]
            self._ids[place] = item
        self._places[item] = place
        self._played[place] = self._sums[place] = 0.0
        return place
