"""Detect how a text file is written: delimiter, decimal mark, encoding and header."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hannan._compressed_files import open_unpacked
from hannan.core.validation import check_choice, refuse

_SAMPLE = 2**17  # bytes
_ROWS = 200
_DELIMITERS = "\t;|,"  # the first one wins a tie
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # not characters of Windows-1252
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(\.\d{3})+")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Format of a text file of values.

    Attributes
    ----------
    delimiter
        Character that separates the values of a row.
    decimal
        Decimal mark, "." or ","; with ",", a point separates thousands.
    encoding
        Text encoding, by its Python name.
    header
        Whether the first row names the columns. If not, the columns are called 1, 2, ….
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8-sig"
    header: bool = True

    def plain(self, cell: str) -> str:
        """Return a cell; if the cell is a number, with a decimal point."""
        if self.decimal == "." or not (_COMMA.fullmatch(cell) or _THOUSANDS.fullmatch(cell)):
            return cell
        return cell.replace(".", "").replace(",", ".")


def check_dialect(owner: object, given: Any) -> dict[str, Any]:
    """Return the declared fields of a dialect; the other fields are detected from the file."""
    if given is None:
        return {}
    accepted = "a mapping with some of 'delimiter', 'decimal', 'encoding' and 'header'"
    if not isinstance(given, Mapping) or given.keys() - Dialect.__dataclass_fields__.keys():
        raise refuse(owner, "dialect", accepted, given)
    found = {name: value for name, value in given.items() if value is not None}
    delimiter = found.get("delimiter", ",")
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        raise refuse(owner, "delimiter", "a single character", delimiter)
    check_choice(owner, "decimal", found.get("decimal", "."), (".", ","))
    if not isinstance(found.get("header", True), bool):
        raise refuse(owner, "header", "True or False", found["header"])
    try:
        codecs.lookup(found.get("encoding", "utf-8"))
        "".encode(found.get("encoding", "utf-8"))
    except (LookupError, TypeError):
        accepted = "a text encoding, such as 'utf-8' or 'cp1252'"
        raise refuse(owner, "encoding", accepted, found["encoding"]) from None
    return found


def find_encoding(path: Path, max_unpacked: int | None) -> str:
    """Return UTF-8 if the whole file decodes, else Windows-1252, or Latin-1 if that fails, too."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    decodes, undefined, ended = True, False, False
    with open_unpacked(path, max_unpacked) as stream:
        piece = stream.read(_SAMPLE)
        for mark, name in _BOMS.items():
            if piece.startswith(mark):
                return name
        while not ended:
            ended = not piece
            if decodes:
                try:
                    decoder.decode(piece, ended)
                except UnicodeDecodeError:
                    decodes = False
            undefined = undefined or any(byte in piece for byte in _UNDEFINED)
            piece = stream.read(2**20)
    if decodes:
        return "utf-8-sig"
    return "latin-1" if undefined else "cp1252"


def find_dialect(path: Path, given: Mapping[str, Any], max_unpacked: int | None) -> Dialect:
    """Return the dialect of a text file, detected from its first rows except for `given` fields."""
    encoding = given.get("encoding") or find_encoding(path, max_unpacked)
    with open_unpacked(path, max_unpacked) as stream:
        start = stream.read(_SAMPLE)
    text = codecs.getincrementaldecoder(encoding)().decode(start)
    lines = text.splitlines(keepends=True)
    if len(start) == _SAMPLE and len(lines) > 1:
        lines = lines[:-1]  # the last line may be incomplete
    named = path.name.lower().removesuffix(".gz").removesuffix(".zip").endswith((".tsv", ".tab"))
    delimiter = given.get("delimiter") or ("\t" if named else _delimiter(lines))
    rows = _rows(lines, delimiter)
    decimal = given.get("decimal") or ("." if delimiter == "," else find_decimal(rows))
    found = Dialect(delimiter, decimal, encoding)
    return replace(found, header=given.get("header", _header(found, rows)))


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if row:
                found.append([cell.strip() for cell in row])
            if len(found) == _ROWS:
                break
    except csv.Error:  # reading the rows raises this error again, with its place
        pass
    return found


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most rows into as many values as the first row.

    Among equals, return the delimiter that splits the first row into the most values.
    """
    best, found = (0.0, 1), ","
    for delimiter in _DELIMITERS:
        first, *others = [len(row) for row in _rows(lines, delimiter)] or [0]
        agree = round(others.count(first) / len(others), 2) if others else 1.0
        if first > 1 and (agree, first) > best:
            best, found = (agree, first), delimiter
    return found


def find_decimal(rows: Iterable[Iterable[str]]) -> str:
    """Return the decimal mark of most cells; a point if there is a tie."""
    cells = [cell for row in rows for cell in row]
    commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
    points = [cell for cell in cells if "." in cell and _NUMBER.fullmatch(cell)]
    clear = [cell for cell in points if not _THOUSANDS.fullmatch(cell)]
    return "," if len(commas) > len(clear) else "."


def _header(dialect: Dialect, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names columns: not if it has numbers like the rows below.

    Consecutive numbers, such as years, may be names.
    """
    if len(rows) < 2:
        return True
    first, others = rows[0], rows[1:]
    numbers = []
    for i, name in enumerate(first):
        below = [row[i] for row in others if i < len(row) and row[i]]
        numeric = sum(1 for cell in below if _is_number(dialect, cell))
        if _is_number(dialect, name):
            numbers.append(float(dialect.plain(name)))
        elif name and below and 2 * numeric > len(below):
            return True
    if not numbers:
        return True
    steps = {b - a for a, b in pairwise(numbers)}
    return len(numbers) > 1 and steps == {1.0}


def _is_number(dialect: Dialect, cell: str) -> bool:
    return _NUMBER.fullmatch(dialect.plain(cell)) is not None
