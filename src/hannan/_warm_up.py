"""Compilation ahead of the first round."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np

from hannan.core import Action, ContextError, Feedback, Learner, Menu, Oracle, ParameterError
from hannan.core.validation import refuse
from hannan.decisions import Decider

_ROUNDS = 4
_ROW = [0.0, 1.0]


def warm_up(learner: Any, context: Any = None, loss: Any = None, *, decide: bool = False) -> float:
    """Compile the numba kernels of a learner ahead of time, and return the seconds this took.

    numba compiles each kernel at its first call, which takes seconds. Call `warm_up` when a service
    starts, so that the first decisions do not wait for the compiler. A copy of the learner plays a
    few rounds with high losses for its own choices, so that it also needs the kernels of the noise.
    The learner itself does not change.

    Parameters
    ----------
    learner
        Any learner, new or not, or a `Decider`.
    context
        A typical context. Not needed if the policy class lists its contexts, nor for a new learner
        with feature vectors: kernels compiled for short vectors also serve longer ones.
    loss
        A loss as for `update`. Needed only if the learner does not know its number of actions yet.
    decide
        Whether you will call `decide`, which needs more kernels than `act`. Default False.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.bandit(3, n_contexts=1, seed=0)
    >>> seconds = hn.warm_up(learner)
    >>> learner.rounds
    0
    """
    if isinstance(learner, Decider):
        return learner.warm_up(context)
    if not isinstance(learner, Learner):
        raise refuse("warm_up", "learner", "a learner, such as hn.bandit(3)", learner)
    started = time.perf_counter()
    twin, oracle = copy.deepcopy(learner), learner.oracle
    if context is None and oracle is not None:
        context = _usual(oracle, fresh=learner.clock == 0)
    try:
        for _ in range(_ROUNDS):
            action = twin.act(context)
            twin.update(_bad(twin, action) if loss is None else loss)
        if decide and twin.late is None:
            decision = twin.decide(context)
            twin.update(_bad(twin, decision.action) if loss is None else loss, decision)
    except ContextError as error:
        raise ParameterError(f"warm_up needs context=, a typical context. {error}") from None
    return time.perf_counter() - started


def _usual(oracle: Oracle, fresh: bool) -> Any:
    """Return a context that may arrive; None if there is no way to know one."""
    if oracle.contexts:
        return oracle.contexts[0]
    if not (fresh and oracle.takes_new_contexts):
        return None
    return Menu(_ROW, [_ROW, _ROW[::-1]]) if oracle.takes_items else _ROW


def _bad(learner: Learner, action: Action) -> Any:
    """Return losses with the highest loss for the action, and the lowest for all others."""
    low, high = getattr(learner, "loss_range", None) or (0.0, 1.0)
    oracle, K = learner.oracle, learner.action_count
    if oracle is not None and oracle.takes_functions:  # the range is that of whole sets
        low, high = 0.0, max(high, 0.0) / oracle.max_chosen
    if learner.feedback is not Feedback.FULL:
        return high if isinstance(action, int) else np.full(len(action), high)
    if K is None:
        raise ParameterError(
            f"{type(learner).__name__} does not know its number of actions yet. Pass warm_up() a "
            "loss= as for update()."
        )
    losses = np.full(K, low)
    losses[action] = high
    return losses
