"""A row of numbers for each context seen."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from hannan.core.predictor import Predictor
from hannan.core.validation import FloatArray


class TablePredictor(Predictor):
    """Remembers numbers for each distinct context."""

    def __init__(self) -> None:
        self._n_actions = 0
        self._rows: dict[Hashable, FloatArray] = {}

    def prepare(self, n_actions: int) -> None:
        """Make room for K elements a context."""
        self._n_actions = n_actions

    def _row(self, context: Any, numbers: int) -> FloatArray:
        """The numbers of a context, [numbers, K], zero at first."""
        key = context.tobytes() if isinstance(context, np.ndarray) else context
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = np.zeros((numbers, self._n_actions))
        return row
