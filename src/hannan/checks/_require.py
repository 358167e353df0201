"""The one way a check fails, and how often it tries what must be refused."""

from collections.abc import Sequence
from typing import Any

_ALL = 3  # rounds in which everything is tried


def require(holds: object, message: str) -> None:
    """Raise `AssertionError` with the message unless `holds`; not lost under ``python -O``.

    In loops ``if`` and ``raise`` take its place: the message, with the text of a whole learner, is
    made only when it is needed.
    """
    if not holds:
        raise AssertionError(message)


def in_turn(wrong: Sequence[Any], t: int) -> Sequence[Any]:
    """What is tried in round t of a game: in the first rounds everything, later one after another.

    Each of them is refused before anything is learned, soon after, and in the middle of a game.
    """
    if t < _ALL:
        return wrong
    at = t % len(wrong)
    return wrong[at : at + 1]
