"""The text formats of Vowpal Wabbit: `cb`, `cb_adf`, `ccb` and `csoaa`.

cb       2:0.5:0.25 |user age:31 city:york      action:cost:probability, actions from 1
cb_adf   shared |user age:31                    then one line for each action, that of the action
         0:0.5:0.25 |ad id:red                  taken with 0:cost:probability, and a blank line
         |ad id:blue
ccb      ccb shared |…, ccb action |…           and ccb slot 1:0.5:0.8,0:0.2 |…, actions from 0
csoaa    1:0.2 2:0.7 |user age:31               action:cost of all actions, from 1
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from hannan.adapters.vw.lines import MAX_ROUND, Lines, Source, Target, writing
from hannan.adapters.vw.rounds import (
    LAST,
    TOLERANCE,
    CbAdfRound,
    CbRound,
    CcbRound,
    CcbSlot,
    CsoaaRound,
    Features,
    Round,
    merged,
)
from hannan.core.validation import check_choice, check_integer

FORMATS = ("cb", "cb_adf", "ccb", "csoaa")

# Each digit can be matched in one way only, so that what is no number is refused in linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NUMERIC = re.compile(r"[+-]?(?:\.?[0-9]|inf|nan)", re.IGNORECASE)
_INTEGER = re.compile(r"[0-9]{1,10}")
_LABEL = re.compile(r"(?:^| )(?:shared|ccb|[0-9]+:)")
_LONGEST = 400  # digits; that is more than a float can hold
_UNKNOWN: tuple[int | None, float | None, float | None] = (None, None, None)


def read_vw(
    source: Source, format: str, *, max_round: int = MAX_ROUND
) -> Iterator[CbRound | CbAdfRound | CcbRound | CsoaaRound]:
    """The rounds of a text file of Vowpal Wabbit, one at a time.

    What VW would read with a warning, or in another way than it looks, is refused: a probability
    outside (0, 1], a cost without one, a number that is none, a label that touches the bar and so
    is a tag. The weight of a namespace is multiplied into its values. Features without names,
    ``|v :0.5 :2``, have the names "0", "1", …, which for VW are the same.

    Parameters
    ----------
    source
        A path (also of a .gz file), an open file, or an iterable of lines.
    format
        "cb", "cb_adf", "ccb" or "csoaa".
    max_round
        Characters that a round may have; no more are ever held.

    Examples
    --------
    >>> import hannan as hn
    >>> (found,) = hn.adapters.read_vw(["2:0.5:0.25 |user age:31 city:york"], "cb")
    >>> found.action, found.cost, found.probability
    (1, 0.5, 0.25)
    >>> found.context
    {'user': {'age': 31.0, 'city': 'york'}}
    """
    check_choice("read_vw", "format", format, FORMATS)
    lines = Lines(source, check_integer("read_vw", "max_round", max_round, 1))
    return rounds_of_text(lines, format)


def rounds_of_text(lines: Lines, format: str) -> Iterator[Any]:
    """The rounds in these lines, whose `number` then is that of the line which ended the last."""
    if format in _SINGLE:
        return _singles(lines, _SINGLE[format])
    return _groups(lines, _GROUPED[format])


def write_vw(rounds: Iterable[Round], target: Target, format: str) -> int:
    """Write rounds as text that Vowpal Wabbit reads; returns how many there were.

    `read_vw` gives back the same rounds. What the text cannot hold is refused: names with blanks,
    colons or bars, and words that look like numbers; but a decision whose cost is not known is
    written without a label.

    Parameters
    ----------
    rounds
        All of the kind that `read_vw` gives for the format.
    target
        A path (also of a .gz file), which is replaced when all is written, or an open file.
    format
        "cb", "cb_adf", "ccb" or "csoaa".

    Examples
    --------
    >>> import sys
    >>> import hannan as hn
    >>> ads = ({"ad": {"id": "red"}}, {"ad": {"id": "blue"}})
    >>> shown = hn.adapters.CbAdfRound({"user": {"age": 31}}, ads, 1, cost=0.5, probability=0.25)
    >>> hn.adapters.write_vw([shown], sys.stdout, "cb_adf")
    shared |user age:31
    |ad id:red
    0:0.5:0.25 |ad id:blue
    <BLANKLINE>
    1
    """
    from hannan.adapters.vw.text_writer import written

    check_choice("write_vw", "format", format, FORMATS)
    count = 0
    with writing(target) as write:
        for count, this_round in enumerate(rounds, 1):  # noqa: B007
            for line in written(this_round, format):
                write(line)
    return count


class _Line(NamedTuple):
    words: list[str]
    tag: str
    features: Features
    number: int


def _singles(lines: Lines, made: Callable[[_Line, Lines], Any]) -> Iterator[Any]:
    for line in lines:
        if line:
            yield made(_parsed(line, lines), lines)


def _groups(lines: Lines, made: Callable[[list[_Line], Lines, int], Any]) -> Iterator[Any]:
    """Lines up to a blank one make a round; VW takes a line of blanks for an action."""
    group: list[_Line] = []
    size = 0
    for line in lines:
        if line:
            size += len(line)
            if size > lines.longest:
                raise lines.refuse(
                    f"more than {lines.longest} characters without a blank line",
                    "a blank line after each round, or a larger max_round",
                )
            group.append(_parsed(line, lines))
        elif group:
            yield made(group, lines.at(group[-1].number), group[0].number)
            group, size = [], 0
    if group:
        yield made(group, lines, group[0].number)


def _parsed(line: str, at: Lines) -> _Line:
    """Label, tag and features, as VW divides a line."""
    if "\r" in line or "\0" in line:
        raise at.refuse(line, "a line without carriage returns or null characters")
    label, bar, rest = line.partition("|")
    before, tab, after = label.partition("\t")
    label = after if tab else before
    words = [word for word in label.split(" ") if word]
    tag = ""
    if words and (not label.endswith(" ") or words[-1][0] == "'"):
        tag = words.pop()
        if tag == "shared" or (tag[0] != "'" and _INTEGER.match(tag) and ":" in tag):
            raise at.refuse(tag, "a blank between a label and the bar; what touches it is a tag")
        tag = tag.removeprefix("'")
    if not words and tab and _LABEL.search(before):
        raise at.refuse(before, "a label after a tab, if there is one; VW skips what is before")
    return _Line(words, tag, merged(list(_features(rest, at))) if bar else {}, at.number)


def _features(text: str, at: Lines) -> Iterator[tuple[str, str, float | str]]:
    parts = text.split("|")
    for place, part in enumerate(parts, 1):
        tokens = part.replace("\t", " ").split(" ")
        space, weight, unnamed = "", 1.0, 0
        if tokens[0]:
            space, colon, factor = tokens[0].partition(":")
            if not space:
                raise at.refuse(tokens[0], "a namespace as |name or |name:weight")
            weight = _number(factor, at) if colon else 1.0
        for token in tokens[1:]:
            if not token:
                continue
            name, colon, value = token.partition(":")
            if not colon:
                yield space, name, weight
            elif NUMBER.fullmatch(value, endpos=_LONGEST):
                if not name:
                    name = str(unnamed)
                    unnamed += 1
                yield space, name, _finite(weight * _number(value, at), token, at)
            elif not value or not name or NUMERIC.match(value):
                raise at.refuse(token, "a feature as name, name:number or name:word")
            else:
                yield space, name, value
        # VW reads on to the next blank, and so takes the bar and a namespace into the word.
        word = tokens[-1].partition(":")[2] if len(tokens) > 1 else ""
        if place < len(parts) and word and not NUMERIC.match(word):
            raise at.refuse(f"{tokens[-1]}|", "a blank between a word and the bar")


def _number(text: str, at: Lines) -> float:
    if len(text) > _LONGEST or not NUMBER.fullmatch(text):
        raise at.refuse(text, "a number")
    return _finite(float(text), text, at)


def _finite(value: float, text: str, at: Lines) -> float:
    if not math.isfinite(value):
        raise at.refuse(text, "a number that is finite in double precision")
    return value


def _probability(text: str, at: Lines) -> float:
    value = _number(text, at)
    if not 0.0 <= value <= 1.0 + TOLERANCE:
        raise at.refuse(text, "a probability")
    return min(value, 1.0)


def _taken(text: str, at: Lines) -> float:
    value = _probability(text, at)
    if value == 0.0:
        raise at.refuse(text, "a probability above 0 of an action that was taken")
    return value


def _place(text: str, at: Lines, first: int) -> int:
    """The place of an action, from 0, where the format counts from `first`."""
    if not _INTEGER.fullmatch(text) or not first <= int(text) <= LAST + first:
        raise at.refuse(text, f"the number of an action, from {first}")
    return int(text) - first


def _cb(line: _Line, at: Lines) -> CbRound:
    places: dict[int, None] = {}
    label: tuple[int, float, float] | None = None
    for word in line.words:
        parts = word.split(":")
        place = _place(parts[0], at, 1)
        if place in places or len(parts) not in (1, 3) or (label and len(parts) == 3):
            accepted = "one action:cost:probability, and further actions by number alone"
            raise at.refuse(word, accepted)
        places[place] = None
        if len(parts) == 3:
            label = place, _number(parts[1], at), _taken(parts[2], at)
    # A single labelled action is any of all actions; VW restricts them by naming several.
    everything = not places or (label is not None and len(places) == 1)
    available = None if everything else tuple(places)
    action, cost, probability = label or _UNKNOWN
    return CbRound(line.features, action, cost, probability, available, line.tag)


def _csoaa(line: _Line, at: Lines) -> CsoaaRound:
    costs: dict[int, float | None] = {}
    for word in line.words:
        label, colon, cost = word.partition(":")
        place = _place(label, at, 1)
        if place in costs:
            raise at.refuse(word, "each action once, as action:cost")
        costs[place] = _number(cost, at) if colon else None
    return CsoaaRound(line.features, costs, line.tag)


def _cb_adf(group: list[_Line], at: Lines, first: int) -> CbAdfRound:
    shared = _Line([], "", {}, first)
    if group[0].words[:1] == ["shared"]:
        shared, *group = group
    label: tuple[int, float, float] | None = None
    for place, line in enumerate(group):
        for word in line.words:
            here, parts = at.at(line.number), word.split(":")
            if len(parts) not in (1, 3) or (label and len(parts) == 3) or len(line.words) > 1:
                raise here.refuse(word, "one 0:cost:probability in a round")
            _place(parts[0], here, 0)
            if len(parts) == 3:
                label = place, _number(parts[1], here), _taken(parts[2], here)
    if not group or len(shared.words) > 1:
        raise at.refuse(" ".join(shared.words), "shared |…, then a line for each action", first)
    action, cost, probability = label or _UNKNOWN
    actions = tuple(line.features for line in group)
    return CbAdfRound(
        shared.features, actions, action, cost, probability, {}, shared.tag, _tags(group)
    )


def _ccb(group: list[_Line], at: Lines, first: int) -> CcbRound:
    kinds = {"shared": 0, "action": 1, "slot": 2}
    parts: list[list[_Line]] = [[], [], []]
    last = 0
    for line in group:
        kind = kinds.get(line.words[1], -1) if len(line.words) > 1 else -1
        if line.words[:1] != ["ccb"] or kind < last or (kind < 2 < len(line.words)):
            accepted = "one ccb shared, then ccb action and then ccb slot lines"
            raise at.at(line.number).refuse(" ".join(line.words), accepted)
        last = kind
        parts[kind].append(line)
    shared, actions, slots = parts
    if len(shared) > 1 or not 1 <= len(slots) <= len(actions):
        found = f"{len(shared)} shared, {len(actions)} action and {len(slots)} slot lines"
        raise at.refuse(found, "at most one shared, and at least as many actions as slots", first)
    return CcbRound(
        shared[0].features if shared else {},
        tuple(line.features for line in actions),
        tuple(_slot(line, len(actions), at.at(line.number)) for line in slots),
        shared[0].tag if shared else "",
        _tags(actions),
    )


def _slot(line: _Line, count: int, at: Lines) -> CcbSlot:
    action, cost, probability, others = (*_UNKNOWN, dict[int, float]())
    available: tuple[int, ...] | None = None
    for word in line.words[2:]:
        if ":" in word and action is None:
            action, cost, probability, others = _outcome(word, count, at)
        elif ":" not in word and available is None:
            available = tuple(_inside(part, count, at) for part in word.split(","))
            if len(set(available)) < len(available):
                raise at.refuse(word, "each action once")
        else:
            raise at.refuse(word, "one action:cost:probability,… and one list of actions")
    return CcbSlot(line.features, action, cost, probability, others, available, line.tag)


def _outcome(word: str, count: int, at: Lines) -> tuple[int, float, float, dict[int, float]]:
    label, *pairs = (part.split(":") for part in word.split(","))
    if len(label) != 3 or any(len(pair) != 2 for pair in pairs):
        raise at.refuse(word, "action:cost:probability, then action:probability of others")
    action, p = _inside(label[0], count, at), _taken(label[2], at)
    others = {_inside(k, count, at): _probability(q, at) for k, q in pairs}
    if action in others or len(others) < len(pairs):
        raise at.refuse(word, "each action once")
    if others and abs(p + math.fsum(others.values()) - 1.0) > TOLERANCE:
        raise at.refuse(word, "probabilities of sum 1")
    return action, _number(label[1], at), p, others


def _inside(text: str, count: int, at: Lines) -> int:
    place = _place(text, at, 0)
    if place >= count:
        raise at.refuse(text, f"the number of one of {count} actions, from 0")
    return place


def _tags(lines: list[_Line]) -> tuple[str, ...]:
    tags = tuple(line.tag for line in lines)
    return tags if any(tags) else ()


_SINGLE: dict[str, Callable[[_Line, Lines], Any]] = {"cb": _cb, "csoaa": _csoaa}
_GROUPED: dict[str, Callable[[list[_Line], Lines, int], Any]] = {"cb_adf": _cb_adf, "ccb": _ccb}
