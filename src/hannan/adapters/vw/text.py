"""The text formats of Vowpal Wabbit: `cb` and `cb_adf`.

cb       2:0.5:0.25 |user age:31 city:york      action:cost:probability, actions from 1
cb_adf   shared |user age:31                    then one line per action, for the logged action
         0:0.5:0.25 |ad id:red                  with 0:cost:probability, and a blank line
         |ad id:blue
"""

import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

from hannan.adapters.vw.lines import MAX_ROUND, Lines, Source, Target, writing
from hannan.adapters.vw.rounds import (
    TOLERANCE,
    UNSUPPORTED,
    CbAdfRound,
    CbRound,
    Features,
    Round,
    entries,
    merged,
    named,
    number_in,
)
from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short
from hannan.core.validation import check_choice

FORMATS = ("cb", "cb_adf")
SLOTTED = ("ccb", "slates")

# Each digit can be matched in one way only, so that other text is rejected in linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NUMERIC = re.compile(r"[+-]?(?:\.?[0-9]|inf|nan)", re.IGNORECASE)
_INTEGER = re.compile(r"[0-9]{1,10}")
_LABEL = re.compile(r"(?:^| )(?:shared|ccb|[0-9]+:)")
_LAST = 2**32 - 2  # action, from 0
_LONGEST = 400  # most digits, more than a float can hold
_LARGEST = 3.4e38  # Vowpal Wabbit computes in single precision
_UNKNOWN: tuple[int | None, float | None, float | None] = (None, None, None)


def read_vw(
    source: Source, format: str, *, max_round: int = MAX_ROUND, max_unpacked: int | None = None
) -> Iterator[Round]:
    """Read the rounds of a text file of Vowpal Wabbit, one at a time.

    A line that VW would read with a warning, or differently from its appearance, raises
    `VWFormatError`. The weight of a namespace is multiplied into its values. Features without
    names, ``|v :0.5 :2``, get the names "0", "1", …, which are equivalent for VW.

    Parameters
    ----------
    source
        Path (also of a .gz file), open file, or iterable of lines.
    format
        Text format: "cb" (yields `CbRound`) or "cb_adf" (`CbAdfRound`).
    max_round
        Maximum number of characters of a round, which limits the memory. Default 2²⁰.
    max_unpacked
        Maximum number of bytes to which a .gz file can unpack. Default: 50 times its size, and at
        least 16 MiB.

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
    return rounds_of_text(Lines(source, max_round, max_unpacked), format)


def check_format(owner: object, format: Any, formats: Iterable[str]) -> str:
    """Return one of these formats; raise `ParameterError` for others, with the reason if known."""
    if format in SLOTTED:
        raise ParameterError(f"The format {format!r} cannot be used: {UNSUPPORTED}.")
    return check_choice(owner, "format", format, formats)


def rounds_of_text(lines: Lines, format: str) -> Iterator[Any]:
    """Yield the rounds in these lines; `lines.number` is the last line of the round."""
    if format == "cb_adf":
        return _groups(lines)
    return (_cb(_parsed(line, lines, 1), lines) for line in lines if line)


def write_vw(rounds: Iterable[CbRound | CbAdfRound], target: Target, format: str) -> int:
    """Write rounds as text that Vowpal Wabbit reads; return the number of rounds.

    A round that the format cannot represent raises `ParameterError`. Entries of dsjson only are
    left out. Decisions without a cost, or marked `skip_learn`, are written without a label.

    Parameters
    ----------
    rounds
        `CbRound` objects for "cb", `CbAdfRound` objects for "cb_adf".
    target
        Path (also of a .gz file), which is replaced when all rounds are written, or an open file.
    format
        Text format, "cb" or "cb_adf".

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
    kind, lines_of = (CbRound, _cb_lines) if format == "cb" else (CbAdfRound, _cb_adf_lines)
    count = 0
    with writing(target) as write:
        for count, this in enumerate(rounds, 1):
            if not isinstance(this, kind):
                raise InputTypeError(
                    f"write_vw needs {kind.__name__} objects in this format; got {short(this)}."
                )
            try:
                lines = lines_of(this)
            except ParameterError as error:
                raise ParameterError(f"Round {count}: {error}") from None
            for line in lines:
                write(line)
    return count


# Reading ------------------------------------------------------------------------------------

