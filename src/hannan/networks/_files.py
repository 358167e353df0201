"""Text files, compressed or not."""

import gzip
from os import PathLike
from pathlib import Path


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file; one whose name ends in .gz is unpacked."""
    file = Path(path)
    if file.suffix == ".gz":
        with gzip.open(file, "rt", encoding="utf-8-sig") as stream:
            return stream.read()
    return file.read_text(encoding="utf-8-sig")
