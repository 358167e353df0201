"""Contexts that are rows of features or names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core import ContextError
from hannan.core.arrays import check_comparable
from hannan.oracles._features import check_row


def row_or_name(context: Any) -> Any:
    """A row of features as float64; anything that can be hashed is a discrete context instead."""
    if type(context) is not np.ndarray:
        try:
            hash(context)
        except TypeError:
            return check_row(context)
        if isinstance(context, float) and not math.isfinite(context):
            raise ContextError(f"A context must not be {context!r}: mend or leave out the row.")
        return check_comparable(context)
    return check_row(context)
