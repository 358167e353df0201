"""What perturbation="playout" asks of a learner: the contexts to come, in order or in law."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from hannan.core import ContextError, Oracle, ParameterError
from hannan.core.arrays import Contexts, as_rows
from hannan.perturbation import FuturePlayout


class Playout:
    """The future of a game: noise on what is to come, and a check of what comes.

    Parameters
    ----------
    oracle
        The policy class.
    sequence
        The contexts in order of arrival; None where `pool` is given.
    pool
        Contexts to draw the future from, each as likely as it is frequent here.
    horizon
        T; by default the length of the sequence.
    """

    def __init__(
        self,
        oracle: Oracle,
        sequence: Contexts | None,
        pool: Contexts | None,
        horizon: int | None,
    ) -> None:
        self.oracle = oracle
        self.known = pool is None
        if sequence is None and pool is None:
            sequence = _own_sequence(oracle, horizon)
        given = pool if sequence is None else sequence
        given = None if given is None else as_rows(given)
        if given is None or len(given) == 0:
            raise ParameterError(
                "perturbation='playout' needs the future: give contexts=, all contexts in the "
                "order they will arrive; or pool=, contexts to draw them from, and horizon=; or "
                "horizon= alone where there is one context only."
            )
        if horizon is None and not self.known:
            raise ParameterError(
                "perturbation='playout' with a pool= needs horizon=, the number of rounds."
            )
        self.horizon = len(given) if horizon is None else horizon
        if self.known and len(given) != self.horizon:
            raise ParameterError(
                f"perturbation='playout' needs contexts= for all horizon={self.horizon} rounds, in "
                f"the order they will arrive; got {len(given)}. Where only their law is known, "
                "give a sample of it as pool=."
            )
        checked = [oracle.check_context(context) for context in given]
        keys = [oracle.key(context) for context in checked]
        numbers: dict[Hashable, int] = {}
        self.contexts: list[Any] = []
        for key, context in zip(keys, checked, strict=True):
            if key not in numbers:
                numbers[key] = len(numbers)
                self.contexts.append(context)
        self._order = [numbers[key] for key in keys]
        self._keys = keys
        self._noise: FuturePlayout | None = None

    def put_noise(self, n_actions: int, size: float, rate: float | None, key: np.uint64) -> None:
        """Fix the law of the noise and its seed."""
        shares = None
        if not self.known:
            counts = Counter(self._order)
            shares = np.array([counts[i] for i in range(len(self.contexts))]) / len(self._order)
        order = self._order if self.known else None
        self._noise = FuturePlayout(
            self.contexts, order, shares, self.horizon, n_actions, size, rate, key
        )

    def reseeded(self, key: np.uint64) -> Self:
        """The same future, with noise under another key."""
        twin = copy.copy(self)
        twin._noise = self.noise.reseeded(key)
        return twin

    @property
    def noise(self) -> FuturePlayout:
        """Fake outcomes of each round."""
        assert self._noise is not None
        return self._noise

    def check(self, time: int, context: Any) -> None:
        """Refuse a context that is not the one announced for this time."""
        if not self.known:
            return
        if time >= self.horizon:
            raise ContextError(
                f"The sequence of contexts announced to perturbation='playout' has ended after "
                f"{self.horizon} rounds; got {context!r} for one more."
            )
        if self.oracle.key(context) != self._keys[time]:
            raise ContextError(
                f"perturbation='playout' was told that round {time} brings context "
                f"{self.contexts[self._order[time]]!r}; got {context!r}. Where only the law of the "
                "contexts is known, give a sample of it as pool=."
            )


def _own_sequence(oracle: Oracle, horizon: int | None) -> Sequence[Any] | None:
    """What the class itself knows: all, where it changes with time; where it has one context."""
    known = oracle.contexts
    if known is None or type(oracle).at is not Oracle.at:
        return known
    return list(known) * horizon if len(known) == 1 and horizon is not None else None
