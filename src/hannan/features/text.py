"""Text as a hashed bag of words."""

from __future__ import annotations

import math
from typing import Any

from hannan.core.validation import check_integer
from hannan.features._cells import Buckets, is_missing, words_of
from hannan.features.column import News, Reading, check_flag

_MOST = 512
_WORDS = 1000


class Text(Reading):
    """A text as a bag of words: a fixed hash assigns each word to a bucket and a sign.

    Each word is added to its bucket or subtracted from it. The bucket and the sign of a word are
    the same on every machine. The sums are divided by the square root of the number of words. Lists
    and sets count as their entries, mappings as their pairs. Up to 1,000 words of the first 10,000
    letters are read, in lower case. The last number is 1 if there are no words.

    Parameters
    ----------
    buckets
        Number of buckets, from 1 to 511. Default 12.
    indicator
        Whether to add the last number, the indicator of missing text. Default True.

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
        """Number of buckets, plus 1 for the indicator of missing text."""
        return self.buckets + self.indicator

    def labels(self, name: str) -> list[str]:
        """Return the labels, such as "note words 0" and "note missing"."""
        words = [f"{name} words {i}" for i in range(self.buckets)]
        return [*words, f"{name} missing"][: self.width]

    def read(self, value: Any, out: list[float], at: int, news: News) -> bool:
        """Write the words; there is nothing to learn."""
        words = [] if is_missing(value) else words_of(value)[:_WORDS]
        if not words:
            if self.indicator:
                out[at + self.buckets] = 1.0
            return self.indicator
        self._bags.scatter(words, 1.0 / math.sqrt(len(words)), out, at)
        return True
