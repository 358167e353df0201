"""LinUCB for actions with features."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from hannan.baselines._bandit import Bandit, GreedyRound
from hannan.core import ContextError, Menu
from hannan.core.crossing import Crossing
from hannan.core.state import Array, Count, DictOf, Key, Made, State, TupleOf, require
from hannan.core.stored import Stored
from hannan.core.validation import (
    FloatArray,
    check_choice,
    check_integer,
    check_not_negative,
    check_positive,
)
from hannan.oracles._features import check_row


class _Design(Stored):
    """Statistics A, b and B of a ridge regression."""

    stored = State(
        design=Array().where(lambda self, design: np.isfinite(np.linalg.inv(design)).all()),
        moment=Array(),
        across=Array(),
    )
    room_for = ("n n", "n shared")

    def __init__(self, n: int, shared: int, ridge: float) -> None:
        self.n, self.shared, self.ridge = n, shared, ridge
        self.design: FloatArray = ridge * np.eye(n)
        self.moment: FloatArray = np.zeros(n)
        self.across: FloatArray = np.zeros((n, shared))
        self._inverse: FloatArray | None = None

    @property
    def inverse(self) -> FloatArray:
        """Inverse A⁻¹."""
        if self._inverse is None:
            self._inverse = np.asarray(np.linalg.inv(self.design), np.float64)
        return self._inverse

    def learn(self, row: FloatArray, reward: float) -> None:
        """Add an observation."""
        self.design += np.outer(row, row)
        self.moment += reward * row
        self._inverse = None

    def add(self, other: _Design, sign: float) -> None:
        """Add ±B'A_a⁻¹B and ±B'A_a⁻¹b_a of another regression to A and b."""
        explained = other.across.T @ other.inverse
        self.design += sign * (explained @ other.across)
        self.moment += sign * (explained @ other.moment)
        self._inverse = None


class ItemLinUCB(Bandit):
    r"""Play the item with the highest upper confidence bound of its reward; bandit feedback.

    The models are those of Li et al. with rewards 1 - ℓ: x is the context and a constant, and
    :math:`z_a = \phi(x, a)` the features of context and item that `oracles.SharedLinear` describes.

    - "disjoint", their Algorithm 1: :math:`r = \langle \theta_a, x \rangle`, one model for each
      item, identified by its id; there is no estimate for an item that was never played;
    - "hybrid", their Algorithm 2: :math:`r = \langle \beta, z_a \rangle + \langle \theta_a, x
      \rangle`, with the first model shared by all items;
    - "shared": :math:`r = \langle \beta, z_a \rangle` only.

    Parameters
    ----------
    model
        Model: "hybrid" (default), "disjoint" or "shared".
    alpha
        Width α of the confidence bound in standard deviations, >= 0. Default 0.1.
    ridge
        Ridge penalty λ > 0. Default 1.
    width
        Maximum number of features that all items share, as in `oracles.SharedLinear`. Default 512.
    loss_range
        Range (low, high) of the losses. Default (0, 1).

    Guarantee
    ---------
    There is no guarantee against an adversary: play is deterministic, so an adversary who knows the
    rule makes every round cost 1. The learner stores every item that was ever played.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.ItemLinUCB()
    >>> for _ in range(30):
    ...     chosen = learner.act([1.0], actions={"news": [1.0, 0.0], "sport": [0.0, 1.0]})
    ...     learner.update(float(chosen == "news"))
    >>> learner.act([1.0], actions={"more news": [1.0, 0.1], "more sport": [0.1, 1.0]})
    'more sport'

    References
    ----------
    [li2010]
    """

    takes_items = True  # type: ignore[assignment]

    stored = State(
        _sizes=TupleOf(Count(2**20, low=-1), Count(2**20, low=-1)).where(
            lambda self, sizes: sizes == (-1, -1) or (sizes[0] >= 0 and sizes[1] > 0)
        ),
        _shared=Made(_Design, "_new_design", n=Count(), shared=Count()).where(
            lambda self, design: (design.n, design.shared) == (self._n_features, 0)
        )
        | None,
        _items=DictOf(
            Key(),
            Made(_Design, "_new_design", n=Count(), shared=Count()).where(
                lambda self, design: (
                    (design.n, design.shared) == (self._sizes[0] + 1, self._n_features)
                )
            ),
        ),
    )

    def __init__(
        self,
        model: str = "hybrid",
        *,
        alpha: float = 0.1,
        ridge: float = 1.0,
        width: int = 512,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__(loss_range)
        self.model = check_choice(self, "model", model, ("hybrid", "disjoint", "shared"))
        self.alpha = check_not_negative(self, "alpha", alpha)
        self.ridge = check_positive(self, "ridge", ridge)
        self.width = check_integer(self, "width", width, 2, 2**12)
        self._crossing = Crossing(("context", "action", "context*action"), width)
        self._sizes: tuple[int, ...] = (-1, -1)
        self._shared: _Design | None = None  # shared by all items
        self._items: dict[Hashable, _Design] = {}

    @property
    def _n_features(self) -> int:
        return self._crossing.size(*self._sizes) if self._sizes[0] >= 0 else -1

    def _new_design(self, n: int, shared: int) -> _Design:
        return _Design(n, shared, self.ridge)

    def _check_state(self) -> None:
        require(self, sizes=(self._sizes[0] >= 0) == (self._shared is not None))

    def check_context(self, context: Any, ahead: int = 0) -> Menu:
        if not isinstance(context, Menu):
            raise ContextError(
                f"ItemLinUCB needs the actions of the round with their features; got only the "
                f"context {context!r:.100}. Call act(context, actions=rows)."
            )
        if context.ids is None and self.model != "shared":
            raise ContextError(
                f'ItemLinUCB(model="{self.model}") needs ids of the items: pass ids=, or '
                "actions= as a mapping."
            )
        if context.context is not None:
            context = context.with_context(check_row(context.context))
        assert isinstance(context, Menu)
        sizes = _sizes_of(context)
        if self._shared is not None and sizes != self._sizes:
            raise ContextError(
                f"ItemLinUCB needs contexts with {self._sizes[0]} features and items with "
                f"{self._sizes[1]}, as in the first round; got {sizes[0]} and {sizes[1]}."
            )
        return context

    def _holds(self, context: Any) -> bool:
        if not isinstance(context, Menu) or np.ndim(context.context) > 1:
            return False
        return self._shared is None or _sizes_of(context) == self._sizes

    def _prepare(self, opened: GreedyRound) -> None:
        opened.best = int(self._bounds(opened.context).argmax())

    def _bounds(self, menu: Menu) -> FloatArray:
        """Return the upper confidence bound of each item's reward."""
        x, Z = _features(menu), self._crossing.rows(menu)
        shared = self._shared or _Design(Z.shape[1], 0, self.ridge)
        beta = shared.inverse @ shared.moment
        if self.model == "shared":
            variances = np.maximum(((Z @ shared.inverse) * Z).sum(axis=1), 0.0)
            return np.asarray(Z @ beta + self.alpha * np.sqrt(variances))
        found = np.empty(len(menu))
        fresh = _Design(len(x), Z.shape[1], self.ridge)
        for k, name in enumerate(menu.ids or ()):
            own, z = self._items.get(name, fresh), Z[k]
            v = own.inverse @ x
            if self.model == "disjoint":
                mean, variance = v @ own.moment, v @ x
            else:
                # B'A⁻¹x, and the part of z that the item's model does not explain
                u = own.across.T @ v
                w = shared.inverse @ (z - 2.0 * u)
                mean = beta @ z + v @ (own.moment - own.across @ beta)
                variance = z @ w + v @ x + u @ (shared.inverse @ u)
            found[k] = mean + self.alpha * math.sqrt(max(float(variance), 0.0))
        return found

    def _update(self, opened: GreedyRound, loss: Any) -> None:
        reward, menu = 1.0 - self._scaled(loss), opened.context
        x, z = _features(menu), self._crossing.rows(menu)[opened.action]
        # The following code cannot fail.
        if self._shared is None:
            self._shared = _Design(len(z), 0, self.ridge)
            self._sizes = len(x) - 1, menu.rows.shape[1]
        shared = self._shared
        if self.model == "shared":
            shared.learn(z, reward)
            return
        name = menu.ids[opened.action]
        own = self._items.get(name)
        if own is None:
            own = self._items[name] = _Design(len(x), len(z), self.ridge)
        if self.model == "hybrid":  # update A_0 by the change of the item's explained part
            shared.add(own, 1.0)
        own.learn(x, reward)
        if self.model == "hybrid":
            own.across += np.outer(x, z)
            shared.add(own, -1.0)
            shared.learn(z, reward)


def _sizes_of(menu: Menu) -> tuple[int, int]:
    """Return the numbers of features of the context and of the items."""
    return 0 if menu.context is None else len(menu.context), menu.rows.shape[1]


def _features(menu: Menu) -> FloatArray:
    """Return the context and a constant."""
    return np.append(np.empty(0) if menu.context is None else menu.context, 1.0)
