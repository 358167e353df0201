"""Colours that are distinct for every kind of colour vision."""

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
"""Colours of learners' lines, on a light and on a dark background."""

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
"""Colours of intervals in which a policy leads."""


def slots(sections: Sequence[Section]) -> dict[str, int]:
    """Return the number of each learner's colour, the same in all environments; ours come first.

    Learners without a common environment may share a colour. From the ninth learner in an
    environment on, colours repeat with another line pattern.
    """
    kinds = {s.label: s.ours for section in sections for s in section.learners}
    taken: dict[str, int] = {}
    for label in sorted(kinds, key=lambda name: not kinds[name]):
        groups = [{s.label for s in section.learners} for section in sections]
        others = set().union(*(group for group in groups if label in group))
        used = {taken[other] for other in others if other in taken}
        taken[label] = next(i for i in range(len(used) + 1) if i not in used)
    return taken


def variables() -> str:
    """Return a style sheet with the colours as variables, and a class for each learner's colour."""
    lines = [f"--learner-{i}: light-dark({a}, {b});" for i, (a, b) in enumerate(LEARNERS)]
    strips = [f"--policy-{i}: {colour};" for i, colour in enumerate(POLICIES)]
    classes = [f".c{i} {{ --c: var(--learner-{i}); }}" for i in range(len(LEARNERS))]
    return ":root { " + " ".join(lines + strips) + " }\n" + " ".join(classes)
