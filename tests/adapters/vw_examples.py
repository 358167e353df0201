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


def names(json: bool) -> st.SearchStrategy[str]:
    """Names that the format can hold."""
    text = st.text(LETTERS, min_size=1, max_size=4)
    if json:
        return text.filter(lambda name: name[0] != "_" and name == name.strip())
    return text


def words(json: bool) -> st.SearchStrategy[str]:
    """Words that the format can hold."""
    if json:
        return st.text(LETTERS | st.sampled_from(" |:\t\n"), max_size=4)
    return st.text(LETTERS | st.just(":"), min_size=1, max_size=4).filter(is_word)


def features(json: bool = False) -> st.SearchStrategy[dict]:
    """Features by namespace, some of them more than once."""
    one = NUMBERS | words(json)
    several = st.lists(one, min_size=2, max_size=3).map(tuple)
    inside = st.dictionaries(names(json), one | several, min_size=1, max_size=3)
    return st.dictionaries(names(json) | st.just(""), inside, max_size=2)


def tags(json: bool = False) -> st.SearchStrategy[str]:
    """The name of a line, or none."""
    return st.text(LETTERS | st.just(":"), max_size=3)


@st.composite
def cb_rounds(draw: st.DrawFn) -> A.CbRound:
    places = draw(st.lists(st.integers(0, 10**9), unique=True, min_size=2, max_size=4))
    action = draw(st.none() | st.sampled_from(places))
    label = (None,) * 3 if action is None else (action, draw(NUMBERS), draw(PROBABILITIES))
    available = draw(st.none() | st.just(tuple(places)))
    return A.CbRound(draw(features()), *label, available, draw(tags()))


@st.composite
def csoaa_rounds(draw: st.DrawFn) -> A.CsoaaRound:
    costs = draw(st.dictionaries(st.integers(0, 10**9), st.none() | NUMBERS, max_size=4))
    return A.CsoaaRound(draw(features()), costs, draw(tags()))


@st.composite
def shared(draw: st.DrawFn, json: bool) -> dict:
    """What groups of lines have in common."""
    actions = draw(st.lists(features(json), min_size=1, max_size=4).map(tuple))
    named = draw(st.lists(tags(json), min_size=len(actions), max_size=len(actions)).map(tuple))
    found = {"context": draw(features(json)), "actions": actions, "tag": draw(tags(json))}
    found["tags"] = named if any(named) else ()
    if json:
        found["pdrop"] = draw(st.floats(0.0, 0.9))
        found["skip_learn"] = draw(st.booleans())
        found["event_id"], found["timestamp"] = draw(words(True)), draw(words(True))
    return found


@st.composite
def decisions(draw: st.DrawFn, count: int, json: bool, slot: bool) -> dict:
    """A label of one of `count` actions; the text tells of others in slots only."""
    action = draw(st.none() | st.integers(0, count - 1))
    if action is None:
        return {}
    cost = draw(NUMBERS)
    if slot or json:
        weights = draw(st.lists(st.floats(0.1, 1.0), min_size=count, max_size=count))
        law = [weight / sum(weights) for weight in weights]
        p, others = law[action], {k: q for k, q in enumerate(law) if k != action}
    if not (slot or json) or draw(st.booleans()):
        p, others = draw(PROBABILITIES), {}
    if json and not slot and draw(st.booleans()):
        cost = None
    return {"action": action, "cost": cost, "probability": p, "others": others}


@st.composite
def adf_rounds(draw: st.DrawFn, json: bool = False) -> A.CbAdfRound:
    found = draw(shared(json))
    return A.CbAdfRound(**found, **draw(decisions(len(found["actions"]), json, False)))


@st.composite
def ccb_rounds(draw: st.DrawFn, json: bool = False) -> A.CcbRound:
    found = draw(shared(json))
    count = len(found["actions"])
    slots = []
    for _ in range(draw(st.integers(1, count))):
        places = st.lists(st.integers(0, count - 1), min_size=1, unique=True).map(tuple)
        label = draw(decisions(count, json, True))
        slot = A.CcbSlot(draw(features(json)), **label, available=draw(st.none() | places))
        slots.append(slot)
    return A.CcbRound(**found, slots=tuple(slots))


TEXT = {"cb": cb_rounds(), "cb_adf": adf_rounds(), "ccb": ccb_rounds(), "csoaa": csoaa_rounds()}
JSON = adf_rounds(True) | ccb_rounds(True)
