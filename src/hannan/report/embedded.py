"""What the page draws, as JSON inside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.report.palette import LEARNERS, slots
from hannan.report.sections import Section, Standing
from hannan.report.spread import FloatArray, Spread
from hannan.report.strips import strips


def embedded(sections: Sequence[Section], points: int, lanes: int) -> str:
    """Curves of at most so many points and strips of so many lanes, safe inside a script tag."""
    colours = slots(sections)
    data = {
        "colours": len(LEARNERS),
        "sections": [_section(section, colours, points, lanes) for section in sections],
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _section(section: Section, colours: dict[str, int], points: int, lanes: int) -> dict[str, Any]:
    best = section.common_best
    kept = _kept(section.standings[0].t, points)
    return {
        "best": None if best is None else _plain(best[kept]),
        "best_name": section.best_name,
        "series": [_series(s, colours[s.label], points) for s in section.standings],
        "strips": strips(section, lanes),
    }


def _series(standing: Standing, slot: int, points: int) -> dict[str, Any]:
    kept = _kept(standing.t, points)
    bound, certificate = standing.bound_curve[kept], standing.certificate_curve[kept]
    return {
        "learner": standing.label,
        "slot": slot,
        "ours": standing.ours,
        "t": [int(t) for t in standing.t[kept]],
        "loss": _band(standing.mean_loss_curve, kept),
        "regret": _band(standing.regret_curve, kept),
        "bound": _plain(bound) if np.isfinite(bound).any() else None,
        "certificate": _plain(certificate) if np.isfinite(certificate).any() else None,
        "exponent": None if standing.exponent is None else round(standing.exponent, 2),
    }


def _kept(t: FloatArray, points: int) -> NDArray[np.intp]:
    """Positions of at most so many points, the first and the last among them."""
    spread = np.linspace(0, max(len(t) - 1, 0), min(points, len(t)))
    return np.unique(np.round(spread).astype(np.intp))


def _band(band: Spread, kept: NDArray[np.intp]) -> dict[str, Any] | None:
    if not band.known:
        return None
    curves = {"mean": band.mean, "low": band.low, "high": band.high}
    if not np.isfinite(band.low).any():
        curves = {"mean": band.mean}
    return {name: _plain(values[kept]) for name, values in curves.items()}


def _plain(values: FloatArray) -> list[float | None]:
    """Five significant digits are more than a screen can show; None is what is not known."""
    known = np.isfinite(values)
    size = np.abs(values, where=known & (values != 0), out=np.ones_like(values))
    places = 4 - np.floor(np.log10(size))
    # Powers of ten below one are not exact: divide by the inverse instead.
    unit = 10.0 ** np.abs(places)
    finer, coarser = np.round(values * unit) / unit, np.round(values / unit) * unit
    rounded = np.where(places >= 0, finer, coarser).tolist()
    return [value if is_known else None for value, is_known in zip(rounded, known, strict=True)]
