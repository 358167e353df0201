"""Save learners to files and load them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from hannan._version import __version__
from hannan.core.errors import DamagedFileError, InputTypeError, NewerFileError, StorageError
from hannan.core.storage import container
from hannan.core.storage.decoding import Decoder
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.names import TrustedNames
from hannan.core.stored import Stored

Head = dict[str, Any]

SCHEMA = 3
"""Version of the tree in a file: names of classes, of their parameters and of their state.

A change of one of them raises this number by one and adds to `STEPS` a function that turns a head
of the version before into one of the new version. `tests/core/data` keeps a file of each version
that was ever released.
"""

STEPS: dict[int, Callable[[Head], Head]] = {}
"""Function from each earlier version to the next one."""


def save(learner: Stored, path: str | os.PathLike[str]) -> None:
    """Save a learner to a file; see `Learner.save`.

    Parameters
    ----------
    learner
        Learner, at any moment of its run, or an `off_policy.Watch`.
    path
        Path of the file. An existing file is replaced in one step.

    Examples
    --------
    >>> import hannan as hn, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "coins.hannan")
    ...     save(hn.baselines.Hedge([[0], [1]], seed=0), file)
    ...     load(file)
    Hedge(actions=[[0], [1]], seed=0)
    """
    container.write(path, packed(learner, Encoder()))


def packed(learner: Any, encoder: Encoder) -> list[bytes | memoryview]:
    """Return the content of a learner's file, in parts."""
    tree = encoder.encode(learner, type(learner).__name__)
    head = {"hannan": __version__, "schema": SCHEMA, "learner": tree, "arrays": encoder.arrays}
    return container.pack(head, encoder.body)


def storable(thing: Stored) -> bool:
    """Return whether a file can hold an object and all its parts.

    Parameters
    ----------
    thing
        Learner, or a part of one.

    Examples
    --------
    >>> import hannan as hn
    >>> storable(hn.ContextFTPL(hn.oracles.AllPolicies(2, 3)))
    True
    """
    try:
        Encoder().encode(thing, "")
    except StorageError:
        return False
    return True


def reread(thing: Stored) -> Any:
    """Save and load a learner or a part of one in memory, and trust all names in it.

    Parameters
    ----------
    thing
        Learner or part.

    Examples
    --------
    >>> import hannan as hn
    >>> reread(hn.predictors.Mean(alpha=0.25))
    Mean(alpha=0.25)
    """
    encoder = Encoder()
    content = b"".join(packed(thing, encoder))
    head, body = container.unpack(memoryview(content), "the file")
    return decoded(head, body, "the file", encoder.named, kind=type(thing))


def load(path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> Any:
    """Load a learner from a file of `Learner.save`; it continues with identical results.

    Also load an `off_policy.Watch`, or a `Decider`, whose file may be a journal.

    Loading executes no code from the file. A file may name classes of Hannan and listed estimators
    of scikit-learn with plain parameters. Other names, such as your own solver or a class of
    another package, need `trusted`. The class that saved a learned state also checks it, so that a
    forged file raises an error or is harmless. The checksum detects damage; it does not prove who
    wrote a file.

    Parameters
    ----------
    path
        Path of the file.
    trusted
        Names of packages or modules, such as "mypackage", whose classes and functions the file may
        name; and functions or classes themselves. Pass the object itself if it cannot be imported,
        such as a lambda: it is recognised by its name. Default: none.

    Examples
    --------
    >>> import hannan as hn, tempfile, pathlib
    >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    >>> for t in range(50):
    ...     action = learner.act(t % 2)
    ...     learner.update([0.9, 0.1, 0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "learner.hannan"
    ...     learner.save(file)
    ...     twin = hn.load(file)
    >>> twin.rounds, twin.act(0) == learner.act(0)
    (50, True)
    """
    whole, tail = container.split(container.content_of(path))
    found = decoded(*container.unpack(whole, str(path)), str(path), trusted)
    if not hasattr(found, "save"):  # a part of a learner, which is not saved alone
        raise DamagedFileError(f"{path} holds no learner.")
    found._resumed(bytes(whole[-container.DIGEST :]), bytes(tail), str(path))
    return found


def decoded(
    head: Head, body: memoryview, path: str, trusted: Iterable[Any] = (), kind: type = Stored
) -> Any:
    """Return the learner that a head and a body describe."""
    if isinstance(trusted, str):
        raise InputTypeError(f"trusted= takes a list: pass trusted=[{trusted!r}].")
    head = _migrated(head, path)
    decoder = Decoder(head.get("arrays"), body, path, TrustedNames(trusted))
    learner = decoder.decode(head.get("learner"))
    if not isinstance(learner, kind):
        raise DamagedFileError(f"{path} holds no {kind.__name__}.")
    return learner


def _migrated(head: Head, path: str) -> Head:
    """Return the head in the form of this version."""
    found = head.get("schema")
    if type(found) is not int or found < 1:
        raise DamagedFileError(f"{path} is damaged: it has no schema version.")
    if found > SCHEMA:
        raise NewerFileError(
            f"{path} was written by Hannan {head.get('hannan')!s:.40} (schema {found}; this "
            f"version reads up to {SCHEMA}): upgrade to read it."
        )
    for version in range(found, SCHEMA):
        if version not in STEPS:
            raise DamagedFileError(
                f"{path} has schema {version}, which no released version of Hannan wrote; this "
                f"version reads schema {SCHEMA}."
            )
        head = STEPS[version](head)
    return head
