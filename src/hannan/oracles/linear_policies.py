"""Linear policies with a score for each action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, ContextError, Policy
from hannan.core.arrays import as_scalar
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Lesson, Noise, Plus, Trials
from hannan.core.state import Array, Count, State
from hannan.core.validation import FloatArray, check_integer, check_positive, refuse
from hannan.kernels import linear as kernel
from hannan.oracles._features import FeatureOracle
from hannan.oracles._totals import Total
from hannan.perturbation import Blocks

_COMPLEXITY_ROWS = 500
_COMPLEXITY_PAIRS = 8
_FOLLOWING = 4  # number of consecutive draws after which more are made ahead of time


class LinearPolicies(FeatureOracle):
    r"""Linear policies on features, fitted by ridge regression.

    Policies are :math:`x \mapsto \arg\min_k \langle w_k, x \rangle`. Each action's losses are
    regressed on the features of the rounds played, :math:`w_k = A^{-1} b_k` with
    :math:`A = \lambda I + \sum_t x_t x_t^\top` and :math:`b_k = \sum_t \ell_t(k) x_t`. A round
    costs O(p² + pK) for p features, for every t. This is a *reduction*: the fit is not the policy
    with the smallest loss, so the oracle is inexact and no theorem covers it.

    Fake losses on d contexts enter only through b: :math:`\sum_x x \zeta_x^\top` is close to
    Gaussian, and with the contexts' second moments taken from the rounds played its covariance is
    :math:`2 \frac dn A` for each action after n rounds. That is the noise used. So on a context the
    K scores have independent normal noise of equal variance, and the probability of each action is
    a one-dimensional integral: bandit feedback needs no resampling.

    Parameters
    ----------
    n_actions
        Number K of actions.
    ridge
        Penalty λ > 0. Default: 1.
    intercept
        Whether to add a constant feature. Default: True.
    features
        Transformation of a feature vector: a function such as `RandomFourier(200)`, or a fitted
        transformer with `transform(rows)`. Default: None, for the features themselves.

    Examples
    --------
    >>> import hannan as hn
    >>> total = hn.oracles.LinearPolicies(n_actions=2).objective()
    >>> for x in (0.0, 0.2, 0.8, 1.0):
    ...     total.add(np.array([x]), np.array([x, 0.5]))
    >>> total.leader()([0.1]), total.leader()([0.9])
    (0, 1)
    """

    exact = False
    counts_rounds = True

    def __init__(
        self, n_actions: int, *, ridge: float = 1.0, intercept: bool = True, features: Any = None
    ) -> None:
        self.n_actions: int = check_integer(self, "n_actions", n_actions, 1)
        self.ridge = check_positive(self, "ridge", ridge)
        if not isinstance(intercept, int | np.bool_):
            raise refuse(self, "intercept", "True or False", intercept)
        self.intercept = intercept
        if features is not None and not (callable(features) or hasattr(features, "transform")):
            raise refuse(self, "features", "a function of a row, or a transformer", features)
        self.features = features

    def _check_kind(self, context: Any) -> None:
        super()._check_kind(context)
        if isinstance(as_scalar(context), Real | Decimal):
            raise ContextError(
                "A context of LinearPolicies must be a feature vector; got the number "
                f"{as_scalar(context)}. For ids 0..n-1 use n_contexts=n (hn.bandit) or "
                "AllPolicies(n, n_actions); for a single feature pass a list of length 1."
            )

    def objective(self) -> LinearObjective:
        return LinearObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return LinearNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        r"""Bound log N from above by counting cells.

        The actions of a policy on d contexts follow from the signs of :math:`M = d\binom K2` linear
        forms in the n = pK weights. The signs take at most :math:`2(eM/n)^n` values if M ≥ n, and
        there are never more than :math:`K^d` policies.
        """
        K, d = self.n_actions, len(contexts)
        n = K * len(self.expanded(contexts[0]))
        forms = d * K * (K - 1) // 2
        every = d * math.log(K)
        if forms < n:
            return every
        return min(every, math.log(2.0) + n * math.log(math.e * forms / n))

    def complexity(self, contexts: Sequence[Any]) -> float:
        r"""Estimate G by simulation: the gain of a ridge fit to pure noise on the contexts.

        The simulation uses at most 500 contexts; G grows like :math:`\sqrt d`.
        """
        some = list(contexts)[:_COMPLEXITY_ROWS]
        n, K = len(some), self.n_actions
        rows, fakes = np.arange(n), _fake_losses(n, K)
        fitted = np.empty_like(fakes)
        if not kernel.smooth(self._table(some), self.ridge, fakes, fitted):
            fitted = self.smoother(some) @ fakes
        value = 0.0
        for at in range(0, _COMPLEXITY_PAIRS * K, K):
            zeta, scores = fakes[:, at : at + K], fitted[:, at : at + K]
            value += float((zeta[rows, scores.argmax(1)] - zeta[rows, scores.argmin(1)]).sum()) / 2
        return max(value / _COMPLEXITY_PAIRS, 1e-9) * math.sqrt(len(contexts) / len(some))

    def smoother(self, contexts: Sequence[Any]) -> FloatArray:
        """Compute the matrix that maps losses on contexts to the predictions of a ridge fit."""
        X = self._table(contexts)
        try:
            fit = X @ np.linalg.solve(self.ridge * np.eye(X.shape[1]) + X.T @ X, X.T)
        except np.linalg.LinAlgError:
            fit = np.full((len(X), len(X)), np.nan)
        # The eigenvalues of a ridge fit lie in [0, 1]. If features are so large that λ is lost in
        # rounding, they do not. Then singular values are slower but safe.
        if not (np.abs(fit) <= 1.0 + 1e-6).all():
            left, sizes, _ = np.linalg.svd(X, full_matrices=False)
            fit = (left * (sizes / np.hypot(sizes, math.sqrt(self.ridge))) ** 2) @ left.T
        return np.asarray(fit)

    def _table(self, contexts: Sequence[Any]) -> FloatArray:
        """Return the expanded feature vectors of several contexts."""
        if self.features is not None:
            return np.array([self.expanded(x) for x in contexts])
        rows = np.array(contexts)
        return np.hstack([rows, np.ones((len(rows), 1))]) if self.intercept else rows

    def expanded(self, context: FloatArray) -> FloatArray:
        """Return the transformed features of a context, with the constant feature."""
        context = self.made_of(context)
        if not self.intercept:
            return context
        row = np.empty(len(context) + 1)
        row[:-1] = context
        row[-1] = 1.0
        return row

    def made_of(self, row: FloatArray) -> FloatArray:
        """Apply `features` to a feature vector."""
        if self.features is None:
            return row
        if callable(self.features):
            found = self.features(row)
        else:
            found = self.features.transform(row[None, :])
            found = found.toarray() if hasattr(found, "toarray") else found
        found = np.ascontiguousarray(found, dtype=np.float64).reshape(-1)
        if not np.isfinite(found).all():
            raise ContextError(
                f"features= must return finite numbers; it returned others for the context {row}."
            )
        return found


@lru_cache(maxsize=4)
def _fake_losses(n: int, K: int) -> FloatArray:
    """Return fixed Laplace noise for several fits on n contexts, [n, pairs K]."""
    rng = np.random.default_rng(0)
    return np.hstack([rng.laplace(size=(n, K)) for _ in range(_COMPLEXITY_PAIRS)])


class LinearPolicy(Policy):
    """Policy that plays the action with the smallest linear score."""

    def __init__(self, oracle: LinearPolicies, weights: FloatArray) -> None:
        self.oracle = oracle
        self.weights = weights

    def __call__(self, context: Any = None) -> int:
        row = self.oracle.expanded(self.oracle.check_context(context))
        if not len(self.weights):
            return 0
        return int(np.argmin(row @ self.weights))

    def __repr__(self) -> str:
        return f"<linear policy on {len(self.weights) - self.oracle.intercept} features>"


class LinearNoise:
    """Standard normal numbers for each feature and action, by counter."""

    def __init__(
        self,
        oracle: LinearPolicies,
        contexts: Sequence[Any],
        key: np.uint64,
        stream: int,
        memory: int,
    ) -> None:
        self.oracle = oracle
        self.contexts = contexts
        self.key = key
        self.stream = np.uint64(stream)
        self._memory = memory
        self._blocks: Blocks | None = None
        self._next = 0  # the draw after the last one
        self._run = 0  # number of consecutive draws

    def perturb(self, draw: int, v: FloatArray, factor: float, scores: FloatArray) -> None:
        """Add factor <v, g_k> to the score of each action, g of one draw.

        If draws are skipped, because hints are played in other rounds, none is made ahead of time.
        """
        self._run = self._run + 1 if draw == self._next else 0
        self._next = draw + 1
        if self._run < _FOLLOWING:
            alone = np.empty((1, len(v) * len(scores)), np.float32)
            self._fill(draw, alone)
            g = alone.reshape(len(v), len(scores))
        else:
            g = self.normal(draw, len(v))
        kernel.perturb(v, g, factor, scores)

    def normal(self, draw: int, p: int) -> NDArray[np.float32]:
        """Return g [p, K] of one draw."""
        K = self.oracle.n_actions
        if self._blocks is None:
            self._blocks = Blocks(self._fill, p * K, self._memory, least=1)
        row = self._blocks.locate(draw)
        return np.asarray(self._blocks.block[row].reshape(p, K))

    def _fill(self, first: int, block: NDArray[np.float32]) -> None:
        kernel.fill_normals(self.key, self.stream, first, block)

    def unit(self, draw: int) -> FloatArray:
        r"""Return fake losses [d, K] for which :math:`\sum_x x\zeta_x^\top` has covariance
        :math:`2X^\top X` for each action."""
        X = np.array([self.oracle.expanded(x) for x in self.contexts])
        Q, _ = np.linalg.qr(X)
        return math.sqrt(2.0) * Q @ self.normal(draw, X.shape[1])[: Q.shape[1]]


class Regressed(Total):
    """A total of regressions, which do not contain the losses of policies."""

    rounds: int
    draws_in_batches = False

    def _factor(self, draw: Draw) -> float:
        """Return the size of the noise: fake losses on d contexts after n rounds."""
        assert draw.noise is not None
        return draw.scale * math.sqrt(2.0 * len(draw.noise.contexts) / (self.rounds or 1))

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        """Return NaN, because the minima are unknown."""
        return np.full(count, np.nan)


class LinearObjective(Regressed):
    """Design and moments of the regressions."""

    oracle: LinearPolicies
    scored = True

    stored = State(
        rounds=Count(),
        _U=Array(None, None).where(
            lambda self, U: U.shape[0] == U.shape[1] and (U.diagonal() > 0.0).all()
        ),
        _b=Array(lambda self: len(self._U), "n_actions"),
    )

    def __init__(self, oracle: LinearPolicies) -> None:
        self.oracle = oracle
        self.rounds = 0
        self._U: FloatArray = np.empty((0, 0))
        self._b: FloatArray = np.empty((0, oracle.n_actions))
        self._cache: tuple[Any, FloatArray, FloatArray, float] | None = None
        self._features: tuple[Any, FloatArray] | None = None

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        if self._features is None or self._features[0] is not context:
            x = self.oracle.expanded(context)
            self._check_size(context, len(x))
            self._features = context, x
        kernel.add(self._U, self._b, self._features[1], losses)
        self.rounds += 1
        self._cache = None

    def extended(self, oracle: Any) -> LinearObjective:
        """Extend the total: a new action gets the losses of the best constant action."""
        twin = LinearObjective(oracle)
        twin.rounds, twin._U = self.rounds, self._U.copy()
        K, n = self.n_actions, oracle.n_actions
        if not len(self._b):
            return twin
        totals = self._b[-1] if self.oracle.intercept else self._b.sum(axis=0)
        twin._b = np.hstack([self._b, np.repeat(self._b[:, [totals.argmin()]], n - K, axis=1)])
        return twin

    def leverage(self, context: FloatArray) -> float:
        """Return x'A⁻¹x, the change of a score per unit of loss on its context for fixed A."""
        return float(self._solved(context)[2])

    def scores(
        self, context: FloatArray, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray:
        """Return the K predicted losses on a context, under one draw.

        `plus` changes the moments and not the design. The predicted loss of an unavailable action
        is infinite.
        """
        scores, v, h = self._solved(context)
        scores = _moved(scores, h, plus, available).copy()
        if draw.scale:
            assert isinstance(draw.noise, LinearNoise)
            draw.noise.perturb(draw.number, v, self._factor(draw), scores)
        return scores

    def action(
        self, context: FloatArray, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        return int(self.scores(context, draw, plus, available).argmin())

    def distribution(
        self, context: FloatArray, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray:
        """Compute the distribution as a one-dimensional integral."""
        scores, _, h = self._solved(context)
        sigma = self._factor(draw) * math.sqrt(h) if draw.scale else 0.0
        return distribution_of_normal(_moved(scores, h, plus, available), sigma)

    def lesson(
        self,
        context: FloatArray,
        action: int,
        loss: float,
        draw: Draw,
        trials: Trials,
        plus: Plus = None,
    ) -> Lesson | None:
        """Compute the weight from the distribution, if `trials` asks for it and there is noise."""
        if not (trials.exact and draw.scale) or plus is not None:
            return None
        scores, _, h = self._solved(context)
        sigma = self._factor(draw) * math.sqrt(h)
        if sigma == 0.0:
            return None
        distribution, numbers = np.empty(len(scores)), (trials.limit, trials.share, trials.kept)
        weight, lost = kernel.normal_lesson(scores, sigma, action, loss, h, numbers, distribution)
        return Lesson(weight, 0, lost, distribution)

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        if not len(self._U):
            return [LinearPolicy(self.oracle, np.empty(0)) for _ in range(count)]
        found: list[Policy] = []
        for i in range(count):
            b = self._b
            if draw.scale:
                assert isinstance(draw.noise, LinearNoise)
                g = draw.noise.normal(draw.number + i, len(b))
                b = b + self._factor(draw) * (self._U.T @ g)
            weights = np.linalg.solve(self._U, np.linalg.solve(self._U.T, b))
            found.append(LinearPolicy(self.oracle, weights))
        return found

    def _solved(self, context: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Compute scores, U⁻ᵀx and x'A⁻¹x of a context; cached for several uses in a round."""
        found, oracle = self._cache, self.oracle
        if found is None or found[0] is not context:
            row = context if oracle.features is None else oracle.made_of(context)
            n = len(row) + oracle.intercept
            if n != len(self._U):
                self._check_size(context, n)
            x, v, scores = np.empty(n), np.empty(n), np.empty(oracle.n_actions)
            h = kernel.solve(self._U, self._b, row, x, v, scores)
            found = self._cache = context, scores, v, h
            self._features = context, x
        return found[1:]

    def _check_size(self, context: FloatArray, n: int) -> None:
        """Allocate memory for n features; raise `ContextError` if their number changes."""
        if not len(self._U):
            self._U = math.sqrt(self.oracle.ridge) * np.eye(n)
            self._b = np.zeros((n, self.n_actions))
        if n != len(self._U):
            raise ContextError(
                f"LinearPolicies has seen contexts with {len(self._U) - self.oracle.intercept} "
                f"features; got a context with {len(context)}."
            )


def _moved(scores: FloatArray, h: float, plus: Plus, available: Available) -> FloatArray:
    """Return scores on a context after one more round there; infinite if unavailable."""
    if plus is not None:
        scores = scores + h * plus
    if available is None:
        return scores
    return np.where(available == np.arange(len(scores)), scores, np.inf)


def distribution_of_normal(values: FloatArray, sigma: float) -> FloatArray:
    """Return the probability of each entry to be the smallest under normal noise.

    The integral is a 48-point quadrature."""
    q = np.zeros(len(values))
    if sigma == 0.0:
        q[values.argmin()] = 1.0
    else:
        kernel.normal_distribution(values, sigma, -1, 0.0, q)
    return q
