"""Readers of data files, compressed or not, with a limit on the unpacked size."""

from __future__ import annotations

import gzip
import io
import zipfile
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO, cast

from hannan.core.errors import ParameterError
from hannan.core.validation import check_integer

_TIMES = 50
_LEAST = 2**24  # bytes
_PACKED = (".gz", ".zip")


def check_unpacked(
    path: str | PathLike[str], size: int | None = None, max_unpacked: int | None = None
) -> int:
    """Return how many bytes may be unpacked from a file.

    A few megabytes can unpack to gigabytes. By default the limit is 50 times the size of the packed
    file, and at least 16 MiB. If `size`, the unpacked size, is larger, raise `ParameterError`.
    """
    packed = Path(path).stat().st_size
    limit = max(_LEAST, _TIMES * packed)
    if max_unpacked is not None:
        limit = check_integer("A data file", "max_unpacked", max_unpacked, 1)
    if size is not None and size > limit:
        raise ParameterError(
            f"The file {str(path)!r} of {packed:,} bytes unpacks to more than {limit:,} bytes. If "
            "that is correct, pass a larger max_unpacked=."
        )
    return limit


def packed_name(path: str | PathLike[str]) -> str:
    """Return the name of a file, or of its content if the file is a .gz or .zip."""
    file = Path(path)
    if file.suffix.lower() == ".zip":
        with zipfile.ZipFile(file) as archive:
            return Path(_member(file, archive).filename).name
    return file.stem if file.suffix.lower() == ".gz" else file.name


def open_unpacked(path: str | PathLike[str], max_unpacked: int | None = None) -> BinaryIO:
    """Open a file, or the content of a .gz or .zip, which must not unpack to too many bytes."""
    file = Path(path)
    if file.suffix.lower() not in _PACKED:
        return file.open("rb")
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, max_unpacked), 2**16))


def check_packed(path: str | PathLike[str], max_unpacked: int | None = None) -> None:
    """Check the unpacked size, which is far faster than to read rows until the limit is reached."""
    if Path(path).suffix.lower() in _PACKED:
        with open_unpacked(path, max_unpacked) as stream:
            while stream.read(2**20):
                pass


def _member(file: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """Return the only file in an archive; files that macOS adds do not count."""
    files = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir() and not entry.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        names = ", ".join(repr(entry.filename[:80]) for entry in files[:4]) or "none"
        raise ParameterError(
            f"The archive {str(file)!r} must hold one file; it has {len(files):,}: {names}."
        )
    if files[0].flag_bits & 1:
        raise ParameterError(f"The file {str(file)!r} is encrypted. Unpack it first.")
    return files[0]


class _Unpacked(io.RawIOBase):
    def __init__(self, file: Path, max_unpacked: int | None) -> None:
        self._file = file
        self._limit = check_unpacked(file, max_unpacked=max_unpacked)
        self._stream: IO[bytes]
        if file.suffix.lower() == ".gz":
            self._stream = cast(IO[bytes], gzip.GzipFile(file))
        else:
            with zipfile.ZipFile(file) as archive:  # an open member stays open
                entry = _member(file, archive)
                check_unpacked(file, entry.file_size, self._limit)
                self._stream = archive.open(entry)
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self._read += len(piece)
        if self._read > self._limit:
            check_unpacked(self._file, self._read, self._limit)
        return len(piece)

    def close(self) -> None:
        if hasattr(self, "_stream"):
            self._stream.close()
        super().close()
