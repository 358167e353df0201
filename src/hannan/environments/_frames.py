"""Data frames as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.validation import refuse
from hannan.environments._columns import Batches
from hannan.environments._files import BATCH


class FrameTable:
    """The rows of a frame; only the requested columns are accessed."""

    def __init__(self, owner: object, frame: Any) -> None:
        self.source = "the frame"
        self.names = _names(owner, frame)
        self._owner = owner
        self._frame = frame

    def batches(self, columns: Sequence[str]) -> Batches:
        """The number of the first row, from 1, and these columns of some thousand rows."""
        arrays = {name: self._column(name) for name in columns}
        rows = len(next(iter(arrays.values())))
        if rows == 0 or any(len(values) != rows for values in arrays.values()):
            accepted = "a table of columns of the same length, not empty"
            raise refuse(self._owner, "frame", accepted, self._frame)
        for start in range(0, rows, BATCH):
            yield start + 1, {name: v[start : start + BATCH] for name, v in arrays.items()}

    def count(self) -> int:
        """The number of rows."""
        return len(self._column(self.names[0])) if self.names else 0

    def _column(self, name: str) -> NDArray[Any]:
        values = np.asarray(self._frame[name])
        if values.ndim != 1:
            raise refuse(self._owner, "frame", f"a table whose column {name!r} is one", self._frame)
        return values


def _names(owner: object, frame: Any) -> list[str]:
    """The names of the columns; pyarrow has `column_names`, and columns that are the data."""
    if hasattr(frame, "column_names"):
        return list(frame.column_names)
    if hasattr(frame, "columns"):
        return [str(name) for name in frame.columns]
    try:
        return [str(name) for name in frame.keys()]  # noqa: SIM118
    except AttributeError:
        accepted = "a data frame or a mapping of names to arrays"
        raise refuse(owner, "frame", accepted, frame) from None
