"""Rounds that a `Watch` was told of and has not counted yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import FloatArray
from hannan.kernels import watch as kernel
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.rules import Shares

_MANY, _NUMBERS = 256, 2**16  # rounds at most, and what their shares may hold


def batch(rows: int) -> int:
    """How many rounds wait to be counted at most, so that they take little memory."""
    return max(1, min(_MANY, _NUMBERS // rows))


class Uncounted:
    """What was decided and answered since the sums were last asked for, in order.

    Counting one round takes much less time than calling a kernel for it alone.

    Parameters
    ----------
    rows
        How many numbers the shares of a round have: one for each policy, and one.
    """

    def __init__(self, rows: int) -> None:
        self._most = batch(rows)
        self._decided: list[Shares] = []
        self._answered: list[tuple[Shares, float, float]] = []

    def decided(self, held: Shares) -> bool:
        """A round without an answer; whether it is time to count."""
        self._decided.append(held)
        return len(self._decided) >= self._most

    def answered(self, held: Shares, weight: float, loss: float) -> bool:
        """The answer of a round has come, a loss in [0, 1]; whether it is time to count."""
        self._answered.append((held, weight, loss))
        return len(self._answered) >= self._most

    def count(self, sums: FloatArray, kinds: NDArray[np.int64], absent: NDArray[np.int64]) -> None:
        """Add them to what was counted before; none are left."""
        if not self._decided and not self._answered:
            return
        # Rounds in which the same was played have the same shares, most often one object.
        table: dict[int, tuple[int, Shares]] = {}
        for held in [*self._decided, *(each[0] for each in self._answered)]:
            if id(held) not in table:
                table[id(held)] = len(table), held
        rows = [held for _, held in table.values()]
        kernel.count_many(
            sums,
            kinds,
            absent,
            (
                np.array([held.kinds for held in rows]),
                np.array([held.played for held in rows]),
                np.array([held.copied for held in rows]),
            ),
            np.array([table[id(held)][0] for held in self._decided], dtype=np.int64),
            np.array([table[id(held)][0] for held, _, _ in self._answered], dtype=np.int64),
            np.array([each[1:] for each in self._answered]).reshape(-1, 2),
            evidence.COLUMNS,
        )
        self._decided.clear()
        self._answered.clear()
