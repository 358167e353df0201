"""What each action costs when it is there."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.decision import context_key
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray


class Presence(Stored):
    """Mean losses of actions over the rounds in which they were there and seen.

    By context, where contexts are names; where they are rows of features, by a ridge regression
    for each action.
    """

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        self._means: dict[Hashable, FloatArray] = {}  # sums and counts, [2, K]
        self._designs: FloatArray | None = None  # [K, p, p]
        self._moments: FloatArray | None = None  # [K, p]
        self._seen = np.zeros(n_actions, dtype=bool)

    def _makings(self) -> dict[str, Any]:
        return {"n_actions": self.n_actions}

    def learn(self, context: Any, actions: Any, losses: Any) -> None:
        """The losses of some actions that were there."""
        if isinstance(context, np.ndarray):
            x = np.append(context, 1.0)
            if self._designs is None or self._moments is None:
                self._designs = np.tile(np.eye(len(x)), (self.n_actions, 1, 1))
                self._moments = np.zeros((self.n_actions, len(x)))
            self._designs[actions] += np.outer(x, x)
            self._moments[actions] += np.multiply.outer(losses, x)
            self._seen[actions] = True
        else:
            row = self._means.setdefault(context_key(context), np.zeros((2, self.n_actions)))
            row[0, actions] += losses
            row[1, actions] += 1.0

    def guess(self, context: Any) -> tuple[FloatArray, NDArray[np.bool_]]:
        """What each action would cost on a context, and where that is known."""
        if isinstance(context, np.ndarray):
            if self._designs is None or self._moments is None:
                return np.zeros(self.n_actions), self._seen
            weights = np.linalg.solve(self._designs, self._moments[:, :, None])[:, :, 0]
            return np.asarray(weights @ np.append(context, 1.0)), self._seen
        row = self._means.get(context_key(context))
        if row is None:
            return np.zeros(self.n_actions), np.zeros(self.n_actions, dtype=bool)
        sums, counts = row
        known = counts > 0.0
        means = sums / np.maximum(counts, 1.0)
        # One round more, as good as the best: a first bad one must not be the last.
        best = means[known].min()
        return np.asarray((sums + best) / (counts + 1.0)), known

    def cheapest(self, context: Any, available: NDArray[np.intp]) -> tuple[int, bool]:
        """Of these actions the one that costs least, those not seen first; whether all were seen.

        Ties go to the smallest.
        """
        values, known = self.guess(context)
        values = np.where(known, values, -np.inf)[available]
        return int(available[values.argmin()]), bool(known[available].all())
