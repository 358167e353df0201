"""Rounds as records of dsjson."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from hannan.adapters.vw.rounds import (
    LARGEST,
    TOLERANCE,
    CbAdfRound,
    CcbRound,
    CcbSlot,
    Features,
    check_decided,
    check_group,
    check_places,
    number_in,
    sums_up,
)
from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short


def record(this: Any) -> str:
    """One line. Labels come first, since VW attaches what it has read when the context ends."""
    if not isinstance(this, CbAdfRound | CcbRound):
        raise InputTypeError(
            f"write_dsjson takes CbAdfRound and CcbRound objects; got {short(this)}."
        )
    check_group(this)
    found = dict(_about(this))
    context = _object(this.context, this.tag)
    tags = this.tags or ("",) * len(this.actions)
    context["_multi"] = list(map(_object, this.actions, tags))
    if isinstance(this, CbAdfRound):
        check_decided(this, len(this.actions))
        _check_law(this)
        found = {**_label(this), **found, **_law(this, "a", "p", 1), "c": context}
    else:
        context["_slots"] = [_slot(slot, len(this.actions)) for slot in this.slots]
        found = {**found, "c": context, "_outcomes": list(map(_outcome, this.slots))}
    found["VWState"] = {"m": "N/A"}
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _about(this: CbAdfRound | CcbRound) -> Iterator[tuple[str, Any]]:
    for name, text in (("Timestamp", this.timestamp), ("EventId", this.event_id)):
        if text:
            yield name, _clean(text)
    yield "Version", "1"
    if this.pdrop:
        yield "pdrop", float(this.pdrop)
    if this.skip_learn:
        yield "_skipLearn", True


def _label(this: CbAdfRound) -> dict[str, Any]:
    if this.action is None:
        return {}
    parts = {"_label_cost": this.cost, "_label_probability": this.probability}
    label: dict[str, Any] = {name: float(v) for name, v in parts.items() if v is not None}
    return {**label, "_label_Action": int(this.action) + 1, "_labelIndex": int(this.action)}


def _law(this: CbAdfRound | CcbSlot, actions: str, law: str, first: int) -> dict[str, Any]:
    if this.action is None:
        return {}
    found: dict[str, Any] = {actions: [int(k) + first for k in (this.action, *this.others)]}
    if this.probability is not None:
        found[law] = [float(p) for p in (this.probability, *this.others.values())]
    return found


def _check_law(this: CbAdfRound) -> None:
    if this.others and this.probability is not None:
        law = (this.probability, *this.others.values())
        if not sums_up(law, len(this.actions)):
            raise ParameterError(f"The probabilities of CbAdfRound must have the sum 1; got {law}.")


def _slot(slot: CcbSlot, count: int) -> dict[str, Any]:
    check_decided(slot, count)
    check_places(slot, count)
    found = _object(slot.features, slot.tag)
    if slot.available is not None:
        found["_inc"] = [int(k) for k in slot.available]
    return found


def _outcome(slot: CcbSlot) -> dict[str, Any]:
    if slot.action is None or slot.cost is None or slot.probability is None:
        return {}
    if slot.others and abs(slot.probability + math.fsum(slot.others.values()) - 1.0) > TOLERANCE:
        raise ParameterError(f"The probabilities of CcbSlot must have the sum 1; got {slot}.")
    return {"_label_cost": float(slot.cost), **_law(slot, "_a", "_p", 0)}


def _object(features: Features, tag: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for space, values in features.items():
        if values:
            found[_name("namespace", space or " ")] = _space(values)
    if tag:
        found["_tag"] = _clean(tag)
    return found


def _space(values: Mapping[str, Any]) -> Any:
    """An object; where a name comes more than once, an array of several."""
    rows = [v if isinstance(v, tuple) else (v,) for v in values.values()]
    depth = max(map(len, rows))
    objects = [
        {_name("feature", name): _value(row[i]) for name, row in zip(values, rows, strict=True)
         if i < len(row)}
        for i in range(depth)
    ]  # fmt: skip
    return objects[0] if depth == 1 else objects


def _value(value: Any) -> float | str:
    if isinstance(value, str):
        return _clean(value)
    if not number_in(value, -LARGEST, LARGEST):
        raise ParameterError(
            f"Values must be words, or numbers that single precision can hold; got {short(value)}."
        )
    return float(value)


def _name(what: str, name: str) -> str:
    trimmed = what == "feature" or name == (name.strip() or " ")
    if not name or name.startswith("_") or not trimmed:
        raise ParameterError(
            f"The {what} {name!r} cannot stand in dsjson: names must not be empty or begin with _, "
            "and those of namespaces have no blanks around them. Rename it."
        )
    return _clean(name)


def _clean(text: str) -> str:
    if not isinstance(text, str) or "\0" in text:
        raise ParameterError(f"Text must be without null characters; got {text!r}.")
    return text
