"""A linear model of the losses of elements, with confidence bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.baselines._set_bandit import SetBandit
from hannan.core import Action, ContextError, Oracle
from hannan.core.state import Array, State
from hannan.core.validation import (
    FloatArray,
    check_not_negative,
    check_positive,
    check_seed,
    refuse,
)
from hannan.kernels.losses import LARGEST
from hannan.oracles._features import as_numbers


class C2UCB(SetBandit):
    r"""Play the set with the lowest sum of lower confidence bounds of a linear model.

    The feedback is semi-bandit feedback. All elements share one weight vector: element j with
    features :math:`\phi_j` has the expected loss :math:`\langle w, \phi_j \rangle`. With
    :math:`R = (\lambda I + \sum \phi \phi^\top)^{-1}` over all observed losses and
    :math:`\hat w = R \sum \ell \phi`, the value of an element is

    .. math:: \langle \hat w, \phi_j \rangle - \alpha \sqrt{\phi_j^\top R \phi_j} ,

    or, with `sampled=True`, :math:`\langle \tilde w, \phi_j \rangle` for a draw :math:`\tilde w`
    from the normal distribution with mean :math:`\hat w` and covariance :math:`\alpha^2 R`, which
    is linear Thompson sampling. A round takes :math:`O(p^3 + Kp^2)`.

    Parameters
    ----------
    oracle
        Policy class with its optimiser (oracle), which finds the best set.
    features
        Features of the elements, an array [K, p], or a function of the context that returns it.
        Files cannot hold functions.
    alpha
        Width α, >= 0, for losses scaled to [0, 1]. Default 0.3.
    ridge
        Ridge penalty λ > 0. Default 1.
    sampled
        Whether to draw the weight vector instead of using bounds. Default False.
    seed
        Seed of the draws, an integer >= 0. None (default) uses fresh entropy.
    loss_range
        Range (low, high) of the loss of each element. Default (0, 1).

    Guarantee
    ---------
    If expected losses follow the linear model and α grows like :math:`\sqrt{p \log T}`, regret
    grows like :math:`p\sqrt{T}\log T`. There is no guarantee against an adversary. [qin2014]

    Examples
    --------
    Loss and features are those of articles, of which each visitor sees two:

    >>> import hannan as hn
    >>> topics = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.1, 0.9]])
    >>> learner = hn.baselines.C2UCB(hn.oracles.Subsets(4, 2), topics)
    >>> for _ in range(50):
    ...     shown = learner.act()
    ...     learner.update(topics[shown, 0])
    >>> learner.act()
    array([1, 3])

    References
    ----------
    [qin2014]
    """

    stored = State(
        _design=Array(None, None).where(lambda self, design: self._could_be(design)),
        _moment=Array(lambda self: len(self._design)),
    )

    def __init__(
        self,
        oracle: Oracle,
        features: ArrayLike | Callable[[Any], ArrayLike],
        *,
        alpha: float = 0.3,
        ridge: float = 1.0,
        sampled: bool = False,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        if not isinstance(sampled, bool):
            raise refuse(self, "sampled", "True or False", sampled)
        self.seed = check_seed(self, seed)
        super().__init__(oracle, loss_range, seed if sampled else 0)
        self.features = features
        self.alpha = check_not_negative(self, "alpha", alpha)
        self.ridge = check_positive(self, "ridge", ridge)
        self.sampled = self._random = sampled
        self._fixed = None if callable(features) else self._checked(features)
        p = 0 if self._fixed is None else self._fixed.shape[1]
        self._design: FloatArray = self.ridge * np.eye(p)
        self._moment: FloatArray = np.zeros(p)

    def _values(self, context: Any) -> FloatArray:
        rows = self._rows(context)
        design, moment = self._model(rows)
        half = np.linalg.cholesky(design)
        solved = np.linalg.solve(half, np.column_stack([moment, rows.T]))
        scaled = solved[:, 1:]  # L⁻¹φ, of length √φ'Rφ, for the design matrix LL'
        means = solved[:, 0] @ scaled
        if self.sampled:
            return means + self.alpha * (self._generator().standard_normal(len(scaled)) @ scaled)
        return np.asarray(means - self.alpha * np.sqrt((scaled * scaled).sum(axis=0)))

    def _learn(self, context: Any, action: Action, losses: Any) -> None:
        rows = self._rows(context)
        design, moment = self._model(rows)
        chosen = np.atleast_2d(rows[action])
        gain = np.atleast_1d(losses) @ chosen
        self._design, self._moment = design + chosen.T @ chosen, moment + gain

    def _model(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the design matrix and the moment; before the first round their size is unknown."""
        p, known = rows.shape[1], len(self._moment)
        if known not in (0, p):
            raise ContextError(
                f"C2UCB needs {known} features per element, as in the first round; features= "
                f"returned {p}."
            )
        if known:
            return self._design, self._moment
        return self.ridge * np.eye(p), np.zeros(p)

    def _rows(self, context: Any) -> FloatArray:
        """Return the features of all elements on a context."""
        if self._fixed is not None:
            return self._fixed
        assert callable(self.features)
        return self._checked(self.features(context))

    def _checked(self, features: Any) -> FloatArray:
        rows = as_numbers(features, 2)
        if len(rows) != self.oracle.n_actions or not (np.abs(rows) <= LARGEST).all():
            accepted = f"an array of {self.oracle.n_actions} rows of finite numbers, one for each"
            raise refuse(self, "features", f"{accepted} element, or a function", features)
        return rows

    def _could_be(self, design: FloatArray) -> bool:
        """Return whether a design matrix has the size of the features and an inverse."""
        if self._fixed is not None and len(design) != self._fixed.shape[1]:
            return False
        square = design.shape == (len(design),) * 2
        return square and (not design.size or bool(np.linalg.eigvalsh(design)[0] > 0.0))
