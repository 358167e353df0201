"""Policy classes on the contexts 0..d-1."""

from numbers import Integral
from typing import Any

import numpy as np

from hannan.core import ContextError
from hannan.core.arrays import as_scalar
from hannan.core.oracle import Lesson, Trials
from hannan.core.validation import FloatArray
from hannan.kernels import distribution as kernel


def check_table_context(owner: object, context: Any, n_contexts: int) -> int:
    """Return the index of a context; None means the context if there is only one."""
    if type(context) is int and 0 <= context < n_contexts:
        return context
    if context is None and n_contexts == 1:
        return 0
    number = as_scalar(context)
    if not isinstance(number, bool) and isinstance(number, Integral):
        index = int(number)
        if 0 <= index < n_contexts:
            return index
    if n_contexts == 1:
        raise ContextError(
            f"{type(owner).__name__} has a single context here; got {context!r}. Call act() "
            "without a context. For feature vectors use LinearPolicies, as hn.bandit(n_actions) "
            "does."
        )
    raise ContextError(
        f"The contexts of {type(owner).__name__} are the integers 0 to {n_contexts - 1}; "
        f"got {context!r}."
    )


def argmin_distribution_of(values: FloatArray, scale: float) -> FloatArray:
    """Return the probability of each entry to be the smallest under noise; 0 for inf."""
    q = np.zeros(len(values))
    if scale == 0.0:
        q[np.argmin(values)] = 1.0
    else:
        kernel.argmin_distribution(values, scale, q)
    return q


def exact_lesson(
    values: FloatArray, scale: float, action: int, loss: float, trials: Trials
) -> Lesson:
    """Return the mean weight and the instability if the smallest noisy value is chosen."""
    distribution = np.empty(len(values))
    numbers = trials.limit, trials.share, trials.kept
    weight, lost = kernel.lesson(values, scale, action, loss, numbers, distribution)
    return Lesson(weight, 0, lost, distribution)
