"""Tables in files, read batch after batch so that they need not fit into memory."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any

from hannan._packages import package
from hannan.core import ParameterError
from hannan.environments._columns import Batches, Table

BATCH = 4096
_UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error)


class TableFile(ABC):
    """A file of rows with named columns, read from its beginning each time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = f"the file {str(path)!r}"
        with self._readable():
            names = self._header()
        if not names:
            raise ParameterError(f"{self._Source} is empty.")
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise ParameterError(f"{self._Source} has more than one column {twice[0]!r}.")
        self.names = names

    @abstractmethod
    def _header(self) -> list[str]:
        """The names of the columns; none if the file is empty."""

    @abstractmethod
    def _batches(self, columns: Sequence[str]) -> Batches:
        """These columns of all rows."""

    def batches(self, columns: Sequence[str]) -> Batches:
        """The number of the first row, from 1, and these columns of some thousand rows at a time.

        Values are text, or what the format says they are.
        """
        with self._readable():
            yield from self._batches(columns)

    def count(self) -> int:
        """The number of rows: reads the file."""
        rows = 0
        for first, batch in self.batches(self.names[:1]):
            rows = first - 1 + len(batch[self.names[0]])
        return rows

    @property
    def _Source(self) -> str:
        return self.source[0].upper() + self.source[1:]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except _UNREADABLE as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ParameterError(f"{self._Source} cannot be read: {why}.") from error


class _TextFile(TableFile):
    def _open(self) -> IO[str]:
        if self.path.suffix.lower() == ".gz":
            return gzip.open(self.path, "rt", encoding="utf-8-sig", newline="")
        return open(self.path, encoding="utf-8-sig", newline="")


class CsvFile(_TextFile):
    """Values separated by commas, under a line of names; blank lines do not count."""

    def _header(self) -> list[str]:
        with self._open() as stream:
            return [name.strip() for name in next(filter(None, csv.reader(stream)), [])]

    def _batches(self, columns: Sequence[str]) -> Batches:
        width = len(self.names)
        places = [(name, self.names.index(name)) for name in columns]
        first = 1
        with self._open() as stream:
            lines = filter(None, csv.reader(stream))
            next(lines)
            while rows := list(islice(lines, BATCH)):
                if set(map(len, rows)) != {width}:
                    at, row = next((i, r) for i, r in enumerate(rows) if len(r) != width)
                    raise ParameterError(
                        f"Row {first + at} of {self.source} has {len(row)} values; its header "
                        f"names {width} columns."
                    )
                yield first, {name: [row[i] for row in rows] for name, i in places}
                first += len(rows)


class JsonLinesFile(_TextFile):
    """One JSON object a line; the first one names the columns. Blank lines do not count."""

    def _header(self) -> list[str]:
        with self._open() as stream:
            return [str(name) for name in next(self._rows(stream), {})]

    def _batches(self, columns: Sequence[str]) -> Batches:
        first = 1
        with self._open() as stream:
            objects = self._rows(stream)
            while rows := list(islice(objects, BATCH)):
                try:
                    batch = {name: [row[name] for row in rows] for name in columns}
                except KeyError:
                    at, name = next(
                        (i, c) for i, row in enumerate(rows) for c in columns if c not in row
                    )
                    raise ParameterError(
                        f"Row {first + at} of {self.source} has no {name!r}."
                    ) from None
                yield first, batch
                first += len(rows)

    def _rows(self, stream: IO[str]) -> Iterator[dict[str, Any]]:
        number = 0
        for line in stream:
            if line.isspace():
                continue
            number += 1
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ParameterError(
                    f"Row {number} of {self.source} is not valid JSON: {error}."
                ) from None
            if not isinstance(row, dict):
                raise ParameterError(
                    f"Row {number} of {self.source} must be a JSON object, one a line; got "
                    f"{line.strip()[:60]!r}."
                )
            yield row


class ParquetFile(TableFile):
    """A Parquet file; needs pyarrow. Memory is that of one of its row groups."""

    def _header(self) -> list[str]:
        with self._open() as file:
            return [str(name) for name in file.schema_arrow.names]

    def count(self) -> int:
        """The number of rows, from the file's own index."""
        with self._readable(), self._open() as file:
            return int(file.metadata.num_rows)

    def _batches(self, columns: Sequence[str]) -> Batches:
        first = 1
        with self._open() as file:
            for batch in file.iter_batches(BATCH, columns=list(columns), use_threads=False):
                if batch.num_rows:
                    yield first, {name: _values(batch.column(name)) for name in columns}
                    first += batch.num_rows

    @contextmanager
    def _open(self) -> Iterator[Any]:
        arrow = _arrow()
        try:
            with arrow.parquet.ParquetFile(self.path, pre_buffer=False) as file:
                yield file
        except arrow.ArrowException as error:
            raise ParameterError(f"{self._Source} cannot be read: {error}.") from error


_FORMATS: dict[str, type[TableFile]] = {
    ".csv": CsvFile,
    ".jsonl": JsonLinesFile,
    ".ndjson": JsonLinesFile,
    ".parquet": ParquetFile,
}


def open_table(path: str | PathLike[str]) -> TableFile:
    """The table in a file, by the ending of its name."""
    file = Path(path)
    endings = [suffix.lower() for suffix in file.suffixes]
    zipped = endings[-1:] == [".gz"]
    found = _FORMATS.get((endings[:-1] if zipped else endings)[-1:][0]) if endings else None
    if found is None or (zipped and found is ParquetFile):
        raise ParameterError(
            f"The name of a data file must end in .csv, .jsonl, .ndjson (or one of them and .gz) "
            f"or .parquet; got {str(path)!r}."
        )
    return found(file)


def first_rows(table: Table, columns: Sequence[str], count: int) -> Batches:
    """The first `count` rows in batches; an error if there are fewer."""
    rows = 0
    for first, batch in table.batches(columns):
        left = count - first + 1
        rows = first - 1 + len(next(iter(batch.values())))
        if rows >= count:
            yield first, {name: values[:left] for name, values in batch.items()}
            return
        yield first, batch
    raise ParameterError(f"There are {rows} rows in {table.source}; {count} were asked for.")


def _values(column: Any) -> Any:
    """A column of numbers as an array, of anything else as a list."""
    types = _arrow().types
    if types.is_decimal(column.type):
        column = column.cast("float64")
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind):
        return column.to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _arrow() -> Any:
    missing = (
        "Parquet files are read with pyarrow, which is not installed. Get it with "
        "pip install 'hannan[parquet]', or turn the file into .csv or .jsonl."
    )
    package("pyarrow.parquet", missing)
    return package("pyarrow", missing)
