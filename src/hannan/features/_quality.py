"""Count the rows in which a column is missing, new or odd, and compare recent with earlier rows."""

from __future__ import annotations

import math
from collections import Counter

from hannan.core.params import Parametrised
from hannan.core.state import Count, DictOf, ListOf, OneOf, State, Text

BLOCK = 100
"""Number of rows in a block."""

MOST_LATE = 64
"""Maximum number of later columns that are counted separately."""

OTHERS = "(other columns)"

_LATELY = 10  # blocks
MOST_BLOCKS = 2 * _LATELY
"""Number of recent blocks that are counted separately."""

_FALSE_ALARMS = 0.01  # probability of at least one false alarm
_NAMES = 2048  # larger than the number of columns
_KINDS = ("missing", "new", "odd", "there")

Tally = dict[str, dict[str, int]]
"""Number of rows for each kind of event and each column.

Later columns are counted in the rows that have them ("there"), all other columns in the rows that
lack them ("missing").
"""

Shares = dict[str, dict[str, float | None]]

_TALLY = DictOf(OneOf(*_KINDS), DictOf(Text(), Count(), most=_NAMES))
_SAID = {
    "missing": "missing",
    "new": "a new or rare value",
    "odd": "a value of another kind",
    "unknown": "a column never seen before,",
}


class Quality(Parametrised):
    """Count the rows in which columns are missing, new, odd or unknown, in blocks of 100 rows.

    The recent rows are the last ten blocks, or the later half of fewer than twenty blocks.
    `Quality` compares the recent rows with all blocks before.
    """

    stored = State(
        current=_TALLY, _blocks=ListOf(_TALLY, most=MOST_BLOCKS), _before=_TALLY, _older=Count()
    )

    def __init__(self) -> None:
        self.current: Tally = {}
        """Counts of the current, incomplete block."""
        self._blocks: list[Tally] = []
        self._before: Tally = {}
        self._older = 0  # number of blocks added up in `_before`

    def turn(self) -> None:
        """Begin a new block."""
        self._blocks.append(self.current)
        self.current = {}
        if len(self._blocks) > MOST_BLOCKS:
            self._before = _sum([self._before, self._blocks.pop(0)])
            self._older += 1

    def shares(self, columns: list[str], rest: int) -> Shares:
        """Return for each column the shares of rows in which it is missing, new or odd.

        There is a share for recent rows, and a share for earlier rows (None without earlier rows).
        Later columns also have the share of rows that contain them. `rest` is the number of rows in
        the last block.
        """
        recent = self._recent
        lately = _sum([*self._blocks[len(self._blocks) - recent :], self.current])
        return _shares(columns, (lately, BLOCK * recent + rest), self._earlier())

    def notes(self, columns: list[str], rows: str) -> list[str]:
        """Return a sentence for each share that has clearly grown.

        If rows are independent and identically distributed, there is a sentence in at most 1 % of
        all streams. Two shares differ clearly if their Chernoff intervals are disjoint. The
        confidence level leaves 1 % for all columns, kinds and blocks together.
        """
        lately = _sum(self._blocks[len(self._blocks) - self._recent :]), BLOCK * self._recent
        before = self._earlier()
        if not lately[1] or not before[1]:
            return []
        table, blocks = _shares(columns, lately, before), (lately[1] + before[1]) // BLOCK
        tests = 4 * len(table) * blocks * (blocks + 1)
        bar = math.log(2.0 * tests / _FALSE_ALARMS)
        sentences = []
        for name, entry in table.items():
            for kind, said in _SAID.items():
                new, old = entry.get(kind) or 0.0, entry.get(f"{kind}_before") or 0.0
                if kind == "unknown" and old > 0.0:
                    continue
                if new > old and _distance(new, lately[1], old, before[1]) > bar:
                    last = f"in {_percent(new)} of the last {lately[1]:,} {rows}"
                    sentences.append(f"{name}: {said} {last}, before in {_percent(old)}")
        return sentences

    @property
    def _recent(self) -> int:
        return recent(len(self._blocks))

    def _earlier(self) -> tuple[Tally, int]:
        """Return the counts of the earlier blocks, and their number of rows."""
        first = self._blocks[: len(self._blocks) - self._recent]
        return _sum([self._before, *first]), BLOCK * (len(first) + self._older)


def recent(blocks: int) -> int:
    """Return the number of blocks that count as recent."""
    return min(_LATELY, (blocks + 1) // 2)


def _sum(tallies: list[Tally]) -> Tally:
    total: dict[str, Counter[str]] = {}
    for tally in tallies:
        for kind, names in tally.items():
            total.setdefault(kind, Counter()).update(names)
    late = total.get("there", Counter())
    if len(late) > MOST_LATE:
        kept = dict(late.most_common(MOST_LATE - 1))
        total["there"] = Counter({**kept, OTHERS: late.total() - sum(kept.values())})
    return {kind: dict(names) for kind, names in total.items()}


def _shares(columns: list[str], lately: tuple[Tally, int], before: tuple[Tally, int]) -> Shares:
    table: Shares = {}
    late = {*lately[0].get("there", ()), *before[0].get("there", ())} - {*columns}
    for name in [*columns, *sorted(late)]:
        entry = table[name] = {}
        for suffix, (tally, rows) in (("", lately), ("_before", before)):
            for kind in ("missing", "new", "odd"):
                share = tally.get(kind, {}).get(name, 0) / rows if rows else None
                entry[kind + suffix] = share
            if name in late and rows:
                there = min(1.0, tally.get("there", {}).get(name, 0) / rows)
                entry["missing" + suffix], entry["unknown" + suffix] = 1.0 - there, there
    return table


def _distance(new: float, rows: int, old: float, earlier: int) -> float:
    """Return the level at which the Chernoff intervals of two shares meet."""
    low, high = old, new
    for _ in range(60):
        middle = (low + high) / 2.0
        if rows * _divergence(new, middle) > earlier * _divergence(old, middle):
            low = middle
        else:
            high = middle
    return rows * _divergence(new, high)


def _divergence(share: float, p: float) -> float:
    """Return the Kullback-Leibler divergence between two Bernoulli distributions.

    >>> _divergence(0.5, 0.5), round(_divergence(1.0, 0.5), 4)
    (0.0, 0.6931)
    """
    parts = (share, p), (1.0 - share, 1.0 - p)
    return sum(a * math.log(a / b) if b > 0.0 else math.inf for a, b in parts if a > 0.0)


def _percent(share: float) -> str:
    percent = 100.0 * share
    return f"{percent:.0f} %" if percent >= 10.0 or percent == 0.0 else f"{percent:.2g} %"
