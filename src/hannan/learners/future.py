"""The contexts still to come, in order or in law, and noise on them."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from hannan.core import ContextError, Oracle, ParameterError
from hannan.core.arrays import Contexts, as_rows
from hannan.core.stored import Stored
from hannan.learners.context_set import Pool
from hannan.perturbation import FuturePlayout


class Future(Stored):
    """What is known of the rounds of a game before the first one.

    Attributes
    ----------
    horizon
        T.
    points
        The distinct contexts.
    """

    _derived = frozenset(
        {"oracle", "horizon", "points", "_owner", "_known", "_order", "_keys", "_noise"}
    )

    def __init__(
        self, owner: object, oracle: Oracle, contexts: Contexts | Pool | None, horizon: int | None
    ) -> None:
        self._owner = type(owner).__name__
        self._known = not isinstance(contexts, Pool)
        if oracle.n_actions is None:
            raise ParameterError(
                f"{self._owner} needs the number of actions: give {type(oracle).__name__} its "
                "n_actions=."
            )
        given: Any = contexts.rows if isinstance(contexts, Pool) else contexts
        given = _own_sequence(oracle, horizon) if given is None else given
        given = None if given is None else as_rows(given)
        if given is None or len(given) == 0:
            raise ParameterError(
                f"{self._owner} needs the future: give contexts=, all contexts in the order they "
                "will arrive; or contexts=Pool(rows), contexts to draw them from, and horizon=; or "
                "horizon= alone where there is one context only."
            )
        if horizon is None and not self._known:
            raise ParameterError(f"{self._owner} with a Pool needs horizon=, the number of rounds.")
        self.oracle = oracle
        self.horizon = len(given) if horizon is None else horizon
        if self._known and len(given) != self.horizon:
            raise ParameterError(
                f"{self._owner} needs contexts= for all horizon={self.horizon} rounds, in the "
                f"order they will arrive; got {len(given)}. Where only their law is known, give a "
                "sample of it as contexts=Pool(rows)."
            )
        checked = [oracle.check_context(context) for context in given]
        keys = [oracle.key(context) for context in checked]
        numbers: dict[Hashable, int] = {}
        self.points: list[Any] = []
        for key, context in zip(keys, checked, strict=True):
            if key not in numbers:
                numbers[key] = len(numbers)
                self.points.append(context)
        self._order = [numbers[key] for key in keys]
        self._keys = keys
        self._key = np.uint64(0)
        self._noise: FuturePlayout | None = None

    def put_noise(self, size: float, rate: float | None, key: np.uint64) -> None:
        """Fix the law of the noise and its seed."""
        shares = None
        if not self._known:
            counts = Counter(self._order)
            shares = np.array([counts[i] for i in range(len(self.points))]) / len(self._order)
        order = self._order if self._known else None
        K = self.oracle.n_actions or 1
        self._key = key
        self._noise = FuturePlayout(self.points, order, shares, self.horizon, K, size, rate, key)

    def reseeded(self, key: np.uint64) -> Self:
        """The same future, with noise under another key."""
        twin = copy.copy(self)
        twin._key = key
        twin._noise = self.noise.reseeded(key)
        return twin

    @property
    def noise(self) -> FuturePlayout:
        """Fake outcomes of each round."""
        assert self._noise is not None
        return self._noise

    def log_size(self) -> float | None:
        """log N on these contexts, where it is known."""
        return self.oracle.log_size(self.points)

    def check(self, time: int, context: Any) -> Any:
        """Refuse a context that is not the one announced for this time."""
        if time >= self.horizon:
            raise ContextError(
                f"The {self.horizon} rounds announced to {self._owner} are over; got {context!r} "
                "for one more."
            )
        if self._known and self.oracle.key(context) != self._keys[time]:
            raise ContextError(
                f"{self._owner} was told that round {time} brings context "
                f"{self.points[self._order[time]]!r}; got {context!r}. Where only the law of the "
                "contexts is known, give a sample of it as contexts=Pool(rows)."
            )
        return context

    def _restored(self) -> None:
        self._noise = self.noise.reseeded(self._key)


def _own_sequence(oracle: Oracle, horizon: int | None) -> Sequence[Any] | None:
    """What the class itself knows: all, where it changes with time; where it has one context."""
    known = oracle.contexts
    if known is None or type(oracle).at is not Oracle.at:
        return known
    return list(known) * horizon if len(known) == 1 and horizon is not None else None
