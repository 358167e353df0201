"""Checks of all objects that are made from parameters."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hannan.checks._require import require
from hannan.core.params import Parametrised

SECTIONS = ("Parameters", "Guarantee", "Examples", "References")


def check_params_round_trip(thing: Parametrised) -> None:
    """Check that a clone has the parameters of the original."""
    before, after = thing.params, thing.clone().params
    require(
        list(before) == list(after),
        f"{thing!r} has parameters {list(before)}, its clone {list(after)}.",
    )
    for name, value in before.items():
        require(
            _same(value, after[name]),
            f"Parameter {name!r} of {thing!r} is {value!r}, that of its clone {after[name]!r}.",
        )


def check_clone_is_another_object(thing: Parametrised) -> None:
    """Check that a clone is a new object of the same class."""
    twin = thing.clone()
    require(twin is not thing, f"clone() of {thing!r} is the object itself.")
    require(type(twin) is type(thing), f"clone() of {thing!r} is a {type(twin).__name__}.")


def check_repr_evaluates_back(thing: Parametrised) -> None:
    """Check that the repr is an expression for an equal object, unless it is abbreviated."""
    text = repr(thing)
    require(
        text.startswith(type(thing).__name__ + "("),
        f"repr() should read {type(thing).__name__}(...); got {text}.",
    )
    if "<" in text or "..." in text:
        return
    names = {type(part).__name__: type(part) for part in parts(thing)}
    twin = eval(text, {"np": np, "array": np.array, "range": range, "inf": np.inf, **names})
    require(repr(twin) == text, f"{text} evaluates to {twin!r}.")


def check_docstring(cls: type, sections: Sequence[str] = SECTIONS) -> None:
    """Check that the docstring of a class itself has these sections.

    Parameters
    ----------
    cls
        Class to check.
    sections
        Titles, each underlined in the docstring. Default: the sections that learners need.

    Examples
    --------
    >>> import hannan as hn
    >>> hn.checks.check_docstring(hn.oracles.Paths, ["Parameters", "Examples"])
    >>> hn.checks.check_docstring(hn.oracles.Paths, ["Guarantee"])
    Traceback (most recent call last):
    ...
    AssertionError: The docstring of Paths has no section 'Guarantee'.
    """
    text = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
    lines = text.splitlines()
    for section in sections:
        underlined = any(
            line == section and below == "-" * len(section)
            for line, below in itertools.pairwise(lines)
        )
        require(underlined, f"The docstring of {cls.__name__} has no section {section!r}.")


PARAMETER_CHECKS = (
    check_params_round_trip,
    check_clone_is_another_object,
    check_repr_evaluates_back,
)


def parts(thing: Parametrised) -> Iterator[Parametrised]:
    yield thing
    for value in thing.params.values():
        several = value.values() if isinstance(value, Mapping) else value
        for each in several if isinstance(value, list | tuple | Mapping) else (value,):
            if isinstance(each, Parametrised):
                yield from parts(each)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Parametrised) or isinstance(b, Parametrised):
        return repr(a) == repr(b)
    return type(a) is type(b) and bool(np.array_equal(a, b))
