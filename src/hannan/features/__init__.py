"""Encode rows of mixed values (numbers, categories, text, dates) as arrays for learners."""

from hannan.features.category import Category
from hannan.features.column import Column
from hannan.features.date import Date
from hannan.features.features import Features
from hannan.features.flag import Flag
from hannan.features.number import Number
from hannan.features.text import Text
from hannan.features.vector import Vector

__all__ = ["Category", "Column", "Date", "Features", "Flag", "Number", "Text", "Vector"]
