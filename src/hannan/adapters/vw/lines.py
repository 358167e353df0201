"""Read and write lines of files, one at a time."""

import gzip
import io
import os
import reprlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hannan._compressed_files import check_packed, open_unpacked
from hannan.adapters.vw.rounds import VWFormatError
from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short
from hannan.core.validation import check_integer

MAX_ROUND = 2**20
Source = str | os.PathLike[str] | IO[str] | IO[bytes] | Iterable[str] | Iterable[bytes]
Target = str | os.PathLike[str] | IO[str] | IO[bytes]

_UNREADABLE = (OSError, EOFError, zlib.error)
_SHORT = reprlib.Repr()
_MARK = "\ufeff"  # byte order mark, with which some editors begin files


class Lines:
    """Lines of a source, without line ends; messages state the line number and the name.

    At most `longest` characters are held at a time, so that a file with other contents than its
    name suggests cannot exhaust the memory.
    """

    def __init__(
        self, source: Source, max_round: int | None, max_unpacked: int | None = None
    ) -> None:
        self.number = 0
        most = MAX_ROUND if max_round is None else max_round
        self.longest = check_integer("A log of VW", "max_round", most, 1)
        self._max_unpacked = max_unpacked
        self._source = source
        self._name = ""
        if isinstance(source, str | os.PathLike):
            self._name = f" of {os.fspath(source)!r}"
        elif not hasattr(source, "readline") and not isinstance(source, Iterable):
            raise InputTypeError(
                "The source of lines must be a path, an open file or an iterable of lines; got "
                f"{short(source)}."
            )

    def __iter__(self) -> Iterator[str]:
        try:
            if isinstance(self._source, str | os.PathLike):
                check_packed(self._source, self._max_unpacked)
                # Read bytes, so that only a line feed ends a line.
                with open_unpacked(self._source, self._max_unpacked) as stream:
                    yield from self._read(stream.readline)
            elif hasattr(self._source, "readline"):
                yield from self._read(self._source.readline)
            else:
                yield from map(self._text, self._source)
        except _UNREADABLE as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ParameterError(f"The log{self._name} cannot be read: {why}.") from error
        except UnicodeDecodeError as error:
            bad = error.object[error.start : error.start + 8]
            raise self.refuse(bad, "text in UTF-8") from None

    def refuse(self, found: Any, accepted: str, number: int | None = None) -> VWFormatError:
        """Return an error that states the found and the expected text of a line."""
        where = f"Line {self.number if number is None else number}"
        # The found value may be deeply nested, or long.
        shown = found if isinstance(found, str) else _SHORT.repr(found)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return VWFormatError(f"{where}{self._name}: found {shown!a}; expected {accepted}.")

    def _read(self, readline: Callable[[int], Any]) -> Iterator[str]:
        while line := readline(self.longest + 2):
            yield self._text(line)

    def _text(self, line: Any) -> str:
        self.number += 1
        if not isinstance(line, str | bytes):
            raise InputTypeError(f"Lines must be text or bytes; got {short(line)}.")
        if len(line) > self.longest + 1:
            raise self.refuse(
                f"{len(line)} characters or more",
                f"a line of at most {self.longest}; for longer lines, pass a larger max_round",
            )
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        text = text.removesuffix("\n").removesuffix("\r").removeprefix(_MARK)
        if "\n" in text:
            raise self.refuse(text, "one line at a time; split the text at its line ends")
        return text


@contextmanager
def writing(target: Target) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line; a path is replaced after all lines are written."""
    if not isinstance(target, str | os.PathLike):
        if not hasattr(target, "write"):
            raise InputTypeError(
                f"The target of lines must be a path or an open file; got {short(target)}."
            )
        yield _writer(target)
        return
    path = Path(target)
    part = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with ExitStack() as stack:
            stream: Any = stack.enter_context(open(part, "wb"))
            if path.suffix.lower() == ".gz":
                stream = stack.enter_context(gzip.GzipFile("", "wb", fileobj=stream, mtime=0))
            yield _writer(stream)
        os.replace(part, path)
    except OSError as error:
        raise ParameterError(f"{str(path)!r} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            os.unlink(part)


def _writer(stream: Any) -> Callable[[str], None]:
    binary = isinstance(stream, io.RawIOBase | io.BufferedIOBase)
    binary = binary or "b" in str(getattr(stream, "mode", ""))
    return lambda line: stream.write(f"{line}\n".encode() if binary else f"{line}\n")
