"""From features by name to rows of numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.adapters.vw.rounds import Features, entries
from hannan.core import ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.environments._columns import check_names

Columns = Sequence[str] | int | None
Flat = dict[str, float]

_LARGEST = 10**8  # entries of an array, 800 MB


def flat(*parts: Features) -> Flat:
    """Values by the names that VW's audit has: name, space^name or space^name^word.

    >>> flat({"": {"sun": 1.0}, "user": {"age": 31.0, "city": "york"}})
    {'sun': 1.0, 'user^age': 31.0, 'user^city^york': 1.0}
    """
    found: Flat = {}
    for space, name, value in entries(*parts):
        key = f"{space}^{name}" if space else name
        if isinstance(value, str):
            key, value = f"{key}^{value}", 1.0
        found[key] = found.get(key, 0.0) + float(value)
    return found


def rows(
    owner: str, found: Sequence[Flat], columns: Columns
) -> tuple[FloatArray | None, list[str]]:
    """Return an array [n, p], None where there are no features at all, and the names of columns.

    Columns are all names that were found, in order; or those given, and no others; or so many
    that names are hashed to, with signs, so that collisions cancel on average.
    """
    from sklearn.feature_extraction import DictVectorizer, FeatureHasher

    made: Any
    if isinstance(columns, int | np.integer):
        width = check_integer(owner, "columns", columns, 1)
        made, names = FeatureHasher(width), [f"#{i}" for i in range(width)]
    else:
        known = sorted({name for row in found for name in row})
        names = known if columns is None else list(columns)
        named = not isinstance(columns, str) and all(isinstance(name, str) for name in names)
        if columns is not None and not (named and 0 < len(names) == len(set(names))):
            raise refuse(owner, "columns", "different names, a number of columns, or None", columns)
        check_names("the log", names, known)
        if not names:
            return None, []
        made = DictVectorizer(sort=False).fit([dict.fromkeys(names, 1.0)])
    if len(found) * len(names) > _LARGEST:
        raise ParameterError(
            f"{owner} would make an array of {len(found)} x {len(names)} numbers. Name the "
            "features that are needed, columns=[…], or hash them to a few hundred, columns=256."
        )
    return np.ascontiguousarray(made.transform(found).toarray(), dtype=np.float64), names


def as_features(context: Any, names: Sequence[str] | None) -> Features:
    """A context of ours as features: a row by its names, a word as one feature."""
    if context is None:
        return {}
    if isinstance(context, np.ndarray) and context.ndim == 1:
        known = range(len(context)) if names is None else names
        if len(known) != len(context):
            raise ParameterError(
                f"names= has {len(known)} entries for contexts of {len(context)} features."
            )
        return {"x": {str(name): float(v) for name, v in zip(known, context, strict=True)}}
    if isinstance(context, dict):
        deep = all(isinstance(value, dict) for value in context.values())
        return context if deep else {"x": context}
    if isinstance(context, str | int | float | np.number):
        return {"x": {f"context={context}": 1.0}}
    raise ParameterError(
        f"A context must be a row of features, a mapping, a word or a number; got {short(context)}."
    )
