"""Checks of river models."""

import inspect
import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from hannan._packages import package
from hannan.core import ContextError, LossError
from hannan.core.validation import FloatArray, refuse

Names = Sequence[Hashable] | None


def load(part: str) -> Any:
    """Import a module of river, such as "bandit.base"."""
    return package(
        f"river.{part}",
        "The River… classes of hannan.adapters need river, which is not installed. Run "
        "pip install 'hannan[adapters]'.",
    )


def check_model(owner: object, model: Any) -> bool:
    """Return whether a model is a classifier; raise an error for an unusable or unseeded model."""
    base, last = load("base"), _last_step(model)
    classifies = isinstance(last, base.Classifier)
    if isinstance(model, type) or not (classifies or isinstance(last, base.Regressor)):
        what = "a river classifier or regressor, or a pipeline that ends in one"
        raise refuse(owner, "model", what, model)
    check_seeded(owner, "model", model)
    return classifies


def check_seeded(owner: object, name: str, thing: Any) -> None:
    """Raise `ParameterError` for an object without a seed, whose runs are not reproducible."""
    if missing := _unseeded(thing._get_params()):
        raise refuse(owner, name, f"a river object whose seed is set, {missing}", thing)


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, Real) and math.isfinite(value)


def check_names(owner: object, features: Names) -> Names:
    """Return distinct names of features, or None."""
    if features is None:
        return None
    if isinstance(features, str) or len({*features}) != len(list(features)) or not len(features):
        raise refuse(owner, "features", "a sequence of distinct names", features)
    return tuple(features)


def takes_weight(model: Any) -> bool:
    """Return whether `learn_one` takes a weight w, according to its signature."""
    last = _last_step(model)
    given = inspect.signature(last.learn_one).parameters
    if "w" in given:
        return True
    passes_on = any(p.kind is p.VAR_KEYWORD for p in given.values())
    inner = getattr(last, "_wrapped_model", getattr(last, "model", None))
    return passes_on and (inner is None or takes_weight(inner))


def as_dict(context: Any, names: Names) -> dict[Hashable, Any]:
    """Return a context as a dictionary for river.

    A feature vector gets its names, or 0, 1, …. A dictionary stays unchanged. Any other context is
    a category, and becomes the feature of this name with value 1.
    """
    if context is None:
        return {}
    if isinstance(context, Mapping):
        return dict(context)
    if not isinstance(context, np.ndarray | Sequence) or isinstance(context, str | bytes):
        return {context: 1.0}
    values = np.asarray(context, dtype=np.float64).reshape(-1).tolist()
    if names is None:
        return dict(enumerate(values))
    if len(values) != len(names):
        raise ContextError(f"features= must name each feature: got {len(names)} for {len(values)}.")
    return dict(zip(names, values, strict=True))


def finite(values: FloatArray, model: Any) -> FloatArray:
    """Return predictions, or raise `LossError` if the model has diverged."""
    if not math.isfinite(values.sum()):
        raise LossError(
            f"{model} predicts {values}: the model has diverged. Standardise the features, "
            "preprocessing.StandardScaler() | model, or reduce the learning rate."
        )
    return values


def _last_step(model: Any) -> Any:
    while isinstance(getattr(model, "steps", None), dict) and model.steps:
        model = list(model.steps.values())[-1]
    return model


def _unseeded(params: Mapping[str, Any]) -> str:
    """Return the place of a missing seed, such as "engine=SWINN(seed=…)", or "" if none is missing.

    river nests parameters as dicts or (class, dict).
    """
    for name, value in params.items():
        if name == "seed" and value is None:
            return "seed=…"
        kind, inner = value if isinstance(value, tuple) and len(value) == 2 else (None, value)
        if isinstance(inner, dict) and (found := _unseeded(inner)):
            return f"{name}={getattr(kind, '__name__', '')}({found})"
    return ""
