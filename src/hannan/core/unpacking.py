"""Files of data, compressed or not, opened so that none unpacks to more than it may."""

from __future__ import annotations

import gzip
import io
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from hannan.core.errors import ParameterError
from hannan.core.validation import check_integer

_TIMES = 50
_LEAST = 2**24  # bytes


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


def open_unpacked(path: str | PathLike[str], max_unpacked: int | None = None) -> BinaryIO:
    """The bytes of a file; one whose name ends in .gz is unpacked, as far as it may be."""
    file = Path(path)
    if file.suffix.lower() != ".gz":
        return file.open("rb")
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, max_unpacked), 2**16))


def check_packed(path: str | PathLike[str], max_unpacked: int | None = None) -> None:
    """Unpack a .gz file once, which takes far less time than to read rows until the limit."""
    if Path(path).suffix.lower() == ".gz":
        with open_unpacked(path, max_unpacked) as stream:
            while stream.read(2**20):
                pass


class _Unpacked(io.RawIOBase):
    def __init__(self, file: Path, max_unpacked: int | None) -> None:
        self._file = file
        self._limit = check_unpacked(file, max_unpacked=max_unpacked)
        self._stream = gzip.GzipFile(file)
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = self._stream.readinto(buffer)
        self._read += count
        if self._read > self._limit:
            check_unpacked(self._file, self._read, self._limit)
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()
