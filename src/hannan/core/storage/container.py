"""The outside of a file: its frame, its length and its checksum.

====================  ============================================================
8 bytes               magic
8 bytes               version of this frame, little-endian
8 bytes               length of the whole file
8 bytes               length of the head
the head              JSON in UTF-8: a tree, and where in the body each array lies
the body              arrays, each from a multiple of 64 bytes on
32 bytes              BLAKE2b of everything before
====================  ============================================================
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hannan.core.errors import (
    DamagedFileError,
    InputTypeError,
    NewerFileError,
    StorageError,
    TruncatedFileError,
)

MAGIC = b"\x93HANNAN\n"
FRAME = 1
_LENGTHS = struct.Struct("<QQQ")
_START = len(MAGIC) + _LENGTHS.size
_DIGEST = 32
_ALIGN = 64


def place(size: int, used: int) -> tuple[int, int]:
    """Where in the body an array of this size starts, and how much of it is used then."""
    start = -(-used // _ALIGN) * _ALIGN
    return start, start + size


def write(path: str | os.PathLike[str], parts: Sequence[bytes | memoryview]) -> None:
    """Write a file in one step: there is the old one or the new one, never half of it."""
    _replace(_checked(path), parts)


def pack(head: dict[str, Any], body: Sequence[memoryview]) -> list[bytes | memoryview]:
    """The content of a file, in parts."""
    text = json.dumps(head, separators=(",", ":"), allow_nan=True).encode()
    parts: list[bytes | memoryview] = [b"", text, bytes(-len(text) % _ALIGN)]
    used = 0
    for array in body:
        start, end = place(len(array), used)
        parts += [bytes(start - used), array]
        used = end
    total = _START + sum(map(len, parts)) + _DIGEST
    parts[0] = MAGIC + _LENGTHS.pack(FRAME, total, len(text))
    digest = hashlib.blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], memoryview]:
    """The head and the body of a file that is whole, or an error that says how it is not."""
    try:
        content = memoryview(_checked(path).read_bytes())
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.") from None
    return unpack(content, str(path))


def unpack(content: memoryview, path: str) -> tuple[dict[str, Any], memoryview]:
    """The same of a file's content."""
    known = bytes(content[: len(MAGIC)])
    if known != MAGIC[: len(known)] or not known:
        raise DamagedFileError(f"{path} is no file of a learner: it does not begin like one.")
    if len(content) < _START:
        raise TruncatedFileError(f"{path} ends within its first {_START} bytes.")
    frame, total, length = _LENGTHS.unpack(content[len(MAGIC) : _START])
    if len(content) < total and frame <= FRAME:
        raise TruncatedFileError(
            f"{path} has been cut off: it has {len(content)} of its {total} bytes."
        )
    found = hashlib.blake2b(content[:-_DIGEST], digest_size=_DIGEST).digest()
    if found != content[-_DIGEST:]:
        raise DamagedFileError(f"{path} is damaged or was changed: its checksum does not match.")
    if frame > FRAME:
        raise NewerFileError(
            f"{path} was written by a newer version of Hannan (frame {frame}; this one reads up "
            f"to {FRAME}): upgrade to read it."
        )
    inside = content[_START:-_DIGEST]
    if frame < 1 or len(content) != total or length > len(inside):
        raise DamagedFileError(f"{path} is damaged: its lengths do not add up.")
    try:
        head = json.loads(bytes(inside[:length]))
    except (ValueError, RecursionError):
        raise DamagedFileError(f"{path} is damaged: its head is not JSON.") from None
    if not isinstance(head, dict):
        raise DamagedFileError(f"{path} is damaged: its head is not a table.")
    start, _ = place(0, length)
    return head, inside[start:]


def _replace(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    target = Path(os.path.realpath(path))  # a link goes on leading to what it led to
    new = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with new.open("xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            new.chmod(stat.S_IMODE(target.stat().st_mode))  # who may read it stays the same
        os.replace(new, target)
    except OSError as error:
        reason = error.strerror
        if not target.parent.is_dir():
            reason = f"there is no folder {path.parent}"
        raise StorageError(f"{path} cannot be written: {reason}.") from None
    finally:
        with suppress(OSError):
            new.unlink()


def _checked(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InputTypeError(f"path= is the name of a file, a string or a Path; got {path!r}.")
    return Path(path)
