"""One linear score for all actions, on features of context and action."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, Menu, Policy
from hannan.core.crossing import Crossing
from hannan.core.menu import LARGEST
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus, played
from hannan.core.state import Array, Count, State, TupleOf
from hannan.core.validation import FloatArray, check_positive
from hannan.kernels import described as kernel
from hannan.kernels import linear
from hannan.kernels.losses import extremes
from hannan.oracles._features import MenuOracle, as_numbers
from hannan.oracles.linear_policies import Regressed, distribution_of_normal

_COMPLEXITY_ROWS = 500
_COMPLEXITY_PAIRS = 8


class SharedLinear(MenuOracle):
    r"""Linear policies for actions with features: one score for all actions.

    Policies are :math:`\arg\min_k \langle w, \phi(x, a_k) \rangle` over the actions
    :math:`a_1, \dots, a_n` of a round, with equal weights w for all actions. So the losses of one
    action inform the predictions for similar actions, also for new ones. φ is described in
    `blocks`. Weights are fitted by ridge regression of the losses of all actions so far,
    :math:`w = A^{-1} b` with :math:`A = \lambda I + \sum_{t,k} \phi_{tk} \phi_{tk}^\top`. A round
    costs O(n P²) for P features. This is a *reduction*: the fit is not the policy with the
    smallest loss, so the oracle is inexact, and no theorem covers it. A theorem covers
    `ListedRules`.

    Fake losses on the actions of d menus enter b alone, with covariance :math:`2 \frac dm A` after
    m rounds, as for `LinearPolicies`. Here each action of a round is scored with a separate draw,
    and all draws have the mean of the variances :math:`2 \frac dm \phi_k^\top A^{-1} \phi_k`. So
    the noise prefers no action, for any features: one common draw of w would prefer actions with
    extreme features. And the probability of each action is a one-dimensional integral, so bandit
    feedback needs no resampling.

    Parameters
    ----------
    blocks
        Parts of φ in addition to a constant: some of "context", "action", "context*action" (all
        products of a context feature and an action feature), "action*action" and
        "context*context". Default: the first three.
    width
        Largest number P of features. If there are more, products are hashed into the places that
        single features leave. Default: 64.
    ridge
        Penalty λ > 0. Default: 1.

    Examples
    --------
    >>> import hannan as hn
    >>> total = hn.oracles.SharedLinear().objective()
    >>> offers = [[0.0], [0.5], [1.0]]
    >>> for x in (-1.0, 1.0):
    ...     total.add(hn.Menu(np.array([x]), offers), np.array([0.5, 0.5 + 0.2 * x, 0.5 + 0.4 * x]))
    >>> policy = total.leader()
    >>> policy(hn.Menu([-1.0], offers)), policy(hn.Menu([1.0], [[0.7], [0.2]]))
    (2, 1)
    """

    exact = False
    counts_rounds = True
    takes_new_contexts = True

    def __init__(
        self,
        blocks: Sequence[str] = ("context", "action", "context*action"),
        *,
        width: int = 64,
        ridge: float = 1.0,
    ) -> None:
        self.blocks = blocks
        self.width = width
        self.ridge = check_positive(self, "ridge", ridge)
        self.crossing = Crossing(tuple(blocks), width)

    def check_context(self, context: Any) -> Menu:
        """Return the menu; its context must be a vector of finite numbers or None."""
        menu = self._check_menu(context)
        x = menu.context
        if x is None:
            return menu
        row = x
        if type(x) is not np.ndarray or x.dtype != np.float64 or x.ndim != 1:
            row = as_numbers(x, 1)
        low, high = extremes(row)
        if not (low >= -LARGEST and high <= LARGEST):
            raise ContextError(
                f"Features of a context must be finite and at most {LARGEST:g} in absolute value; "
                f"got {x!r:.100}."
            )
        return menu if row is x else menu.with_context(row)

    def objective(self) -> SharedObjective:
        return SharedObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return SharedNoise(self, contexts, key, stream)

    def complexity(self, contexts: Sequence[Menu]) -> float:
        r"""Estimate G by simulation: the gain of ridge fits to pure noise on the menus.

        The simulation uses menus with at most 500 actions; G grows like :math:`\sqrt d`.
        """
        some: list[Menu] = []
        rows = 0
        for menu in contexts:
            if some and rows + len(menu) > _COMPLEXITY_ROWS:
                break
            some.append(menu)
            rows += len(menu)
        if len(widths := sorted(set(map(_sizes_of, some)))) > 1:
            raise ContextError(
                "SharedLinear needs menus with equal numbers of context and action features; got "
                f"{widths[:4]}. Use the same features in all menus."
            )
        X = np.concatenate([self.crossing.rows(menu) for menu in some])
        most = max(map(len, some))
        fakes = np.random.default_rng(0).laplace(size=(len(X), _COMPLEXITY_PAIRS * most))
        fitted = np.empty_like(fakes)
        if not linear.smooth(X, self.ridge, fakes, fitted):
            left, sizes, _ = np.linalg.svd(X, full_matrices=False)
            shrunk = (sizes / np.hypot(sizes, math.sqrt(self.ridge))) ** 2
            fitted = (left * shrunk) @ (left.T @ fakes)
        value, start = 0.0, 0
        for menu in some:  # a separate draw for each action
            at = np.arange(len(menu))
            for pair in range(_COMPLEXITY_PAIRS):
                own = start + at, pair * most + at
                zeta, score = fakes[own], fitted[own]
                value += float(zeta[score.argmax()] - zeta[score.argmin()]) / 2
            start += len(menu)
        return max(value / _COMPLEXITY_PAIRS, 1e-9) * math.sqrt(len(contexts) / len(some))


class SharedPolicy(Policy):
    """Policy that plays the action with the smallest score, under a noise draw or without noise."""

    def __init__(self, total: SharedObjective, draw: Draw) -> None:
        self._total, self._draw = total, draw

    def __call__(self, context: Any = None) -> int:
        menu = self._total.oracle.check_context(context)
        return self._total.action(menu, self._draw)

    @property
    def weights(self) -> FloatArray:
        """Weights w without noise."""
        return self._total.coefficients.copy()

    def __repr__(self) -> str:
        return f"<shared linear policy on {len(self._total.coefficients)} features>"


class SharedNoise:
    """Standard normal numbers for each place in a menu, by counter."""

    def __init__(
        self, oracle: SharedLinear, contexts: Sequence[Any], key: np.uint64, stream: int
    ) -> None:
        self.oracle = oracle
        self.contexts = contexts
        self.key = key
        self.stream = np.uint64(stream)

    def normal(self, draw: int, n: int) -> NDArray[np.float32]:
        """Return the numbers of n actions in one draw."""
        out = np.empty((1, n), np.float32)
        linear.fill_normals(self.key, self.stream, draw, out)
        return np.asarray(out[0])

    def unit(self, draw: int) -> FloatArray:
        """Return one draw, equal for all menus, [d, n]; √2 times as large as Laplace noise."""
        most = max(map(len, self.contexts))
        row = math.sqrt(2.0) * self.normal(draw, most).astype(np.float64)
        return np.tile(row, (len(self.contexts), 1))


class SharedObjective(Regressed):
    """Design and moments of the regression."""

    oracle: SharedLinear

    stored = State(
        rounds=Count(),
        _sizes=TupleOf(Count(2**31), Count(2**31)) | None,
        _U=Array("_n_features", "_n_features").where(lambda self, U: (U.diagonal() > 0.0).all()),
        _b=Array("_n_features"),
    )

    @property
    def _n_features(self) -> int:
        return 0 if self._sizes is None else self.oracle.crossing.size(*self._sizes)

    def __init__(self, oracle: SharedLinear) -> None:
        self.oracle = oracle
        self.rounds = 0
        self._sizes: tuple[int, int] | None = None  # numbers of context and action features
        self._U: FloatArray = np.empty((0, 0))
        self._b: FloatArray = np.empty(0)
        self._weights: FloatArray | None = None
        self._cache: Any = None

    @property
    def coefficients(self) -> FloatArray:
        """Weights w of the fit."""
        if self._weights is None:
            self._weights = np.empty(len(self._b))
            kernel.fit(self._U, self._b, self._weights)
        return self._weights

    def add(self, context: Menu, losses: FloatArray) -> None:
        rows = self._solved(context)[0]
        if self._sizes is None:
            self._sizes = _sizes_of(context)
            self._U = math.sqrt(self.oracle.ridge) * np.eye(rows.shape[1])
            self._b = np.zeros(rows.shape[1])
        kernel.add(self._U, self._b, rows, losses)
        self.rounds += 1
        self._cache = self._weights = None

    def scores(self, context: Menu) -> FloatArray:
        """Return the predicted loss of each action, without noise."""
        found: FloatArray = self._solved(context)[1]
        return found

    def action(
        self, context: Menu, draw: Draw, plus: Plus = None, available: Available = None
    ) -> int:
        noise, number, scale = draw
        scores, sigma = self._scores(context, draw, plus)
        if scale:
            assert isinstance(noise, SharedNoise)
            numbers = np.empty((1, len(scores)), np.float32)
            choice = int(kernel.least(scores, sigma, noise.key, noise.stream, number, numbers))
        else:
            choice = int(scores.argmin())
        return choice if available is None else int(available[choice])

    def chosen(
        self, context: Menu, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        if available is not None:
            return super().chosen(context, draw, count, plus, available)
        noise, first, scale = draw
        scores, sigma = self._scores(context, draw, plus)
        found = np.zeros((count, len(scores)), dtype=np.bool_)
        if scale:
            assert isinstance(noise, SharedNoise)
            kernel.choices(scores, sigma, noise.key, noise.stream, first, found)
        else:
            found[:, scores.argmin()] = True
        return found

    def distribution(
        self, context: Menu, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray:
        """Compute the distribution as a one-dimensional integral."""
        scores, sigma = self._scores(context, draw, plus)
        return played(distribution_of_normal(scores, abs(sigma)), available)

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        kept = self.copy()
        return [SharedPolicy(kept, draw.later(i)) for i in range(count)]

    def _scores(self, context: Menu, draw: Draw, plus: Plus) -> tuple[FloatArray, float]:
        """Return scores without noise, and its size; `plus` changes moments, not the design."""
        _, scores, gram, spread = self._solved(context)
        if plus is not None:
            scores = scores + gram @ plus
        return scores, self._factor(draw) * spread if draw.scale else 0.0

    def _solved(self, context: Menu) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Compute φ, scores, φA⁻¹φ' and the root of its mean diagonal.

        They are cached for several uses in a round."""
        if self._cache is None or self._cache[0] is not context:
            if self._sizes is not None and self._sizes != (sizes := _sizes_of(context)):
                raise ContextError(
                    f"SharedLinear has seen contexts with {self._sizes[0]} features and actions "
                    f"with {self._sizes[1]}; got {sizes[0]} and {sizes[1]}."
                )
            rows = self.oracle.crossing.rows(context)
            n = len(rows)
            scores, gram = np.zeros(n), np.empty((n, n))
            if self._sizes is None:  # before the first losses any number of features is allowed
                gram[:] = rows @ rows.T / self.oracle.ridge
            else:
                kernel.look(self._U, self.coefficients, rows, scores, gram)
            spread = math.sqrt(gram.trace() / n)
            self._cache = context, rows, scores, gram, spread
        found: tuple[FloatArray, FloatArray, FloatArray, float] = self._cache[1:]
        return found


def _sizes_of(menu: Menu) -> tuple[int, int]:
    """Return the numbers of features of the context and of an action."""
    return 0 if menu.context is None else len(menu.context), menu.rows.shape[1]
