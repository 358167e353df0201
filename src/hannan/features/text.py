"""Text as a bag of words."""

from __future__ import annotations

import math
from typing import Any

from hannan.core.validation import check_integer
from hannan.features._cells import Buckets, is_missing, words_of
from hannan.features.column import News, Reading, check_flag

_MOST = 512
_WORDS = 1000


class Text(Reading):
    """Words, each added to or taken from one of a few numbers by a hash that never changes.

    Which number and which sign a word has is the same on every machine. All is divided by the root
    of the number of words. A list or a set counts as its entries, a mapping as its pairs. Up to
    1,000 words of the first 10,000 letters are read, and capital letters are as small ones. A last
    number is 1 where there are no words.

    Parameters
    ----------
    buckets
        How many numbers.
    indicator
        Whether there is the last number.

    Examples
    --------
    >>> from hannan.features import Features, Text
    >>> features = Features({"note": Text(8)})
    >>> features.encode({"note": "Late again, late!"}).round(2)
    array([ 0.  ,  0.  ,  1.15,  0.  ,  0.  ,  0.  , -0.58,  0.  ,  0.  ])
    >>> features.encode({"note": ""})
    array([0., 0., 0., 0., 0., 0., 0., 0., 1.])
    """

    def __init__(self, buckets: int = 12, indicator: bool = True) -> None:
        self.buckets = check_integer(self, "buckets", buckets, 1, _MOST)
        self.indicator = check_flag(self, "indicator", indicator)
        self._bags = Buckets(self.buckets)

    @property
    def width(self) -> int:
        """The buckets, and 1 that says whether it is missing."""
        return self.buckets + self.indicator

    def labels(self, name: str) -> list[str]:
        """Such as "note words 0" and "note missing"."""
        words = [f"{name} words {i}" for i in range(self.buckets)]
        return [*words, f"{name} missing"][: self.width]

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """What is written; there are no news."""
        words = [] if is_missing(value) else words_of(value)[:_WORDS]
        if not words:
            if self.indicator:
                out[at + self.buckets] = 1.0
            return self.indicator
        self._bags.scatter(words, 1.0 / math.sqrt(len(words)), out, at)
        return True
