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
    """The table [n, K] of guesses; `model` and `folds` as in `evaluate`.

    It is 0 for what a menu does not offer, about which nobody asks.
    """
    if isinstance(model, np.ndarray | list | tuple):
        return _given(model, log, loss_range)
    predictor, rounds = _default(log) if model is None else model, range(len(log))
    table = np.zeros((len(log), log.n_actions))

    def prepared() -> Any:
        guesser = adopt(predictor, "model")
        if hasattr(guesser, "prepare") and not log.described:
            guesser.prepare(log.n_actions)
        return guesser

    def guess(guesser: Any, t: int) -> None:
        ask, context = getattr(guesser, "estimate", guesser.predict), log.contexts[t]
        K = len(context) if log.described else log.n_actions
        table[t, :K] = check_guess(guesser, ask(context), K, loss_range)

    def learn(guesser: Any, t: int) -> None:
        guesser.learn(log.contexts[t], int(log.actions[t]), float(log.losses[t]))

    if folds is None:
        guesser = prepared()
        for t in rounds:
            guess(guesser, t)
            learn(guesser, t)
        return table
    k = check_integer("evaluate", "folds", folds, 2)
    if not hasattr(predictor, "clone"):
        raise InputTypeError(
            f"model={predictor!r} has no clone(), so it cannot be fitted once for each fold. Use "
            "folds=None."
        )
    for fold in range(k):
        guesser = prepared()
        for t in rounds:
            if t % k != fold:
                learn(guesser, t)
        for t in rounds[fold::k]:
            guess(guesser, t)
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
