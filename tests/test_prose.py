"""Clear prose stays clear: counts of unclear patterns may fall, and never rise."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests import prose

USERS = ("README", "docs", "messages")


@cache
def read() -> list[prose.Unit]:
    return list(prose.units())


@cache
def counted() -> tuple[dict[str, Counter[str]], Counter[str]]:
    return prose.count(iter(read()))


def rate(rule: str, *groups: str) -> float:
    """Return the violations of a rule per 1,000 words."""
    counts, words = counted()
    return 1000.0 * sum(counts[rule][g] for g in groups) / sum(words[g] for g in groups)


def test_no_pattern_occurs_more_often_than_before():
    ceilings = json.loads(prose.CEILINGS.read_text(encoding="utf-8"))
    now = prose.nonzero(counted()[0])
    pairs = {
        (group, rule) for counts in (ceilings, now) for group in counts for rule in counts[group]
    }
    changes = {
        pair: (ceilings[pair[0]].get(pair[1], 0), now[pair[0]].get(pair[1], 0)) for pair in pairs
    }
    more = {pair: f"{n}, at most {most}" for pair, (most, n) in changes.items() if n > most}
    assert not more, "See `python -m tests.prose --group GROUP --show RULE`."
    fewer = {pair: f"{n}, not {most}" for pair, (most, n) in changes.items() if n < most}
    assert not fewer, "Lower the ceilings: `python -m tests.prose --lower`."


def test_users_read_clauses_with_a_subject():
    assert rate("what-clause", "docstrings") <= 0.5
    assert rate("what-clause", "README", "docs") <= 1.0
    assert rate("what-clause", "messages") <= 0.5


def test_docstrings_of_functions_begin_with_a_verb():
    functions = [u for u in read() if u.group == "docstrings" and u.function]
    verbs = [unit for unit in functions if prose.NO_VERB not in prose.violations(unit)]
    assert len(functions) > 2000
    assert len(verbs) >= 0.95 * len(functions)


def test_users_never_meet_a_word_that_the_glossary_replaces():
    found = [
        f"{unit.path.relative_to(prose.ROOT)}:{unit.line}: {rule}: {unit.text}"
        for unit in read()
        if unit.group in USERS and unit.path.name not in {"glossary.md", "_vowpal_model.py"}
        for rule in prose.violations(unit)
        if rule in prose.GLOSSARY
    ]
    assert found == []


BROKEN = {
    "law": "Return the law of the action.",
    "told/answered": "The learner was told the loss.",
    "world": "A world that reacts.",
    "refused": "The call is refused.",
    "a round (per round)": "It loses 0.1 a round.",
    "guess": "Return a guess of the loss.",
    "what-clause": "Return what was learned.",
    "fragment 'Of …'": "Of all intervals together.",
    prose.HEADLESS: "What was played.",
    prose.NO_VERB: "The number of rounds.",
    prose.LONG: " ".join(["word"] * 31) + ".",
}


@pytest.mark.parametrize(("rule", "text"), BROKEN.items())
def test_a_broken_rule_is_noticed(rule, text):
    unit = prose.Unit("docstrings", Path("x.py"), 1, text, function=True, first=True)
    assert rule in prose.violations(unit)


def test_code_and_clear_sentences_break_no_rule(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Call `told(law)`.\n\n```python\nthe_law_of_the_world = 1\n```\n")
    assert [rule for unit in prose.markdown(page, "docs") for rule in prose.violations(unit)] == []


def test_strings_of_several_words_are_read_wherever_they_stand(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        '"""The module."""\n'
        'def f(x):\n    """Return x."""\n    # the law here\n    print(f"the law of {x} is")\n'
        '    raise ValueError("nothing was told" + "to the learner here")\n'
    )
    found = [
        (unit.group, rule) for unit in prose.python(file, "") for rule in prose.violations(unit)
    ]
    assert sorted(found) == [
        ("comments", "law"),
        ("messages", "law"),
        ("messages", "told/answered"),
    ]
