"""Colours that people with any kind of colour vision can tell apart."""

from __future__ import annotations

from collections.abc import Sequence

from hannan.report.sections import Section

# After Okabe and Ito; their yellow, invisible on white, is darker here.
LEARNERS = (
    ("#0072b2", "#4aa3df"),
    ("#d55e00", "#f2793d"),
    ("#009e73", "#2fbf98"),
    ("#c4679a", "#df98c2"),
    ("#e69f00", "#f2b63c"),
    ("#56b4e9", "#9ad6f7"),
    ("#6f6f6f", "#a9a9a9"),
    ("#a39500", "#e6dc4a"),
)
"""Of lines, on a light and on a dark ground."""

# After Tol's light scheme: other hues than the lines, since they mean something else.
POLICIES = (
    "#77aadd",
    "#ee8866",
    "#eedd88",
    "#44bb99",
    "#ffaabb",
    "#99ddff",
    "#bbcc33",
    "#aaaa00",
)
"""Of stretches in which a policy leads."""


def slots(sections: Sequence[Section]) -> dict[str, int]:
    """A number for each learner's colour, the same in every environment; ours come first.

    Learners that never meet may share one. From the ninth in an environment on colours come
    again, with another pattern of the line.
    """
    kinds = {s.label: s.ours for section in sections for s in section.standings}
    taken: dict[str, int] = {}
    for label in sorted(kinds, key=lambda name: not kinds[name]):
        rooms = [{s.label for s in section.standings} for section in sections]
        met = set().union(*(room for room in rooms if label in room))
        used = {taken[other] for other in met if other in taken}
        taken[label] = next(i for i in range(len(used) + 1) if i not in used)
    return taken


def variables() -> str:
    """The colours as variables of a style sheet, and a class for each learner's."""
    lines = [f"--learner-{i}: light-dark({a}, {b});" for i, (a, b) in enumerate(LEARNERS)]
    strips = [f"--policy-{i}: {colour};" for i, colour in enumerate(POLICIES)]
    classes = [f".c{i} {{ --c: var(--learner-{i}); }}" for i in range(len(LEARNERS))]
    return ":root { " + " ".join(lines + strips) + " }\n" + " ".join(classes)
