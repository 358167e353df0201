"""Decision-service JSON (dsjson): one record a line, as Vowpal Wabbit and its services log them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from hannan.adapters.vw.lines import MAX_ROUND, Lines, Source
from hannan.adapters.vw.rounds import (
    ROUNDED,
    TOLERANCE,
    UNSUPPORTED,
    CbAdfRound,
    Features,
    merged,
    named,
    number_in,
    sums_up,
)
from hannan.core.validation import check_integer


def read_dsjson(
    source: Source, *, max_round: int = MAX_ROUND, max_unpacked: int | None = None
) -> Iterator[CbAdfRound]:
    """The decisions of a dsjson log, one at a time.

    Like VW this passes over lines that do not begin with ``{`` and records without a context
    ``c`` (observations that found no decision). An object in an object is a namespace of its own;
    the entries of an array have the names "0", "1", …; ``true`` is 1, ``false`` and ``null`` are
    nothing, and ``_text`` is a feature for each word. Records with slots are refused.

    Parameters
    ----------
    source, max_round, max_unpacked
        As in `read_vw`.

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
    check_integer("read_dsjson", "max_round", max_round, 1)
    return rounds_of_dsjson(Lines(source, max_round, max_unpacked=max_unpacked))


def rounds_of_dsjson(lines: Lines) -> Iterator[CbAdfRound]:
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


def _round(found: dict[str, Any], at: Lines) -> CbAdfRound:
    context = _checked(found["c"], dict, "c", at)
    if "_slots" in context:
        raise at.refuse("_slots", f"one decision a record: {UNSUPPORTED}")
    actions = [_checked(entry, dict, "_multi", at) for entry in _get(context, "_multi", list, at)]
    if not actions:
        raise at.refuse(context, "the features of at least one action in c._multi")
    return CbAdfRound(
        _features(context, at),
        tuple(_features(entry, at) for entry in actions),
        *_decision(found, len(actions), at),
        tag=_get(context, "_tag", str, at),
        tags=named(_get(entry, "_tag", str, at) for entry in actions),
        pdrop=_pdrop(found.get("pdrop"), at),
        skip_learn=_get(found, "_skipLearn", bool, at),
    )


Decision = tuple[int | None, float | None, float | None, dict[int, float]]


def _decision(found: dict[str, Any], count: int, at: Lines) -> Decision:
    """Action, cost, probability and others; whichever of the keys tell of them."""
    chosen = _places(found.get("a"), count, at)
    law = _law(found.get("p", found.get("_p")), chosen, at)
    if not sums_up(law.values(), count):
        raise at.refuse(list(law.values()), "in p probabilities of sum 1")
    index, number = found.get("_labelIndex"), found.get("_label_Action")
    places = [] if index is None else [_place(index, count, at, 0)]
    places += [] if number is None else [_place(number, count, at, 1)]
    places += chosen[:1] if not places else []
    if len(set(places)) > 1:
        raise at.refuse((index, number), "_labelIndex of one less than _label_Action")
    cost = _optional(found, "_label_cost", at)
    if not places:
        if cost is not None or found.get("_label_probability") is not None:
            raise at.refuse(cost, "a _labelIndex or _label_Action, as there is a label")
        return None, None, None, {}
    action = places[0]
    p = _optional(found, "_label_probability", at)
    logged = law.get(action)
    p = logged if p is None else _probability(p, at)
    if p is not None and logged is not None and not math.isclose(p, logged, rel_tol=ROUNDED):
        raise at.refuse((p, logged), "a _label_probability that is that of the action in p")
    if p == 0.0 or (p is None and cost is not None):
        raise at.refuse(p, "a probability above 0 of an action that was taken")
    others = {} if p is None else {k: q for k, q in law.items() if k != action}
    return action, cost, p, others


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


_Kind = TypeVar("_Kind", dict[str, Any], list[Any], str, bool)
_KINDS = {dict: "an object", list: "an array", str: "text", bool: "true or false"}


def _checked(value: Any, kind: type[_Kind], name: str, at: Lines) -> _Kind:
    if not isinstance(value, kind):
        raise at.refuse(value, f"{_KINDS[kind]} in {name}")
    return value


def _get(found: dict[str, Any], name: str, kind: type[_Kind], at: Lines) -> _Kind:
    """What stands under a name, or nothing of its kind."""
    value = found.get(name)
    return kind() if value is None else _checked(value, kind, name, at)


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


def _places(value: Any, count: int, at: Lines) -> list[int]:
    if value is None:
        return []
    places = [_place(k, count, at, 1) for k in (value if isinstance(value, list) else [value])]
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
