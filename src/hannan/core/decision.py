"""Decisions: tickets for actions whose losses are not known yet."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.errors import DecisionError
from hannan.core.policy import Action, same_action
from hannan.core.stored import Stored


@dataclass(frozen=True, slots=True, eq=False)
class Decision(Stored):
    """What was decided for a context, under an id that feedback refers to later."""

    id: int
    context: Any
    action: Action
    weights: NDArray[np.float64]
    """For each chosen element an estimate of 1/q, q its probability of being chosen, drawn from
    the state at decision time: inverse propensities, unbiased up to the known truncation. Empty
    where the learner has no use for them."""
    available: NDArray[np.intp] | None = None
    """The actions that were there, sorted; None where all were."""


def open_number(
    decision: Decision | int,
    tickets: Mapping[int, Any],
    made: int,
    key: Callable[[Any], Hashable],
) -> int:
    """The number of a decision that waits for its loss, or a `DecisionError`.

    `made` decisions have been numbered so far; tickets have a `context` and an `action`.
    """
    number = decision.id if isinstance(decision, Decision) else decision
    if not isinstance(number, int) or number not in tickets:
        known = isinstance(number, int) and 0 <= number < made
        state = "has been answered or forgotten already" if known else "was never made here"
        raise DecisionError(f"Decision {number!r} {state}; {len(tickets)} decisions are open.")
    if isinstance(decision, Decision):
        ticket = tickets[number]
        same = key(decision.context) == key(ticket.context)
        if not same or not same_action(decision.action, ticket.action):
            raise DecisionError(f"Decision {number} was made by another learner.")
    return number


def context_key(context: Any) -> Hashable:
    """What tells a context from others where no oracle does."""
    if isinstance(context, np.ndarray):
        return context.shape, context.tobytes()
    try:
        hash(context)
    except TypeError:
        return repr(context)
    return context  # type: ignore[no-any-return]
