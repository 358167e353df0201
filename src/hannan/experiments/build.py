"""Objects from tables: `{type = "Ridge", alpha = 0.1}` makes `Ridge(alpha=0.1)`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from hannan.core import Environment, HannanError, Learner, ParameterError
from hannan.experiments.catalogue import find, nearest

# Where to look first for the type of an argument of this name.
_KINDS_OF_ARGUMENT = {
    "oracle": ("oracles",),
    "base": ("oracles", "learners"),
    "predictor": ("predictors",),
    "detector": ("detectors",),
    "environment": ("environments",),
    "learner": ("learners", "baselines"),
    "network": ("networks",),
}


def build(
    table: Mapping[str, Any],
    place: str,
    kinds: tuple[str, ...],
    *,
    names: Mapping[str, Any] | None = None,
    supplied: Mapping[str, Any] | None = None,
) -> Any:
    """The object that a table describes.

    Parameters
    ----------
    table
        `type` and the arguments of its constructor. An argument that is a table with a type is
        made first; a text "$name" stands for what `names` has under that name.
    place
        Where the table stands, for error messages.
    kinds
        Kinds of things to look for the type in.
    names
        What "$name" stands for.
    supplied
        Arguments for learners and environments that take them, where the table does not give
        them; inner learners and environments too.
    """
    names, supplied = names or {}, supplied or {}
    kind = table.get("type")
    if not isinstance(kind, str):
        got = "none" if kind is None else repr(kind)
        raise ParameterError(f"{place}: type must name what to make; got {got}.")
    try:
        make = find(kind, kinds)
    except HannanError as error:
        raise ParameterError(f"{place}: {error}") from None
    parameters = inspect.signature(make).parameters
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key == "type":
            continue
        if key not in parameters:
            raise ParameterError(
                f"{place}: {kind} has no argument {key!r}{nearest(key, parameters)}"
            )
        given[key] = made(
            value,
            f"{place}.{key}",
            _KINDS_OF_ARGUMENT.get(key, ()),
            names=names,
            supplied=supplied,
        )
    owner = getattr(make, "__self__", make)
    if inspect.isclass(owner) and issubclass(owner, Learner | Environment):
        given = {k: v for k, v in supplied.items() if k in parameters} | given
    missing = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        if p.name not in given
    ]
    if missing:
        # Learners find their class in the environment's table.
        policies = {"oracle", "actions"} & set(missing) and place.startswith("learners")
        hint = " (or policies in the table of its environment)" if policies else ""
        raise ParameterError(f"{place}: {kind} needs {' and '.join(missing)}{hint}.")
    try:
        return make(**given)
    except HannanError as error:
        raise type(error)(f"{place}: {error}") from None
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{place}: {kind} cannot be made: {error}") from None


def made(
    value: Any,
    place: str,
    kinds: tuple[str, ...],
    *,
    names: Mapping[str, Any],
    supplied: Mapping[str, Any] | None = None,
) -> Any:
    """What a value of a table stands for: a thing to build, a name, a list of such, or itself."""
    if isinstance(value, Mapping) and "type" in value:
        return build(value, place, kinds, names=names, supplied=supplied)
    if isinstance(value, list):
        return [
            made(v, f"{place}[{i}]", kinds, names=names, supplied=supplied)
            for i, v in enumerate(value)
        ]
    if isinstance(value, str) and value.startswith("$"):
        if value[1:] not in names:
            raise ParameterError(f"{place}: nothing is called {value}{nearest(value[1:], names)}")
        return names[value[1:]]
    return value
