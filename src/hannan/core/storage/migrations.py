"""From files of earlier versions to what this one reads.

The *schema* is what the tree of a file means: names of classes, of their parameters and of what
they have learned. Whoever changes one of them raises `SCHEMA` by one and writes a step here that
turns a head of the version before into one of the new version. `tests/core/data` keeps a file of
each version that was ever released.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hannan.core.errors import DamagedFileError, NewerFileError

Head = dict[str, Any]

SCHEMA = 1

STEPS: dict[int, Callable[[Head], Head]] = {}
"""For each earlier version, the step to the one after it."""


def migrate(head: Head, path: str) -> Head:
    """A head as this version writes it."""
    found = head.get("schema")
    if type(found) is not int or found < 1:
        raise DamagedFileError(f"{path} does not say which version of the schema it has.")
    if found > SCHEMA:
        raise NewerFileError(
            f"{path} was written by Hannan {head.get('hannan')!s:.40} (schema {found}; this "
            f"version reads up to {SCHEMA}): upgrade to read it."
        )
    while found < SCHEMA:
        if found not in STEPS:
            raise DamagedFileError(f"{path} has schema {found}, which never was.")
        head = STEPS[found](head)
        found += 1
    return head
