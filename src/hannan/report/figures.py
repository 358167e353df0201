"""The curves of the report as image files, for papers and for pages without scripts."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np

from hannan._packages import package
from hannan.report.palette import LEARNERS, slots
from hannan.report.sections import LearnerResults, Record, Section, Times, gather
from hannan.report.spread import Spread

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.edgecolor": "#8a867e",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelcolor": "#55524c",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#e9e6df",
    "grid.linewidth": 0.7,
    "xtick.color": "#55524c",
    "ytick.color": "#55524c",
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.hashsalt": "hannan",
    "svg.fonttype": "path",
}
_PATTERNS = ("-", "-.", (0, (1, 1.2)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)))
_DASHES = (0, (5, 3))
_COLUMNS = 5  # columns of the legend
_WIDTH, _DPI, _ACROSS = 10.0, 160, 4  # inches, dots per inch, environments per line


def write_figures(
    records: Iterable[Record],
    times: Times,
    folder: str | Path,
    formats: Sequence[str] = ("png", "svg"),
) -> list[Path]:
    """Draw mean loss and regret: the figure `overview`, and a figure for each environment.

    Needs matplotlib (`pip install 'hannan[report]'`). The files have identical bytes for identical
    records and the same version of matplotlib. PNG files list the learners in the text field
    "Learners", as JSON. Returns the paths of the files, `overview` first.

    Parameters
    ----------
    records
        Records of finished cells, in the order in which environments and learners appear.
    times
        Computing times of some or all cells, by key.
    folder
        Folder of the files. The function creates it if necessary.
    formats
        File extensions that matplotlib can write. Default "png" and "svg".

    Examples
    --------
    >>> import tempfile
    >>> from hannan.experiments import make_plan, run
    >>> from hannan.report import write_figures
    >>> plan = make_plan({
    ...     "horizon": 200,
    ...     "environments": {"jams": {"type": "FrequencyPunisher", "n_actions": 3}},
    ...     "learners": {"chance": {"type": "UniformRandom"}},
    ... })
    >>> folder = tempfile.TemporaryDirectory()
    >>> done = run(plan, folder.name)
    >>> [path.name for path in write_figures(done.records, done.times, folder.name, ["svg"])]
    ['overview.svg', 'jams.svg']
    >>> folder.cleanup()
    """
    matplotlib = package(
        "matplotlib",
        "hannan.report.write_figures needs matplotlib, which is not installed. Install it with "
        "pip install 'hannan[report]', or use write_report, which does not need it.",
    )
    sections = gather(records, times)
    colours = slots(sections)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with matplotlib.rc_context(_STYLE):
        pictures = {"overview": _overview(sections, colours)}
        for section in sections:
            pictures[_file_name(section.label, pictures)] = _picture(section, colours)
        # Without the date, identical records give identical bytes.
        metadata = {
            "svg": {"Date": None},
            "pdf": {"CreationDate": None},
            "png": {"Learners": json.dumps(list(colours))},
        }
        for name, figure in pictures.items():
            for ending in formats:
                written.append(folder / f"{name}.{ending}")
                figure.savefig(written[-1], metadata=metadata.get(ending))
    return written


def _overview(sections: Sequence[Section], colours: Mapping[str, int]) -> Any:
    across = min(len(sections), _ACROSS)
    blocks = -(-len(sections) // across)
    groups = [[s.label for s in section.learners] for section in sections]
    together = all(sorted(group) == sorted(groups[0]) for group in groups)
    longest = colours if together else max(groups, key=len)
    figure = _figure(4.3 * blocks + _height(longest, together))
    grid = figure.subplots(2 * blocks, across, squeeze=False)
    for ax in grid.flat:
        ax.set_visible(False)
    for i, section in enumerate(sections):
        block, column = divmod(i, across)
        above, below = grid[2 * block][column], grid[2 * block + 1][column]
        _mean_loss(above, section, colours)
        _regret(below, section, colours)
        above.set_title(_shortened(section.title, 130 // across), color="#1d1c1a", pad=8)
        above.set_ylabel("mean loss" if column == 0 else "")
        below.set_ylabel("regret" if column == 0 else "")
        below.set_xlabel("round")
        if not together:
            _legend(below, section, colours, (below,))
    if together:
        _legend(figure, sections[0], colours, figure.axes)
    return figure


def _picture(section: Section, colours: Mapping[str, int]) -> Any:
    figure = _figure(3.5 + _height(section.learners, True))
    left, right = figure.subplots(1, 2)
    _mean_loss(left, section, colours)
    _regret(right, section, colours)
    for ax, title in ((left, "mean loss"), (right, "regret")):
        ax.set_title(title, fontsize=9, color="#55524c")
        ax.set_xlabel("round")
    figure.suptitle(_shortened(section.title, 110), x=0.012, ha="left", fontsize=11)
    _legend(figure, section, colours, figure.axes)
    return figure


def _mean_loss(ax: Any, section: Section, colours: Mapping[str, int]) -> None:
    bands = {s.label: s.mean_loss_curve for s in section.learners}
    _curves(ax, section, bands, colours)
    best = section.common_best
    if best is not None:
        ax.plot(section.learners[0].t, best, color="#1d1c1a", lw=0.8, zorder=2)
    low, high = _range(section, bands, () if best is None else best[_settled(section.learners[0])])
    ax.set_ylim(
        0 if 0 < low < 0.4 * high else low - 0.05 * (high - low), high + 0.05 * (high - low)
    )


def _regret(ax: Any, section: Section, colours: Mapping[str, int]) -> None:
    bands = {s.label: s.regret_curve for s in section.learners if s.regret_curve.known}
    if not bands:
        ax.set_visible(True)
        ax.text(0.5, 0.5, "no policies to compare with", ha="center", transform=ax.transAxes)
        ax.set(xticks=[], yticks=[])
        return
    _curves(ax, section, bands, colours)
    low, high = _range(section, bands, ())
    for s in section.learners:
        # The figure omits a bound far above the curves, because it would flatten them.
        if np.isfinite(s.bound) and s.bound <= 1.6 * high:
            look = {**_look(s, colours), "lw": 1, "ls": _DASHES, "gid": "bound"}
            ax.plot(s.t, s.bound_curve, **look)
            high = max(high, s.bound)
    ax.set_ylim(min(0.0, low * 1.05), high * 1.05 if high > 0 else 1.0)


def _curves(
    ax: Any, section: Section, bands: Mapping[str, Spread], colours: Mapping[str, int]
) -> None:
    ax.set_visible(True)
    ax.set_xlim(0, section.rounds)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda v, _, axis=axis: _tick(v, axis.get_view_interval()[1]))
    ax.xaxis.set_major_locator(importlib.import_module("matplotlib.ticker").MaxNLocator(4))
    for s in section.learners:
        band = bands.get(s.label)
        if band is None or not band.known:
            continue
        look = _look(s, colours)
        ax.plot(s.t, band.mean, **look, zorder=4 if s.ours else 3)
        if np.isfinite(band.low).any():
            ax.fill_between(s.t, band.low, band.high, color=look["color"], alpha=0.14, lw=0)


def _look(results: LearnerResults, colours: Mapping[str, int]) -> dict[str, Any]:
    """Return colour, width and pattern of a learner's line."""
    again, slot = divmod(colours[results.label], len(LEARNERS))
    thick = 1.9 if results.ours else 1.0
    return {
        "color": LEARNERS[slot][0],
        "lw": thick if len(results.records) > 1 else 0.7 * thick,
        "ls": _PATTERNS[again % len(_PATTERNS)],
    }


