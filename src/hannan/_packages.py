"""Packages that only some parts need."""

import importlib
from typing import Any

from hannan.core.errors import MissingPackageError


def package(name: str, missing: str) -> Any:
    """A module of a package, or an error with this message where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackageError(missing) from error
