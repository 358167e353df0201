"""Linear models with confidence bounds, one per action."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._bandit import Bandit, GreedyRound, lowest, row_or_name
from hannan.core import Action, ContextError
from hannan.core.state import Part, State, same
from hannan.core.validation import (
    FloatArray,
    check_integer,
    check_not_negative,
    check_positive,
    refuse,
)
from hannan.oracles._features import as_numbers
from hannan.predictors import Ridge
from hannan.predictors._table import TablePredictor


class LinUCB(Bandit):
    r"""Play the action with the lowest lower confidence bound of its loss; bandit feedback.

    Each action k has a linear model. With :math:`R_k = (\lambda I + \sum x x^\top)^{-1}` over the
    rounds in which action k was played and :math:`\hat w_k = R_k \sum \ell x`, the action is

    .. math:: a_t = \arg\min_k \langle \hat w_k, x_t \rangle
              - \alpha \sqrt{x_t^\top R_k x_t},

    and ties go to the smallest action. For rewards 1 - ℓ this is an upper confidence bound. A round
    takes O(K p²) for p features. A discrete context is a separate feature; the rule is then a table
    of :math:`\bigl(\sum \ell - \alpha \sqrt{\lambda + n}\bigr) / (\lambda + n)` after n plays.

    Parameters
    ----------
    n_actions
        Number of actions K.
    alpha
        Width α of the confidence intervals, >= 0, for losses scaled to [0, 1]. Default 0.1.
    ridge
        Ridge penalty λ > 0. Default 1.
    intercept
        Whether to add a constant to feature vectors. Default True.
    features
        Array [d, p] of feature vectors, if contexts are the integers 0..d-1. Default None: arrays
        and lists are feature vectors, and any hashable value (including None) is a discrete
        context.
    loss_range
        Range (low, high) of the losses. Default (0, 1).

    Guarantee
    ---------
    There is no guarantee against an adversary: play is deterministic, so an adversary who knows the
    rule makes every round cost 1. There is no proof for this form even if losses follow the linear
    models. [li2010]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.LinUCB(2)
    >>> for x in [0.0, 1.0] * 20:
    ...     action = learner.act([x])
    ...     learner.update(float(action != x))
    >>> learner.act([0.0]), learner.act([1.0])
    (0, 1)

    References
    ----------
    [li2010]
    """

    _scores_actions = True

    stored = State(_for_rows=Part(), _for_names=Part())

    def __init__(
        self,
        n_actions: int,
        *,
        alpha: float = 0.1,
        ridge: float = 1.0,
        intercept: bool = True,
        features: ArrayLike | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(loss_range)
        self.n_actions = check_integer(self, "n_actions", n_actions, 1)
        self.alpha = check_not_negative(self, "alpha", alpha)
        self.ridge = check_positive(self, "ridge", ridge)
        if not isinstance(intercept, int | np.bool_):
            raise refuse(self, "intercept", "True or False", intercept)
        self.intercept = intercept
        self.features = features
        self._rows: FloatArray | None = None if features is None else as_numbers(features, 2)
        if self._rows is not None and not np.isfinite(self._rows).all():
            raise refuse(self, "features", "finite numbers", features)
        self._for_rows: Ridge = Ridge(alpha, ridge=ridge, intercept=intercept)
        self._for_names: _Table = _Table(alpha, self.ridge)
        self._for_rows.prepare(self.n_actions)
        self._for_names.prepare(self.n_actions)

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        if self._rows is None:
            return row_or_name(context)
        if not isinstance(context, Integral) or not 0 <= int(context) < len(self._rows):
            raise ContextError(
                f"LinUCB has features of contexts 0..{len(self._rows) - 1}; got context "
                f"{context!r}. Pass an integer in this range."
            )
        return self._rows[int(context)]

    def _holds(self, context: Any) -> bool:
        return same(row_or_name(context), context)

    def _prepare(self, opened: GreedyRound) -> None:
        opened.best = lowest(self._model(opened.context).lower(opened.context), opened.available)

    def _update(self, opened: GreedyRound, loss: Any) -> None:
        cost = self._scaled(loss)
        self._model(opened.context).learn(opened.context, opened.action, cost)

    def _model(self, context: Any) -> Ridge | _Table:
        return self._for_rows if isinstance(context, np.ndarray) else self._for_names


class _Table(TablePredictor):
    """Ridge regression with a separate feature for each context."""

    def __init__(self, alpha: float, ridge: float) -> None:
        super().__init__(by_context=True)
        self.alpha = alpha
        self.ridge = ridge

    def predict(self, context: Any) -> FloatArray:
        return self.lower(context)

    def lower(self, context: Any) -> FloatArray:
        total, count = self._row(context)
        design = self.ridge + count
        return np.asarray((total - self.alpha * np.sqrt(design)) / design)

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        self._row(context, keep=True)[:, action] += (loss, 1.0)
