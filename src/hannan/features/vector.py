"""Vectors of numbers, such as embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core.state import Part, State
from hannan.core.validation import check_integer
from hannan.features._cells import is_missing, stable_hash
from hannan.features.column import News, Reading, check_flag
from hannan.features.number import Number

LONGEST = 4096
_MOST = 256  # most numbers that encode a vector
_BARE = (int, float, np.integer, np.floating)


def as_vector(value: Any) -> list[Any] | None:
    """Return a list, a tuple or a one-dimensional array of numbers as a list; None for others.

    >>> as_vector((1, 0.5)), as_vector([1, "a"]), as_vector([]), as_vector([True])
    ([1, 0.5], None, None, None)
    """
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.ndim == 1 and value.dtype.kind in "iuf" else None
    if not isinstance(value, list | tuple) or not 0 < len(value) <= LONGEST:
        return None
    numbers = all(isinstance(x, _BARE) and not isinstance(x, bool) for x in value)
    return list(value) if numbers else None


class Vector(Reading):
    """A vector of fixed length, such as an embedding: each entry is encoded as a `Number`.

    A vector of another length counts as missing. If the vector has more than 256 entries, they are
    added up in 256 numbers, each entry with a fixed sign.

    Parameters
    ----------
    length
        Number of entries, from 1 to 4,096.
    indicator
        Whether to add a last number that is 1 for a missing vector. Default True.

    Examples
    --------
    >>> from hannan.features import Features, Vector
    >>> features = Features({"image": Vector(2)})
    >>> features.names
    ['image[0]', 'image[1]', 'image missing']
    >>> features.see({"image": [0.0, 3.0]})
    >>> features.encode({"image": [1.0, 1.0]})
    array([ 1., -1.,  0.])
    >>> features.encode({"image": None})
    array([0., 0., 1.])
    """

    stored = State(_entries=Part())
    room_for = ("length",)

    def __init__(self, length: int, indicator: bool = True) -> None:
        self.length = check_integer(self, "length", length, 1, LONGEST + 1)
        self.indicator = check_flag(self, "indicator", indicator)
        self._entries = [Number(indicator=False) for _ in range(self.length)]
        self._size = min(self.length, _MOST)
        self._signs = [1.0] * self._size
        self._signs += [float(stable_hash(str(i)) % 2 * 2 - 1) for i in range(_MOST, self.length)]

    @property
    def width(self) -> int:
        """Number of entries, at most 256, plus 1 for the indicator of missing vectors."""
        return self._size + self.indicator

    def labels(self, name: str) -> list[str]:
        """Return the labels, such as "image[0]", "image[1]" and "image missing"."""
        return [*(f"{name}[{i}]" for i in range(self._size)), f"{name} missing"][: self.width]

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Write each entry; an entry that is not a number is encoded as the mean."""
        numbers = as_vector(value)
        if numbers is None or len(numbers) != self.length:
            if self.indicator:
                out[at + self._size] = 1.0
            return self.indicator and is_missing(value)
        z = [0.0] * self.length
        for i, x in enumerate(numbers):
            self._entries[i].read(x, z, i, news)
        for i, sign in enumerate(self._signs):
            out[at + i % self._size] += sign * z[i]
        return True
