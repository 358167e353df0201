"""Detection of rows that a file holds more than once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.environments._files import TableFile

_LENGTH = 50  # consecutive rows that do not repeat by chance
_DISTINCT = 45  # minimum of different rows among them: rows of few categories do repeat
_MANY = 100  # different rows whose counts do not have a common divisor by chance
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64


def copies_in(file: TableFile, names: Sequence[str]) -> str:
    """Return a warning if a file holds all rows several times, or a sequence of rows again.

    A replay would test rules on copies of the rows that they were fitted to, so the rules would
    look too good. Single rows that are equal do not count as copies.
    """
    marks = np.array(
        [
            hash(cells)
            for _, batch in file.batches(list(names))
            for cells in zip(*(map(_cell, batch[name]) for name in names), strict=True)
        ],
        dtype=np.int64,
    ).view(np.uint64)
    counts = np.unique(marks, return_counts=True)[1]
    times = int(np.gcd.reduce(counts)) if len(counts) >= _MANY else 1
    if times > 1:
        return f"The data hold every row {times} times. {_FIX}"
    first, again = _repeated(marks)
    if not len(again):
        return ""
    return (
        f"{len(again) + _LENGTH - 1:,} rows repeat earlier rows in the same order: the rows from "
        f"row {again[0] + 1:,} on equal those from row {first + 1:,} on. {_FIX}"
    )


def _repeated(marks: NDArray[np.uint64]) -> tuple[int, NDArray[np.intp]]:
    """Return the first row of the first repeated sequence, and all starts of repeated ones."""
    none = np.empty(0, dtype=np.intp)
    n = len(marks) - _LENGTH + 1
    if n < 2:
        return 0, none
    # Sums of marks times powers of the base: equal for equal sequences of rows.
    powers = _powers(_BASE, len(marks))
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(marks * powers)))
    keys = (sums[_LENGTH:] - sums[:n]) * _powers(pow(_BASE, -1, 2**64), n)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[place] != np.arange(n))
    varied = [t for t in again.tolist() if len({*marks[t : t + _LENGTH].tolist()}) >= _DISTINCT]
    if not varied:
        return 0, none
    return int(first[place[varied[0]]]), np.array(varied, dtype=np.intp)


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    steps = np.full(count, base, dtype=np.uint64)
    steps[0] = 1
    return np.asarray(np.cumprod(steps))


def _cell(cell: Any) -> Any:
    """Return a cell as a hashable value, with None for NaN."""
    if isinstance(cell, list | dict):
        return repr(cell)
    return None if cell != cell else cell


_FIX = (
    "Remove the copies, for example with frame.drop_duplicates(). Otherwise rules are tested on "
    "copies of the rows that they were fitted to, and look better than they are."
)
