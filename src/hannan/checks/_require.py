"""Failures of checks, and the frequency of invalid calls in checks."""

from collections.abc import Sequence
from typing import Any

_ALL = 3  # rounds in which all invalid values are tried


def require(holds: object, message: str) -> None:
    """Raise an `AssertionError` with the message unless `holds`, also under ``python -O``.

    Loops use ``if`` and ``raise`` instead: the message, with the text of a whole learner, is then
    built only on a failure.
    """
    if not holds:
        raise AssertionError(message)


def in_turn(wrong: Sequence[Any], t: int) -> Sequence[Any]:
    """Return the invalid values to try in round t: all in the first rounds, later one each.

    Each value is tried before the learner has learned anything, soon after, and in the middle of a
    run.
    """
    if t < _ALL:
        return wrong
    at = t % len(wrong)
    return wrong[at : at + 1]
