"""Compiling ahead of time."""

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
    """Compile what the first rounds of a learner will need; the seconds that this took.

    Inner loops are compiled when they are first called, which takes seconds. Called at the start
    of a service, this takes them out of its first answers. A few rounds are played by a copy, in
    which every choice turns out badly, so that noise is needed too: the learner itself does not
    change.

    Parameters
    ----------
    learner
        Any learner, played or not; or a `Decider`.
    context
        One that may arrive. Not needed where the policy class lists its contexts, nor by a learner
        that has not played yet and takes rows of features: what is compiled for a short row is
        right for longer ones.
    loss
        As `update` takes it. Needed only where the number of actions is not known yet.
    decide
        Whether decisions will be asked for with `decide`, which needs more than `act`.

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
        raise ParameterError(f"warm_up needs context=, one that may arrive. {error}") from None
    return time.perf_counter() - started


def _usual(oracle: Oracle, fresh: bool) -> Any:
    """A context that may arrive; None where that cannot be known."""
    if oracle.contexts:
        return oracle.contexts[0]
    if not (fresh and oracle.takes_new_contexts):
        return None
    return Menu(_ROW, [_ROW, _ROW[::-1]]) if oracle.takes_items else _ROW


def _bad(learner: Learner, action: Action) -> Any:
    """The highest loss for what was chosen, the lowest for all else."""
    low, high = getattr(learner, "loss_range", None) or (0.0, 1.0)
    oracle, K = learner.oracle, learner.action_count
    if oracle is not None and oracle.takes_functions:  # the range is that of whole sets
        low, high = 0.0, max(high, 0.0) / oracle.max_chosen
    if learner.feedback is not Feedback.FULL:
        return high if isinstance(action, int) else np.full(len(action), high)
    if K is None:
        raise ParameterError(
            f"warm_up needs loss=, as update() takes it: {type(learner).__name__} does not know "
            "its number of actions yet."
        )
    losses = np.full(K, low)
    losses[action] = high
    return losses
