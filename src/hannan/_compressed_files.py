"""Files of data, compressed or not, opened so that none unpacks to more than it may."""

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
    """How many bytes may be unpacked from a file; an error if it says itself that it has more.

    A few megabytes can unpack to gigabytes. By default 50 times the size of the packed file are
    allowed, and 16 MiB in any case.
    """
    packed = Path(path).stat().st_size
    limit = max(_LEAST, _TIMES * packed)
    if max_unpacked is not None:
        limit = check_integer("A data file", "max_unpacked", max_unpacked, 1)
    if size is not None and size > limit:
        raise ParameterError(
            f"The file {str(path)!r} of {packed:,} bytes unpacks to more than {limit:,}. Pass a "
            "larger max_unpacked= if it is meant to."
        )
    return limit


def packed_name(path: str | PathLike[str]) -> str:
    """The name of what is in a file: that of its content, if the file is .gz or .zip."""
    file = Path(path)
    if file.suffix.lower() == ".zip":
        with zipfile.ZipFile(file) as archive:
            return Path(_member(file, archive).filename).name
    return file.stem if file.suffix.lower() == ".gz" else file.name


def open_unpacked(path: str | PathLike[str], max_unpacked: int | None = None) -> BinaryIO:
    """The bytes of a file; a .gz, or the one file in a .zip, is unpacked as far as it may be."""
    file = Path(path)
    if file.suffix.lower() not in _PACKED:
        return file.open("rb")
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, max_unpacked), 2**16))


def check_packed(path: str | PathLike[str], max_unpacked: int | None = None) -> None:
    """Unpack a packed file once, which takes far less time than to read rows until the limit."""
    if Path(path).suffix.lower() in _PACKED:
        with open_unpacked(path, max_unpacked) as stream:
            while stream.read(2**20):
                pass


def _member(file: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The one file in an archive, apart from what macOS adds."""
    files = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir() and not entry.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1:
        names = ", ".join(repr(entry.filename[:80]) for entry in files[:4]) or "none"
        raise ParameterError(
            f"The file {str(file)!r} must hold one file; it has {len(files):,}: {names}."
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
            with zipfile.ZipFile(file) as archive:  # what is open in it stays open
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
