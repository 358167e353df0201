"""Learners to files and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hannan._version import __version__
from hannan.core.errors import DamagedFileError, InputTypeError, StorageError
from hannan.core.storage import container, migrations
from hannan.core.storage.decoding import Decoder
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.names import Names
from hannan.core.stored import Stored

if TYPE_CHECKING:
    from hannan.core.learner import Learner


def save(learner: Learner, path: str | os.PathLike[str]) -> None:
    """Write a learner to a file; see `Learner.save`.

    Parameters
    ----------
    learner
        The learner, at any moment of its game.
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
    before = _progress(learner)
    try:
        tree = encoder.encode(learner, type(learner).__name__)
    except RuntimeError:  # a dictionary that changed while it was read
        tree = None
    if tree is None or _progress(learner) != before:
        raise StorageError(
            f"{type(learner).__name__} played on in another thread while it was saved, and nothing "
            "was written: a learner is for one thread at a time, so hold a lock around its calls."
        )
    head = {
        "hannan": __version__,
        "schema": migrations.SCHEMA,
        "learner": tree,
        "arrays": encoder.arrays,
    }
    return container.pack(head, encoder.body)


def _progress(learner: Any) -> tuple[Any, ...]:
    """What changes with every call of a learner."""
    names = ("rounds", "oracle_calls", "_draw", "_next_id", "_open")
    return tuple(getattr(learner, name, None) for name in names)


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
    >>> reread(hn.predictors.Mean(alpha=0.5))
    Mean(alpha=0.5)
    """
    encoder = Encoder()
    content = b"".join(packed(thing, encoder))
    head, body = container.unpack(memoryview(content), "the file")
    return decoded(head, body, "the file", encoder.named, kind=type(thing))


def load(
    path: str | os.PathLike[str],
    *,
    trusted: Iterable[Any] = (),
    noise_memory: int | None = None,
) -> Any:
    """A learner from a file that `Learner.save` wrote; it plays on as the saved one would have.

    Nothing in a file is ever executed. It names classes of Hannan and estimators of scikit-learn
    with their parameters; what lies elsewhere, such as a solver of one's own or a class of another
    package, is taken only if the caller says so. The checksum finds damage; it does not tell who
    wrote a file.

    Parameters
    ----------
    path
        The file.
    trusted
        Packages or modules by name ("mypackage"), whose classes and functions the file may name;
        and functions or classes themselves, which is the way for those that cannot be imported,
        such as a lambda: they are recognised by their names.
    noise_memory
        Bytes of noise to hold ready, for a machine with more or less memory; by default as it
        was. What is played does not depend on it.

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
    from hannan.core.learner import Learner
    from hannan.core.validation import check_integer

    if noise_memory is not None:
        check_integer("load", "noise_memory", noise_memory, 1)
    head, body = container.read(path)
    return decoded(head, body, str(path), trusted, noise_memory, kind=Learner)


def decoded(
    head: dict[str, Any],
    body: memoryview,
    path: str,
    trusted: Iterable[Any] = (),
    noise_memory: int | None = None,
    kind: type = Stored,
) -> Any:
    """The learner that a head and a body describe."""
    if isinstance(trusted, str):
        raise InputTypeError(f"trusted= is a list of names, not one: trusted=[{trusted!r}].")
    head = migrations.migrate(head, path)
    changes = {} if noise_memory is None else {"noise_memory": noise_memory}
    decoder = Decoder(head.get("arrays"), body, path, Names(trusted), changes)
    learner = decoder.decode(head.get("learner"))
    if not isinstance(learner, kind):
        raise DamagedFileError(f"{path} holds no {kind.__name__}.")
    return learner
