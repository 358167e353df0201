"""Rounds of Vowpal Wabbit by the thousand, for the tests of its formats."""

from __future__ import annotations

from hypothesis import strategies as st

import hannan as hn

A = hn.adapters

# Everything that may stand in a name: no separators, and no half surrogate pairs.
LETTERS = st.characters(blacklist_categories=("Cs",), blacklist_characters="|: \t\r\n\0")
NUMBERS = st.floats(-1e38, 1e38, allow_nan=False)
PROBABILITIES = st.floats(1e-6, 1.0)


def is_word(text: str) -> bool:
    """Whether VW's text format takes this for a word and no number."""
    plain = text.lower().lstrip("+-")
    return not (plain[:1] in "0123456789." or plain.startswith(("inf", "nan")))


NAMES = st.text(LETTERS, min_size=1, max_size=4)
WORDS = st.text(LETTERS | st.just(":"), min_size=1, max_size=4).filter(is_word)
TAGS = st.text(LETTERS | st.just(":"), max_size=3)


def features() -> st.SearchStrategy[dict]:
    """Features by namespace, some of them more than once."""
    one = NUMBERS | WORDS
    several = st.lists(one, min_size=2, max_size=3).map(tuple)
    inside = st.dictionaries(NAMES, one | several, min_size=1, max_size=3)
    return st.dictionaries(NAMES | st.just(""), inside, max_size=2)


@st.composite
def labels(draw: st.DrawFn, places: list[int]) -> tuple:
    """Action, cost and probability, or none of them."""
    action = draw(st.none() | st.sampled_from(places))
    return (None,) * 3 if action is None else (action, draw(NUMBERS), draw(PROBABILITIES))


@st.composite
def cb_rounds(draw: st.DrawFn) -> A.CbRound:
    places = draw(st.lists(st.integers(0, 10**9), unique=True, min_size=2, max_size=4))
    available = draw(st.none() | st.just(tuple(places)))
    return A.CbRound(draw(features()), *draw(labels(places)), available, draw(TAGS))


@st.composite
def adf_rounds(draw: st.DrawFn) -> A.CbAdfRound:
    actions = draw(st.lists(features(), min_size=1, max_size=4).map(tuple))
    named = draw(st.lists(TAGS, min_size=len(actions), max_size=len(actions)).map(tuple))
    label = draw(labels(list(range(len(actions)))))
    tags = named if any(named) else ()
    return A.CbAdfRound(draw(features()), actions, *label, tag=draw(TAGS), tags=tags)


TEXT = {"cb": cb_rounds(), "cb_adf": adf_rounds()}
