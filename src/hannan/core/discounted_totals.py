"""Discounted loss totals of the same rounds, one per discount factor."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.core.oracle import Draw, foresee
from hannan.core.state import Array, Context, Count, DequeOf, ListOf, Part, State, TupleOf
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray

if TYPE_CHECKING:
    from hannan.core.oracle import Noise, Objective, Oracle
    from hannan.core.policy import Action

Choices = NDArray[np.intp] | list[NDArray[np.intp]]
"""Several actions: an array of integers, or a list of sets."""

_HEAVIEST = 1e12  # largest weight of a round before all weights are rescaled
_LIGHTEST = 1e-17  # relative weight below which a round is lost in rounding


class Draws(NamedTuple):
    """One draw of unit noise per total, from number `first` on, at scales 1/ε."""

    noise: Noise | None
    first: int
    scales: FloatArray


def discounted_totals_of(
    oracle: Any, discounts: Sequence[float], contexts: Sequence[Any] = ()
) -> DiscountedTotals:
    """Return an empty total for each discount factor.

    `contexts` are the contexts with noise, as far as they are known.
    """
    if hasattr(oracle, "discounted_totals"):  # all totals in common arrays
        return oracle.discounted_totals(discounts)  # type: ignore[no-any-return]
    return DiscountedTotals(oracle, discounts, contexts)


class DiscountedTotals(Stored):
    r"""Totals :math:`\pi \mapsto \sum_{t \le T} \gamma_i^{T+1-t} \ell_t(\pi(x_t))`, one for each γ.

    The next round would count 1 in all totals, and scales of noise are in that unit.

    This class uses the objectives of the policy class, in which an added round has a fixed weight.
    The losses passed to them therefore grow by 1/γ per round, and from time to time a total is
    rebuilt from the rounds that still count. A class that stores one number per policy can do
    better.

    >>> import hannan as hn
    >>> discounted_totals = DiscountedTotals(hn.oracles.AllPolicies(1, 2), [1.0, 0.5])
    >>> for losses in ([0.0, 1.0], [1.0, 0.5]):
    ...     discounted_totals.add(0, np.array(losses))
    >>> # the totals are 1, 1.5 and 0.5, 0.5
    >>> discounted_totals.actions(0, Draws(None, 0, np.zeros(2)))
    array([0, 0])
    """

    stored = State(
        _totals=Part(),
        _ages=ListOf(Count(), length=lambda self: len(self.discounts)).where(
            lambda self, ages: all(
                age * -math.log(discount) <= 2.0 * math.log(_HEAVIEST)
                for age, discount in zip(ages, self.discounts, strict=True)
            )
        ),
        _recent=DequeOf(TupleOf(Context(), Array("oracle.n_actions"))),
        _owed=ListOf(
            TupleOf(Count(lambda self: len(self._totals)), Context(), Array("oracle.n_actions"))
        ),
    )

    def __init__(
        self, oracle: Oracle, discounts: Sequence[float], contexts: Sequence[Any] = ()
    ) -> None:
        self.oracle = oracle
        self.discounts = tuple(discounts)
        self._contexts = list(contexts)
        self._totals = [self._empty() for _ in self.discounts]
        self._ages = [0 for _ in self.discounts]  # rounds since the weights were rescaled
        self._recent: deque[tuple[Any, FloatArray]] = deque(maxlen=max(map(_kept, self.discounts)))
        self._owed: list[tuple[int, Any, FloatArray]] = []

    def total(self, i: int) -> Objective:
        """Return total i, for questions; its values are `unit(i)` times as large."""
        self._catch_up()
        return self._totals[i]

    def unit(self, i: int) -> float:
        """Return the weight that a loss of 1 in the next round would have in `total(i)`."""
        return float(self.discounts[i] ** -self._ages[i])

    @property
    def scored(self) -> bool:
        """Whether totals have a score for each action, so that `plays` counts."""
        return self._totals[0].scored

    def actions(
        self,
        context: Any,
        draws: Draws,
        plays: NDArray[np.intp] | None = None,
        losses: FloatArray | None = None,
    ) -> Choices:
        """Return the action of each total's leader on a context; scored totals respect `plays`.

        With `losses`, return the actions after these losses are added.
        """
        found: list[Action] = []
        for i, scale in enumerate(draws.scales.tolist()):
            total, unit = self.total(i), self.unit(i)
            draw = Draw(draws.noise, draws.first + i, scale * unit)
            if losses is None:
                found.append(total.action(context, draw, None, plays))
            else:
                found.append(foresee(total, context, losses * unit, draw, plays))
        sets = [action for action in found if not isinstance(action, int)]
        return sets or np.array(found, dtype=np.intp)

    def add(self, context: Any, losses: FloatArray) -> None:
        """Add one round to all totals. It cannot fail: an addition that fails is repeated later."""
        losses = losses.copy()
        for i in range(len(self._totals)):
            self._owed.append((i, context, losses * self.unit(i)))
            self._ages[i] += 1
        self._recent.append((context, losses))
        with suppress(Exception):  # the next question raises it again
            self._catch_up()

    def settle(
        self, context: Any, draws: Draws, plays: NDArray[np.intp] | None, losses: FloatArray
    ) -> Choices:
        """Return `actions` with these losses, and `add` them; an error changes nothing."""
        found = self.actions(context, draws, plays, losses)
        self.add(context, losses)
        return found

    def _catch_up(self) -> None:
        """Add the rounds not added yet, and rebuild totals before their weights overflow."""
        while self._owed:
            i, context, losses = self._owed[0]
            self._totals[i].add(context, losses)
            del self._owed[0]
        for i, discount in enumerate(self.discounts):
            if self._ages[i] * -math.log(discount) > math.log(_HEAVIEST):
                self._renew(i)

    def _renew(self, i: int) -> None:
        """Rebuild a total with all weights relative to the next round."""
        total, discount = self._empty(), self.discounts[i]
        count = min(_kept(discount), len(self._recent))
        rounds = islice(self._recent, len(self._recent) - count, None)
        for ago, (context, losses) in zip(range(count, 0, -1), rounds, strict=True):
            total.add(context, discount**ago * losses)
        self._totals[i], self._ages[i] = total, 0

    def _empty(self) -> Objective:
        total = self.oracle.objective()
        if self._contexts:
            total.prepare(self._contexts)
        return total


def _kept(discount: float) -> int:
    """Return how many rounds still count at a discount; 0 without discounting."""
    return math.ceil(math.log(_LIGHTEST) / math.log(discount)) if discount < 1.0 else 0
