"""river itself, where it is installed."""

import importlib
from typing import Any

from hannan.core import MissingPackageError


def load(part: str) -> Any:
    """A module of river, such as "bandit.base"."""
    try:
        return importlib.import_module(f"river.{part}")
    except ImportError as error:
        raise MissingPackageError(
            "hannan.adapters needs river for its River… classes, and it is not installed. Get it "
            "with pip install 'hannan[adapters]'."
        ) from error
