"""Data for the page's script, as JSON: curves, and strips that show the best policy over time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.report.palette import LEARNERS, POLICIES, slots
from hannan.report.sections import LearnerResults, Record, Section
from hannan.report.spread import FloatArray, Spread


def embedded(sections: Sequence[Section], points: int, lanes: int) -> str:
    """Return curves of at most `points` points and strips of at most `lanes` lanes as safe JSON."""
    colours = slots(sections)
    data = {
        "colours": len(LEARNERS),
        "sections": [_section(section, colours, points, lanes) for section in sections],
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _section(section: Section, colours: dict[str, int], points: int, lanes: int) -> dict[str, Any]:
    best = section.common_best
    shown = _selected(section.learners[0].t, points)
    return {
        "best": None if best is None else _plain(best[shown]),
        "best_name": section.best_name,
        "series": [_series(s, colours[s.label], points) for s in section.learners],
        "strips": strips(section, lanes),
    }


def _series(results: LearnerResults, slot: int, points: int) -> dict[str, Any]:
    shown = _selected(results.t, points)
    bound, certificate = results.bound_curve[shown], results.certificate_curve[shown]
    return {
        "learner": results.label,
        "slot": slot,
        "ours": results.ours,
        "t": [int(t) for t in results.t[shown]],
        "loss": _band(results.mean_loss_curve, shown),
        "regret": _band(results.regret_curve, shown),
        "bound": _plain(bound) if np.isfinite(bound).any() else None,
        "certificate": _plain(certificate) if np.isfinite(certificate).any() else None,
        "exponent": None if results.exponent is None else round(results.exponent, 2),
    }


def _selected(t: FloatArray, points: int) -> NDArray[np.intp]:
    """Return indices of at most `points` values of t, including the first and the last."""
    places = np.linspace(0, max(len(t) - 1, 0), min(points, len(t)))
    return np.unique(np.round(places).astype(np.intp))


def _band(band: Spread, shown: NDArray[np.intp]) -> dict[str, Any] | None:
    if not band.known:
        return None
    curves = {"mean": band.mean, "low": band.low, "high": band.high}
    if not np.isfinite(band.low).any():
        curves = {"mean": band.mean}
    return {name: _plain(values[shown]) for name, values in curves.items()}


def _plain(values: FloatArray) -> list[float | None]:
    """Return values with five significant digits, all that a screen can show; None if unknown."""
    known = np.isfinite(values)
    size = np.abs(values, where=known & (values != 0), out=np.ones_like(values))
    places = 4 - np.floor(np.log10(size))
    # Floats do not hold negative powers of ten exactly, so divide by the inverse instead.
    unit = 10.0 ** np.abs(places)
    finer, coarser = np.round(values * unit) / unit, np.round(values / unit) * unit
    rounded = np.where(places >= 0, finer, coarser).tolist()
    return [value if is_known else None for value, is_known in zip(rounded, known, strict=True)]


def intervals(record: Record) -> list[tuple[int, str]] | None:
    """Return the intervals of a run with one leader: the round before each, and the leader."""
    curve, labels = record["result"]["curve"], record["result"]["leaders"]
    if not labels or curve.get("leader") is None:
        return None
    led = zip([0, *curve["t"][:-1]], curve["leader"], strict=True)
    starts = [next(interval) for _, interval in groupby(led, itemgetter(1))]
    return [(t, "" if i is None else str(labels[i])) for t, i in starts]


def strips(section: Section, most_lanes: int) -> dict[str, Any] | None:
    """Return the strips of an environment: a row for each learner, with a lane for each seed.

    Learners with the same leaders share a row. The policies that led longest get colours.
    """
    rows: dict[str, dict[str, Any]] = {}
    for results in section.learners:
        shown = results.records[:most_lanes]
        lanes = [(r["cell"]["seed"], lane) for r in shown if (lane := intervals(r)) is not None]
        if lanes:
            row = rows.setdefault(repr(lanes), {"learners": [], "lanes": lanes})
            row["learners"].append(results.label)
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
    everyone = 1 < len(section.learners) == len(next(iter(rows.values()))["learners"])
    return {
        "end": end,
        "names": [name if len(name) <= 80 else name[:79] + "…" for name in names],
        "coloured": min(len(names), len(POLICIES)),
        "left_out": max(0, max(len(s.records) for s in section.learners) - most_lanes),
        "rows": [
            {
                "learners": ["all learners"] if everyone else row["learners"],
                "lanes": [
                    {"seed": seed, "intervals": [[t, index.get(who, -1)] for t, who in lane]}
                    for seed, lane in row["lanes"]
                ],
            }
            for row in rows.values()
        ],
    }
