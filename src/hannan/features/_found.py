"""Kinds of columns, found from their first values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hannan.features._cells import as_date, looks_like_date, words_of
from hannan.features.category import Category
from hannan.features.column import Column
from hannan.features.date import Date
from hannan.features.flag import Flag, as_flag
from hannan.features.number import Number, looks_like_number
from hannan.features.text import Text

KINDS: tuple[type[Column], ...] = (Number, Category, Text, Date, Flag)
_WORDS = {"number": Number, "category": Category, "text": Text, "date": Date, "flag": Flag}
_SENTENCE = 4  # words; fewer are rather a name
_LIST = (list, set, frozenset, Mapping)


def kind_of(values: Sequence[Any]) -> type[Column]:
    """The kind of column that has these values, none of them missing.

    >>> [kind_of([value]).__name__ for value in (3, "3,5", "2024-02-29", "pro", "yes", "02139")]
    ['Number', 'Number', 'Date', 'Category', 'Flag', 'Category']
    >>> kind_of(["The parcel came two days late."]).__name__, kind_of([3, "pro"]).__name__
    ('Text', 'Category')
    """
    if all(isinstance(value, bool | np.bool_) or _is_flag_word(value) for value in values):
        return Flag
    if all(map(looks_like_number, values)):
        return Number
    if all(map(looks_like_date, values)):
        return Date
    if all(isinstance(value, _LIST) for value in values):
        return Text
    texts = [value for value in values if isinstance(value, str)]
    if texts and 2 * sum(" " in text and _is_sentence(text) for text in texts) > len(values):
        return Text
    return Category


def _is_flag_word(value: Any) -> bool:
    return isinstance(value, str) and as_flag(value) is not None and value.strip().isalpha()


def _is_sentence(text: str) -> bool:
    return len(words_of(text)) >= _SENTENCE


def dates_of(values: Sequence[Any]) -> Date:
    """A column of dates, with the hour if one of them has one."""
    moments = [as_date(value) for value in values]
    timed = any(moment is not None and moment.hour for moment in moments)
    clock = any(hasattr(value, "hour") or (isinstance(value, str) and ":" in value)
                for value in values)  # fmt: skip
    parts = ("day", "weekday", "month")
    return Date((*parts, "hour") if timed or clock else parts, indicator=False)


def preset(word: str) -> Column | None:
    """The column that a word stands for."""
    made = _WORDS.get(word)
    return None if made is None else made()


WORDS = tuple(_WORDS)
