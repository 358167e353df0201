"""From rounds of Vowpal Wabbit to a `Log`, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan.adapters._numbers import Numbering
from hannan.adapters._ranges import check_inside
from hannan.adapters.vw.encoding import Columns, Flat, as_features, flat, rows
from hannan.adapters.vw.rounds import CbAdfRound, CbRound, Features, Round
from hannan.core import InputTypeError, Menu, ParameterError
from hannan.core.params import short
from hannan.core.validation import (
    FloatArray,
    check_choice,
    check_integer,
    check_loss_range,
    refuse,
)
from hannan.off_policy import Log
from hannan.off_policy.log import LoggedDecision

Actions = str | Sequence[Features] | Sequence[str]

_MANY = 10**6


def log_from_vw(
    rounds: Iterable[Round],
    *,
    columns: Columns = None,
    actions: Actions = "position",
    action_columns: Columns = None,
    n_actions: int | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
) -> Log:
    r"""Logged decisions of Vowpal Wabbit as a log of ours.

    A cost c in [low, high] is the loss :math:`(c - low)/(high - low)`. Rounds without a cost, and
    those marked as not to be learned from, are left out.

    Parameters
    ----------
    rounds
        What `read_vw` (cb, cb_adf) or `read_dsjson` gives.
    columns
        The entries of the contexts: a list of names as in VW's audit, ``user^age`` or
        ``user^city^york``; or a number of columns to hash them to; or None for all that occur.
    actions
        What makes two actions of different rounds the same: their "position", their "features" or
        their "tag". The last two are numbered as they first come, which `actions_from_vw` lists;
        or such a list, of the features or tags of all actions, by which they are numbered. Or
        "described": each context is then a `Menu` of the actions offered, with their features and
        with their tags, where they have some, as ids.
    action_columns
        The entries of the rows of described actions, as `columns` are those of the contexts.
    n_actions
        K; by default as many as occur.
    cost_range
        (low, high) of the costs; None leaves them as they are.

    Examples
    --------
    >>> import hannan as hn
    >>> lines = ["1:0:0.5 |user age:31", "2:-1:0.5 |user age:18", "|user age:40"]
    >>> log = hn.adapters.log_from_vw(hn.adapters.read_vw(lines, "cb"), cost_range=(-1, 0))
    >>> log
    <Log: 2 rounds, 2 actions, mean loss 0.5, propensities from 0.5>
    >>> log.contexts.tolist(), log.losses.tolist()
    ([[31.0], [18.0]], [1.0, 0.0])
    """
    return read_log(rounds, columns, actions, action_columns, n_actions, cost_range)[0]


def read_log(
    rounds: Iterable[Round],
    columns: Columns,
    actions: Actions,
    action_columns: Columns,
    n_actions: int | None,
    cost_range: tuple[float, float] | None,
) -> tuple[Log, list[str]]:
    """Read a log, as `log_from_vw` documents it, and the names of the entries of its contexts."""
    who, described = "log_from_vw", isinstance(actions, str) and actions == "described"
    if isinstance(actions, str):
        check_choice(who, "actions", actions, ("position", "features", "tag", "described"))
    if action_columns is not None and not described:
        raise ParameterError('action_columns= goes with actions="described".')
    numbering = Decisions("position" if described else actions)
    used = (_as_adf(who, each) for each in rounds) if described else rounds
    found, offers = _logged(who, numbering, used)
    contexts: Any
    contexts, names = rows(who, [row.features for row in found], columns)
    available: Any = None
    K = _count(who, found, len(numbering.known), n_actions)
    if described:
        contexts = _menus(who, contexts, offers, action_columns)
    elif any(row.available is not None and len(row.available) < K for row in found):
        available = [range(K) if row.available is None else row.available for row in found]
    log = Log(
        contexts,
        np.array([row.action for row in found], dtype=np.intp),
        _losses([row.cost for row in found], cost_range, who),
        np.array([row.probability for row in found]),
        K,
        available,
        _distribution(found, K),
    )
    return log, names


def _logged(
    who: str, names: Decisions, rounds: Iterable[Round]
) -> tuple[list[Logged], list[tuple[tuple[Features, ...], tuple[str, ...]]]]:
    """Return the decisions that a log can hold, and the features and tags of what they offered."""
    found, offers = [], []
    for this_round in rounds:
        row = names.logged(this_round)
        if row is not None:
            found.append(row)
            if isinstance(this_round, CbAdfRound):
                offers.append((this_round.actions, this_round.tags))
    if not found:
        raise ParameterError(f"{who} got no round with a cost, so that there is nothing to log.")
    if len({row.weight for row in found}) > 1:
        raise ParameterError(
            f"{who} got records of different pdrop, and a Log counts all rounds alike. Take those "
            "of one pdrop, or thin the others to it."
        )
    return found, offers


def _as_adf(who: str, this_round: Any) -> CbAdfRound:
    if not isinstance(this_round, CbAdfRound):
        raise InputTypeError(
            f"{who} takes rounds of cb_adf and dsjson here; got {short(this_round)}. Actions of cb "
            "have numbers and nothing else."
        )
    return this_round


def _menus(who: str, contexts: Any, offers: list[Any], columns: Columns) -> list[Menu]:
    """Return the context of each round with the rows and the tags of what it offered."""
    table, _ = rows(who, [flat(each) for actions, _ in offers for each in actions], columns)
    if table is None:
        raise ParameterError(f"{who} got actions without features: they are not described.")
    ends = np.cumsum([len(actions) for actions, _ in offers])
    parts = zip(offers, np.split(table, ends[:-1]), strict=True)
    return [
        Menu(None if contexts is None else contexts[t], part, tags or None)
        for t, ((_, tags), part) in enumerate(parts)
    ]


def actions_from_vw(rounds: Iterable[Round], by: str = "features") -> list[Any]:
    """The different actions of a log, in the order in which `log_from_vw` numbers them.

    The list can be the `actions` of `log_from_vw`, so that other logs have the same numbers, and
    that of `log_to_vw`.

    Parameters
    ----------
    rounds
        What `read_vw` (cb_adf) or `read_dsjson` gives.
    by
        What makes two actions of different rounds the same: their "features" or their "tag".

    Examples
    --------
    >>> import hannan as hn
    >>> lines = ["0:1:0.5 |ad red", "|ad blue", "", "|ad green", "0:0:0.5 |ad red"]
    >>> rounds = list(hn.adapters.read_vw(lines, "cb_adf"))
    >>> ads = hn.adapters.actions_from_vw(rounds)
    >>> ads
    [{'ad': {'red': 1.0}}, {'ad': {'blue': 1.0}}, {'ad': {'green': 1.0}}]
    >>> log = hn.adapters.log_from_vw(rounds, actions=ads)
    >>> [ads[k] for k in log.actions]
    [{'ad': {'red': 1.0}}, {'ad': {'red': 1.0}}]
    """
    found = Decisions(check_choice("actions_from_vw", "by", by, ("features", "tag")))
    for this_round in rounds:
        found.numbers(_as_adf("actions_from_vw", this_round))
    return found.known


def log_to_vw(
    log: Log,
    format: str,
    *,
    names: Sequence[str] | None = None,
    actions: Sequence[Features] | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
) -> Iterator[CbRound | CbAdfRound]:
    """The rounds of a log, for `write_vw`.

    Features of contexts stand in the namespace x. With `cb_adf` the actions that were available
    are listed, by default each with one feature in the namespace a, its number.

    Parameters
    ----------
    log
        What was logged; its propensities are written as they are.
    format
        "cb" or "cb_adf".
    names
        Of the entries of a context; by default their numbers.
    actions
        The features of each action, for cb_adf.
    cost_range
        (low, high): the loss 0 is written as the cost low, and 1 as high; None is (0, 1).

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> import hannan as hn
    >>> log = hn.off_policy.Log(np.array([[31.0], [18.0]]), [0, 1], [1.0, 0.0], [0.5, 0.5], 2)
    >>> hn.adapters.write_vw(hn.adapters.log_to_vw(log, "cb", names=["age"]), sys.stdout, "cb")
    1:1.0:0.5 |x age:31.0
    2:0.0:0.5 |x age:18.0
    2
    """
    if not isinstance(log, Log):
        raise InputTypeError(f"log_to_vw takes a Log; got {short(log)}.")
    check_choice("log_to_vw", "format", format, ("cb", "cb_adf"))
    if log.described and (format == "cb" or actions is not None):
        raise ParameterError(
            "The actions of this log are described by its menus: write it as format='cb_adf', "
            "without actions=."
        )
    if actions is not None and len(actions) != log.n_actions:
        raise ParameterError(f"actions= needs {log.n_actions} entries; got {len(actions)}.")
    bounds = (0.0, 1.0) if cost_range is None else cost_range
    low, high = check_loss_range("log_to_vw", bounds, "cost_range")
    return _written(log, format, names, actions, low, high - low)


def _written(
    log: Log,
    format: str,
    names: Sequence[str] | None,
    actions: Sequence[Features] | None,
    low: float,
    width: float,
) -> Iterator[CbRound | CbAdfRound]:
    known = actions or [{"a": {str(k): 1.0}} for k in range(log.n_actions)]
    for row in log:
        if isinstance(row.context, Menu):
            yield _menu(row, names, low + width * row.loss)
            continue
        context = as_features(row.context, names)
        cost = low + width * row.loss
        offered = None if row.available is None else tuple(row.available.tolist())
        if format == "cb":
            yield CbRound(context, row.action, cost, row.propensity, offered)
            continue
        offered = tuple(range(log.n_actions)) if offered is None else offered
        listed = tuple(known[k] for k in offered)
        yield CbAdfRound(context, listed, offered.index(row.action), cost, row.propensity)


def _menu(row: LoggedDecision, names: Sequence[str] | None, cost: float) -> CbAdfRound:
    """A round with described actions: their ids, which must be words then, are the tags."""
    menu = row.context
    listed = tuple(
        {"a": {str(j): float(value) for j, value in enumerate(each) if value != 0.0}}
        for each in menu.rows
    )
    tags = () if menu.ids is None else tuple(str(each) for each in menu.ids)
    label = row.action, cost, row.propensity
    return CbAdfRound(as_features(menu.context, names), listed, *label, tags=tags)


def _count(who: str, found: list[Logged], known: int, given: int | None) -> int:
    K = 1 + max(max(row.action, *(row.available or (0,))) for row in found)
    K = max(K, known)
    if given is not None:
        if check_integer(who, "n_actions", given, 1) < K:
            raise ParameterError(f"n_actions={given} is too few: there is an action {K - 1}.")
        return int(given)
    if K > _MANY:
        raise ParameterError(
            f"There is an action {K - 1}, and more than {_MANY} actions are seldom meant. Pass "
            "n_actions= if they are."
        )
    return K


def _losses(costs: list[float], cost_range: Any, who: str) -> FloatArray:
    """Costs as losses in [0, 1]."""
    values = np.array(costs, dtype=np.float64)
    if cost_range is None:
        return values
    low, high = check_loss_range(who, cost_range, "cost_range")
    accepted = f"Costs must lie in cost_range={(low, high)}"
    advice = "Pass the range they really have, or None to leave them as they are."
    check_inside(values, (low, high), accepted, advice)
    return (values - low) / (high - low)


def _distribution(found: list[Logged], K: int) -> NDArray[np.float64] | None:
    """The probabilities of all actions, where every round tells them."""
    if any(row.law is None for row in found) or len(found) * K > 10**8:
        return None
    table = np.zeros((len(found), K))
    for entries, row in zip(table, found, strict=True):
        for k, p in (row.law or {}).items():
            entries[k] = p
    return table


class Logged(NamedTuple):
    features: Flat
    action: int
    cost: float
    probability: float
    available: tuple[int, ...] | None
    law: dict[int, float] | None
    weight: float


class Decisions:
    """Numbers for actions, by what makes them the same: a kind, or a list of all of them.

    `known` has the features or the tag of each action, by its number.
    """

    def __init__(self, actions: Actions) -> None:
        listed = None if isinstance(actions, str) else actions
        self.kind = actions if isinstance(actions, str) else _kind(actions)
        self._numbering = Numbering(listed)
        self.known = self._numbering.labels

    def logged(self, this: Round) -> Logged | None:
        """What was decided in a round, if its cost is known and learners may use it."""
        if not isinstance(this, CbRound | CbAdfRound):
            raise InputTypeError(
                f"log_from_vw takes rounds of cb, cb_adf and dsjson; got {short(this)}."
            )
        if isinstance(this, CbRound) and self.kind != "position":
            raise ParameterError("Actions of cb have neither features nor tags, but a position.")
        # Actions of rounds that are left out are numbered too.
        numbers = self.numbers(this) if isinstance(this, CbAdfRound) else ()
        if this.action is None or this.cost is None or this.probability is None:
            return None
        if isinstance(this, CbRound):
            label = this.action, this.cost, this.probability
            return Logged(flat(this.context), *label, this.available, None, 1.0)
        if this.skip_learn:
            return None
        law = None
        if this.others and len(this.others) == len(numbers) - 1:
            law = {numbers[k]: p for k, p in this.others.items()}
            law[numbers[this.action]] = this.probability
        label = numbers[this.action], this.cost, this.probability
        return Logged(flat(this.context), *label, numbers, law, this.weight)

    def numbers(self, this: CbAdfRound) -> tuple[int, ...]:
        """The number of each action of a round."""
        if self.kind == "position":
            return tuple(range(len(this.actions)))
        if self.kind == "tag" and not this.tags:
            raise ParameterError(f"The actions of a round have no tags: {short(this)}.")
        known_by: Sequence[Any] = this.tags if self.kind == "tag" else this.actions
        numbers = self._numbering.of(known_by)
        self._numbering.keep(known_by)
        return tuple(numbers)


def _kind(actions: Any) -> str:
    """What a list of actions tells of them, each of which it must have once."""
    listed = list(actions) if isinstance(actions, Sequence) else []
    for kind, what in (("tag", str), ("features", Mapping)):
        fits = all(isinstance(action, what) for action in listed)
        if fits and 0 < len(listed) == len(Numbering(listed).labels):
            return kind
    accepted = "'position', 'features', 'tag', or a list of the tags or features of all actions"
    raise refuse("log_from_vw", "actions", f"{accepted}, each once", actions)
