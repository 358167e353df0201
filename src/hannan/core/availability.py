"""Changing action sets: the available actions, and the substitutes for unavailable ones.

A restricted round has one array, r: r[b] is the action played if b is chosen. So r[b] = b for the
available actions, and all unavailable actions share one substitute. Sets consist of available
elements only: there r[b] = -1 for the unavailable elements.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import as_array, as_floats, grown
from hannan.core.errors import InfeasibleError, InputTypeError, LossError, ParameterError
from hannan.core.oracle import WITHOUT_NOISE, Available, Objective, available_in
from hannan.core.params import Parametrised
from hannan.core.rounds import IntArray, OpenRound, context_key
from hannan.core.state import Array, Count, DictOf, Key, Made, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, LossRange, refuse
from hannan.kernels import closed
from hannan.kernels import ridge as kernel

# More than any total, in units of the largest loss; the second if rounds weigh more than 1.
_WALLS = (1e9, 1e15)
_NOTHING = np.empty((2, 0))  # sums and counts without observations
_MEMORY = 2**26  # maximum bytes for the inverses of regressions


def check_available(
    owner: object, available: Any, n_actions: int, name: str = "available", sets: bool = False
) -> IntArray | None:
    """Return available actions as sorted integers, or None if all are available.

    Accept distinct integers below K, or K booleans. If `sets`, they are elements, and the list may
    be empty.

    >>> check_available("act", [5, 0, 2], 6)
    array([0, 2, 5])
    >>> check_available("act", [True, False, True], 3)
    array([0, 2])
    >>> check_available("act", range(3), 3) is None
    True
    """
    given = list(available) if isinstance(available, (set, frozenset)) else available
    try:
        found = as_array(given)
    except (TypeError, ValueError):
        found = np.empty((), dtype=object)
    mixed = isinstance(given, (list, tuple)) and len({isinstance(v, bool) for v in given}) > 1
    kind = "" if found.ndim != 1 or mixed else found.dtype.kind
    if kind == "b":
        some = found.nonzero()[0]
        valid = found.size == n_actions
    elif kind and (kind in "iu" or not found.size):
        some = np.sort(found).astype(np.intp)
        inside = not some.size or (some[0] >= 0 and some[-1] < n_actions)
        valid = bool(inside and (some[1:] > some[:-1]).all())
    else:
        accepted = _accepted(found, n_actions, sets)
        raise InputTypeError(
            f"{name}= takes {accepted}, or None for all actions; got {available!r}."
        )
    if not valid or not (sets or some.size):
        raise refuse(owner, name, _accepted(found, n_actions, sets), available)
    return None if some.size == n_actions else some


def _accepted(found: NDArray[Any], n_actions: int, sets: bool) -> str:
    what, least = ("elements", "") if sets else ("actions", ", at least one of them true")
    text = f"distinct {what}, integers from 0 to {n_actions - 1}, or {n_actions} booleans{least}"
    if found.shape == (n_actions,) and found.dtype.kind in "iuf" and np.isin(found, (0, 1)).all():
        text += " (for a mask use booleans, True and False: 0 and 1 are actions)"
    return text


def available_to(learner: Any, available: Any) -> IntArray | None:
    """Return the available actions of a learner, checked, or None if all are available."""
    if available is None:
        return None
    if learner.takes_items:
        raise ParameterError(
            "available= is for fixed actions 0..K-1. For actions with features, pass only the "
            "available ones as actions=."
        )
    oracle, restricts = learner.oracle, getattr(learner, "restricts_sets", False)
    sets = oracle is not None and oracle.chooses_sets
    if sets and not (restricts and learner._scores_actions):
        whose = type(oracle if restricts else learner).__name__
        remedy = getattr(oracle, "to_close", None) if restricts else None
        raise ParameterError(
            "available= for sets of elements works with ContextFTPL and ContextSemiBanditFTPL, "
            "alone or in Restarting, on policy classes whose objectives score each element; not "
            f"with {whose}. {remedy or 'Omit available=, or use such a learner and policy class.'}"
        )
    if learner.action_count is None:
        raise ParameterError(
            f"available= needs the number of actions, which {type(learner).__name__} does not "
            f"know yet: create {type(oracle).__name__} with n_actions=."
        )
    elements = sets or (restricts and oracle is not None and oracle.closes)
    return check_available(learner, available, learner.action_count, sets=elements)


def loss_span(learner: Any) -> LossRange:
    """Return the range of a learner's losses."""
    known = getattr(learner, "_range", None) or getattr(learner, "loss_range", None)
    return known or (-math.inf, math.inf)


