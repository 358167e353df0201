"""Predict losses of actions with features, by shared weights and item terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.core import ContextError, Menu
from hannan.core.crossing import Crossing
from hannan.core.policy import Action
from hannan.core.state import Count, Made, State
from hannan.core.validation import FloatArray, check_integer, check_positive, refuse
from hannan.predictors._fits import MEMORY
from hannan.predictors._lower import LowerConfidence, check_row, check_seen, room_for_one
from hannan.predictors._shared_fits import SharedFits
from hannan.predictors._table import check_alpha


class Hybrid(LowerConfidence):
    r"""Shared regressions for actions with features, plus a term for each frequent item.

    Three ridge regressions of the losses run in parallel:

    - on the features :math:`\phi(x, a)` of context and action, standardised by running moments;
    - on the same features, with observations discounted by
      :math:`(1 - 1/\text{window})^{\text{age}}`;
    - on random Fourier features of (x, a).

    The mixture weights are the likelihoods of the observed losses, :math:`\omega_i \propto
    e^{-E_i/2\sigma^2}`. Here :math:`E_i` is the discounted sum of squared errors of part i, and σ²
    the mean squared error of the mixture. So the parts separate as fast for a click rate of 1 % as
    for one of 50 %. If the log-likelihood of the first part falls behind the second by 3, the
    environment has changed, and the first part restarts from the state of the second.

    If actions have ids, an item's extra loss is the mean of its residuals, shrunk by
    :math:`\sigma^2/\tau^2`, where τ² is the estimated variance between items. The prediction is

    .. math:: \hat\ell(k) - \alpha \sigma \sqrt{v_k^\top R v_k + 1/(n_k + \sigma^2/\tau^2)} ,

    clipped to [0, 1], with R the inverse design of the part with the largest weight, and
    :math:`n_k` the number of plays of the item. Losses are measured from their mean, so the
    prediction for an action unlike all others is this mean, not 0. In each round the means take O(n
    P + P²) operations for n actions, and the widths take O(n P²).

    Parameters
    ----------
    blocks, width
        Features φ and their maximum number, as in `oracles.SharedLinear`.
    cosines
        Number of Fourier features, with bandwidths 1 and 2. Default 64; 0 omits the third part.
    alpha
        Factor α of the width below the mean, >= 0. Default 0.5. A larger α explores more.
    ridge
        Ridge penalty λ > 0, for features of length about 1. Default 1. The best value is the
        variance of a loss divided by the variance that its features explain.
    window
        Memory of the second part, as a number of rounds >= 2. Default 2000.
    items
        Maximum number of items with a separate term: the items played last. Default 4096.
    seed
        Seed of the cosines, as in `Blend`.

    Examples
    --------
    >>> import hannan as hn
    >>> rng = np.random.default_rng(0)
    >>> guess = hn.predictors.Hybrid()
    >>> for _ in range(500):
    ...     menu = hn.Menu(rng.normal(size=2), rng.normal(size=(4, 2)))
    ...     guess.learn(menu, 1, float(menu.context @ menu.rows[1] > 0))
    >>> action, estimates = guess.advise(hn.Menu([1.0, 0.0], [[1.0, 0.0], [-1.0, 0.0]]))
    >>> action, bool(estimates[0] > estimates[1] + 0.3)
    (1, True)

    References
    ----------
    [li2010], [rahimi2007]
    """

    takes_items = True

    stored = State(_fits=Made(SharedFits, "_made", p=Count(2**20), q=Count(2**20)) | None)

    def __init__(
        self,
        blocks: Sequence[str] = ("context", "action", "context*action"),
        *,
        width: int = 96,
        cosines: int = 64,
        alpha: float = 0.5,
        ridge: float = 1.0,
        window: float = 2000.0,
        items: int = 4096,
        seed: int = 0,
    ) -> None:
        Crossing(tuple(blocks), width)
        self.blocks = blocks
        self.width = width
        self.cosines = check_integer(self, "cosines", cosines, 0, 2**12)
        self.alpha = check_alpha(self, alpha)
        self.ridge = check_positive(self, "ridge", ridge)
        self.window = check_positive(self, "window", window)
        if not window >= 2.0:
            raise refuse(self, "window", "a number of rounds >= 2", window)
        self.items = check_integer(self, "items", items, 1, 2**20)
        self.seed = check_integer(self, "seed", seed, 0)

    def learn(self, context: Menu, action: Action, loss: Any) -> None:
        """Record the error of the prediction, then learn from the observed losses."""
        fits, menu = self._ready(context)
        elements, losses = check_seen(self, len(menu), action, loss, room_for_one())
        for element, each in zip(elements.tolist(), losses.tolist(), strict=True):
            if not fits.learn(menu, element, each):
                raise self._unusable(menu)
            self._fits, self._fresh = fits, None

    @property
    def weights(self) -> FloatArray:
        """Weight ω of each part."""
        return np.full(3, np.nan) if self._fits is None else self._fits.shares

    def _ready(self, context: Menu) -> tuple[SharedFits, Menu]:
        """Return the regressions, and the menu with its context as a feature vector.

        Regressions without observations accept any number of features.
        """
        if not isinstance(context, Menu):
            raise ContextError(
                f"Hybrid needs a Menu, the actions of a round with features; got {context!r:.100}."
            )
        x = context.context
        if x is not None and (type(x) is not np.ndarray or x.dtype != np.float64 or x.ndim != 1):
            x = check_row(self, x)
            context = context.with_context(x)
        p, q = 0 if x is None else len(x), context.rows.shape[1]
        fits = self._fits
        if fits is None:
            fits = self._fresh
            if fits is None or (fits.p, fits.q) != (p, q):
                fits = self._fresh = self._made(p, q)
        elif (fits.p, fits.q) != (p, q):
            raise ContextError(
                f"Hybrid needs contexts with {fits.p} features and actions with {fits.q}, as in "
                f"the first round; got {p} and {q}."
            )
        return fits, context

    def _made(self, p: int, q: int) -> SharedFits:
        return SharedFits(
            p, q, tuple(self.blocks), self.width, self.cosines, self.ridge, float(self.window),
            self.items, MEMORY, self.seed,
        )  # fmt: skip

    def _unusable(self, context: Menu) -> ContextError:
        return ContextError(
            f"Hybrid needs finite features; got {context.context!r:.100}, {context!r}."
        )
