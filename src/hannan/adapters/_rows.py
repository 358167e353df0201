"""Convert named features to feature vectors."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher

from hannan.core import ContextError
from hannan.core.validation import FloatArray, check_integer, refuse

Encoding = Sequence[Hashable] | int | Callable[[Any], Any] | None


class RowEncoder:
    """Conversion of named features to a feature vector, as a parameter of an adapter declares it.

    - Names: the features with these names, in this order, 0 for a missing one. Text is a feature
      "name=text" with value 1. Other features raise `ContextError`, or are ignored if not `strict`.
    - A number n: a hash of the name adds each feature, with a sign, to one of n columns.
    - A function: its result is the context.
    - None: the names of the first stored mapping; other features raise `ContextError`.
    """

    def __init__(
        self, owner: object, parameter: str, given: Encoding, *, strict: bool = True
    ) -> None:
        self.parameter = parameter
        self.function: Callable[[Any], Any] | None = given if callable(given) else None
        self._strict = strict or given is None
        self._names: tuple[Hashable, ...] = ()
        self._hasher: Any = None
        if isinstance(given, int | np.integer):
            self._hasher = FeatureHasher(check_integer(owner, parameter, given, 1))
        elif given is not None and not callable(given):
            self._names = () if isinstance(given, str) else tuple(given)
            if not self._names or len(set(self._names)) < len(self._names):
                accepted = "distinct names, a number of columns, a function or None"
                raise refuse(owner, parameter, accepted, given)

    @property
    def known(self) -> bool:
        """Whether the features are declared."""
        return bool(self._names) or self._hasher is not None

    def __call__(self, context: Any) -> Any:
        """Return the feature vector of a mapping; return any other context unchanged."""
        if self.function is not None:
            return self.function(context)
        return self._row(context) if isinstance(context, Mapping) else context

    def keep(self, context: Any) -> None:
        """Store the names of an accepted mapping, if no names are known yet."""
        if not self.known and isinstance(context, Mapping):
            self._names = tuple(context)

    def _row(self, features: Mapping[Any, Any]) -> FloatArray:
        names = self._names if self.known else tuple(features)
        values = dict(_entry(name, value, names) for name, value in features.items())
        if self._hasher is not None:
            named = {str(name): value for name, value in values.items()}
            return np.asarray(self._hasher.transform([named]).toarray()[0], dtype=np.float64)
        unknown = [name for name in values if name not in names]
        if unknown and self._strict:
            raise ContextError(
                f"Unknown features {unknown}; the known features are {list(names)}. Pass "
                f"{self.parameter}=[…] with the names of all features, or hash the features with "
                f"{self.parameter}=<number of columns>."
            )
        return np.array([values.get(name, 0.0) for name in names])


def _entry(name: Hashable, value: Any, names: Sequence[Hashable]) -> tuple[Hashable, float]:
    """Return the name and the number of a feature; text becomes an indicator."""
    if isinstance(value, str) and name not in names:
        return f"{name}={value}", 1.0
    try:
        if isinstance(value, str):
            raise TypeError
        return name, float(value)
    except (TypeError, ValueError):
        raise ContextError(
            f"Feature {name!r} must be a number; got {value!r}. Encode the feature, or hash the "
            "features, which supports text."
        ) from None
