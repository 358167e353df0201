"""What exponential weights over listed policies have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import Learner
from hannan.core.validation import check_loss_range, check_positive, check_seed
from hannan.oracles import FinitePolicies


class ListedPolicies(Learner):
    """A table of policies with a running total for each."""

    oracle: FinitePolicies

    def __init__(
        self,
        actions: ArrayLike | FinitePolicies,
        learning_rate: float | None,
        seed: int | None,
        loss_range: tuple[float, float],
    ) -> None:
        super().__init__()
        self.actions = actions
        self.learning_rate = (
            None if learning_rate is None else check_positive(self, "learning_rate", learning_rate)
        )
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self.oracle = actions if isinstance(actions, FinitePolicies) else FinitePolicies(actions)
        self._columns = np.ascontiguousarray(self.oracle.table.T, dtype=np.intp)
        self._totals = np.zeros(self.oracle.n_policies)
        self._weights = np.empty(self.oracle.n_policies)
        self._rng = np.random.default_rng(seed)
