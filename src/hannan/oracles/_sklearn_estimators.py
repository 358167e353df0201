"""Properties of a scikit-learn estimator that must be known before it is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hannan.core import ParameterError
from hannan.core.params import short


def weight_name(estimator: Any) -> str | None:
    """The argument of `fit` that takes the weights of the rows, or None.

    In a pipeline it is that of the last step; a voting estimator passes weights on to all members,
    a search or a transformed target to the estimator inside.
    """
    from sklearn.compose import TransformedTargetRegressor  # type: ignore[import-untyped]
    from sklearn.ensemble import VotingClassifier, VotingRegressor  # type: ignore[import-untyped]
    from sklearn.model_selection._search import BaseSearchCV  # type: ignore[import-untyped]
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]
    from sklearn.utils.validation import has_fit_parameter  # type: ignore[import-untyped]

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    if isinstance(estimator, BaseSearchCV):
        return weight_name(estimator.estimator)
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        return weight_name(estimator.regressor)
    if isinstance(estimator, VotingClassifier | VotingRegressor):
        members = [member for _, member in estimator.estimators if member != "drop"]
        takes = all(weight_name(member) == "sample_weight" for member in members)
        return "sample_weight" if takes else None
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def seeded(estimator: Any) -> Any:
    """A clone in which every random state is fixed."""
    from sklearn.base import clone  # type: ignore[import-untyped]

    copy = clone(estimator)
    seeds = {
        name: 0
        for name, value in copy.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and not isinstance(value, int | np.integer)
    }
    return copy.set_params(**seeds)


def rows_needed(estimator: Any) -> int:
    """The smallest number of rows for fitting and predicting: two, or the number of neighbours."""
    params = estimator.get_params(deep=True)
    neighbours = (
        int(value)
        for name, value in params.items()
        if name.split("__")[-1] == "n_neighbors" and isinstance(value, int | np.integer)
    )
    return max([2, *neighbours])


@contextmanager
def explained(estimator: Any, verb: str, rows: Any) -> Iterator[None]:
    """Add the name of the estimator to an error that it raises."""
    try:
        yield
    except (ValueError, TypeError, IndexError) as error:
        raise ParameterError(
            f"SklearnPolicies cannot {verb} {short(estimator)} on {len(rows)} contexts of "
            f"{rows.shape[1]} features: {error}\n"
            "It is fitted from the first rounds on, to arrays without column names: leave out "
            "cross-validation and early stopping, which need many rows of every action, and let a "
            "pipeline bring features into the form it wants."
        ) from error
