"""A loss that depends on the number of chosen elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import LossError
from hannan.core.validation import refuse
from hannan.losses._set_loss import SetLoss, check_numbers
from hannan.losses._terms import Terms


class ConcaveOfCardinality(SetLoss):
    r"""The function :math:`f(A) = h(|A|)` of the number of chosen elements, with concave h.

    Parameters
    ----------
    values
        h(0), …, h(K).

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.ConcaveOfCardinality([0.0, 0.5, 0.75, 0.8])
    >>> f([]), f([2]), f([0, 1]), f.extremes()
    (0.0, 0.5, 0.75, (0.0, 0.8))
    """

    def __init__(self, values: Any) -> None:
        self.values = check_numbers(self, "values", values)
        if self.values.size < 2:
            raise refuse(self, "values", "h(0), .., h(K) for one or more elements", values)
        bend = np.diff(self.values, 2)
        if bend.size and bend.max() > 1e-9 * (1.0 + np.abs(self.values).max()):
            k = 1 + int(bend.argmax())
            raise LossError(
                f"values must be concave, or the loss is not submodular: from {k} to {k + 1} "
                f"elements it rises by {self.values[k + 1] - self.values[k]:g}, from {k - 1} to "
                f"{k} by {self.values[k] - self.values[k - 1]:g} only."
            )
        self.n_actions = len(self.values) - 1
        self.terms = Terms(self.n_actions)
        self.terms.levels = self.values.copy()

    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest value: both are attained."""
        return float(self.values.min()), float(self.values.max())
