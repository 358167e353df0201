"""Read decision-service JSON (dsjson), the log format of Vowpal Wabbit and its services."""

import json
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from hannan.adapters.vw.lines import MAX_ROUND, Lines, Source
from hannan.adapters.vw.rounds import (
    TOLERANCE,
    UNSUPPORTED,
    CbAdfRound,
    Features,
    merged,
    named,
    number_in,
)

_ROUNDED = 1e-3  # tolerance for probabilities that a log has rounded


def read_dsjson(
    source: Source, *, max_round: int = MAX_ROUND, max_unpacked: int | None = None
) -> Iterator[CbAdfRound]:
    """Read the decisions of a dsjson log, one at a time.

    Like VW, this skips lines that do not begin with ``{`` and records without a context ``c``
    (observations without a decision). An object in an object is a separate namespace. The entries
    of an array have the names "0", "1", …. ``true`` is 1, and ``false`` and ``null`` are ignored.
    ``_text`` is a feature for each word. Records with slots raise `VWFormatError`.

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
    return rounds_of_dsjson(Lines(source, max_round, max_unpacked))


def rounds_of_dsjson(lines: Lines) -> Iterator[CbAdfRound]:
    """Yield the decisions in these lines; `lines.number` is the line of the last decision."""
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
        raise at.refuse(line, "JSON that is not nested too deep") from None
    except UnicodeEncodeError:
        raise at.refuse(line, "text without half surrogate pairs") from None
    except ValueError as error:
        why = getattr(error, "msg", str(error))[:60]
        raise at.refuse(line, f"one JSON object per line ({why})") from None
    return found


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _round(found: dict[str, Any], at: Lines) -> CbAdfRound:
    context = _checked(found["c"], dict, "c", at)
    if "_slots" in context:
        raise at.refuse("_slots", f"one decision per record: {UNSUPPORTED}")
    actions = [_checked(entry, dict, "_multi", at) for entry in _get(context, "_multi", list, at)]
    if not actions:
        raise at.refuse(context, "the features of at least one action in c._multi")
    pdrop = 0.0 if found.get("pdrop") is None else found["pdrop"]
    return CbAdfRound(
        _features(context, at),
        tuple(_features(entry, at) for entry in actions),
        *_decision(found, len(actions), at),
        tag=_get(context, "_tag", str, at),
        tags=named(_get(entry, "_tag", str, at) for entry in actions),
        pdrop=_number(pdrop, at, 0.0, 1.0 - TOLERANCE, "a pdrop in [0, 1)"),
        skip_learn=_get(found, "_skipLearn", bool, at),
    )


def _decision(
    found: dict[str, Any], count: int, at: Lines
) -> tuple[int | None, float | None, float | None, dict[int, float]]:
    """Return action, cost, probability and others, from all keys that may hold them."""
    distribution = _action_distribution(found.get("a"), found.get("p", found.get("_p")), count, at)
    index, number = found.get("_labelIndex"), found.get("_label_Action")
    places = [] if index is None else [_place(index, count, at, 0)]
    places += [] if number is None else [_place(number, count, at, 1)]
    places += list(distribution)[:1] if not places else []
    if len(set(places)) > 1:
        raise at.refuse((index, number), "a _labelIndex that equals _label_Action - 1")
    cost, p = found.get("_label_cost"), found.get("_label_probability")
    if not places:
        if cost is not None or p is not None:
            raise at.refuse(cost, "a _labelIndex or _label_Action, because there is a label")
        return None, None, None, {}
    action = places[0]
    logged = distribution.get(action)
    p = logged if p is None else _probability(p, at)
    cost = None if cost is None else _number(cost, at)
    if p is not None and logged is not None and not math.isclose(p, logged, rel_tol=_ROUNDED):
        raise at.refuse((p, logged), "a _label_probability equal to the action's entry in p")
    if p == 0.0 or (p is None and cost is not None):
        raise at.refuse(p, "a positive probability of the logged action")
    others = (
        {}
        if p is None
        else {k: q for k, q in distribution.items() if k != action and q is not None}
    )
    return action, cost, p, others


def _action_distribution(
    chosen: Any, distribution: Any, count: int, at: Lines
) -> dict[int, float | None]:
    """Return the probabilities of the listed actions, None if they were not logged."""
    listed = [] if chosen is None else chosen if isinstance(chosen, list) else [chosen]
    places = [_place(k, count, at, 1) for k in listed]
    if len(set(places)) < len(places):
        raise at.refuse(chosen, "each action once")
    if distribution is None:
        return dict.fromkeys(places)
    values = distribution if isinstance(distribution, list) else [distribution]
    if len(values) != len(places):
        raise at.refuse(distribution, f"a probability for each of the {len(places)} actions listed")
    told = [_probability(p, at) for p in values]
    total, every = math.fsum(told), len(told) >= max(count, 2)
    if total > 1.0 + _ROUNDED or (every and total < 1.0 - _ROUNDED):
        raise at.refuse(told, "probabilities with sum 1 in p")
    return dict(zip(places, told, strict=True))


def _features(found: dict[str, Any], at: Lines) -> Features:
    """Return features as VW reads them: by the innermost object or array that contains them."""
    pairs: list[tuple[str, str, float | str]] = []
    # Stack of namespaces to read; the next one is last.
    todo: list[tuple[str, Any]] = [("", found)]
    while todo:
        space, inside = todo.pop()
        if isinstance(inside, list):
            numbers = [each for each in inside if each is not None and not isinstance(each, dict)]
            pairs += ((space, str(i), _number(each, at)) for i, each in enumerate(numbers))
            todo += [(space, each) for each in reversed(inside) if isinstance(each, dict)]
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


def _special(name: str, value: Any, outermost: bool, at: Lines) -> list[str]:
    """Return the words of `_text`; other names with an underscore hold no features."""
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
    """Return the value of a name, or an empty value of its kind."""
    value = found.get(name)
    return kind() if value is None else _checked(value, kind, name, at)


def _number(
    value: Any,
    at: Lines,
    low: float = -1.7e308,  # integers may have thousands of digits
    high: float = 1.7e308,
    accepted: str = "a finite number",
) -> float:
    if not number_in(value, low, high):
        raise at.refuse(value, accepted)
    return float(value)


def _probability(value: Any, at: Lines) -> float:
    return min(_number(value, at, 0.0, 1.0 + TOLERANCE, "a probability"), 1.0)


def _place(value: Any, count: int, at: Lines, first: int) -> int:
    if not isinstance(value, int) or not number_in(value, first, count - 1 + first):
        raise at.refuse(value, f"the number of one of {count} actions, counted from {first}")
    return value - first
