"""Rounds as lines of text that Vowpal Wabbit reads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from hannan.adapters.vw.rounds import (
    LARGEST,
    TOLERANCE,
    CbAdfRound,
    CbRound,
    CcbRound,
    CcbSlot,
    CsoaaRound,
    Features,
    check_decided,
    check_group,
    check_places,
    number_in,
)
from hannan.adapters.vw.text import NUMERIC
from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short

_SEPARATORS = re.compile(r"[|: \t\r\n\0]")
_ENDS = re.compile(r"[| \t\r\n\0]")


def written(this_round: Any, format: str) -> Iterator[str]:
    """The lines of one round, with the blank one that ends a group."""
    kind, lines = _WRITERS[format]
    if not isinstance(this_round, kind):
        raise InputTypeError(
            f"write_vw(format={format!r}) takes {kind.__name__} objects; got {short(this_round)}."
        )
    return lines(this_round)


def _cb(this: CbRound) -> Iterator[str]:
    check_decided(this, None)
    check_places(this, None)
    label = {} if this.action is None or this.cost is None else {this.action: _label(this)}
    places = tuple(label) if this.available is None else this.available
    if not set(label) <= set(places):
        raise ParameterError(f"CbRound took action {this.action}, not one of {places}.")
    if label and this.available is not None and len(places) == 1:
        raise ParameterError(
            f"The format cb cannot say that action {this.action} was the only one available: VW "
            "takes a single action for one of all. Leave the round out, or use cb_adf."
        )
    words = (f"{k + 1}{label.get(k, '')}" for k in places)
    yield _line(words, this.tag, this.context)


def _csoaa(this: CsoaaRound) -> Iterator[str]:
    check_places(CbRound({}, available=tuple(this.costs) or None), None)
    words = []
    for k, cost in this.costs.items():
        words.append(f"{k + 1}" if cost is None else f"{k + 1}:{_number(cost)}")
    yield _line(words, this.tag, this.context)


def _cb_adf(this: CbAdfRound) -> Iterator[str]:
    check_group(this)
    check_decided(this, len(this.actions))
    yield _line(["shared"], this.tag, this.context)
    tags = this.tags or ("",) * len(this.actions)
    for k, (features, tag) in enumerate(zip(this.actions, tags, strict=True)):
        taken = k == this.action and this.cost is not None
        yield _line([f"0{_label(this)}"] if taken else [], tag, features)
    yield ""


def _ccb(this: CcbRound) -> Iterator[str]:
    check_group(this)
    yield _line(["ccb shared"], this.tag, this.context)
    tags = this.tags or ("",) * len(this.actions)
    for features, tag in zip(this.actions, tags, strict=True):
        yield _line(["ccb action"], tag, features)
    for slot in this.slots:
        check_decided(slot, len(this.actions))
        check_places(slot, len(this.actions))
        yield _line(["ccb slot", *_outcome(slot)], slot.tag, slot.features)
    yield ""


def _outcome(slot: CcbSlot) -> Iterator[str]:
    if slot.action is not None and slot.cost is not None:
        p = slot.probability or 0.0
        if slot.others and abs(p + math.fsum(slot.others.values()) - 1.0) > TOLERANCE:
            raise ParameterError(f"The probabilities of CcbSlot must have the sum 1; got {slot}.")
        others = "".join(f",{k}:{_number(q)}" for k, q in slot.others.items())
        yield f"{slot.action}{_label(slot)}{others}"
    if slot.available is not None:
        yield ",".join(map(str, slot.available))


def _label(what: CbRound | CbAdfRound | CcbSlot) -> str:
    return f":{_number(what.cost)}:{_number(what.probability)}"


def _line(words: Any, tag: str, features: Features) -> str:
    parts = [*words]
    if tag:
        parts.append(f"'{_clean('tag', tag, _ENDS)}")
    spaces = [" ".join(_space(name, values)) for name, values in features.items() if values]
    return " ".join([*parts, " ".join(spaces) or "|"])


def _space(space: str, values: Any) -> Iterator[str]:
    """A namespace: its bar and name, then its features."""
    yield f"|{_clean('namespace', space, _SEPARATORS)}"
    for name, value in values.items():
        if not name:
            raise ParameterError(f"A feature in namespace {space!r} has no name.")
        _clean("feature", name, _SEPARATORS)
        for one in value if isinstance(value, tuple) else (value,):
            yield _feature(name, one)


def _feature(name: str, value: Any) -> str:
    if not isinstance(value, str):
        return name if value == 1 and value is not True else f"{name}:{_number(value)}"
    if not value or NUMERIC.match(value):
        raise ParameterError(
            f"The word {value!r} of feature {name!r} would be read as a number or as nothing. Make "
            f"it part of the name, as {name + '=' + value!r}, or write dsjson."
        )
    return f"{name}:{_clean('word', value, _ENDS)}"


def _clean(what: str, text: str, forbidden: re.Pattern[str]) -> str:
    if not isinstance(text, str) or forbidden.search(text):
        raise ParameterError(
            f"The {what} {text!r} cannot stand in VW's text format: no blanks, line ends or bars, "
            "and no colons in names. Rename it, or write dsjson."
        )
    return text


def _number(value: Any) -> str:
    if not number_in(value, -LARGEST, LARGEST):
        raise ParameterError(
            f"Values must be numbers that single precision can hold; got {short(value)}."
        )
    return repr(int(value)) if isinstance(value, int) else repr(float(value))


_WRITERS: dict[str, tuple[type, Callable[[Any], Iterator[str]]]] = {
    "cb": (CbRound, _cb),
    "cb_adf": (CbAdfRound, _cb_adf),
    "ccb": (CcbRound, _ccb),
    "csoaa": (CsoaaRound, _csoaa),
}
