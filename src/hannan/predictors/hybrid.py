"""Losses of described actions, from weights that all share and from what single items cost."""

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
    r"""Regressions that all described actions share, plus a term for each item seen often.

    Three ridge regressions of the losses run side by side: on the features
    :math:`\phi(x, a)` of context and action, which are standardised as they come; on the same with
    observations that fade, :math:`(1 - 1/\text{window})^{\text{age}}`; and on random Fourier
    features of (x, a). They are mixed by the log-likelihoods of what was seen,
    :math:`\omega_i \propto e^{-E_i/2\sigma^2}`, with :math:`E_i` the faded sum of squared errors
    of part i and σ² the mean squared error of the mixture: so clicks at one in a hundred tell
    parts apart as soon as coins do. Where the first has fallen behind the second by 3, the world
    has changed, and it goes on from what the second knows.

    What an item costs beyond that, where actions have ids, is the mean of its residuals, shrunk by
    :math:`\sigma^2/\tau^2`, τ² being how much items were found to differ. The guess is

    .. math:: \hat\ell(k) - \alpha \sigma \sqrt{v_k^\top R v_k + 1/(n_k + \sigma^2/\tau^2)} ,

    clipped to [0, 1], with R the inverse design of the heaviest part and :math:`n_k` how often the
    item was played. Losses are counted from their mean, so that an action unlike all others is
    expected to cost that, rather than nothing. A round takes O(n P + P²) for the means of n
    actions, and O(n P²) with their widths.

    Parameters
    ----------
    blocks, width
        φ and its size, as in `oracles.SharedLinear`.
    cosines
        How many Fourier features, with bandwidths 1 and 2; 0 for no third part.
    alpha
        α, how far below the mean to guess.
    ridge
        λ, the penalty, for features of length about 1: best the variance of a loss over that of
        what its features tell.
    window
        For how many rounds the second part remembers.
    items
        How many items have a term of their own: those played last.
    seed
        Draws the cosines, as in `Blend`.

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
        """Count how wrong the prediction was, then learn what was seen."""
        fits, menu = self._ready(context)
        elements, losses = check_seen(self, len(menu), action, loss, room_for_one())
        for element, each in zip(elements.tolist(), losses.tolist(), strict=True):
            if not fits.learn(menu, element, each):
                raise self._unusable(menu)
            self._fits, self._fresh = fits, None

    @property
    def weights(self) -> FloatArray:
        """ω, the weight of each part."""
        return np.full(3, np.nan) if self._fits is None else self._fits.shares

    def _ready(self, context: Menu) -> tuple[SharedFits, Menu]:
        """The regressions, and the menu with a row for a context.

        Regressions that have learned nothing take any number of features.
        """
        if not isinstance(context, Menu):
            raise ContextError(
                f"Hybrid needs a Menu, the actions of a round; got {context!r:.100}."
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
                f"Hybrid has seen contexts with {fits.p} features and actions with {fits.q}; got "
                f"{p} and {q}."
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
