"""The text formats of Vowpal Wabbit: `cb` and `cb_adf`.

cb       2:0.5:0.25 |user age:31 city:york      action:cost:probability, actions from 1
cb_adf   shared |user age:31                    then one line for each action, that of the action
         0:0.5:0.25 |ad id:red                  taken with 0:cost:probability, and a blank line
         |ad id:blue
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from hannan.adapters.vw.lines import MAX_ROUND, Lines, Source, Target, write_rounds
from hannan.adapters.vw.rounds import (
    LAST,
    TOLERANCE,
    UNSUPPORTED,
    CbAdfRound,
    CbRound,
    Features,
    Round,
    as_number,
    as_place,
    merged,
    named,
    plain,
)
from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short
from hannan.core.validation import check_choice, check_integer

FORMATS = ("cb", "cb_adf")
SLOTTED = ("ccb", "slates")

# Each digit can be matched in one way only, so that what is no number is refused in linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NUMERIC = re.compile(r"[+-]?(?:\.?[0-9]|inf|nan)", re.IGNORECASE)
_INTEGER = re.compile(r"[0-9]{1,10}")
_LABEL = re.compile(r"(?:^| )(?:shared|ccb|[0-9]+:)")
_LONGEST = 400  # digits; that is more than a float can hold
_UNKNOWN: tuple[int | None, float | None, float | None] = (None, None, None)


def read_vw(
    source: Source, format: str, *, max_round: int = MAX_ROUND, max_unpacked: int | None = None
) -> Iterator[Round]:
    """The rounds of a text file of Vowpal Wabbit, one at a time.

    What VW would read with a warning, or in another way than it looks, is refused. The weight of a
    namespace is multiplied into its values. Features without names, ``|v :0.5 :2``, have the names
    "0", "1", …, which for VW are the same.

    Parameters
    ----------
    source
        A path (also of a .gz file), an open file, or an iterable of lines.
    format
        "cb" (gives `CbRound`) or "cb_adf" (`CbAdfRound`).
    max_round
        Characters that a round may have; no more are ever held.
    max_unpacked
        Bytes that a .gz file may unpack to; by default 50 times its size, and at least 16 MiB.

    Examples
    --------
    >>> import hannan as hn
    >>> (found,) = hn.adapters.read_vw(["2:0.5:0.25 |user age:31 city:york"], "cb")
    >>> found.action, found.cost, found.probability
    (1, 0.5, 0.25)
    >>> found.context
    {'user': {'age': 31.0, 'city': 'york'}}
    """
    check_format("read_vw", format, FORMATS)
    check_integer("read_vw", "max_round", max_round, 1)
    lines = Lines(source, max_round, max_unpacked=max_unpacked)
    return rounds_of_text(lines, format)


def check_format(owner: object, format: Any, formats: Iterable[str]) -> str:
    """One of these formats; those that are never supported are named."""
    if format in SLOTTED:
        raise ParameterError(f"The format {format!r} cannot be used: {UNSUPPORTED}.")
    return check_choice(owner, "format", format, formats)


def rounds_of_text(lines: Lines, format: str) -> Iterator[Any]:
    """The rounds in these lines, whose `number` then is that of the line which ended the last."""
    if format == "cb_adf":
        return _groups(lines)
    return (_cb(_parsed(line, lines), lines) for line in lines if line)


def write_vw(rounds: Iterable[CbRound | CbAdfRound], target: Target, format: str) -> int:
    """Write rounds as text that Vowpal Wabbit reads; returns how many there were.

    Every round is read back before it is written, and refused unless it is still the same. What
    only dsjson can hold is left out, and decisions without a cost, or marked `skip_learn`, are
    written without a label.

    Parameters
    ----------
    rounds
        `CbRound` or `CbAdfRound` objects, as the format says.
    target
        A path (also of a .gz file), which is replaced when all is written, or an open file.
    format
        "cb" or "cb_adf".

    Examples
    --------
    >>> import sys
    >>> import hannan as hn
    >>> ads = ({"ad": {"id": "red"}}, {"ad": {"id": "blue"}})
    >>> shown = hn.adapters.CbAdfRound({"user": {"age": 31}}, ads, 1, cost=0.5, probability=0.25)
    >>> hn.adapters.write_vw([shown], sys.stdout, "cb_adf")
    shared |user age:31.0
    |ad id:red
    0:0.5:0.25 |ad id:blue
    <BLANKLINE>
    1
    """
    check_format("write_vw", format, FORMATS)
    kept, written = (_plain, _written) if format == "cb" else (_plain_group, _written_group)
    return write_rounds(rounds, target, kept, written, partial(rounds_of_text, format=format))


class _Line(NamedTuple):
    words: list[str]
    tag: str
    features: Features
    number: int


def _groups(lines: Lines) -> Iterator[CbAdfRound]:
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
            yield _cb_adf(group, lines.at(group[-1].number), group[0].number)
            group, size = [], 0
    if group:
        yield _cb_adf(group, lines, group[0].number)


def _parsed(line: str, at: Lines) -> _Line:
    """Label, tag and features, as VW divides a line."""
    if "\r" in line or "\0" in line:
        raise at.refuse(line, "a line without carriage returns or null characters")
    label, bar, rest = line.partition("|")
    before, tab, after = label.partition("\t")
    label = after if tab else before
    words = [word for word in label.split(" ") if word]
    if words and words[0] in SLOTTED:
        raise at.refuse(" ".join(words), f"another format: {UNSUPPORTED}")
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
    if not 0.0 < value <= 1.0 + TOLERANCE:
        raise at.refuse(text, "the probability of an action that was taken, above 0 and at most 1")
    return min(value, 1.0)


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
            label = place, _number(parts[1], at), _probability(parts[2], at)
    # A single labelled action is any of all actions; VW restricts them by naming several.
    everything = not places or (label is not None and len(places) == 1)
    available = None if everything else tuple(places)
    return CbRound(line.features, *(label or _UNKNOWN), available, line.tag)


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
                label = place, _number(parts[1], here), _probability(parts[2], here)
    if not group or len(shared.words) > 1:
        raise at.refuse(" ".join(shared.words), "shared |…, then a line for each action", first)
    actions, tags = tuple(line.features for line in group), named(line.tag for line in group)
    return CbAdfRound(shared.features, actions, *(label or _UNKNOWN), {}, shared.tag, tags)


def _plain(this: Any) -> CbRound:
    _check_kind(this, CbRound)
    available = None if this.available is None else tuple(this.available)
    return CbRound(plain(this.context), *_known(this), available, this.tag)


def _plain_group(this: Any) -> CbAdfRound:
    _check_kind(this, CbAdfRound)
    label = _UNKNOWN if this.skip_learn else _known(this)
    actions = tuple(map(plain, this.actions))
    return CbAdfRound(plain(this.context), actions, *label, {}, this.tag, named(this.tags))


def _check_kind(this: Any, kind: type) -> None:
    if not isinstance(this, kind):
        raise InputTypeError(
            f"write_vw takes {kind.__name__} objects in this format; got {short(this)}."
        )


def _known(this: CbRound | CbAdfRound) -> tuple[int | None, float | None, float | None]:
    if this.action is not None and this.cost is None:
        return _UNKNOWN
    return this.action, None if this.cost is None else as_number(this.cost), this.probability


def _written(this: CbRound) -> list[str]:
    label = {} if this.cost is None else {as_place(this.action): _label(this)}
    places = tuple(label) if this.available is None else this.available
    return [_line([f"{as_place(k) + 1}{label.get(k, '')}" for k in places], this.tag, this.context)]


def _written_group(this: CbAdfRound) -> list[str]:
    """With the blank line that ends a group."""
    lines = [_line(["shared"], this.tag, this.context)]
    label = {} if this.cost is None else {as_place(this.action): [f"0{_label(this)}"]}
    for k, features in enumerate(this.actions):
        lines.append(_line(label.get(k, []), "".join(this.tags[k : k + 1]), features))
    return [*lines, ""]


def _label(this: CbRound | CbAdfRound) -> str:
    return f":{this.cost}:{this.probability}"


def _line(words: list[str], tag: str, features: Features) -> str:
    spaces = [" ".join(_space(name, values)) for name, values in features.items()]
    return " ".join([*words, *([f"'{tag}"] if tag else []), *(spaces or ["|"])])


def _space(space: str, values: Any) -> Iterator[str]:
    """A namespace: its bar and name, then its features."""
    yield f"|{space}"
    for name, value in values.items():
        for one in value if isinstance(value, tuple) else (value,):
            yield name if one == 1.0 else f"{name}:{one}"
