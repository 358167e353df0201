"""Text files, compressed or not."""

import zlib
from os import PathLike

from hannan._compressed_files import open_unpacked
from hannan.core import ParameterError


def read_text(path: str | PathLike[str], max_unpacked: int | None = None) -> str:
    """The text of a file; one whose name ends in .gz is unpacked."""
    try:
        with open_unpacked(path, max_unpacked) as stream:
            return stream.read().decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"The file {str(path)!r} cannot be read: {why}.") from error
