"""Total loss of every policy of a table, in one pass over the policies per round."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from hannan.core import Draw
from hannan.core.validation import FloatArray
from hannan.kernels import finite as kernel
from hannan.oracles._blockwise import NO_NOISE

_UNSEEN: Any = None, None, 0, 0.0


class OnePass:
    """Scores of N policies that are read once per round.

    An added round is pending until the next search for a leader, which adds it to the scores in the
    same pass. That pass also notes the best policy for each action on the context. A query for the
    leader after one more round on that context under the same draw uses the note, unless rounding
    could matter.

    Parameters
    ----------
    scores
        Initial scores; padding is infinite.
    codes
        Number of different actions.
    """

    def __init__(self, scores: FloatArray, codes: int) -> None:
        self._scores = scores
        self._waiting: NDArray[Any] | None = None  # actions of the pending round
        self._note = kernel.new_note(len(scores), codes)
        self._losses_in = kernel.losses_in(codes)
        self._seen = _UNSEEN  # column and draw behind the note

    @property
    def scores(self) -> FloatArray:
        """Scores with all rounds, for reading or writing; the access deletes the note."""
        if self._waiting is not None:
            kernel.add(self._scores, self._note[self._losses_in], self._waiting)
        self._waiting, self._seen = None, _UNSEEN
        return self._scores

    def add(self, column: NDArray[Any], losses: FloatArray) -> None:
        """Add a round: `column` holds each policy's action, `losses` the losses of the actions."""
        if self._waiting is not None:
            kernel.add(self._scores, self._note[self._losses_in], self._waiting)
        self._note[self._losses_in] = losses
        self._waiting, self._seen = column, _UNSEEN

    def act(self, column: NDArray[Any], draw: Draw) -> int:
        """Return the leader's action; add the pending round to the scores in the same pass."""
        blocks = draw.noise.blocks  # type: ignore[union-attr]
        row = blocks.locate(draw.number)
        waiting = self._waiting
        adds, waits = (False, column) if waiting is None else (True, waiting)
        given = blocks.block, row, draw.scale, column, self._note
        code = kernel.sweep(self._scores, waits, adds, *given)
        self._waiting, self._seen = None, (column, *draw)
        return int(code)

    def act_after(self, column: NDArray[Any], losses: FloatArray, draw: Draw) -> int:
        """Return the leader's action after one more round, without changing the scores."""
        if draw.scale == 0.0 or draw.noise is None:
            return int(kernel.act(self.plus(column, losses), NO_NOISE, 0, 0.0, column))
        code = self._noted(column, losses, draw)
        if code < 0:
            self.act(column, draw)
            code = self._noted(column, losses, draw)
        if code < 0:
            blocks = draw.noise.blocks  # type: ignore[attr-defined]
            row = blocks.locate(draw.number)
            scores = self.plus(column, losses)
            code = kernel.act(scores, blocks.block, row, draw.scale, column)
        return int(code)

    def add_and_act(self, column: NDArray[Any], losses: FloatArray, draw: Draw) -> int:
        """Add a round; return the action of the new leader."""
        code = self._noted(column, losses, draw)
        if code >= 0:
            self._waiting, self._seen = column, _UNSEEN  # the note holds the losses
            return code
        self.add(column, losses)
        return self.act(column, draw)

    def plus(self, column: NDArray[Any], losses: FloatArray) -> FloatArray:
        """Return a copy of the scores with one more round."""
        after = self.scores.copy()
        kernel.add(after, losses, column)
        return after

    def _noted(self, column: NDArray[Any], losses: FloatArray, draw: Draw) -> int:
        """Return the leader's action after one more round, or -1 if the note is not sufficient."""
        seen, noise, number, scale = self._seen
        if seen is not column or noise is not draw.noise:
            return -1
        if number != draw.number or scale != draw.scale:
            return -1
        largest = noise.largest  # type: ignore[union-attr]
        return int(kernel.foresee(self._note, losses, largest * abs(scale)))
