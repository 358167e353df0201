"""river itself, where it is installed."""

from typing import Any

from hannan._packages import package


def load(part: str) -> Any:
    """A module of river, such as "bandit.base"."""
    return package(
        f"river.{part}",
        "hannan.adapters needs river for its River… classes, and it is not installed. Get it with "
        "pip install 'hannan[adapters]'.",
    )
