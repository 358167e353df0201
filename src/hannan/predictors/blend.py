"""A mixture of predictors, weighted by their past errors."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.predictors._fits import BANDWIDTHS, MEMORY, Fits
from hannan.predictors._lower import RowPredictor, room_for_one
from hannan.predictors._several import Several
from hannan.predictors._table import check_alpha


class Blend(RowPredictor):
    r"""Mix predictors by their squared errors, and predict a lower confidence value.

    Part i has the estimate :math:`\hat\ell_i(k)` of the loss of element k, with the uncertainty
    :math:`r_i(k)`, its *width*. Let :math:`E_i` be the sum of squared errors of the part's past
    estimates, clipped to [0, 1], on the observed losses. The prediction is

    .. math:: \sum_i \omega_i \hat\ell_i(k) - \alpha \sigma \sum_i \omega_i r_i(k) ,
              \qquad \omega_i \propto e^{-2 E_i} ,

    clipped to [0, 1]. σ is the size of the errors of the mixture, :math:`\sigma^2 = (\tfrac14 +
    \sum e^2)/(1 + n)`, so there is less exploration if losses are easy to predict. All sums are
    multiplied by 0.999 in every round, so that the mixture detects a part that has improved. A
    round with several observed losses counts their mean squared error. Losses should lie in [0, 1].

    By default there are two parts: linear ridge regression and ridge regression on random Fourier
    features (`FourierRidge`, 200 features with bandwidths 1 and 2). Both have penalty 1, and both
    standardise rows by running moments (see `FourierRidge`). If losses are linear, the first part
    wins, otherwise the second. A round takes O(K n + n²) for rows that become n numbers. `advise`
    computes widths only as long as a width could still change the action, and skips parts with a
    weight below 0.01.

    Parameters
    ----------
    predictors
        List of the parts: any objects with `predict(context)` and `learn(context, action, loss)`.
        The estimate of a part is its `estimate(context)` if it has this method, else its
        prediction. Its width is `widths(context)`, one number per element, if it has this method,
        else 0. Parts that can be cloned are cloned. None (default) uses the two parts above.
    alpha
        Factor α of the width below the mean, >= 0. Default 0.5. A larger α explores more.
    memory
        Maximum number of bytes of the inverses of the default parts, as in `FourierRidge`. If rows
        without cosines already need more, there is only the linear part.
    seed
        Seed of the cosines of the default parts, an integer >= 0. Default 0. The cosines belong to
        the predictor, not to the run, so there is always a seed.

    Examples
    --------
    >>> import hannan as hn
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> blend = hn.predictors.Blend()
    >>> blend.prepare(n_actions=2)
    >>> for x in rows:
    ...     blend.learn(x, np.arange(2), np.array([0.5, float(x[0] * x[1] > 0)]))
    >>> blend.weights.round(2)
    array([0., 1.])
    >>> action, estimates = blend.advise(np.array([1.0, -1.0]))
    >>> action, estimates.round(1)
    (1, array([0.5, 0. ]))

    References
    ----------
    [rahimi2007]
    """

    def __init__(
        self,
        predictors: Sequence[Any] | None = None,
        alpha: float = 0.5,
        *,
        memory: int = MEMORY,
        seed: int = 0,
    ) -> None:
        if predictors is not None and (not isinstance(predictors, list | tuple) or not predictors):
            raise refuse(self, "predictors", "a list of predictors or None", predictors)
        self.predictors = predictors
        self._on_rows = predictors is None
        self.alpha = check_alpha(self, alpha)
        self.memory = check_integer(self, "memory", memory, 1)
        self.seed = check_integer(self, "seed", seed, 0)
        self.prepare(0)

    def prepare(self, n_actions: int) -> None:
        """Set the number of elements K."""
        super().prepare(n_actions)
        if self.predictors is not None:
            self._fits = self._new_fits(n_actions, 0)

    def _new_fits(self, n_actions: int, n_features: int) -> Fits | Several:
        if self.predictors is not None:
            return Several(self.predictors, n_actions)
        return Fits(
            n_actions,
            n_features,
            features=200,
            linear=True,
            standardise=True,
            bandwidths=BANDWIDTHS,
            ridge=1.0,
            memory=self.memory,
            seed=self.seed,
        )

    def extended(self, n_actions: int) -> Self:
        """Return a copy with the same observations, for more elements."""
        twin = copy.copy(self)
        twin._n_actions, twin._fresh, twin._one = n_actions, None, room_for_one()
        if self._fits is not None:
            twin._fits = self._fits.extended(n_actions)
        return twin

    @property
    def weights(self) -> FloatArray:
        """Weight ω of each part; equal weights before the first row."""
        return np.full(2, 0.5) if self._fits is None else self._fits.shares
