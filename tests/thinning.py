"""Fewer cases at merge, all of them at night."""

import pytest


def one_in(every, cases):
    """Return cases for `parametrize`, all but one in so many marked as nightly."""
    return [
        case if number % every == 0 else pytest.param(*_several(case), marks=pytest.mark.nightly)
        for number, case in enumerate(cases)
    ]


def in_turn(names, others):
    """Return pairs for `parametrize`: each name meets one of the others at merge, and all nightly.

    >>> pairs = in_turn("abc", [1, 2])
    >>> [pair for pair in pairs if not hasattr(pair, "marks")]  # at merge
    [('a', 1), ('b', 2), ('c', 1)]
    >>> [pair.values for pair in pairs if hasattr(pair, "marks")]  # at night alone
    [('a', 2), ('b', 1), ('c', 2)]
    """
    return [
        (name, other)
        if place == number % len(others)
        else pytest.param(name, other, marks=pytest.mark.nightly)
        for number, name in enumerate(names)
        for place, other in enumerate(others)
    ]


def more_at_night(merge, night):
    """Return two sizes of one test for `parametrize`: what is done at merge, and at night."""
    return [merge, pytest.param(night, marks=pytest.mark.nightly)]


def _several(case):
    return case if isinstance(case, tuple) else (case,)