def _range(
    section: Section, bands: Mapping[str, Spread], more: Sequence[float] | Any
) -> tuple[float, float]:
    """Return the smallest and the largest value after the first rounds, which vary most."""
    parts = [np.asarray(more, dtype=np.float64).ravel()]
    for s in section.learners:
        if (band := bands.get(s.label)) is not None:
            parts += [np.asarray(side)[_settled(s)] for side in (band.mean, band.low, band.high)]
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)


def _settled(results: LearnerResults) -> Any:
    return results.t >= (results.t[-1] / 20 if len(results.t) else 0)


def _height(learners: Sized, together: bool) -> float:
    """Return the height in inches of a legend, below the figure or below each of its charts."""
    rows = -(-(len(learners) + 2) // (_COLUMNS if together else 2))
    return 0.2 * (1 + rows)


def _legend(place: Any, section: Section, colours: Mapping[str, int], axes: Sequence[Any]) -> None:
    line = importlib.import_module("matplotlib.lines").Line2D
    handles = [
        line([], [], label=_shortened(s.label, 30), **_look(s, colours))
        for s in sorted(section.learners, key=lambda s: colours[s.label])
    ]
    if section.common_best is not None:
        best = "best found" if section.found else "best in hindsight"
        handles.append(line([], [], color="#1d1c1a", lw=0.8, label=best))
    if any(drawn.get_gid() == "bound" for ax in axes for drawn in ax.get_lines()):
        handles.append(line([], [], color="#8a867e", lw=1, ls=_DASHES, label="bound"))
    outside = len(axes) > 1
    columns = min(_COLUMNS if outside else 2, len(handles))
    by_rows = [handle for i in range(columns) for handle in handles[i::columns]]
    if outside:
        place.legend(handles=by_rows, loc="outside lower center", ncols=columns)
    else:
        below = {"loc": "upper left", "bbox_to_anchor": (-0.04, -0.22), "borderaxespad": 0}
        # A legend wider than its chart would make the chart shrink.
        tight = {"handlelength": 1.2, "handletextpad": 0.5, "columnspacing": 0.8, "fontsize": 7}
        place.legend(handles=by_rows, ncols=columns, **below, **tight)


def _tick(value: float, most: float) -> str:
    """Return the text of a tick; all ticks of an axis have the unit of the largest one."""
    unit, letter = (1e6, "M") if most >= 1e6 else (1e3, "k") if most >= 1e4 else (1.0, "")
    if abs(value) < unit / 2:
        unit, letter = 1.0, ""
    return f"{value / unit:g}{letter}".replace("-", "−")


def _shortened(text: str, most: int) -> str:
    plain = text if len(text) <= most else text[: most - 1] + "…"
    return plain.replace("$", r"\$")


def _file_name(label: str, taken: Mapping[str, Any]) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:60] or "environment"
    names = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _figure(height: float) -> Any:
    make = importlib.import_module("matplotlib.figure").Figure
    figure = make(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.09)
    return figure
