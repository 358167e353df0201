"""Read tables from files in batches, so that they need not fit into memory."""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any, TypeVar

from hannan._compressed_files import check_packed, check_unpacked, open_unpacked, packed_name
from hannan._packages import package
from hannan.core import ParameterError
from hannan.core.validation import check_integer
from hannan.environments._columns import Batch, Batches, Table
from hannan.environments._dialect import Dialect, check_dialect, find_dialect, find_encoding

BATCH = 4096
MAX_COLUMNS = 10_000
_BATCH_CHARACTERS = 2**22  # most characters of a batch, so that wide rows make smaller batches
_COLUMN_CHARACTERS = 1024  # most characters per column, on average over a row
_Row = TypeVar("_Row")
_UNREADABLE = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,  # a compression method that zipfile does not support
    UnicodeError,
    csv.Error,
)
_LOOK = 100  # number of first JSON objects whose keys are the columns


class TableFile(Table):
    """A file of rows with named columns, read from its beginning in each pass.

    A file can have at most `max_columns` columns, and a compressed file can unpack to at most
    `max_unpacked` bytes (see `check_unpacked`). These limits protect memory and time against
    hostile files. Fields that `dialect` leaves out are detected from the file.
    """

    def __init__(
        self,
        path: Path,
        max_columns: int | None = None,
        max_unpacked: int | None = None,
        dialect: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.source = f"the file {str(path)!r}"
        most = MAX_COLUMNS if max_columns is None else max_columns
        self._most = check_integer("A table", "max_columns", most, 1)
        self._max_unpacked = max_unpacked
        self._given = check_dialect("A table", dialect)
        with _readable(path):
            names = self._header()
        if not names:
            raise ParameterError(f"The file {str(path)!r} is empty.")
        if len(names) > self._most:
            raise ParameterError(
                f"The file {str(path)!r} has {len(names):,} columns, more than max_columns="
                f"{self._most:,}. To read this many columns, pass a larger max_columns."
            )
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ParameterError(f"The file {str(path)!r} has more than one column {twice[0]!r}.")
        self.names = names

    @abstractmethod
    def _header(self) -> list[str]:
        """Return the names of the columns; none if the file is empty."""

    @abstractmethod
    def _batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Yield these columns of all rows, in batches."""

    def batches(self, columns: Sequence[str]) -> Batches:
        """Yield batches as any `Table` does; values are text, or the types of the format."""
        first = 1
        with _readable(self.path):
            for batch in self._batches(columns):
                yield first, batch
                first += len(next(iter(batch.values())))


@contextmanager
def _readable(path: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"The file {str(path)!r} cannot be read: {why}.") from error


@dataclass
class _Lines:
    """Lines of a text file, with a limit on the characters of each row over all its lines."""

    stream: IO[str]
    longest: int
    refusal: str
    row: int = 0
    """Number of characters since the last complete row."""

    def __iter__(self) -> Iterator[str]:
        while line := self.stream.readline(self.longest + 1):
            self.row += len(line)
            if self.row > self.longest:
                raise ParameterError(self.refusal)
            yield line

    def batches(self, rows: Iterator[_Row]) -> Iterator[list[_Row]]:
        """Yield batches of the rows made of these lines; long rows make smaller batches."""
        batch: list[_Row] = []
        size = 0
        for row in rows:
            batch.append(row)
            size += self.row
            self.row = 0
            if len(batch) == BATCH or size > _BATCH_CHARACTERS:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


class _TextFile(TableFile):
    """A text file whose rows are made of lines."""

    dialect: Dialect

    def _header(self) -> list[str]:
        check_packed(self.path, self._max_unpacked)
        self.dialect = self._find_dialect()
        with self._open() as lines:
            return self._names(lines)

    def _find_dialect(self) -> Dialect:
        found = self._given.get("encoding") or find_encoding(self.path, self._max_unpacked)
        return Dialect(encoding=found)

    @abstractmethod
    def _names(self, lines: _Lines) -> list[str]:
        """Return the names of the columns; none if the file is empty."""

    @contextmanager
    def _open(self) -> Iterator[_Lines]:
        longest = _COLUMN_CHARACTERS * self._most
        refusal = (
            f"The file {str(self.path)!r} has a row of more than {longest:,} characters, "
            f"{_COLUMN_CHARACTERS} for each of max_columns={self._most:,}. To read rows this long, "
            "pass a larger max_columns."
        )
        raw = open_unpacked(self.path, self._max_unpacked)
        with io.TextIOWrapper(raw, encoding=self.dialect.encoding, newline="") as stream:
            yield _Lines(stream, longest, refusal)


class CsvFile(_TextFile):
    """A file of values separated by commas or another character, without blank lines."""

    def _find_dialect(self) -> Dialect:
        return find_dialect(self.path, self._given, self._max_unpacked)

    def _names(self, lines: _Lines) -> list[str]:
        first = [name.strip() for name in next(self._cut(lines), [])]
        if not self.dialect.header:
            return [str(i) for i in range(1, len(first) + 1)]
        return [name or f"unnamed {i}" for i, name in enumerate(first, start=1)]

    def _cut(self, lines: _Lines) -> Iterator[list[str]]:
        return filter(None, csv.reader(lines, delimiter=self.dialect.delimiter))

    def _batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        at_name = {name: i for i, name in enumerate(self.names)}
        places = [(name, at_name[name]) for name in columns]
        first = 1
        with self._open() as lines:
            found = self._cut(lines)
            if self.dialect.header:
                next(found)
            for rows in lines.batches(found):
                self._check_widths(rows, first)
                first += len(rows)
                batch = {name: [row[i] for row in rows] for name, i in places}
                if self.dialect.decimal == ",":
                    plain = self.dialect.plain
                    batch = {name: [*map(plain, cells)] for name, cells in batch.items()}
                yield batch

    def _check_widths(self, rows: Sequence[Sequence[str]], first: int) -> None:
        width = len(self.names)
        if set(map(len, rows)) == {width}:
            return
        at, row = next((i, r) for i, r in enumerate(rows) if len(r) != width)
        columns = f"{width} column{'' if width == 1 else 's'}"
        raise ParameterError(
            f"Row {first + at} of {self.source} has {len(row)} values; its "
            f"{'header names' if self.dialect.header else 'first row has'} {columns}, separated "
            f"by {self.dialect.delimiter!r}. If another character separates the values, pass it "
            "as delimiter."
        )


class JsonLinesFile(_TextFile):
    """A file with one JSON object per line; blank lines do not count.

    The first 100 objects name the columns. A missing key gives None.
    """

    def _names(self, lines: _Lines) -> list[str]:
        found: dict[str, None] = {}
        for row in islice(self._rows(lines), _LOOK):
            lines.row = 0
            found |= dict.fromkeys(map(str, row))
        return list(found)

    def _batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        with self._open() as lines:
            for rows in lines.batches(self._rows(lines)):
                yield {name: [row.get(name) for row in rows] for name in columns}

    def _rows(self, lines: _Lines) -> Iterator[dict[str, Any]]:
        number = 0
        for line in lines:
            if line.isspace():
                lines.row = 0
                continue
            number += 1
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ParameterError(
                    f"Row {number} of {self.source} is not valid JSON: {error}."
                ) from None
            except RecursionError:
                raise ParameterError(
                    f"Row {number} of {self.source} is nested too deeply."
                ) from None
            if not isinstance(row, dict):
                raise ParameterError(
                    f"Row {number} of {self.source} must be a JSON object, one per line; got "
                    f"{line.strip()[:60]!r}."
                )
            yield row


class ParquetFile(TableFile):
    """A Parquet file, read one row group at a time; requires pyarrow."""

    def _header(self) -> list[str]:
        with self._open() as file:
            return [str(name) for name in file.schema_arrow.names]

    def count(self) -> int:
        """Return the number of rows, from the file's metadata."""
        with _readable(self.path), self._open() as file:
            return int(file.metadata.num_rows)

    def _batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        with self._open() as file:
            for batch in file.iter_batches(BATCH, columns=list(columns), use_threads=False):
                if batch.num_rows:
                    yield {name: _values(batch.column(name)) for name in columns}

    @contextmanager
    def _open(self) -> Iterator[Any]:
        arrow = _arrow()
        try:
            with arrow.parquet.ParquetFile(self.path, pre_buffer=False) as file:
                about = file.metadata
                groups = (about.row_group(i) for i in range(about.num_row_groups))
                size = sum(group.total_byte_size for group in groups)
                check_unpacked(self.path, size, self._max_unpacked)
                yield file
        except arrow.ArrowException as error:
            raise ParameterError(f"The file {str(self.path)!r} cannot be read: {error}.") from error


_FORMATS: dict[str, type[TableFile]] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), CsvFile),
    **dict.fromkeys((".jsonl", ".ndjson"), JsonLinesFile),
    ".parquet": ParquetFile,
}