def substitution(available: IntArray, substitute: int, n_actions: int) -> IntArray:
    """Return r: every available action maps to itself, every other action to the substitute."""
    plays = np.full(n_actions, substitute, dtype=np.intp)
    plays[available] = available
    return plays


def complete(losses: Any, plays: IntArray) -> Any:
    """Return the loss of the action played for each choice; leave other input unchanged."""
    try:
        found = as_array(losses)
    except (TypeError, ValueError):
        return losses
    if found.shape != plays.shape or found.dtype.kind in "US":
        return losses
    available = available_in(plays)
    if found.dtype.kind == "f":
        _check_finite(found, available)
    return found[plays]


def _check_finite(losses: FloatArray, available: IntArray) -> None:
    finite = np.isfinite(losses[available])
    if not finite.all():
        bad = available[finite.argmin()]
        raise LossError(
            f"losses must be finite; the loss of action {bad}, which was available, is "
            f"{losses[bad]}. Drop or correct the row."
        )


def actions_among(oracle: Any, context: Any, elements: IntArray) -> IntArray:
    """Return which of these elements are actions on a context.

    Some elements may not be actions: a link may lead elsewhere. If none is an action, raise an
    `InfeasibleError`. Called only if the class chooses one element and `closes`.
    """
    if hasattr(oracle, "actions_among"):
        return oracle.actions_among(context, elements)  # type: ignore[no-any-return]
    if not elements.size:
        raise InfeasibleError(f"{type(oracle).__name__} has no action: no element is available.")
    return elements


def has_available(oracle: Any, context: Any, plays: Available) -> bool:
    """Return whether a class of sets has a set of available elements, or may have one."""
    return not hasattr(oracle, "has_available") or oracle.has_available(context, plays)


def is_feasible(total: Objective, context: Any, elements: IntArray) -> bool:
    """Return whether a class can choose exactly these elements; True if it cannot tell."""
    if not total.scored or not total.oracle.closes:
        return True
    losses = np.zeros(total.n_actions)
    losses[elements] = -1.0
    try:
        chosen = total.action(
            context, WITHOUT_NOISE, losses, substitution(elements, -1, total.n_actions)
        )
    except InfeasibleError:
        return False
    return np.array_equal(chosen, elements)


def best_among(
    total: Objective, context: Any, available: IntArray, largest: float = 1.0
) -> int | None:
    """Return the action of the best policy whose action is available, or None.

    Add a round in which every unavailable action costs more than all rounds so far; that policy is
    then the leader.
    """
    for wall in _WALLS:
        losses = np.full(total.n_actions, wall * largest)
        losses[available] = 0.0
        action = total.action(context, WITHOUT_NOISE, losses)
        if isinstance(action, int) and (available == action).any():
            return action
    return None


