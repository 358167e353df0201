"""Action sets that change: which actions are there, and what stands in for those that are not.

A restricted round is described by one array, r: r[b] is the action played where b was chosen. So
r[b] = b for the actions that are there, and all others share one substitute. What is told about
actions that were not there does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import as_array
from hannan.core.errors import InputTypeError, LossError
from hannan.core.oracle import Objective
from hannan.core.validation import refuse

IntArray = NDArray[np.intp]

# More than any total, in units of the largest loss; the second where rounds weigh more than 1.
_WALLS = (1e9, 1e15)


def check_available(
    owner: object, available: Any, n_actions: int, name: str = "available"
) -> IntArray | None:
    """The actions that are there, sorted; None where all of them are.

    Distinct integers below K, or K booleans.

    Examples
    --------
    >>> check_available("act", [5, 0, 2], 6)
    array([0, 2, 5])
    >>> check_available("act", [True, False, True], 3)
    array([0, 2])
    >>> check_available("act", range(3), 3) is None
    True
    """
    given = list(available) if isinstance(available, set | frozenset) else available
    try:
        found = as_array(given)
    except (TypeError, ValueError):
        found = np.empty((), dtype=object)
    mixed = isinstance(given, list | tuple) and len({isinstance(v, bool) for v in given}) > 1
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iub") or mixed:
        accepted = _accepted(found, n_actions)
        raise InputTypeError(
            f"{name}= takes {accepted}, or None for all actions; got {available!r}."
        )
    if found.dtype.kind == "b":
        valid = found.size == n_actions and bool(found.any())
        there = np.flatnonzero(found)
    else:
        there = np.sort(found).astype(np.intp)
        valid = there.size > 0 and there[0] >= 0 and there[-1] < n_actions
        valid = valid and not (there[1:] == there[:-1]).any()
    if not valid:
        raise refuse(owner, name, _accepted(found, n_actions), available)
    return None if there.size == n_actions else there


def _accepted(found: NDArray[Any], n_actions: int) -> str:
    """What would have been taken in place of this."""
    accepted = (
        f"distinct actions, integers from 0 to {n_actions - 1}, or {n_actions} booleans, at least "
        "one of them true"
    )
    like_a_mask = found.shape == (n_actions,) and np.isin(found, (0, 1)).all()
    if like_a_mask and found.dtype.kind in "iuf":
        accepted += " (for a mask use booleans, True and False: 0 and 1 are actions)"
    return accepted


def standing_in(available: IntArray, substitute: int, n_actions: int) -> IntArray:
    """r: every action that is there for itself, and the substitute for all others.

    Examples
    --------
    >>> standing_in(np.array([0, 2]), 2, 4)
    array([0, 2, 2, 2])
    """
    stands = np.full(n_actions, substitute, dtype=np.intp)
    stands[available] = available
    return stands


def awake(stands: IntArray) -> IntArray:
    """The actions that are there."""
    return np.flatnonzero(stands == np.arange(len(stands)))


def filled_in(losses: Any, stands: IntArray) -> Any:
    """The losses of what is played for each action; what cannot be indexed so is left as it is.

    Only here is it known which numbers were told, so those that are not finite are refused here.

    Examples
    --------
    >>> filled_in([0.1, np.nan, 0.3], np.array([0, 2, 2]))
    array([0.1, 0.3, 0.3])
    """
    try:
        found = as_array(losses)
    except (TypeError, ValueError):
        return losses
    if found.shape != stands.shape or found.dtype.kind in "US":
        return losses
    there = awake(stands)
    told = found[there]
    if told.dtype.kind == "f" and not np.isfinite(told).all():
        bad = int(np.argmin(np.isfinite(told)))
        raise LossError(
            f"losses must be finite; that of action {there[bad]}, which was there, is {told[bad]}. "
            "Leave out or mend the row."
        )
    return found[stands]


def best_awake(
    total: Objective, context: Any, available: IntArray, largest: float = 1.0
) -> int | None:
    """What the best policy does among those whose action on a context is there.

    It is the leader once a round is added in which all other actions cost more than anything so
    far. None where that is no such policy.
    """
    for wall in _WALLS:
        losses = np.full(total.n_actions, wall * largest)
        losses[available] = 0.0
        action = total.tilted(context, losses).action(context, None, 0, 0.0)
        if isinstance(action, int) and (available == action).any():
            return action
    return None
