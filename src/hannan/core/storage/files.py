"""Learners to files and back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from hannan._version import __version__
from hannan.core.errors import DamagedFileError, InputTypeError, NewerFileError, StorageError
from hannan.core.storage import container
from hannan.core.storage.decoding import Decoder
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.names import Names
from hannan.core.stored import Stored

Head = dict[str, Any]

SCHEMA = 3
"""What the tree of a file means: names of classes, of their parameters and of their state.

A change of one of them raises this number by one and adds to `STEPS` a function that turns a head
of the version before into one of the new version. `tests/core/data` keeps a file of each version
that was ever released.
"""

STEPS: dict[int, Callable[[Head], Head]] = {}
"""For each earlier version, the step to the one after it."""


def save(learner: Stored, path: str | os.PathLike[str]) -> None:
    """Write a learner to a file; see `Learner.save`.

    Parameters
    ----------
    learner
        The learner, at any moment of its game, or an `off_policy.Watch`.
    path
        Where to; a file that is there already is replaced in one step.

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
    """The content of a learner's file, in parts."""
    tree = encoder.encode(learner, type(learner).__name__)
    head = {"hannan": __version__, "schema": SCHEMA, "learner": tree, "arrays": encoder.arrays}
    return container.pack(head, encoder.body)


def storable(thing: Stored) -> bool:
    """Whether a file can hold all that is in it.

    Parameters
    ----------
    thing
        A learner, or a part of one.

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
    """What a file would give back, of a learner or of any part of one; all it names is trusted.

    Parameters
    ----------
    thing
        The learner or the part.

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
    """A learner from a file that `Learner.save` wrote; it plays on as the saved one would have.

    An `off_policy.Watch` likewise, and a `Decider`, of which the file may be a journal.

    Nothing in a file is ever executed. It names classes of Hannan and listed estimators of
    scikit-learn with plain parameters; what lies elsewhere, such as a solver of one's own or a
    class of another package, is taken only if the caller says so. What was learned is checked by
    the class that learned it, so that a forged file is refused or harmless. The checksum finds
    damage; it does not tell who wrote a file.

    Parameters
    ----------
    path
        The file.
    trusted
        Packages or modules by name ("mypackage"), whose classes and functions the file may name;
        and functions or classes themselves, which is the way for those that cannot be imported,
        such as a lambda: they are recognised by their names.

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
    if not hasattr(found, "save"):  # a part of a learner, which no file holds alone
        raise DamagedFileError(f"{path} holds no learner.")
    found._resumed(bytes(whole[-container.DIGEST :]), bytes(tail), str(path))
    return found


def decoded(
    head: Head, body: memoryview, path: str, trusted: Iterable[Any] = (), kind: type = Stored
) -> Any:
    """The learner that a head and a body describe."""
    if isinstance(trusted, str):
        raise InputTypeError(f"trusted= is a list of names, not one: trusted=[{trusted!r}].")
    head = _migrated(head, path)
    decoder = Decoder(head.get("arrays"), body, path, Names(trusted))
    learner = decoder.decode(head.get("learner"))
    if not isinstance(learner, kind):
        raise DamagedFileError(f"{path} holds no {kind.__name__}.")
    return learner


def _migrated(head: Head, path: str) -> Head:
    """A head as this version writes it."""
    found = head.get("schema")
    if type(found) is not int or found < 1:
        raise DamagedFileError(f"{path} does not say which version of the schema it has.")
    if found > SCHEMA:
        raise NewerFileError(
            f"{path} was written by Hannan {head.get('hannan')!s:.40} (schema {found}; this "
            f"version reads up to {SCHEMA}): upgrade to read it."
        )
    for version in range(found, SCHEMA):
        if version not in STEPS:
            raise DamagedFileError(
                f"{path} has schema {version}, which no released version of Hannan wrote; this "
                f"one reads schema {SCHEMA}."
            )
        head = STEPS[version](head)
    return head