class AvailableCosts(Parametrised):
    """Mean losses of actions over the rounds in which they were available and observed.

    There is one mean per context. If contexts are feature vectors, there is one ridge regression
    per action. If the inverses would take more than 64 MB, only their diagonals are stored, as in
    `predictors.Blend`.
    """

    stored = State(
        _moment=Array(None, None).where(
            lambda self, moment: len(moment) == (self.n_actions if moment.shape[1] else 0)
        ),
        _inverse=Array(None, None, None).where(lambda self, inverse: self._could_be(inverse)),
        _means=DictOf(
            Key(),
            Array(2, "n_actions").where(lambda self, row: row[1].min() >= 0.0 and row[1].any()),
        ),
        _seen=Array(),
    )
    room_for = ("n_actions",)

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        self._means: dict[Hashable, FloatArray] = {}  # sums and counts, [2, K]
        self._inverse: FloatArray = np.empty((0, 0, 0))  # [K, p, p], or diagonals [K, 1, p]
        self._moment: FloatArray = np.empty((0, 0))  # [K, p]; with diagonals, the weights
        self._seen = np.zeros(n_actions, dtype=bool)

    def _could_be(self, inverse: FloatArray) -> bool:
        """Return whether inverses, or their diagonals, have the shape that `_moment` implies."""
        K, p = self.n_actions, self._moment.shape[1]
        return inverse.shape in ((K, p, p), (K, 1, p)) if p else inverse.shape == (0, 0, 0)

    def extended(self, n_actions: int) -> AvailableCosts:
        """Return a copy with more actions, which have no observations."""
        twin = AvailableCosts(n_actions)
        twin._means = {key: grown(row, n_actions) for key, row in self._means.items()}
        twin._seen = grown(self._seen, n_actions)
        p = self._moment.shape[1]
        if p:
            twin._moment = grown(self._moment, n_actions, axis=0)
            one = np.eye(p) if self._inverse.shape[1] == p else np.ones((1, p))
            new = np.tile(one, (n_actions - self.n_actions, 1, 1))
            twin._inverse = np.concatenate([self._inverse, new])
        return twin

    def learn(self, context: Any, actions: Any, losses: Any, *, rows: bool = True) -> None:
        """Learn from the losses of available actions; by regression if contexts are `rows`."""
        seen = np.asarray(actions, dtype=np.intp).ravel()
        losses = np.asarray(losses, dtype=np.float64).ravel()
        if rows and isinstance(context, np.ndarray):
            x = np.append(context, 1.0)
            if not len(self._moment):
                fits = 8 * self.n_actions * len(x) ** 2 <= _MEMORY
                one = np.eye(len(x)) if fits else np.ones((1, len(x)))
                self._inverse = np.tile(one, (self.n_actions, 1, 1))
                self._moment = np.zeros((self.n_actions, len(x)))
            if self._inverse.shape[1] == len(x):
                kernel.learn(self._inverse, self._moment, x, seen, losses)
            else:
                self._learn_diagonal(x, seen, losses)
            self._seen[seen] = True
        else:
            row = self._means.setdefault(context_key(context), np.zeros((2, self.n_actions)))
            closed.observe(seen, losses, row)

    def guess(self, context: Any) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the predicted loss of each action on a context, and where it is known."""
        if isinstance(context, np.ndarray):
            guesses = np.zeros(self.n_actions)
            if len(self._moment):
                x = np.append(context, 1.0)
                if self._inverse.shape[1] == len(x):
                    kernel.means(self._inverse, self._moment, x, guesses)
                else:
                    guesses = self._moment @ x
            return guesses, self._seen
        sums, counts = self.sums(context)
        if not counts.size:
            return np.zeros(self.n_actions), np.zeros(self.n_actions, dtype=bool)
        known = counts > 0.0
        # One virtual observation at the best mean, so that a bad first loss excludes no action.
        best = (sums / np.maximum(counts, 1.0))[known].min()
        return np.asarray((sums + best) / (counts + 1.0)), known

    def sums(self, context: Any) -> FloatArray:
        """Return sums and counts of losses on a context, [2, K]; [2, 0] without observations."""
        return self._means.get(context_key(context), _NOTHING)

    def _learn_diagonal(self, x: FloatArray, seen: IntArray, losses: FloatArray) -> None:
        inverse = self._inverse[seen, 0]
        product = inverse * x
        bottom = 1.0 + product @ x
        gain = (losses - self._moment[seen] @ x) / bottom
        self._moment[seen] += gain[:, None] * product
        self._inverse[seen, 0] = inverse - product**2 / bottom[:, None]

    def cheapest(self, context: Any, available: IntArray) -> tuple[int, bool]:
        """Return the cheapest action, unobserved ones first, and whether all were observed."""
        values, known = self.guess(context)
        values = np.where(known, values, -np.inf)[available]
        return int(available[values.argmin()]), bool(known[available].all())


class Availability(Stored):
    """Substitutes for unavailable actions, and the losses charged to them."""

    stored = State(
        costs=Made(
            AvailableCosts, lambda self, n_actions: AvailableCosts(n_actions), n_actions=Count()
        ).where(lambda self, costs: self.action_count in (None, costs.n_actions))
        | None,
        restricted=Count(),
        by_score=Count(),
        outside=Count(),
    )
    outside: int = 0
    """Restricted rounds with feedback in which the class of sets had no available set."""

    def __init__(self) -> None:
        self.costs: AvailableCosts | None = None  # from the first restricted round on
        self.restricted = 0  # rounds with feedback in which not all actions were available
        self.by_score = 0  # restricted rounds in which the best-scored available action was played

    def extended(self, n_actions: int) -> Self:
        """Return a copy for more actions."""
        twin = copy.copy(self)
        twin.costs = None if self.costs is None else self.costs.extended(n_actions)
        return twin

    def restrict(
        self, opened: OpenRound, some: IntArray, n_actions: int, past: Objective | None, span: Any
    ) -> None:
        """Fix the action played for each choice: a function of the past alone.

        The substitute is the available action with the smallest mean loss on this context. If an
        available action has no observation yet, the substitute is the action with the best score,
        or of the best policy whose action is available. For sets there is no substitute.
        """
        if past is not None and past.oracle.chooses_sets:
            opened.plays, opened._indices = substitution(some, -1, n_actions), some
            return
        there = some
        if past is not None and past.oracle.closes:
            there = actions_among(past.oracle, opened.context, some)
        found, known = int(there[0]), False
        if self.costs is not None:
            found, known = self.costs.cheapest(opened.context, there)
        if not known and past is not None:
            opened.calls += 1
            if past.scored:
                few = substitution(some, -1, n_actions)
                found = int(past.action(opened.context, WITHOUT_NOISE, None, few))
            else:
                best = best_among(past, opened.context, there, max(map(abs, span or (0.0, 1.0))))
                found = found if best is None else best
        opened.plays = substitution(some, found, n_actions)

    def complete(self, opened: OpenRound, losses: Any, span: LossRange | None) -> Any:
        """Return all losses: an unavailable action gets the loss of its substitute.

        If scores decide (`span` is given), the score of an unavailable action would change with its
        substitute's. The action is then charged its predicted loss when it is available, if that is
        known.
        """
        plays = opened.plays
        assert plays is not None
        if span is None or isinstance(opened.action, int):
            losses = complete(losses, plays)
            if span is None or np.shape(losses) != plays.shape:
                return losses
            charged, guesses = self.charges(opened, span)
            return losses if charged is None else np.where(charged, guesses, losses)
        try:
            found = as_array(losses).astype(np.float64)
        except (TypeError, ValueError):
            return losses
        if found.shape != plays.shape:
            return losses
        # An unavailable element of sets without observations is charged the least possible loss.
        known = _NOTHING if self.costs is None else self.costs.sums(opened.context)
        completed = np.empty(plays.size)
        if not closed.complete(plays, found, known, *span, completed):
            _check_finite(found, opened.available_indices)
        return completed

    def charges(
        self, opened: OpenRound, span: LossRange
    ) -> tuple[NDArray[np.bool_] | None, FloatArray]:
        """Return which unavailable actions have a predicted loss, and the predictions."""
        assert opened.plays is not None
        if self.costs is None:
            return None, np.empty(0)
        guesses, known = self.costs.guess(opened.context)
        unavailable = opened.plays != np.arange(len(opened.plays))
        return unavailable & known, np.clip(guesses, *span)

    def shared(
        self, opened: OpenRound, baseline: FloatArray | None, span: LossRange | None
    ) -> tuple[FloatArray | None, Any]:
        """Return the baseline of a loss estimate, and the choices that share the action played.

        If scores decide (`span` is given), an unavailable action is charged its predicted loss when
        it is available, as if by a baseline. Otherwise, its score would change with the score of
        its substitute.
        """
        plays = opened.plays
        if plays is None:
            return baseline, opened.action
        if not isinstance(opened.action, int):
            if self.costs is None or span is None:
                return baseline, opened.action
            base = np.zeros(len(plays)) if baseline is None else baseline.copy()
            closed.charge(plays, self.costs.sums(opened.context), *span, base)
            return base, opened.action
        if span is not None:
            charged, guesses = self.charges(opened, span)
            if charged is not None:
                base = np.zeros(len(plays)) if baseline is None else baseline
                baseline = np.where(charged, guesses, base)
                plays = np.where(charged, -1, plays)
        return baseline, np.flatnonzero(plays == opened.action)

    def count(self, by_score: bool, opened: OpenRound, oracle: Any) -> None:
        """Count a restricted round with feedback."""
        self.restricted += 1
        self.by_score += by_score
        chose_set = by_score and not isinstance(opened.action, int)
        if chose_set and not has_available(oracle, opened.context, opened.plays):
            self.outside += 1

    def note(self, opened: OpenRound, losses: Any, full: bool) -> None:
        """Store the losses of available actions, from the first restricted round on."""
        costs = self.costs
        if costs is None:
            if opened.plays is None:
                return
            costs = self.costs = AvailableCosts(len(opened.plays))
        shown = as_array(losses) if full else as_floats(losses)
        if not full:
            action = opened.action
            if not isinstance(action, int):  # losses of elements may be missing
                there = ~np.isnan(shown)
                action, shown = action[there], shown[there]
            if isinstance(action, int) or len(action):
                costs.learn(opened.context, action, shown)
            return
        seen = np.arange(len(shown)) if opened.plays is None else opened.available_indices
        if seen.size:
            rows = opened.plays is None or isinstance(opened.action, int)
            costs.learn(opened.context, seen, shown[seen], rows=rows)


class PassedOn(Availability):
    """Availability for learners that play through another learner, which handles it."""

    def restrict(
        self, opened: OpenRound, some: IntArray, n_actions: int, past: Objective | None, span: Any
    ) -> None:
        sets = past is not None and past.oracle.chooses_sets
        instead = -1 if sets or not len(some) else int(some[0])
        opened.plays = substitution(some, instead, n_actions)

    def complete(self, opened: OpenRound, losses: Any, span: LossRange | None) -> Any:
        return losses

    def note(self, opened: OpenRound, losses: Any, full: bool) -> None:
        pass
