"""Copies of totals."""

from typing import TypeVar

T = TypeVar("T")


def twin(total: T, *own: str) -> T:
    """A copy that shares all attributes of a total but those named, of which it has copies."""
    made = object.__new__(type(total))
    vars(made).update(vars(total))
    for name in own:
        value = getattr(total, name)
        setattr(made, name, None if value is None else value.copy())
    return made
