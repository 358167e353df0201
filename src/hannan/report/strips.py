"""Which policy led when."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import Any

from hannan.report.palette import POLICIES
from hannan.report.sections import Record, Section

Runs = list[tuple[int, str]]


def runs(record: Record) -> Runs | None:
    """The stretches of one game: for each its first round less one, and who led it."""
    curve, labels = record["result"]["curve"], record["result"]["leaders"]
    if not labels or curve.get("leader") is None:
        return None
    led = zip([0, *curve["t"][:-1]], curve["leader"], strict=True)
    stretches = [next(stretch) for _, stretch in groupby(led, itemgetter(1))]
    return [(t, "" if i is None else str(labels[i])) for t, i in stretches]


def strips(section: Section, most_lanes: int) -> dict[str, Any] | None:
    """Strips of an environment: a row for each learner, in it a lane for each seed.

    Learners that saw the same leaders share a row. The policies that led longest get colours.
    """
    rows: dict[str, dict[str, Any]] = {}
    for standing in section.standings:
        shown = standing.records[:most_lanes]
        lanes = [(r["cell"]["seed"], lane) for r in shown if (lane := runs(r)) is not None]
        if lanes:
            row = rows.setdefault(repr(lanes), {"learners": [], "lanes": lanes})
            row["learners"].append(standing.label)
    if not rows:
        return None
    end = section.rounds
    led = Counter[str]()
    for lane in (lane for row in rows.values() for _, lane in row["lanes"]):
        stops = [*(t for t, _ in lane[1:]), end]
        for (start, who), stop in zip(lane, stops, strict=True):
            led[who] += stop - start
    del led[""]
    names = [name for name, _ in sorted(led.items(), key=lambda item: (-item[1], item[0]))]
    index = {name: i for i, name in enumerate(names)}
    everyone = 1 < len(section.standings) == len(next(iter(rows.values()))["learners"])
    return {
        "end": end,
        "names": [name if len(name) <= 80 else name[:79] + "…" for name in names],
        "coloured": min(len(names), len(POLICIES)),
        "left_out": max(0, max(len(s.records) for s in section.standings) - most_lanes),
        "rows": [
            {
                "learners": ["all learners"] if everyone else row["learners"],
                "lanes": [
                    {"seed": seed, "runs": [[t, index.get(who, -1)] for t, who in lane]}
                    for seed, lane in row["lanes"]
                ],
            }
            for row in rows.values()
        ],
    }
