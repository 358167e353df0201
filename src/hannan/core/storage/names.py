"""Classes and functions that a file may name."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from hannan.core.errors import DamagedFileError, InputTypeError, UntrustedError
from hannan.core.stored import Stored

_PACKAGES = (
    "baselines bounds core decisions detectors features learners losses off_policy oracles "
    "predictors replays"
)
_KNOWN = tuple(f"hannan.{package}" for package in _PACKAGES.split())


def name_of(thing: Any) -> str:
    """Return module and name of a class or function: "package.module:Name"."""
    if isinstance(thing, np.ufunc):
        return f"numpy:{thing.__name__}"
    return f"{thing.__module__}:{thing.__qualname__}"


class TrustedNames:
    """Finds the classes and functions that a file names, if the caller trusts them."""

    def __init__(self, trusted: Iterable[Any]) -> None:
        self._modules: list[str] = []
        self._things: dict[str, list[Any]] = {}
        for item in trusted:
            if isinstance(item, str):
                self._modules.append(item)
            elif callable(item) and hasattr(item, "__name__"):
                self._things.setdefault(name_of(item), []).append(item)
            else:
                raise InputTypeError(
                    f"trusted= takes names of packages, functions and classes; got {item!r}."
                )

    def type_named(self, name: Any, base: type) -> Any:
        """Return a class derived from `base`, of Hannan or trusted."""
        found = self._find(name, _KNOWN)
        if not (isinstance(found, type) and issubclass(found, base)):
            raise DamagedFileError(f"The file names {name!r:.200}, which is not a {base.__name__}.")
        return found

    def trusts(self, package: str) -> bool:
        """Return whether the caller trusts all of a package."""
        return package in self._modules

    def require_package(self, made: type[Stored]) -> None:
        """Raise an error if another package reads part of the file and is not trusted."""
        package = made._trusted_package
        if package is not None and not self.trusts(package):
            raise UntrustedError(
                f"The file holds a {made.__name__}, part of which {package} reads itself. If you "
                f"trust the file, pass trusted=[{package!r}]."
            )

    def function(self, name: Any) -> Any:
        """Return a function, or any other external callable, that the caller trusts."""
        found = self._find(name, ())
        if not callable(found):
            raise DamagedFileError(f"The file names {name!r:.200}, which cannot be called.")
        return found

    def _find(self, name: Any, known: tuple[str, ...]) -> Any:
        if not isinstance(name, str) or name.count(":") != 1:
            raise DamagedFileError(
                f"The file names {name!r:.200}, which is not the name of a class."
            )
        given = self._things.get(name, [])
        if len(given) > 1:
            raise UntrustedError(
                f"trusted= has {len(given)} functions or classes called {name}: pass only one."
            )
        if given:
            return given[0]
        module, _, attribute = name.partition(":")
        if not all(part.isidentifier() for part in attribute.split(".")):
            raise UntrustedError(
                f"The file names {name:.200}, a lambda or an object defined in a function, which "
                "cannot be imported. Pass the object itself in trusted=[…]. Only its name is "
                "compared, so make sure that it is the same object."
            )
        if not any(f"{module}.".startswith(f"{each}.") for each in (*known, *self._modules)):
            raise UntrustedError(
                f"The file names {name:.200}, which is not part of Hannan. If you trust the file, "
                f"pass trusted=[{module.partition('.')[0][:80]!r}] or the object itself."
            )
        return _imported(module, attribute, name)


def _imported(module: str, attribute: str, name: str) -> Any:
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        reason = f"{error}"[:200]
        raise DamagedFileError(f"{name:.200} cannot be imported: {reason}.") from None
    return found
