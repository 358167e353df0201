"""Policies to be evaluated, in whatever form they come, as probabilities of actions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import InputTypeError, Learner, ParameterError
from hannan.core.arrays import as_array
from hannan.core.params import short
from hannan.core.rounds import context_key
from hannan.core.validation import FloatArray
from hannan.off_policy.log import TOLERANCE, IntArray, Log


def probabilities(policy: Any, log: Log, draws: int = 1000) -> FloatArray:
    r"""The table [n, K] of :math:`\pi(a \mid x_t)` for the rounds of a log.

    Parameters
    ----------
    policy
        A `Policy` or any function of a context that returns an action, or the probabilities of
        all K; one with an argument named `available` is given the actions of the round as well. A
        learner, which stands for the law of its next action as it is now, among those there
        were. A fitted classifier: anything with `predict`, which is given the contexts as rows
        of features and answers with actions. Or n actions, or a table [n, K].
    log
        Whose contexts are asked about.
    draws
        For a learner that does not know its own law.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log([0, 1], [0, 0], [0.0, 1.0], [0.5, 0.5], n_actions=2)
    >>> hn.off_policy.probabilities(lambda context: 1 - context, log)
    array([[0., 1.],
           [1., 0.]])
    """
    n, K = len(log), log.n_actions
    if isinstance(policy, Learner):
        policy = _law_of(policy, K, draws)
    if callable(policy):
        table = _asked(policy, log)
    elif hasattr(policy, "predict") and not hasattr(policy, "learn"):  # a model of scikit-learn
        table = _given(_predicted(policy, log), n, K)
    else:
        table = _given(policy, n, K)
    wrong = ~are_laws(table)
    if wrong.any():
        t = int(np.argmax(wrong))
        raise ParameterError(
            f"policy= must give probabilities of {K} actions, of sum 1; round {t} has {table[t]}."
        )
    outside = (table * ~log.allowed > TOLERANCE).any(axis=1)
    if outside.any():
        t = int(np.argmax(outside))
        raise ParameterError(
            f"policy= chooses action {int((table[t] * ~log.allowed[t]).argmax())} in round {t}, "
            f"where only {log.available[t].tolist()} were available. Give a function "
            "policy(context, available) that says what is done then, or n actions or a table "
            "[n, K] that keep to what there was."
        )
    return table


def are_laws(table: FloatArray) -> NDArray[np.bool_]:
    """Whether each row holds probabilities of sum 1."""
    whole = (table >= -TOLERANCE).all(axis=1) & np.isfinite(table).all(axis=1)
    return np.asarray(whole & (abs(table.sum(axis=1) - 1.0) <= TOLERANCE))


def _law_of(learner: Learner, K: int, draws: int) -> Callable[[Any, IntArray], FloatArray]:
    """The law of a learner's next action, asked for once on each context and set of actions."""
    if learner.oracle is not None and learner.oracle.max_chosen > 1:
        raise InputTypeError(
            f"Logs are for single actions; {type(learner).__name__} chooses sets of elements."
        )
    if not learner.described:
        _check_number(learner, learner.action_count or K, K)
    known: dict[Hashable, FloatArray] = {}

    def answer(context: Any, available: IntArray) -> FloatArray:
        key = context_key(context), available.tobytes()
        if key not in known:
            some = None if len(available) == K or learner.described else available
            law = known[key] = learner.propensities(context, draws, some).probabilities
            _check_number(learner, len(law), len(context) if learner.described else K)
        return known[key]

    return answer


def _check_number(learner: Learner, own: int, K: int) -> None:
    if own != K:
        raise ParameterError(
            f"policy={type(learner).__name__}(…) must be a learner of the log's actions: it has "
            f"{own}, the log {K}."
        )


def _asked(policy: Callable[..., Any], log: Log) -> FloatArray:
    K, restricted = log.n_actions, takes_available(policy)
    table = np.zeros((len(log), K))
    sets = repeat(np.arange(K), len(log)) if log.available is None else log.available
    for t, (row, context, there) in enumerate(zip(table, log.contexts, sets, strict=True)):
        answer = policy(context, available=there) if restricted else policy(context)
        found = np.asarray(answer)
        if found.ndim == 0 and found.dtype.kind in "iu" and 0 <= found < K:
            row[int(found)] = 1.0
        elif found.shape == (K,) and found.dtype.kind == "f":
            row[:] = found
        elif log.described and found.shape == (len(context),) and found.dtype.kind == "f":
            row[: len(context)] = found
        else:
            raise InputTypeError(
                f"policy= must return an action from 0 to {K - 1}, or {K} probabilities; in round "
                f"{t} it returned {short(answer)}."
            )
    return table


def takes_available(policy: Callable[..., Any]) -> bool:
    """Whether a policy has an argument for the actions that are available."""
    try:
        return "available" in inspect.signature(policy).parameters
    except (TypeError, ValueError):  # some compiled functions have no signature
        return False


def _predicted(model: Any, log: Log) -> Any:
    who, n, K = type(model).__name__, len(log), log.n_actions
    if log.features is None:
        raise InputTypeError(
            f"policy={who}(…) predicts from rows of features, and the contexts of this log are "
            "not vectors of one length: give a function of a context, or the n actions."
        )
    found = as_array(model.predict(log.features))
    if found.shape != (n,) or found.dtype.kind not in "iu":
        raise InputTypeError(
            f"policy={who}(…) must predict {n} integers from 0 to {K - 1}, an action for each row; "
            f"got {short(found)}. Give a function of a context that turns answers into actions."
        )
    return found


def _given(policy: Any, n: int, K: int) -> FloatArray:
    found = as_array(policy)
    if found.shape == (n,) and (found.dtype.kind in "iu" or not n):
        if n and (found.min() < 0 or found.max() >= K):
            raise ParameterError(
                f"policy= must hold actions from 0 to {K - 1}; got {found.min()} to {found.max()}."
            )
        return np.eye(K)[found.astype(np.intp)]
    if found.shape == (n, K) and found.dtype.kind in "iuf":
        return found.astype(np.float64)
    raise InputTypeError(
        f"policy= must be a function of a context, a fitted classifier, a learner, {n} integers, "
        f"or an array of shape {(n, K)}; got {short(policy)}."
    )
