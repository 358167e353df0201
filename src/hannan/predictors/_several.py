"""A mixture of arbitrary predictors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core.params import Parametrised
from hannan.core.predictor import adopt, check_guess, extended_predictor
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Part, State
from hannan.core.validation import FloatArray
from hannan.kernels import blend as kernel
from hannan.predictors._table import FORGETTING, check_prepared

_LIGHT = 0.01  # parts with a smaller share are not queried for widths


class Several(Parametrised):
    """A mixture of predictors weighted by their squared errors, like `Fits` for its regressions."""

    stored = State(_parts=Part(), _tally=Array(low=0.0))
    n_features = 0  # contexts of any kind

    def __init__(self, predictors: Any, n_actions: int) -> None:
        self.predictors = predictors
        self.n_actions = n_actions
        self._parts: list[Any] = [adopt(each, "predictors") for each in predictors]
        for part in self._parts:
            if hasattr(part, "prepare"):
                part.prepare(n_actions)
        self._tally: FloatArray = np.zeros(len(self._parts) + 2)

    def extended(self, n_actions: int) -> Self:
        """Return a copy with more elements, for which the parts have no observations."""
        twin = self.clone(n_actions=n_actions)
        twin._parts = [extended_predictor(part, n_actions) for part in self._parts]
        twin._tally = self._tally.copy()
        return twin

    @property
    def shares(self) -> FloatArray:
        """Weight of each part in the mixture."""
        found = np.empty(len(self._parts))
        kernel.shares(self._tally[:-2], found)
        return found

    @property
    def deviation(self) -> float:
        """Size σ of an error."""
        return float(kernel.deviation(self._tally))

    def look(self, context: Any, widths: bool) -> tuple[FloatArray, FloatArray]:
        """Return the means, and the widths of the parts that have widths."""
        shares = self.shares
        means = shares @ self._estimates(context)
        found = np.zeros(self.n_actions if widths else 0)
        if widths:
            for part, share in zip(self._parts, shares, strict=True):
                if share >= _LIGHT and hasattr(part, "widths"):
                    found += share * check_guess(
                        part, part.widths(context), self.n_actions, (0.0, np.inf)
                    )
        return means, found

    def learn(self, context: Any, elements: IntArray, losses: FloatArray) -> bool:
        """Record the errors, and let every part learn."""
        guesses = self._estimates(context)[:, elements]
        mixed = self.shares @ guesses
        errors = np.mean((losses - np.vstack([guesses, mixed])) ** 2, axis=1)
        alone = len(elements) == 1
        for part in self._parts:
            if alone:
                part.learn(context, int(elements[0]), float(losses[0]))
            else:
                part.learn(context, elements, losses)
        # Update this last: if the first part fails, nothing has changed.
        self._tally = FORGETTING * self._tally + np.append(errors, 1.0)
        return True

    def _estimates(self, context: Any) -> FloatArray:
        """Return the estimate of each part for each action, [parts, K], in [0, 1]."""
        check_prepared("Blend", self.n_actions)
        found = []
        for part in self._parts:
            guess = getattr(part, "estimate", part.predict)(context)
            found.append(check_guess(part, guess, self.n_actions, (0.0, 1.0)))
        return np.array(found)
