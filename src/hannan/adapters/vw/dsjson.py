"""Decision-service JSON (dsjson): one record a line, as Vowpal Wabbit and its services log them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from hannan.adapters.vw.lines import MAX_ROUND, Lines, Source, Target, writing
from hannan.adapters.vw.rounds import (
    ROUNDED,
    TOLERANCE,
    CbAdfRound,
    CcbRound,
    CcbSlot,
    Features,
    merged,
    number_in,
    sums_up,
)
from hannan.core.validation import check_integer


def read_dsjson(source: Source, *, max_round: int = MAX_ROUND) -> Iterator[CbAdfRound | CcbRound]:
    """The decisions of a dsjson log, one at a time: `CcbRound` where there are slots.

    Like VW this passes over lines that do not begin with ``{`` and records without a context
    ``c`` (observations that found no decision). An object in an object is a namespace of its own;
    the entries of an array have the names "0", "1", …; ``true`` is 1, ``false`` and ``null`` are
    nothing, and ``_text`` is a feature for each word.

    Parameters
    ----------
    source
        A path (also of a .gz file), an open file, or an iterable of lines.
    max_round
        Characters that a record may have; no more are ever held.

    Examples
    --------
    >>> import hannan as hn
    >>> line = (
    ...     '{"_label_cost": -1, "_label_probability": 0.8, "_label_Action": 2, "_labelIndex": 1, '
    ...     '"a": [2, 1], "p": [0.8, 0.2], "EventId": "e1", '
    ...     '"c": {"user": {"age": 31}, "_multi": [{"id": "red"}, {"id": "blue"}]}}'
    ... )
    >>> (found,) = hn.adapters.read_dsjson([line])
    >>> found.action, found.cost, found.probability, found.others
    (1, -1.0, 0.8, {0: 0.2})
    >>> found.actions
    ({'': {'id': 'red'}}, {'': {'id': 'blue'}})
    """
    return rounds_of_dsjson(Lines(source, check_integer("read_dsjson", "max_round", max_round, 1)))


def write_dsjson(rounds: Iterable[CbAdfRound | CcbRound], target: Target) -> int:
    """Write decisions as dsjson; returns how many there were.

    `read_dsjson` gives back the same rounds. VW learns from those that have a cost, and passes
    over those without an action. The default namespace is written under the name " ".

    Parameters
    ----------
    rounds
        `CbAdfRound` or `CcbRound` objects. A slot whose cost is not known has no outcome.
    target
        A path (also of a .gz file), which is replaced when all is written, or an open file.

    Examples
    --------
    >>> import sys
    >>> import hannan as hn
    >>> shown = hn.adapters.CbAdfRound({"u": {"age": 31}}, ({}, {}), 1, cost=0.5, probability=0.25)
    >>> hn.adapters.write_dsjson([shown], sys.stdout)
    {"_label_cost":0.5,"_label_probability":0.25,"_label_Action":2,"_labelIndex":1,"Version":"1",...
    1
    """
    from hannan.adapters.vw.dsjson_writer import record

    count = 0
    with writing(target) as write:
        for count, this_round in enumerate(rounds, 1):  # noqa: B007
            write(record(this_round))
    return count


def rounds_of_dsjson(lines: Lines) -> Iterator[CbAdfRound | CcbRound]:
    """The decisions in these lines, whose `number` is that of the last one's."""
    for line in lines:
        if line.startswith("{"):
            found = _parsed(line, lines)
            if found.get("c") is not None:
                yield _round(found, lines)


def _parsed(line: str, at: Lines) -> Any:
    try:
        found = json.loads(line, parse_constant=_constant)
        if "\\u" in line:
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise at.refuse(line, "JSON that is not nested so deep") from None
    except UnicodeEncodeError:
        raise at.refuse(line, "text without half surrogate pairs") from None
    except ValueError as error:
        why = getattr(error, "msg", str(error))[:60]
        raise at.refuse(line, f"one JSON object a line ({why})") from None
    return found


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _round(found: dict[str, Any], at: Lines) -> CbAdfRound | CcbRound:
    context = _mapping(found["c"], "c", at)
    actions = [_mapping(entry, "_multi", at) for entry in _sequence(context, "_multi", at)]
    if not actions:
        raise at.refuse(context, "the features of at least one action in c._multi")
    count = len(actions)
    about: dict[str, Any] = {
        "pdrop": _pdrop(found.get("pdrop"), at),
        "skip_learn": _truth(found.get("_skipLearn"), at),
        "event_id": _text(found, "EventId", at),
        "timestamp": _text(found, "Timestamp", at),
        "tag": _text(context, "_tag", at),
        "tags": _tags(actions, at),
    }
    features, options = _features(context, at), tuple(_features(entry, at) for entry in actions)
    if "_slots" in context:
        return CcbRound(features, options, _slots(found, context, count, at), **about)
    return CbAdfRound(features, options, *_decision(found, count, at), **about)


Decision = tuple[int | None, float | None, float | None, dict[int, float]]


def _decision(found: dict[str, Any], count: int, at: Lines) -> Decision:
    """Action, cost, probability and others; whichever of the keys tell of them."""
    chosen = _places(found.get("a"), count, at, 1)
    law = _law(found.get("p", found.get("_p")), chosen, at)
    if not sums_up(law.values(), count):
        raise at.refuse(list(law.values()), "in p probabilities of sum 1")
    index, number = found.get("_labelIndex"), found.get("_label_Action")
    told = [] if index is None else [_place(index, count, at, 0)]
    told += [] if number is None else [_place(number, count, at, 1)]
    told += chosen[:1] if not told else []
    if len(set(told)) > 1:
        raise at.refuse((index, number), "_labelIndex of one less than _label_Action")
    cost = _optional(found, "_label_cost", at)
    if not told:
        if cost is not None or found.get("_label_probability") is not None:
            raise at.refuse(cost, "a _labelIndex or _label_Action, as there is a label")
        return None, None, None, {}
    action = told[0]
    p = _optional(found, "_label_probability", at)
    logged = law.get(action)
    p = logged if p is None else _probability(p, at)
    if p is not None and logged is not None and not math.isclose(p, logged, rel_tol=ROUNDED):
        raise at.refuse((p, logged), "a _label_probability that is that of the action in p")
    if p == 0.0 or (p is None and cost is not None):
        raise at.refuse(p, "a probability above 0 of an action that was taken")
    others = {} if p is None else {k: q for k, q in law.items() if k != action}
    return action, cost, p, others


def _slots(
    found: dict[str, Any], context: dict[str, Any], count: int, at: Lines
) -> tuple[CcbSlot, ...]:
    slots = [_mapping(entry, "_slots", at) for entry in _sequence(context, "_slots", at)]
    outcomes = [_mapping(entry, "_outcomes", at) for entry in _sequence(found, "_outcomes", at)]
    if not len(outcomes) <= len(slots) <= count or not slots:
        given = f"{count} actions, {len(slots)} slots and {len(outcomes)} outcomes"
        raise at.refuse(given, "at least as many actions as slots, and slots as outcomes")
    outcomes += [{}] * (len(slots) - len(outcomes))
    return tuple(
        _slot(slot, outcome or slot, count, at)
        for slot, outcome in zip(slots, outcomes, strict=True)
    )


def _slot(slot: dict[str, Any], outcome: dict[str, Any], count: int, at: Lines) -> CcbSlot:
    chosen = _places(outcome.get("_a"), count, at, 0)
    law = _law(outcome.get("_p"), chosen, at)
    cost = _optional(outcome, "_label_cost", at)
    action = chosen[0] if chosen else None
    p = None if action is None else law.pop(action, None)
    if p == 0.0 or (p is None and (cost is not None or law)):
        raise at.refuse(outcome, "_a and _p with the chosen action first, as there is a cost")
    if law and p is not None and abs(p + math.fsum(law.values()) - 1.0) > TOLERANCE:
        raise at.refuse(outcome, "probabilities of sum 1")
    available = _places(slot.get("_inc"), count, at, 0)
    tag = _text(slot, "_tag", at)
    return CcbSlot(_features(slot, at), action, cost, p, law, tuple(available) or None, tag)


def _features(found: dict[str, Any], at: Lines) -> Features:
    """Features as VW finds them: by the innermost object or array that they stand in."""
    pairs: list[tuple[str, str, float | str]] = []
    # Namespaces still to be read, the next one last.
    todo: list[tuple[str, Any]] = [("", found)]
    while todo:
        space, inside = todo.pop()
        if isinstance(inside, list):
            todo += reversed(list(_array(space, inside, pairs, at)))
            continue
        deeper = []
        for name, value in inside.items():
            if name.startswith("_"):
                pairs += ((space, word, 1.0) for word in _special(name, value, inside is found, at))
            elif isinstance(value, dict | list):
                deeper.append((name.strip(), value))
            elif isinstance(value, str):
                pairs.append((space, name, value))
            elif value is True:
                pairs.append((space, name, 1.0))
            elif value is not None and value is not False:
                pairs.append((space, name, _number(value, at)))
        todo += reversed(deeper)
    return merged(pairs)


def _array(
    space: str, inside: list[Any], pairs: list[tuple[str, str, float | str]], at: Lines
) -> Iterator[tuple[str, Any]]:
    """Takes the numbers of an array, and gives its objects, which are of the same namespace."""
    place = 0
    for value in inside:
        if isinstance(value, dict):
            yield space, value
        elif value is not None:
            pairs.append((space, str(place), _number(value, at)))
            place += 1


def _special(name: str, value: Any, outermost: bool, at: Lines) -> list[str]:
    """The words of `_text`; other names of this kind hold no features."""
    if name == "_text" and isinstance(value, str):
        words = value.replace("\t", " ").replace(":", "_").replace("|", "_").split(" ")
        return [word for word in words if word]
    if name in ("_text", "__aid") or (not outermost and name in ("_multi", "_slots")):
        raise at.refuse({name: value}, "words in _text, _multi only in c, and no __aid")
    return []


def _mapping(value: Any, name: str, at: Lines) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise at.refuse(value, f"an object in {name}")
    return value


def _sequence(found: dict[str, Any], name: str, at: Lines) -> list[Any]:
    value = found.get(name)
    if not isinstance(value, list | None):
        raise at.refuse(value, f"an array in {name}")
    return value or []


def _text(found: dict[str, Any], name: str, at: Lines) -> str:
    value = found.get(name)
    if not isinstance(value, str | None):
        raise at.refuse(value, f"text in {name}")
    return value or ""


def _tags(actions: list[dict[str, Any]], at: Lines) -> tuple[str, ...]:
    tags = tuple(_text(entry, "_tag", at) for entry in actions)
    return tags if any(tags) else ()


def _truth(value: Any, at: Lines) -> bool:
    if not isinstance(value, bool | None):
        raise at.refuse(value, "true or false in _skipLearn")
    return bool(value)


def _number(value: Any, at: Lines) -> float:
    # Integers may have thousands of digits.
    if not number_in(value, -1.7e308, 1.7e308):
        raise at.refuse(value, "a finite number")
    return float(value)


def _optional(found: dict[str, Any], name: str, at: Lines) -> float | None:
    value = found.get(name)
    return None if value is None else _number(value, at)


def _probability(value: Any, at: Lines) -> float:
    if not number_in(value, 0.0, 1.0 + TOLERANCE):
        raise at.refuse(value, "a probability")
    return min(float(value), 1.0)


def _pdrop(value: Any, at: Lines) -> float:
    if value is None:
        return 0.0
    if not number_in(value, 0.0, 1.0) or 1.0 - float(value) < TOLERANCE:
        raise at.refuse(value, "a pdrop in [0, 1)")
    return float(value)


def _place(value: Any, count: int, at: Lines, first: int) -> int:
    if not isinstance(value, int) or not number_in(value, first, count - 1 + first):
        raise at.refuse(value, f"the number of one of {count} actions, from {first}")
    return value - first


def _places(value: Any, count: int, at: Lines, first: int) -> list[int]:
    if value is None:
        return []
    places = [_place(k, count, at, first) for k in (value if isinstance(value, list) else [value])]
    if len(set(places)) < len(places):
        raise at.refuse(value, "each action once")
    return places


def _law(value: Any, chosen: list[int], at: Lines) -> dict[int, float]:
    """The probabilities of these actions."""
    if value is None:
        return {}
    values = value if isinstance(value, list) else [value]
    if len(values) != len(chosen):
        raise at.refuse(value, f"a probability for each of the {len(chosen)} actions listed")
    return {k: _probability(p, at) for k, p in zip(chosen, values, strict=True)}
