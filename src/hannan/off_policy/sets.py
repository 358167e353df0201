r"""Sets of elements in a `Watch`: weighted losses of the elements that two sets share.

The loss of a set is the sum over its elements, at most m; an absent element has the loss 0. In a
round, the learner chooses a with element probabilities q, and the policy b. The estimate of the
policy's loss is :math:`\sum_{j \in a \cap b} J_j \ell_j`, where J has a mean of at most 1/q.
Divided by m, with losses scaled to [0, 1], this is f times the ratio of `supermartingales`.

A round is centred if there are weights :math:`J^+`, too, with a mean of at least 1/q and at most
1/floor. With predictions V of the elements' losses, fixed before the draw,

.. math:: z = \sum_{j \in a \cap b} J_j (f_j - V_j) - \theta (f(a) - V(b)),
          \qquad m = (1 - \theta) V(b),

where the weight is J⁺ if :math:`f_j < V_j`. So z is on average at most :math:`\tau - m`, and at
least :math:`-V(b)/\text{floor} - \theta (1 - V(b))`. V is the mean of the losses so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Decision, LossError, ParameterError, Policy
from hannan.core.arrays import as_floats, as_list
from hannan.core.params import short
from hannan.core.rounds import IntArray
from hannan.core.state import Array, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, check_integer, check_probability, refuse
from hannan.kernels import watch as kernel
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.log import TINY, TOLERANCE, place_of
from hannan.off_policy.rules import Places, ask

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Overlap(Stored):
    """For each policy, the chosen elements that its set has; the last row is the chosen set.

    `copied` is 1 for a policy that copies the chosen set because its own is unavailable.
    """

    elements: IntArray  # the chosen set
    hits: NDArray[np.bool_]
    sizes: FloatArray
    copied: FloatArray
    values: FloatArray  # predicted losses of the chosen elements, in [0, 1]
    expected: FloatArray  # their sums over the policies' sets
    _is_value = True

    stored = State(
        elements=Array(None, dtype=np.intp, low=0, below="n_actions", rising=True),
        hits=Array(lambda self: len(self._sums), None, dtype=np.bool_),
        sizes=Array(lambda self: len(self._sums), low=0.0, high="max_chosen"),
        copied=Array(lambda self: len(self._sums), low=0.0, high=1.0),
        values=Array(None, low=0.0, high=1.0),
        expected=Array(lambda self: len(self._sums), low=0.0, high="max_chosen"),
    )

    @property
    def fits(self) -> bool:
        """Whether all parts of a stored overlap belong together."""
        n = len(self.elements)
        return self.hits.shape[1] == n == len(self.values) and bool(
            (self.expected <= self.sizes + 1e-9).all()
        )

    @classmethod
    def of(cls, targets: list[IntArray | None], action: IntArray, means: FloatArray) -> Overlap:
        """Return the overlap of the policies' sets, None for a copy, with the chosen set."""
        sets = [action if each is None else each for each in [*targets, None]]
        hits = np.array([np.isin(action, each) for each in sets]).reshape(len(sets), -1)
        sizes = np.array([len(each) for each in sets], dtype=np.float64)
        copied = np.array([float(each is None) for each in [*targets, None]])
        expected = np.array([_means(means, each).sum() for each in sets])
        return cls(action, hits, sizes, copied, _means(means, action), expected)

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Kind of each policy in this round; see `supermartingales`."""
        return np.where(self.copied > 0.0, evidence.AS_PLAYED, evidence.IN_PART).astype(np.int64)

    def extended(self, rows: list[int]) -> Overlap:
        """Return the overlap with these rows, for a Watch with more policies."""
        return Overlap(
            self.elements,
            self.hits[rows],
            self.sizes[rows],
            self.copied[rows],
            self.values,
            self.expected[rows],
        )


class WatchedSets:
    """The sets that a `Watch` compares: their largest size, and known propensities of elements."""

    def __init__(
        self, owner: object, max_chosen: Any, n_actions: int | None, span: Interval, floors: Any
    ) -> None:
        if n_actions is None:
            raise ParameterError(
                "max_chosen= is for sets of elements, which need the number of elements: pass "
                "n_actions= to Watch."
            )
        self.most = check_integer(owner, "max_chosen", max_chosen, 1, n_actions + 1)
        self.n_actions = n_actions
        self.span = min(span[0], 0.0), max(span[1], 0.0)
        self.zero = -self.span[0] / (self.span[1] - self.span[0])  # the scaled loss 0
        self.floors: dict[str, float] = {}
        if floors is not None and not isinstance(floors, Mapping):
            raise refuse(owner, "floors", "a dictionary such as {'today': 0.05}", floors)
        for name, floor in (floors or {}).items():
            self.floors[name] = check_probability(owner, "floors", floor)
            if not floor:
                raise refuse(owner, "floors", "positive probabilities", floors)

    def nothing_seen(self) -> FloatArray:
        """Return sums and counts of the elements' losses; the loss 0 counts as one observation."""
        return np.array([np.full(self.n_actions, self.zero), np.ones(self.n_actions)])

    @property
    def range(self) -> Interval:
        """Range of the losses of sets."""
        return self.most * self.span[0], self.most * self.span[1]

    def check(self, name: str, chosen: Any, places: Places) -> IntArray:
        """Return the set of a policy as sorted elements."""
        try:
            listed = None if isinstance(chosen, str | Mapping) else as_list(chosen)
        except TypeError:
            listed = None
        elements = [place_of(each, places, self.n_actions) for each in listed or ()]
        if listed is None or None in elements or len({*elements}) < len(elements):
            known = f"out of {list(places)!r:.200}" if places else f"from 0 to {self.n_actions - 1}"
            raise ParameterError(
                f"The policy {name!r} must be a set, a list of different elements {known}, or "
                f"return one; got {short(chosen)}."
            )
        if len(elements) > self.most:
            raise ParameterError(
                f"The policy {name!r} chooses {len(elements)} elements, but max_chosen is "
                f"{self.most}. Pass the largest number of elements as max_chosen=."
            )
        return np.sort(np.array(elements, dtype=np.intp))

    def target(
        self,
        name: str,
        policy: Any,
        told: bool,
        context: Any,
        available: IntArray | None,
        places: Places,
    ) -> IntArray | None:
        """Ask a policy for its set; None if it holds an unavailable element."""
        answer = ask(name, policy, told, context, available, self.n_actions, places)
        elements = self.check(name, answer, {} if isinstance(policy, Policy) else places)
        if available is None or np.isin(elements, available).all():
            return elements
        if told:
            raise ParameterError(
                f"The policy {name!r} chooses {elements.tolist()}, but only {available.tolist()} "
                "are available. Return a set of available elements."
            )
        return None

    def action(self, action: Any, available: IntArray | None) -> IntArray:
        """Return the sorted elements of the chosen set."""
        elements = self.check("(played actions)", action, {})
        if available is not None and not np.isin(elements, available).all():
            raise ParameterError(f"action={short(action)} has an element that is not available.")
        if len(elements) and (np.asarray(action) != elements).any():
            raise ParameterError(
                f"action={short(action)} must list its elements in rising order, and losses and "
                "propensities in the same order."
            )
        return elements

    def losses(self, losses: Any, size: int) -> FloatArray:
        """Return the losses of the chosen elements, scaled to [0, 1]; NaN if missing."""
        low, high = self.span
        try:
            numbers = as_floats(losses)
        except (TypeError, ValueError):
            numbers = np.empty((0, 0))
        if numbers.shape != (size,):
            raise LossError(
                f"The losses must be {size} numbers, one for each chosen element, NaN if missing; "
                f"got {short(losses)}."
            )
        if (numbers < low).any() or (numbers > high).any():
            raise LossError(
                f"The losses of elements must lie in the range {low:g} to {high:g} of the Watch; "
                f"got {short(losses)}. Pass a wider range, or clip the losses."
            )
        return np.asarray((numbers - low) / (high - low))

    def check_floors(self, names: Any, held: Overlap, weights: FloatArray | None) -> None:
        """Raise `ParameterError` if an element has a smaller propensity than its floor."""
        for name, hit, copied in zip(names, held.hits, held.copied, strict=False):
            floor = self.floors.get(name, 0.0)
            centred = weights is not None and len(weights) == 2 and not copied
            if centred and (weights[1, hit] * floor > 1.0 + TOLERANCE).any():  # type: ignore[index]
                raise ParameterError(
                    f"floors= says that every element of {name!r} has a probability of at least "
                    f"{floor:g}; one has {1.0 / weights[1, hit].max():.3g}. "  # type: ignore[index]
                    "Pass a smaller floor, or leave it out."
                )

    def add(
        self,
        sums: FloatArray,
        moments: FloatArray,
        names: Any,
        held: Overlap,
        weights: FloatArray,
        losses: FloatArray,
    ) -> None:
        """Add the terms of a round; `weights` holds J, and J⁺ if the round is centred."""
        m, pads = self.most, (self.most - held.sizes) / self.most
        ends = np.where(np.isnan(losses), [[0.0], [1.0]], losses)
        floors = np.array([*(self.floors.get(name, 0.0) for name in names), 0.0])
        centred = (floors > 0.0) & (held.copied == 0.0) & (len(weights) == 2)
        low, high = (
            np.where(held.copied[:, None] > 0.0, 1.0, each) * held.hits / m
            for each in (weights[0], np.where(centred[:, None], weights[-1], weights[0]))
        )
        off = ends - held.values
        above, below = np.maximum(off, 0.0), np.maximum(-off, 0.0)
        gains = np.array(
            [above @ low.T - below @ high.T, below @ low.T - above @ high.T, off @ high.T]
        )
        own = ends.sum(axis=1) / m + pads[-1] * self.zero
        given = own, ends @ low.T + pads * self.zero, low.sum(axis=1) + pads, gains
        rows = np.empty((len(floors), 4))  # as in a `Centre`
        rows[:, 0] = value = held.expected / m + pads * self.zero
        scale = m * np.where(centred, floors, 1.0)
        rows[:, 1], rows[:, 2] = 1.0, held.expected / scale + 1.0 - value
        rows[:, 3] = 1.0 - (held.sizes - held.expected) / scale - value
        rows[~centred, 1:] = np.inf, np.inf, 0.0
        kernel.add_sets(sums, moments, *given, evidence.COLUMNS, rows)


