"""A summary of the results in one paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from hannan.experiments.over_data import OverData
from hannan.report.sections import LearnerResults, Section
from hannan.report.spread import Spread
from hannan.report.wording import counted, listed, number, plus_minus, span


def reading(sections: Sequence[Section]) -> str:
    """Name the best learners and those with regret below the bound, in a paragraph of HTML."""
    brief = len(sections) > 4
    alone = len(sections) == 1  # otherwise the tables show the numbers
    winners = _winners(sections) if brief else [_winner(s, alone) for s in sections]
    sentences = [_scene(sections), *winners, _bounds(sections)]
    return " ".join(sentence for sentence in sentences if sentence)


def margin(first: LearnerResults, second: LearnerResults) -> Spread:
    """Return the mean loss of the second learner minus that of the first, over common seeds."""
    losses = [
        dict(zip(s.seeds, (r["result"]["mean_loss"] for r in s.records), strict=True))
        for s in (first, second)
    ]
    both = [seed for seed in losses[0] if seed in losses[1]]
    pairs = np.array([[side[seed] for side in losses] for seed in both], np.float64)
    return Spread.of(pairs.reshape(-1, 2) @ [-1.0, 1.0])


def clear_over_data(first: LearnerResults, second: LearnerResults) -> bool:
    """Return whether the second learner's loss is clearly larger, by an interval over rounds."""
    curves = []
    for results in (first, second):
        courses = [r["result"]["curve"] for r in results.records]
        if any(
            c["t"] != courses[0]["t"] or c["loss"] is None or None in c["loss"] for c in courses
        ):
            return True  # the curves are not comparable, so only the seeds count
        curves.append(
            {**courses[0], "loss": np.mean([c["loss"] for c in courses], axis=0).tolist()}
        )
    gap = OverData(curves).interval(1, 0)
    return gap is None or gap[0] > 0.0


def _scene(sections: Sequence[Section]) -> str:
    learners = {s.label for section in sections for s in section.learners}
    seeds = {len(s.records) for section in sections for s in section.learners}
    rounds = {section.rounds for section in sections}
    runs = f"{counted(len(learners), 'learner')} in {counted(len(sections), 'environment')}"
    return f"Compared: {runs}, with {span(seeds, 'seed')} of {span(rounds, 'round')}."


def _winner(section: Section, numbers: bool) -> str:
    ranked = [s for s in section.ranking if s.mean_loss.known]
    where = f"On <em>{escape(section.title)}</em>"
    if not ranked:
        return f"{where}, no mean loss is known."
    best = ranked[0]
    loss = plus_minus(best.mean_loss).replace(" ", "\N{NO-BREAK SPACE}")
    rewards = section.measured == "reward"
    best_mean = f"the {'highest' if rewards else 'lowest'} mean {section.measured}"
    if len(ranked) == 1:
        return f"{where}, {_name(best)} had a mean {section.measured} of {loss} per round."
    best_mean += f", {loss} per round" if numbers else ""
    return f"{where}, {_name(best)} had {best_mean}{_ahead(best, ranked[1], numbers)}."


def _winners(sections: Sequence[Section]) -> list[str]:
    """Return one sentence on the best learners, for many environments."""
    won: dict[str, list[str]] = {}
    for section in sections:
        if section.ranking[0].mean_loss.known:
            title = f"<em>{escape(section.title)}</em>"
            won.setdefault(_name(section.ranking[0]), []).append(title)
    clauses = [
        f"{who} on {listed(where) if len(where) < len(sections) else 'all of them'}"
        for who, where in won.items()
    ]
    return [f"Best mean results: {'; '.join(clauses)}."] if clauses else []


def _ahead(best: LearnerResults, second: LearnerResults, numbers: bool) -> str:
    gap = margin(best, second)
    least = f" ({number(second.mean_loss.mean)})" if numbers else ""
    if gap.low > 0 and clear_over_data(best, second):
        return f", clearly ahead of {_name(second)}{least}"
    if gap.mean == 0 and second.mean_loss.mean == best.mean_loss.mean:
        return f", the same as {_name(second)}"
    if np.isfinite(gap.low):
        data = "more seeds" if gap.low <= 0 else "similar data"
        return f", but {_name(second)} is so close that it could win with {data}"
    return f", ahead of {_name(second)}{least}"


def _bounds(sections: Sequence[Section]) -> str:
    known = [(s, e) for e in sections for s in e.learners if s.within_bound is not None]
    if not known:
        return ""
    broken = [(s, e) for s, e in known if not s.within_bound]
    names = list(dict.fromkeys(_name(s) for s, _ in known))
    if not broken:
        everyone = f"all {counted(len(names), 'learner')} with a bound"
        who = listed(names) if len(names) <= 6 else everyone
        everywhere = " everywhere" if len(sections) > 1 else ""
        return f"The regret of {who} is below the theorem’s bound{everywhere}."
    cases = [f"{_name(s)} on <em>{escape(e.title)}</em>" for s, e in broken]
    if len(cases) > 4:
        cases = [*cases[:3], f"{len(cases) - 3} others"]
    below = len(known) - len(broken)
    return (
        f"Regret is below the theorem’s bound in {below} of {len(known)} cases; "
        f"it is above for {listed(cases)}."
    )


def _name(results: LearnerResults) -> str:
    return f"<strong>{escape(results.label)}</strong>"
