"""Ridge regression of the losses on random Fourier features of the context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hannan.core.validation import check_integer, check_positive, refuse
from hannan.predictors._fits import BANDWIDTHS, MEMORY, Fits
from hannan.predictors._lower import RowPredictor
from hannan.predictors._table import check_alpha


class FourierRidge(RowPredictor):
    r"""One ridge regression for each element, on the row and on random cosines of it.

    With p features, m cosines for each bandwidth g, entries of :math:`W_g` drawn from
    :math:`N(0, g^2)` and phases :math:`b_g` from [0, 2π], a row z becomes

    .. math:: v = \Bigl(z,\; 1,\; \sqrt{2/m}\, \cos(W_{g_1} z + b_{g_1}),\;
              \sqrt{2/m}\, \cos(W_{g_2} z + b_{g_2}),\; \dots\Bigr) ,

    so that inner products approximate a linear kernel plus Gaussian kernels of width 1/g, and
    regressions can follow what is not linear. With design inverse
    :math:`R_k = (\lambda I + \sum v v^\top)^{-1}` over the rounds in which element k was seen the
    guess is :math:`\langle \hat w_k, v \rangle - \alpha \sigma \sqrt{v^\top R_k v}`, clipped to
    [0, 1]. σ is the size of the errors of past predictions:
    :math:`\sigma^2 = (\tfrac14 + \sum e^2)/(1 + n)`, where both sums lose a thousandth with every
    round. Losses should lie in [0, 1].

    Rows are standardised as they come: centred and scaled by the first rows learned, clipped at 5
    and divided by √p. Centres and scales are renewed when the number of rows reaches 8, 16, …, 512
    and then stay; until then all observations are kept and learned again at each renewal.

    Where all elements are seen in every round they share one inverse. Otherwise the inverses take
    :math:`\frac12 K n^2` doubles for n entries of v; see `memory`.

    Parameters
    ----------
    features
        How many cosines in all, over all bandwidths.
    alpha
        α, how far below the mean to guess.
    ridge
        λ, the penalty.
    bandwidths
        g for each group of cosines.
    standardise
        Whether rows are standardised; without it they should be about as long as 1.
    memory
        The most bytes the inverses may take. There are fewer cosines where they would take more,
        and none where that leaves fewer than ten. Where even rows without cosines need more, each
        inverse is reduced to its diagonal.
    seed
        Draws the cosines. They are part of the predictor rather than of the play, so that there is
        always a seed.

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