def _means(sums: FloatArray, elements: IntArray) -> FloatArray:
    """Return the mean losses of elements from rows of sums and counts."""
    return np.asarray(sums[0, elements] / sums[1, elements])


def element_weights(
    owner: object, decision: Any, size: int, propensity: Any, weight: Any
) -> FloatArray | None:
    """Return J as an array [1, size], or J and J⁺ as [2, size]; None if they are unknown."""
    if propensity is not None and weight is not None:
        raise ParameterError("Pass propensity= or weight=, not both.")
    if propensity is weight is None and isinstance(decision, Decision):
        # Whether a round is centred must not depend on the action, as drawn weights of 1 would.
        if decision.record.exact and np.shape(decision.propensity) == (size,):
            propensity = decision.propensity
        elif len(decision.weights) == size:
            weight = decision.weights
    if propensity is weight is None:
        return None
    name, low, high = ("propensity", TINY, 1.0 + TOLERANCE)
    if propensity is None:
        name, low, high = "weight", 1.0 - TOLERANCE, 1.0 / TINY
    numbers = np.asarray(weight if propensity is None else propensity, dtype=np.float64)
    if numbers.shape != (size,) or not ((numbers >= low) & (numbers <= high)).all():
        accepted = f"{size} numbers from {low:g} to {high:g}, one for each chosen element"
        raise refuse(owner, name, accepted, weight if propensity is None else propensity)
    if propensity is None:
        return np.maximum(numbers, 1.0)[None]
    return counted_weights(numbers, 0)


def counted_weights(propensities: FloatArray, draws: int) -> FloatArray:
    r"""Return J and J⁺ for propensities, exact or estimated from m draws.

    The estimate may mix shares :math:`\bar x` of m draws with known probabilities: q̂ = c + k x̄. By
    Jensen's inequality, :math:`(1 + m)/(1 + m \hat q)` is on average at most that of a number of
    hits with probability q, which is at most 1/q; and 1/q̂ is on average at least 1/q.
    """
    above = np.maximum(propensities, TINY)
    low = (1.0 + draws) / (1.0 + draws * above) if draws else 1.0 / above
    return np.asarray(np.maximum(np.array([low, 1.0 / above]), 1.0))