_Label = tuple[int, float | None, float | None]  # index of an action, its cost, its probability


class _Line(NamedTuple):
    shared: bool
    labels: list[_Label]
    tag: str
    features: Features
    number: int


def _groups(lines: Lines) -> Iterator[CbAdfRound]:
    """Yield a round for the lines up to each empty line; VW reads a line of blanks as an action."""
    group: list[_Line] = []
    size = 0
    for line in chain(lines, [""]):  # the end of the file ends the last round
        size += len(line)
        if size > lines.longest:
            raise lines.refuse(
                f"more than {lines.longest} characters without a blank line",
                "a blank line after each round, or a larger max_round",
            )
        if line:
            group.append(_parsed(line, lines, 0, opens=not group))
        elif group:
            yield _cb_adf(group, lines)
            group, size = [], 0


def _parsed(line: str, at: Lines, first: int, opens: bool = False) -> _Line:
    """Split a line into labels, tag and features, as VW does; actions are counted from `first`."""
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
            raise at.refuse(
                tag, "a blank between a label and the bar; text next to the bar is a tag"
            )
        tag = tag.removeprefix("'")
    if not words and tab and _LABEL.search(before):
        raise at.refuse(
            before, "a label after a tab, if there is one; VW skips text before the tab"
        )
    features = merged(_features(rest, at)) if bar else {}
    shared = opens and words == ["shared"]
    labels = [] if shared else [_label(word, at, first) for word in words]
    return _Line(shared, labels, tag, features, at.number)


def _label(word: str, at: Lines, first: int) -> _Label:
    """Return an action, counted from `first` in the file, and its cost and probability or None."""
    number, *taken = word.split(":")
    place = int(number) - first if _INTEGER.fullmatch(number) else -1
    if not 0 <= place <= _LAST:
        raise at.refuse(number, f"the number of an action, counted from {first}")
    if len(taken) not in (0, 2):
        raise at.refuse(word, "action:cost:probability, or the number of an action")
    if not taken:
        return place, None, None
    cost, probability = _number(taken[0], at), _number(taken[1], at)
    if not 0.0 < probability <= 1.0 + TOLERANCE:
        accepted = "the propensity of the logged action, above 0 and at most 1"
        raise at.refuse(taken[1], accepted)
    return place, cost, min(probability, 1.0)


def _features(text: str, at: Lines) -> Iterator[tuple[str, str, float | str]]:
    parts = text.split("|")
    for place, part in enumerate(parts, 1):
        first, *tokens = part.replace("\t", " ").split(" ")
        space, colon, factor = first.partition(":")
        if first and not space:
            raise at.refuse(first, "a namespace as |name or |name:weight")
        weight, unnamed = _number(factor, at) if colon else 1.0, 0
        for token in filter(None, tokens):
            name, value = _feature(token, weight, at)
            if not name:
                name, unnamed = str(unnamed), unnamed + 1
            yield space, name, value
        # VW reads up to the next blank, so the word would include the bar and a namespace.
        word = tokens[-1].partition(":")[2] if tokens else ""
        if place < len(parts) and word and not NUMERIC.match(word):
            raise at.refuse(f"{tokens[-1]}|", "a blank between a word and the bar")


def _feature(token: str, weight: float, at: Lines) -> tuple[str, float | str]:
    """Return a name, or "" without a name, and a number or a word."""
    name, colon, value = token.partition(":")
    if not colon:
        return name, weight
    if NUMBER.fullmatch(value, 0, _LONGEST):
        return name, _finite(value, at, weight)
    if not value or not name or NUMERIC.match(value):
        raise at.refuse(token, "a feature as name, name:number or name:word")
    return name, value


def _number(text: str, at: Lines) -> float:
    if not NUMBER.fullmatch(text, 0, _LONGEST):
        raise at.refuse(text, "a number")
    return _finite(text, at, 1.0)


def _finite(text: str, at: Lines, factor: float) -> float:
    """Return a multiple of a number, or raise an error if it is too long or not finite."""
    if len(text) > _LONGEST:
        raise at.refuse(text, "a number")
    value = factor * float(text)
    if not math.isfinite(value):
        raise at.refuse(text, "a number that is finite in double precision")
    return value


