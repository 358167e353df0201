"""The report: one HTML file that loads no other file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from hannan._version import __version__
from hannan.report import tables
from hannan.report.embedded import embedded
from hannan.report.lead import Lead
from hannan.report.palette import slots, variables
from hannan.report.reading import reading
from hannan.report.sections import Record, Section, Times, gather
from hannan.report.wording import span

_LIMIT = 2_800_000  # bytes of a page
_FOOTNOTE = """<p class='footnote'>Thick lines: learners of Hannan. Thin lines: baselines. Means are
over seeds, ± and bands 95&nbsp;% t-intervals. Regret is the loss minus the loss of the best
policy in hindsight. If no optimiser finds this policy, regret compares with the best of several
fitted policies. <em>Growth</em> is the power of <i>t</i> that fits the regret best after the first
tenth of the rounds. <em>Bound</em>: a theorem’s bound on expected regret. <em>Certificate</em>: a
bound on expected regret, computed from the run. Time is the computing time of the learner.</p>"""
_DETAIL = ((240, 6), (80, 4), (50, 2), (30, 1), (15, 1))  # points per curve, lanes per strip


def write_report(
    records: Iterable[Record],
    times: Times,
    path: str | Path,
    title: str,
    description: str = "",
    *,
    lead: Lead | None = None,
) -> Path:
    """Write the results of an experiment as one HTML page that opens offline.

    For each environment, the page shows mean loss and regret over time with 95 % confidence bands
    over seeds, bounds, work, the best policy over time, final results and parameters. Identical
    records and times give identical bytes.

    Parameters
    ----------
    records
        Records of finished cells, in the order in which environments and learners appear.
    times
        Computing times of some or all cells, by key.
    path
        Path of the page. The function creates missing folders.
    title
        Title of the page.
    description
        Paragraph below the title, as plain text. Default none.
    lead
        Answer at the beginning of the page, for a replay. Default None.

    Examples
    --------
    >>> import tempfile
    >>> from hannan.experiments import make_plan, run
    >>> from hannan.report import write_report
    >>> plan = make_plan({
    ...     "horizon": 200,
    ...     "environments": {"jams": {"type": "FrequencyPunisher", "n_actions": 3}},
    ...     "learners": {"chance": {"type": "UniformRandom"}},
    ... })
    >>> folder = tempfile.TemporaryDirectory()
    >>> done = run(plan, folder.name)
    >>> page = write_report(done.records, done.times, f"{folder.name}/report.html", "Chance")
    >>> page.name, "<h1>Chance</h1>" in page.read_text(encoding="utf-8")
    ('report.html', True)
    >>> folder.cleanup()
    """
    sections = gather(records, times)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_page(sections, title, description, lead), encoding="utf-8", newline="\n")
    return path


def _page(
    sections: Sequence[Section], title: str, description: str, lead: Lead | None = None
) -> str:
    colours = slots(sections)
    style = "\n".join(("", variables(), tables.shares(), _asset("page.css"), ""))
    script = "\n".join(("", *map(_asset, ("chart.js", "strips.js", "page.js")), ""))
    curves = "\n".join([*(_section(i, s, colours) for i, s in enumerate(sections)), _FOOTNOTE])
    parts = {
        "title": escape(title),
        "description": f"<p class='lead'>{escape(description)}</p>" if description else "",
        "lead": "" if lead is None else lead.html(),
        "reading": f"<p class='reading'>{reading(sections)}</p>" if lead is None else "",
        "overview": tables.overview(sections, colours) if len(sections) > 1 else "",
        "main": curves if lead is None else f"{lead.details()}\n{_folded(curves)}",
        "version": escape(__version__),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
    }
    template = Template(_asset("page.html"))
    room = _LIMIT - len(template.substitute(parts, data="").encode())
    data = ""
    for points, lanes in _DETAIL:
        data = embedded(sections, points, lanes)
        if len(data) <= room:
            break
    return template.substitute(parts, data=data)


def _folded(curves: str) -> str:
    head = "<summary>For specialists</summary>"
    return f"<details class='specialists'>{head}\n{curves}\n</details>"


def _section(i: int, section: Section, colours: Mapping[str, int]) -> str:
    regret = any(s.regret_curve.known for s in section.learners)
    best = section.best_name if section.found else "best policy so far"
    growing = strips = ""
    if regret:
        growing = _chart("regret", "Regret", f"loss so far, minus the loss of the {escape(best)}")
        growing += _chart("growth", "Growth of regret", "both axes logarithmic")
    if any(len(r["result"]["leaders"] or ()) > 1 for s in section.learners for r in s.records):
        strips = (
            "<figure class='strips'><figcaption><h3>Best policy over time</h3><p>best in hindsight "
            "after each round; one lane per seed</p></figcaption></figure>"
        )
    notes = [f"{s.label}: {s.hints}." for s in section.learners if s.hints is not None]
    hints = "\n".join(f"<p class='note'>{escape(text)}</p>" for text in notes)
    return f"""<section class='environment' id='environment-{i + 1}' data-index='{i}'>
<h2>{escape(section.title)}</h2>
<p class='facts'>{_facts(section)}</p>
<div class='legend' role='group' aria-label='Learners shown'></div>
<div class='charts'>
{_chart("loss", f"Mean {section.measured}", "per round, so far")}
{growing}
<figure class='work'><figcaption><h3>Work</h3><p>per round</p></figcaption>
{tables.effort(section, colours)}
</figure>
</div>
{strips}
<h3>Final results</h3>
{tables.results(section, colours)}
{hints}
<details><summary>Parameters</summary>
{tables.parameters(section, colours)}
</details>
</section>"""


def _facts(section: Section) -> str:
    results = [r["result"] for s in section.learners if s.learns for r in s.records]
    words = {"full": "full information", "bandit": "bandit feedback"}
    feedback = {result["feedback"] for result in results} & words.keys()
    facts = [
        str(section.environment["type"]),
        f"{section.rounds:,} rounds",
        span({len(s.records) for s in section.learners}, "seed"),
        " and ".join(words[f] for f in sorted(feedback)),
    ]
    if any(result["effective"] / max(1, result["rounds"]) < 0.999 for result in results):
        size = min(result["effective"] for result in results)
        facts.append(f"estimated from a log, effective sample size {size:,.0f}")
    return " · ".join(escape(fact) for fact in facts if fact)


def _chart(kind: str, title: str, caption: str) -> str:
    return (
        f"<figure class='chart' data-kind='{kind}'><figcaption><h3>{title}</h3><p>{caption}</p>"
        "</figcaption><div class='plot'></div></figure>"
    )


def _hash(content: str) -> str:
    """Return the hash that makes a browser accept this content of an element, and no other."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _asset(name: str) -> str:
    return files("hannan.report").joinpath(name).read_text(encoding="utf-8").rstrip("\n")
