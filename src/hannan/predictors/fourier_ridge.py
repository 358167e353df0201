"""Ridge regression of the losses on random Fourier features of the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hannan.core.validation import check_integer, check_positive, refuse
from hannan.predictors._fits import BANDWIDTHS, MEMORY, Fits
from hannan.predictors._lower import RowPredictor
from hannan.predictors._table import check_alpha


class FourierRidge(RowPredictor):
    r"""Predict by one ridge regression per element, on the row and on random cosines of it.

    The model has p features, m cosines for each bandwidth g, entries of :math:`W_g` drawn from
    :math:`N(0, g^2)`, and phases :math:`b_g` drawn from [0, 2π]. A row z becomes

    .. math:: v = \Bigl(z,\; 1,\; \sqrt{2/m}\, \cos(W_{g_1} z + b_{g_1}),\;
              \sqrt{2/m}\, \cos(W_{g_2} z + b_{g_2}),\; \dots\Bigr) ,

    so that inner products approximate a linear kernel plus Gaussian kernels of width 1/g, and
    regressions can fit nonlinear losses. With the design inverse :math:`R_k = (\lambda I + \sum v
    v^\top)^{-1}` over the rounds in which element k was observed, the prediction is :math:`\langle
    \hat w_k, v \rangle - \alpha \sigma \sqrt{v^\top R_k v}`, clipped to [0, 1]. σ is the size of
    the errors of past predictions: :math:`\sigma^2 = (\tfrac14 + \sum e^2)/(1 + n)`, where both
    sums are multiplied by 0.999 in every round. Losses should lie in [0, 1].

    Rows are standardised: centred and scaled by the moments of the first rows, clipped at 5, and
    divided by √p. The moments are updated when the number of rows reaches 8, 16, …, 512, and then
    stay fixed. Until then all observations are stored, and learned again at each update.

    If all elements are observed in every round, they share one inverse. Otherwise the inverses take
    :math:`\frac12 K n^2` doubles for n entries of v; see `memory`.

    Parameters
    ----------
    features
        Total number of cosines over all bandwidths, >= 0. Default 200.
    alpha
        Factor α of the width below the mean, >= 0. Default 0.5. A larger α explores more.
    ridge
        Ridge penalty λ > 0. Default 1.
    bandwidths
        Bandwidth g > 0 of each group of cosines. Default (1, 2).
    standardise
        Whether to standardise rows. Default True. If False, rows should have a length of about 1.
    memory
        Maximum number of bytes of the inverses. If they would take more, there are fewer cosines,
        and none if fewer than ten would remain. If rows without cosines already need more, each
        inverse is reduced to its diagonal.
    seed
        Seed of the cosines, an integer >= 0. Default 0. The cosines belong to the predictor, not to
        the run, so there is always a seed.

    Examples
    --------
    >>> import hannan as hn
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> guess = hn.predictors.FourierRidge()
    >>> guess.prepare(n_actions=2)
    >>> for x in rows:
    ...     guess.learn(x, 1, float(x[0] * x[1] > 0))
    >>> (guess.estimate(np.array([1.0, 1.0]))[1] > 0.7).item()
    True
    >>> (guess.estimate(np.array([1.0, -1.0]))[1] < 0.3).item()
    True

    References
    ----------
    [rahimi2007]
    """

    room_for = ("features",)

    def __init__(
        self,
        features: int = 200,
        alpha: float = 0.5,
        *,
        ridge: float = 1.0,
        bandwidths: Sequence[float] = BANDWIDTHS,
        standardise: bool = True,
        memory: int = MEMORY,
        seed: int = 0,
    ) -> None:
        self.features = check_integer(self, "features", features, 0)
        self.alpha = check_alpha(self, alpha)
        self.ridge = check_positive(self, "ridge", ridge)
        self.bandwidths = self._check_bandwidths(bandwidths)
        if not isinstance(standardise, bool):
            raise refuse(self, "standardise", "True or False", standardise)
        self.standardise = standardise
        self.memory = check_integer(self, "memory", memory, 1)
        self.seed = check_integer(self, "seed", seed, 0)
        self.prepare(0)

    def _check_bandwidths(self, given: Any) -> tuple[float, ...]:
        try:
            found = tuple(check_positive(self, "bandwidths", float(g)) for g in given)
        except (TypeError, ValueError):
            raise refuse(self, "bandwidths", "positive finite numbers", given) from None
        if not found:
            raise refuse(self, "bandwidths", "positive finite numbers", given)
        return found

    def _new_fits(self, n_actions: int, n_features: int) -> Fits:
        return Fits(
            n_actions,
            n_features,
            features=self.features,
            standardise=self.standardise,
            bandwidths=self.bandwidths,
            ridge=self.ridge,
            memory=self.memory,
            seed=self.seed,
        )
