"""Import of optional packages."""

import importlib
from typing import Any

from hannan.core.errors import MissingPackageError


def package(name: str, missing: str) -> Any:
    """Import a module, or raise `MissingPackageError` with this message if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackageError(missing) from error