def open_table(
    path: str | PathLike[str],
    max_columns: int | None = None,
    max_unpacked: int | None = None,
    dialect: Mapping[str, Any] | None = None,
) -> TableFile:
    """Open the table in a file, by the extension of its name; `dialect` is for text files."""
    file = Path(path)
    with _readable(path):
        ending = Path(packed_name(file)).suffix.lower()
    found = _FORMATS.get(ending)
    if found is None or (found is ParquetFile and file.suffix.lower() != ending):
        sheet = ending in (".xlsx", ".xls", ".ods")
        advice = " Save the sheet as CSV first." if sheet else ""
        raise ParameterError(
            "The name of a data file must end in .csv, .tsv, .txt, .jsonl, .ndjson (each also with "
            f".gz or .zip) or .parquet; got {str(path)!r}.{advice}"
        )
    return found(file, max_columns, max_unpacked, dialect)


def _values(column: Any) -> Any:
    """Return a column of numbers as an array, any other column as a list."""
    types = _arrow().types
    if types.is_decimal(column.type):
        column = column.cast("float64")
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind):
        return column.to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _arrow() -> Any:
    missing = (
        "Reading a Parquet file requires pyarrow, which is not installed. Run "
        "pip install 'hannan[parquet]', or convert the file to .csv or .jsonl."
    )
    package("pyarrow.parquet", missing)
    return package("pyarrow", missing)