def _cb(line: _Line, at: Lines) -> CbRound:
    places = [place for place, _, _ in line.labels]
    taken = [label for label in line.labels if label[1] is not None]
    if len(taken) > 1 or len(set(places)) < len(places):
        accepted = "one action:cost:probability, and further actions by number only"
        raise at.refuse([place + 1 for place in places], accepted)
    # With a single labelled action, all actions are available; VW lists several to restrict them.
    available = None if len(places) == len(taken) else tuple(places)
    label = taken[0] if taken else _UNKNOWN
    return CbRound(line.features, *label, available, line.tag)


def _cb_adf(group: list[_Line], at: Lines) -> CbAdfRound:
    shared = group.pop(0) if group[0].shared else _Line(True, [], "", {}, 0)
    if not group:
        raise at.refuse("shared", "shared |…, then one line per action")
    taken: list[_Label] = []
    for place, line in enumerate(group):
        taken += [(place, cost, p) for _, cost, p in line.labels if cost is not None]
        if len(line.labels) > 1 or len(taken) > 1:
            raise at.refuse(line.labels, "one 0:cost:probability in a round", line.number)
    actions, tags = tuple(line.features for line in group), named(line.tag for line in group)
    label = taken[0] if taken else _UNKNOWN
    return CbAdfRound(shared.features, actions, *label, {}, shared.tag, tags)


# Writing ------------------------------------------------------------------------------------


def _cb_lines(this: Any) -> list[str]:
    label = _label_text(this, math.inf)
    places = tuple(label) if this.available is None else tuple(this.available)
    unclear = len(set(places)) < len(places) or this.available == () or not {*label} <= {*places}
    if unclear or not all(_is_place(k) for k in places) or (this.available and len(places) < 2):
        raise _unwritable("available", this.available, "several different indices, from 0")
    return [_line([f"{k + 1}{label.get(k, '')}" for k in places], this.tag, this.context)]


def _cb_adf_lines(this: Any) -> list[str]:
    """Return the lines of a round, with the empty line that ends a group."""
    if not this.actions or len(this.tags) not in (0, len(this.actions)):
        raise _unwritable(
            "actions", this.actions, "at least one action, and no tags or one per action"
        )
    label = {} if this.skip_learn else _label_text(this, len(this.actions))
    lines = [_line(["shared"], this.tag, this.context)]
    for k, features in enumerate(this.actions):
        words = [f"0{label[k]}"] if k in label else []
        lines.append(_line(words, this.tags[k] if this.tags else "", features))
    return [*lines, ""]


def _label_text(this: CbRound | CbAdfRound, count: float) -> dict[int, str]:
    """Return ":cost:probability" by the index of the action; empty without a cost."""
    if this.cost is None and (this.action is not None or this.probability is None):
        return {}
    p = this.probability
    if not _is_place(this.action, count) or p is None or not number_in(p, 0.0, 1.0) or p == 0.0:
        raise _unwritable("label", (this.action, this.cost, p), "an action, a cost, a probability")
    assert this.action is not None
    return {int(this.action): f":{_value(this.cost)}:{float(p)}"}


def _is_place(value: Any, count: float = math.inf) -> bool:
    return isinstance(value, Integral) and 0 <= int(value) < min(count, _LAST + 1)


def _line(words: list[str], tag: str, features: Features) -> str:
    if tag:
        words = [*words, f"'{_word(tag, 'tag')}"]
    for space, values in features.items():
        words.append(f"|{_word(space, 'namespace', ':') if space else ''}")
        for _, name, value in entries({space: values}):
            written = _value(value)
            name = _word(name, "name", ":")
            words.append(name if value == 1.0 else f"{name}:{written}")
    return " ".join(words if features else [*words, "|"])


def _word(text: Any, what: str, more: str = "") -> str:
    fits = isinstance(text, str) and text and not {*text} & {*"| \t\r\n\0", *more}
    if not fits or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _unwritable(what, text, f"text without blanks and the characters |{more}")
    return str(text)


def _value(value: Any) -> float | str:
    if isinstance(value, str) and not NUMERIC.match(value):
        return _word(value, "word")
    if not number_in(value, -_LARGEST, _LARGEST):
        raise _unwritable("value", value, "a word, or a number that single precision can hold")
    return float(value)


def _unwritable(what: str, found: Any, accepted: str) -> ParameterError:
    return ParameterError(f"The {what} {short(found)} cannot be written; expected {accepted}.")
