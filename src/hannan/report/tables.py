"""The tables of the page, which need no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from hannan.report.palette import LEARNERS
from hannan.report.sections import LearnerResults, Section
from hannan.report.wording import NOTHING, described, duration, number, plus_minus, written

Slots = Mapping[str, int]
_MOST_ROWS = 10  # learners per environment in the overview
_PARAMETERS = ("Type", "Parameters", "Feedback", "Seeds", "Hannan")


def overview(sections: Sequence[Section], colours: Slots) -> str:
    """Return a table for each environment: its learners and their means, the best first."""
    found = []
    for i, section in enumerate(sections, start=1):
        rows = []
        for place, s in enumerate(section.ranking[:_MOST_ROWS]):
            cell = _cell(plus_minus(s.mean_loss), place == 0 and s.mean_loss.known)
            rows.append(f"<tr>{_who(s, colours)}{cell}</tr>")
        more = len(section.ranking) - len(rows)
        if more > 0:
            rows.append(f"<tr><th scope='row'>and {more} more</th><td></td></tr>")
        link = f"<th scope='col'><a href='#environment-{i}'>{escape(section.title)}</a></th>"
        head = f"{link}<th class='n' scope='col'>mean {section.measured}</th>"
        found.append(_table("overview", head, rows))
    return f"<div class='overviews'>{''.join(found)}</div>"


def results(section: Section, colours: Slots) -> str:
    """Return the final results of all learners, by mean loss, without empty columns."""
    mean = f"Mean {section.measured}"
    table = {s.label: _final(s, mean) for s in section.ranking}
    heads = next(iter(table.values()))
    shown = [head for head in heads if any(final[head] != NOTHING for final in table.values())]
    columns = "".join(f"<th class='n' scope='col'>{head}</th>" for head in shown)
    rows = []
    for s in section.ranking:
        best = s is section.ranking[0] and s.mean_loss.known
        final = table[s.label]
        cells = "".join(_cell(final[head], best and head == mean, head) for head in shown)
        rows.append(f"<tr>{_who(s, colours)}{cells}</tr>")
    return _table("results", f"<th scope='col'>Learner</th>{columns}", rows)


def _final(s: LearnerResults, mean: str) -> dict[str, str]:
    speed, verdict = s.seconds_per_round, ""
    if s.within_bound is not None:
        word, mark = ("below its bound", "✓") if s.within_bound else ("above its bound", "✗")
        verdict = (
            f"<span class='{'within' if s.within_bound else 'beyond'}' title='mean regret is "
            f"{word}' aria-label='regret {word}:'>{mark}</span> "
        )
    grows = NOTHING if s.exponent is None else f"<i>t</i><sup>{number(s.exponent, 2)}</sup>"
    return {
        mean: plus_minus(s.mean_loss),
        "Regret": plus_minus(s.regret),
        "Growth": grows,
        "Bound": verdict + number(s.bound),
        "Certificate": number(s.certificate),
        "Calls / round": number(s.calls_per_round) if s.learns else NOTHING,
        "Rounds / s": number(1 / speed) if speed > 0 else NOTHING,
    }


def effort(section: Section, colours: Slots) -> str:
    """Return oracle calls and computing time per round, as bars."""
    learners = [s for s in section.learners if s.learns]
    calls = [s.calls_per_round for s in learners]
    seconds = [s.seconds_per_round for s in learners]
    rows = [
        f"<tr>{_who(s, colours)}{_bar(number(c), c, calls)}{_bar(duration(d), d, seconds)}</tr>"
        for s, c, d in zip(learners, calls, seconds, strict=True)
    ]
    heads = "".join(f"<th scope='col'>{head}</th>" for head in ("", "Oracle calls", "Time"))
    return _table("effort", heads, rows)


def _bar(text: str, value: float, values: Sequence[float]) -> str:
    most = max((v for v in values if math.isfinite(v)), default=0.0)
    share = math.ceil(100 * value / most) if most > 0 and math.isfinite(value) else 0
    bar = f"<span class='bar share-{share}'></span>" if share > 0 else ""
    return f"<td>{bar}{text}</td>"


def shares() -> str:
    """Return style classes for lengths of bars, because the page forbids style attributes."""
    return "\n".join(f".share-{n} {{ --share: {n}%; }}" for n in range(1, 101))


def parameters(section: Section, colours: Slots) -> str:
    """Return the parameters of the environment and of each learner."""
    cell = section.learners[0].records[0]["cell"]
    table = cell["environment"]
    facts = [f"{escape(table['name'])}: {escape(table['type'])}", _code(described(table))]
    facts.append("all rounds" if cell["horizon"] is None else f"{cell['horizon']:,} rounds")
    if cell["policies"] is not None:
        facts.append(f"policies {_code(written(cell['policies']))}")
    facts += [_where(name, shared) for name, shared in (cell.get("shared") or {}).items()]
    rows = [_parameters_of(s, colours) for s in section.learners]
    columns = "".join(f"<th scope='col'>{head}</th>" for head in ("Learner", *_PARAMETERS))
    return f"<p class='note'>{', '.join(facts)}</p>{_table('parameters', columns, rows)}"


def _parameters_of(s: LearnerResults, colours: Slots) -> str:
    first = s.records[0]
    shared = first["cell"].get("shared_with_learner") or {}
    own = [_code(described(s.learner)), *(_where(name, table) for name, table in shared.items())]
    cells = (
        escape(str(s.learner["type"])),
        ", ".join(own),
        escape(str(first["result"]["feedback"])),
        escape(_seeds(s.seeds)),
        escape(str(first["cell"]["hannan"])),
    )
    pairs = zip(_PARAMETERS, cells, strict=True)
    shown = "".join(f"<td data-head='{head}'><span>{cell}</span></td>" for head, cell in pairs)
    return f"<tr>{_who(s, colours)}{shown}</tr>"


def _where(name: str, table: object) -> str:
    return _code(f"${name} = {written(table)}")


def swatch(slot: int) -> str:
    """Return a short line in a learner's colour."""
    return f"<i class='swatch c{slot % len(LEARNERS)} p{slot // len(LEARNERS)}'></i>"


def _seeds(seeds: Sequence[object]) -> str:
    whole = [seed for seed in seeds if isinstance(seed, int)]
    if len(seeds) > 2 and len(whole) == len(seeds) and whole == [*range(whole[0], whole[-1] + 1)]:
        return f"{whole[0]}–{whole[-1]}"
    return ", ".join(map(str, seeds))


def _who(results: LearnerResults, colours: Slots) -> str:
    kind = "ours" if results.ours else "baseline"
    label = f"{swatch(colours[results.label])}{escape(results.label)}"
    return f"<th scope='row' class='{kind}'>{label}</th>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>" if text else "defaults"


def _cell(text: str, best: bool = False, head: str = "") -> str:
    """Return a cell; on a narrow screen, its heading appears before the number."""
    heading = f" data-head='{escape(head)}'" if head else ""
    kind = "n nothing" if text == NOTHING else "n"
    return (
        f"<td class='{kind}'{heading}>{f'<b>{text}</b>' if best else f'<span>{text}</span>'}</td>"
    )


def _table(kind: str, heads: str, rows: Sequence[str]) -> str:
    body = "\n".join(rows)
    return (
        f"<div class='scroll' tabindex='0' role='region' aria-label='{kind}'>"
        f"<table class='{kind}'><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        "</div>"
    )
