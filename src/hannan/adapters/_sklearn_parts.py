"""What a classifier is made of, from what its user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator  # type: ignore[import-untyped]

from hannan.core import InputTypeError, Oracle, ParameterError
from hannan.core.validation import FloatArray, refuse
from hannan.oracles import LinearPolicies, SklearnPolicies


def make_oracle(given: Any, n_classes: int) -> Oracle:
    """A policy class that chooses one of the classes."""
    oracle = given
    if given is None:
        oracle = LinearPolicies(n_classes)
    elif isinstance(given, BaseEstimator):
        oracle = SklearnPolicies(given, n_classes)
    elif callable(given) and not hasattr(given, "fit"):
        oracle = given(n_classes)
    if not isinstance(oracle, Oracle):
        raise InputTypeError(
            "oracle= must be an oracle, a function of the number of classes that returns one, or "
            f"a scikit-learn estimator, an instance and not a class; got {given!r}."
        )
    if oracle.n_actions not in (None, n_classes) or oracle.max_chosen != 1:
        raise ParameterError(
            f"oracle= must choose one of {n_classes} actions, one for each class; got {oracle!r}."
        )
    return oracle


def make_costs(owner: object, given: Any, n_classes: int) -> FloatArray:
    """The cost of each class (columns) where each class is right (rows)."""
    if given is None:
        return 1.0 - np.eye(n_classes)
    try:
        costs = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(owner, "costs", "a square array of numbers", given) from None
    if costs.shape != (n_classes, n_classes) or not np.isfinite(costs).all():
        accepted = f"{n_classes} rows of {n_classes} finite numbers, one for each class"
        raise refuse(owner, "costs", accepted, given)
    return costs
