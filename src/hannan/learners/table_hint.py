"""A hint from the mean losses of a table, in one compiled call before a round and one after."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import Predictor
from hannan.core.validation import LossRange
from hannan.kernels import means as kernel
from hannan.learners.hint import Hint, Trust
from hannan.predictors import Mean


class TableHint(Hint):
    """As `Hint`, for `Mean` and losses that are not negative: same plays, same numbers.

    Means of a table are not below 0, and they cannot fail to learn a loss that was checked. So
    nothing has to be copied or checked between the steps of a round.
    """

    def _hint(self, opened: Any, G: float, n: int) -> None:
        if opened.plays is not None:
            super()._hint(opened, G, n)
            return
        predictor = self.predictor
        row, errors = predictor.row(opened.context)
        values = opened.values = np.empty(self._n_actions)
        alone = opened.alone = self._ungoverned or not opened.late
        opened.advice, share = kernel.hint(
            row, errors, predictor.alpha, self._top, values, self._measured, *self._terms,
            G, n, self.W, self._reserve, self._open, self._answered, alone, self._kept,
        )  # fmt: skip
        if share < 0.0:
            opened.refused = True
        else:
            opened.share = share

    def learn(self, opened: Any, losses: Any) -> None:
        """With the charge."""

    def charge(self, opened: Any, loss: Any, weight: Any) -> None:
        """What the hint of a round has cost; and the mean of its action learns."""
        row, errors = self.predictor.row(opened.context, keep=True)
        kernel.settle(
            row, errors, opened.action, loss, self._measured, opened.law, opened.values,
            opened.advice, opened.share, weight, self._top, bool(opened.exact and opened.alone),
            opened.explored, 1.0 - opened.explores,
        )  # fmt: skip
        self._reserve -= opened.reserved
        self._open -= 1
        self._answered += 1


def hint_of(
    predictor: Predictor, trust: Trust, n_actions: int, loss_range: LossRange, kept: float
) -> Hint:
    """The hint of any predictor, with a budget, on the contexts 0, 1, …"""
    plain = type(predictor) is Mean and predictor.by_context and predictor.alpha > 0.0
    kind = TableHint if plain and loss_range[0] == 0.0 else Hint
    return kind(predictor, trust, n_actions, loss_range, kept)
