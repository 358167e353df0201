"""The verdicts as one HTML page that opens offline, with a plot for each claim."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from hannan._version import __version__
from hannan.core import HannanError
from hannan.verify.claim import Check, Plot
from hannan.verify.suite import Verdict

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --paper: #fbfaf7; --soft: #6b7280;
  --line: #d9d6cf; --good: #1a7f4b; --bad: #b3261e; --card: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e4df; --paper: #15181d; --soft: #9aa3af;
  --line: #2d333c; --good: #59c98d; --bad: #ff8a80; --card: #1d2128; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 64rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0; }
p { margin: .4rem 0; } .soft { color: var(--soft); font-size: .9rem; }
nav { columns: 18rem; margin: 1.5rem 0; } nav a { display: block; text-decoration: none;
  color: inherit; } nav a:hover { text-decoration: underline; }
.pass { color: var(--good); } .fail { color: var(--bad); font-weight: 600; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1rem 1.2rem; margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .6rem 0; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { max-width: 100%; height: auto; background: #fff; border-radius: .4rem; }
"""


def write_page(verdicts: Sequence[Verdict], path: str | Path, effort: str) -> None:
    """Write the page; plots need matplotlib."""
    path = Path(path)
    failed = [verdict for verdict in verdicts if not verdict.passed]
    summary = (
        f"All {len(verdicts)} claims stand."
        if not failed
        else f"{len(failed)} of {len(verdicts)} claims fail."
    )
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        # matplotlib's drawings have styles in their elements; scripts there are none.
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">",
        f"<title>hannan verify: {escape(summary)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>hannan verify</h1><p class='{_class(not failed)}'>{escape(summary)}</p>",
        f"<p class='soft'>hannan {__version__}, {effort} effort, "
        f"{sum(v.seconds for v in verdicts):.0f} seconds</p><nav>",
        *(_link(verdict) for verdict in verdicts),
        "</nav>",
        *(_section(verdict) for verdict in verdicts),
        "</body></html>",
    ]
    path.write_text("\n".join(parts), encoding="utf-8")


def _link(verdict: Verdict) -> str:
    mark = "✓" if verdict.passed else "✗"
    return (
        f"<a href='#{verdict.claim.name}'><span class='{_class(verdict.passed)}'>{mark}</span> "
        f"{escape(verdict.claim.name)}</a>"
    )


def _section(verdict: Verdict) -> str:
    claim, finding = verdict.claim, verdict.finding
    note = f"<p class='soft'>{escape(finding.note)}</p>" if finding.note else ""
    return (
        f"<section id='{claim.name}'><h2>{escape(claim.name)} "
        f"<span class='{_class(verdict.passed)}'>{_word(verdict.passed)}</span></h2>"
        f"<p class='soft'>{escape(claim.result)} · {escape(claim.confidence)} · "
        f"{verdict.seconds:.1f} s</p><p>{escape(claim.says)}</p>"
        "<div class='wide'><table><tr><th>check</th><th class='n'>measured</th>"
        "<th class='n'>limit</th><th class='n'>margin</th><th></th></tr>"
        + "".join(_row(check) for check in finding.checks)
        + f"</table></div>{note}{_svg(finding.plot)}</section>"
    )


def _row(check: Check) -> str:
    sign = "≤" if check.at_most else "≥"
    chance = f" ± {check.allowance:.3g}" if check.allowance else ""
    return (
        f"<tr><td>{escape(check.what)}</td><td class='n'>{check.measured:.5g}</td>"
        f"<td class='n'>{sign} {check.limit:.5g}{chance}</td>"
        f"<td class='n'>{check.margin:.0%}</td>"
        f"<td class='{_class(check.passed)}'>{_word(check.passed)}</td></tr>"
    )


def _class(passed: bool) -> str:
    return "pass" if passed else "fail"


def _word(passed: bool) -> str:
    return "holds" if passed else "FAILS"


def _svg(plot: Plot) -> str:
    if not plot.series:
        return ""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:  # pragma: no cover - depends on what is installed
        raise HannanError(
            "A report needs matplotlib for its plots: pip install 'hannan[report]'."
        ) from error
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for series in plot.series:
        _draw(axes, series.style, np.asarray(series.x), np.asarray(series.y), series.label)
    axes.set_xlabel(plot.x)
    axes.set_ylabel(plot.y)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    text = io.StringIO()
    figure.savefig(text, format="svg")
    drawn = re.sub(r"<metadata>.*?</metadata>", "", text.getvalue(), flags=re.DOTALL)
    return drawn[drawn.index("<svg") :]


def _draw(axes: Any, style: str, x: Any, y: Any, label: str) -> None:
    if style == "points":
        axes.plot(x, y, ".", markersize=4, alpha=0.7, label=label)
    elif style == "dashed":
        axes.plot(x, y, "--", linewidth=1.2, label=label)
    elif style == "band":
        axes.fill_between(x, y[0], y[1], alpha=0.25, label=label)
    else:
        axes.plot(x, y, linewidth=1.6, marker="." if len(x) < 30 else "", label=label)
