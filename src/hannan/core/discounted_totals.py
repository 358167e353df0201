"""Several totals of the same rounds, each of which forgets at its own rate."""

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
"""Several actions: integers side by side, or sets one by one."""

_HEAVIEST = 1e12  # weight of a round before all are measured from the present again
_LIGHTEST = 1e-17  # relative weight below which a round is lost in rounding


class Draws(NamedTuple):
    """A draw of unit noise for each total, `first` and those after it, at scales 1/ε."""

    noise: Noise | None
    first: int
    scales: FloatArray


def discounted_totals_of(
    oracle: Any, discounts: Sequence[float], contexts: Sequence[Any] = ()
) -> DiscountedTotals:
    """Return an empty total for each of several rates of forgetting.

    `contexts` are those that will carry noise, as far as they are known.
    """
    if hasattr(oracle, "discounted_totals"):  # all totals side by side
        return oracle.discounted_totals(discounts)  # type: ignore[no-any-return]
    return DiscountedTotals(oracle, discounts, contexts)


class DiscountedTotals(Stored):
    r"""Totals :math:`\pi \mapsto \sum_{t \le T} \gamma_i^{T+1-t} \ell_t(\pi(x_t))`, one for each γ.

    The round to come would count 1 in all of them, and scales of noise are in that unit.

    Here the totals are those of the class, in which a round once added keeps its weight: the
    losses shown to them grow by 1/γ each round, and now and then a total is made anew from the
    rounds that still count. A class that keeps one number for each policy can do better.

    >>> import hannan as hn
    >>> discounted_totals = DiscountedTotals(hn.oracles.AllPolicies(1, 2), [1.0, 0.5])
    >>> for losses in ([0.0, 1.0], [1.0, 0.5]):
    ...     discounted_totals.add(0, np.array(losses))
    # of the totals 1, 1.5 and 0.5, 0.5
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
        self._ages = [0 for _ in self.discounts]  # rounds since weights were measured anew
        self._recent: deque[tuple[Any, FloatArray]] = deque(maxlen=max(map(_kept, self.discounts)))
        self._owed: list[tuple[int, Any, FloatArray]] = []

    def total(self, i: int) -> Objective:
        """Total i, for questions; its values are `unit(i)` times as large."""
        self._catch_up()
        return self._totals[i]

    def unit(self, i: int) -> float:
        """What a loss of 1 in the round to come would count in `total(i)`."""
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
        """What the leader of each total does on a context, by its best score where there are.

        With losses: what it will do once they are added.
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
        """Add one round to all totals, which cannot fail: one that fails is tried again later."""
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
        """What `actions` returns with these losses, and `add`; if it fails nothing has changed."""
        found = self.actions(context, draws, plays, losses)
        self.add(context, losses)
        return found

    def _catch_up(self) -> None:
        """Add what has not been added yet, and make totals anew before weights leave the floats."""
        while self._owed:
            i, context, losses = self._owed[0]
            self._totals[i].add(context, losses)
            del self._owed[0]
        for i, discount in enumerate(self.discounts):
            if self._ages[i] * -math.log(discount) > math.log(_HEAVIEST):
                self._renew(i)

    def _renew(self, i: int) -> None:
        """Measure all weights of a total from the round to come."""
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
    """How many rounds still count at a discount; none are needed where all count alike."""
    return math.ceil(math.log(_LIGHTEST) / math.log(discount)) if discount < 1.0 else 0
