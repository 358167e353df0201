"""Guesses of all losses in the rounds of a log, each made without its own round."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import InputTypeError, ParameterError
from hannan.core.predictor import adopt, check_guess
from hannan.core.validation import FloatArray, LossRange, check_integer
from hannan.off_policy.log import Log
from hannan.predictors import Hybrid, Mean, Ridge


def predictions(log: Log, model: Any, folds: int | None, loss_range: LossRange) -> FloatArray:
    """The table [n, K] of guesses; `model` and `folds` as in `evaluate`."""
    if isinstance(model, np.ndarray | list | tuple):
        return _given(model, log, loss_range)
    predictor = _default(log) if model is None else model
    table = np.empty((len(log), log.n_actions))
    if folds is None:
        guesser = _prepared(predictor, log)
        for t, row in enumerate(table):
            _fill(row, _guess(guesser, log, t, loss_range))
            _learn(guesser, log, t)
        return table
    k = check_integer("evaluate", "folds", folds, 2)
    if not hasattr(predictor, "clone"):
        raise InputTypeError(
            f"model={predictor!r} has no clone(), so it cannot be fitted once for each fold. Use "
            "folds=None."
        )
    for fold in range(k):
        guesser = _prepared(predictor, log)
        for t in range(len(log)):
            if t % k != fold:
                _learn(guesser, log, t)
        for t in range(fold, len(log), k):
            _fill(table[t], _guess(guesser, log, t, loss_range))
    return table


def _given(model: Any, log: Log, loss_range: LossRange) -> FloatArray:
    table = np.array(model, dtype=np.float64)
    fits = table.shape == (len(log), log.n_actions) and np.isfinite(table).all()
    if not fits or table.min() < loss_range[0] or table.max() > loss_range[1]:
        raise ParameterError(
            f"model= must be a predictor or finite numbers [{len(log)}, {log.n_actions}] within "
            f"loss_range, a guess for each action in each round; got an array of shape "
            f"{table.shape}."
        )
    return table


def _default(log: Log) -> Any:
    if log.features is not None:
        return Ridge()
    if log.described:
        return Hybrid()
    try:
        hash(tuple(log.contexts))
    except TypeError:
        return Mean(by_context=False)
    return Mean()


def _prepared(predictor: Any, log: Log) -> Any:
    guesser = adopt(predictor, "model")
    if hasattr(guesser, "prepare") and not log.described:
        guesser.prepare(log.n_actions)
    return guesser


def _guess(guesser: Any, log: Log, t: int, loss_range: LossRange) -> FloatArray:
    ask = getattr(guesser, "estimate", guesser.predict)
    context = log.contexts[t]
    K = len(context) if log.described else log.n_actions
    return check_guess(guesser, ask(context), K, loss_range)


def _fill(row: FloatArray, guess: FloatArray) -> None:
    """Put guesses into a row of the table; nobody asks about what a menu does not offer."""
    row[: len(guess)] = guess
    row[len(guess) :] = 0.0


def _learn(guesser: Any, log: Log, t: int) -> None:
    guesser.learn(log.contexts[t], int(log.actions[t]), float(log.losses[t]))
