"""Several predictors side by side, each trusted as far as it has been right."""

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
    r"""Mixes predictors by their squared errors; guesses a lower confidence value.

    Part i expects :math:`\hat\ell_i(k)` of element k and may be off by :math:`r_i(k)`, its
    *width*. With :math:`E_i` the sum of squared errors of its predictions of what was seen, clipped
    to [0, 1], the guess is

    .. math:: \sum_i \omega_i \hat\ell_i(k) - \alpha \sigma \sum_i \omega_i r_i(k) ,
              \qquad \omega_i \propto e^{-2 E_i} ,

    clipped to [0, 1]. σ is the size of the mixture's own errors,
    :math:`\sigma^2 = (\tfrac14 + \sum e^2)/(1 + n)`, so that less is explored where losses are
    easy to predict. All sums lose a thousandth with every round, so that a part which has become
    better is found out; a round in which several losses are seen counts their mean square.
    Losses should lie in [0, 1].

    By default there are two parts: linear ridge regression and ridge regression on random Fourier
    features (`FourierRidge`, 200 of them with bandwidths 1 and 2), both with penalty 1 and both on
    rows that are standardised as they come (see `FourierRidge`). Where losses are linear the first
    wins, otherwise the second. A round takes O(K n + n²) for rows that become n numbers: `advise`
    computes widths only as long as one of them could still change the answer, and none of a part
    whose weight is below 0.01.

    Parameters
    ----------
    predictors
        The parts: any objects with `predict(context)` and `learn(context, action, loss)`. What a
        part expects is its `estimate`, where it has one, else what it predicts; its width is
        `widths(context)`, one number for each element, where it has that, else 0. Each is cloned
        if it can be. None for the two above.
    alpha
        α, how far below the mean to guess.
    memory
        The most bytes the inverses of the default parts may take, as in `FourierRidge`; where
        they need more than this for rows without cosines, there is only the linear part.
    seed
        Draws the cosines of the default parts. They are part of the predictor rather than of the
        play, so that there is always a seed.

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
        """Make room for K elements."""
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
        """One that knows what this one does, where there are more elements."""
        twin = copy.copy(self)
        twin._n_actions, twin._fresh, twin._one = n_actions, None, room_for_one()
        if self._fits is not None:
            twin._fits = self._fits.extended(n_actions)
        return twin

    @property
    def weights(self) -> FloatArray:
        """ω, the weight of each part; even before the first row."""
        return np.full(2, 0.5) if self._fits is None else self._fits.shares
