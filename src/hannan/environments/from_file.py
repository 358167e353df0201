"""Replay of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from hannan.core import Oracle
from hannan.environments._features import Categorical, Context
from hannan.environments._files import open_table
from hannan.environments._tabular import Replay


class FromFile(Replay):
    r"""The rows of a CSV, JSON-lines or Parquet file, in order: an oblivious adversary.

    The file is read in batches, so it may be larger than memory. Numbers are standardised by the
    mean and deviation of the rows so far. Columns of categories become one indicator for each
    category.

    Parameters
    ----------
    path
        A file .csv, .tsv, .txt, .jsonl or .ndjson, each also in .gz or .zip, or .parquet (needs
        pyarrow).
    context
        Columns that are shown before acting: a list of names makes vectors. One name by itself:
        the context is that column's number, as it is. None: a problem without contexts. Pairs
        (name, kind), or a mapping, declare kinds of columns: "number", "category", "flag", "text",
        "date" or a column of `hannan.features`. Rows are then encoded by `Features`, and values
        may be missing.
    label
        The column that holds the right class: playing it costs 0, any other class costs 1.
    losses
        In place of `label`: for each action the column that holds its loss.
    labels
        The classes, in the order of the actions. By default all that the column holds, at most
        1000, for which the file is read once in advance.
    categorical
        Columns of `context` that hold categories, not numbers; a mapping from names to lists
        declares the categories, else the file is read once in advance.
    scale
        "running", or None for numbers as they are.
    value_range
        (low, high) of the losses in the file; they are mapped to [0, 1]. None leaves them alone.
    current
        The column that names the action taken in the data: a class, or one of the columns `losses`;
        anything else is an error. Each round then has it in `round.current`, and a trace holds its
        losses in `trace.current_losses`.
    cost
        What actions cost where a class is right, such as ``{"fraud": {"pass": 50, "block": 0},
        "good": {"pass": 0, "block": 2}}``. If the actions are the classes, what is not said costs 0
        for the right class and 1 for another.
    missing
        What becomes of rows that lack a label, a loss or what was done: "refuse" or "drop".
    dialect
        How text is written, if it is not to be found out: a mapping with some of ``delimiter``,
        ``decimal`` ("." or ","), ``encoding`` and ``header`` (a boolean).
    oracle
        A policy class to measure regret against.
    max_columns
        Columns that the file may have, 10,000 by default; a row may have 1,024 characters for each.
    max_unpacked
        Bytes that a .gz or .parquet file may unpack to; by default 50 times its size, and at least
        16 MiB.

    Attributes
    ----------
    actions
        The names of the actions: labels, or columns of losses.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "days.csv"
    >>> _ = file.write_text("wind,sky,rain\n3,grey,yes\n1,blue,no\n2,grey,yes\n")
    >>> days = hn.environments.FromFile(
    ...     file, context=["wind", "sky"], categorical=["sky"], label="rain"
    ... )
    >>> days.horizon, days.actions
    (3, ['no', 'yes'])
    >>> [this_round.context.tolist() for this_round in days.rounds(3, None)]
    [[0.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        context: Context = None,
        label: str | None = None,
        losses: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        categorical: Categorical = (),
        scale: str | None = "running",
        value_range: tuple[float, float] | None = None,
        current: str | None = None,
        cost: Mapping[Any, Mapping[Any, float]] | None = None,
        missing: str = "refuse",
        dialect: Mapping[str, Any] | None = None,
        oracle: Oracle | None = None,
        max_columns: int | None = None,
        max_unpacked: int | None = None,
    ) -> None:
        self.path = path
        self.context = context
        self.label = label
        self.losses = losses
        self.labels = labels
        self.categorical = categorical
        self.scale = scale
        self.value_range = value_range
        self.current = current
        self.cost = cost
        self.missing = missing
        self.dialect = dialect
        self.oracle = oracle
        self.max_columns = max_columns
        self.max_unpacked = max_unpacked
        self._replay(open_table(path, max_columns, max_unpacked, dialect))
