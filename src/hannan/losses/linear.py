"""A loss for each element chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core.validation import refuse
from hannan.losses._set_loss import SetLoss, check_numbers
from hannan.losses._terms import Terms


class Linear(SetLoss):
    r"""The modular function :math:`f(A) = c + \sum_{j \in A} w_j`.

    A loss vector is equivalent and faster; this class is for sums.

    Parameters
    ----------
    weights
        w, of any sign; K = len(weights).
    offset
        c, the loss of choosing nothing.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.Linear([0.5, -0.2, 0.1])
    >>> f([0, 2]), f([]), f.extremes()
    (0.6, 0.0, (-0.2, 0.6))
    """

    def __init__(self, weights: Any, offset: float = 0.0) -> None:
        self.weights = check_numbers(self, "weights", weights)
        if self.weights.size == 0:
            raise refuse(self, "weights", "at least one number", weights)
        self.offset = float(check_numbers(self, "offset", [offset])[0])
        self.n_actions = len(self.weights)
        self.terms = Terms(self.n_actions)
        self.terms.modular += self.weights
        self.terms.offset = self.offset

    def extremes(self) -> tuple[float, float]:
        """The sums of the negative and of the positive weights: both are attained."""
        low = float(np.minimum(self.weights, 0.0).sum())
        high = float(np.maximum(self.weights, 0.0).sum())
        return self.offset + low, self.offset + high
