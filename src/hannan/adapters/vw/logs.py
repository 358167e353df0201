"""Convert rounds of Vowpal Wabbit to a `Log`, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hannan.adapters._numbers import Numbering
from hannan.adapters._rewards import Scale
from hannan.adapters.vw.rounds import CbAdfRound, CbRound, Features, Round, entries
from hannan.core import InputTypeError, Menu, ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_choice, check_integer, refuse
from hannan.environments._columns import check_names
from hannan.off_policy import Log

Columns = Sequence[str] | int | None
Actions = str | Sequence[Features] | Sequence[str]

_MANY = 10**6
_LARGEST = 10**8  # most entries of an array, 800 MB
_WHO = "log_from_vw"


def log_from_vw(
    rounds: Iterable[Round],
    *,
    columns: Columns = None,
    actions: Actions = "position",
    action_columns: Columns = None,
    n_actions: int | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
) -> Log:
    r"""Convert logged decisions of Vowpal Wabbit to a `Log`.

    A cost c in [low, high] is the loss :math:`(c - low)/(high - low)`. Rounds without a cost, and
    rounds marked as `skip_learn`, are left out.

    Parameters
    ----------
    rounds
        Rounds from `read_vw` (cb, cb_adf) or `read_dsjson`.
    columns
        Entries of the contexts: a list of names as in VW's audit, ``user^age`` or
        ``user^city^york``. A number means to hash the names to this many columns. None (default)
        means all names that occur.
    actions
        Identity of actions across rounds: their "position" (default), their "features" or their
        "tag", the last two numbered in order of appearance. Or a list of the features or tags of
        all actions, as `actions_from_vw` returns it. Or "items": each context is then a `Menu` of
        the offered actions, with their features, and with their tags, if any, as ids.
    action_columns
        Entries of the feature vectors of items, like `columns` for contexts.
    n_actions
        Number of actions K. Default: the number of actions that occur.
    cost_range
        Range (low, high) of the costs. Default (0, 1). None leaves the costs unchanged.

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
    """Return a log, as `log_from_vw` documents it, and the names of the entries of its contexts."""
    described = isinstance(actions, str) and actions == "items"
    if isinstance(actions, str):
        check_choice(_WHO, "actions", actions, ("position", "features", "tag", "items"))
    if action_columns is not None and not described:
        raise ParameterError('action_columns= needs actions="items".')
    numbering = Decisions("position" if described else actions)
    used = (_as_adf(_WHO, each) for each in rounds) if described else rounds
    found = [row for row in map(numbering.logged, used) if row is not None]
    if not found:
        raise ParameterError(f"{_WHO} got no round with a cost. Pass rounds with labels.")
    if len({row.weight for row in found}) > 1:
        raise ParameterError(
            f"{_WHO} got records of different pdrop, but a Log weights all rounds equally. Select "
            "records with one pdrop, or thin the others to the same pdrop."
        )
    contexts: Any
    contexts, names = rows(_WHO, [flat(row.this.context) for row in found], columns)
    available: Any = None
    K = _count(found, len(numbering.known), n_actions)
    if described:
        contexts = _menus(contexts, [row.this for row in found], action_columns)
    elif any(row.available is not None and len(row.available) < K for row in found):
        available = [range(K) if row.available is None else row.available for row in found]
    losses = np.array([row.this.cost for row in found], dtype=np.float64)
    if cost_range is not None:
        advice = "Pass the true range, or None to leave the costs unchanged."
        losses = Scale(_WHO, cost_range, "cost_range", advice).losses(losses)
    taken = np.array([row.action for row in found], dtype=np.intp)
    propensities = np.array([row.this.probability for row in found])
    return Log(
        contexts, taken, losses, propensities, K, available, _action_distribution(found, K)
    ), names


def _as_adf(who: str, this_round: Any) -> CbAdfRound:
    if not isinstance(this_round, CbAdfRound):
        raise InputTypeError(
            f"{who} needs rounds of cb_adf or dsjson here; got {short(this_round)}. Actions of cb "
            "have only numbers."
        )
    return this_round


def _menus(contexts: Any, rounds: Sequence[Any], columns: Columns) -> list[Menu]:
    """Return the context of each round as a `Menu` of the offered features and tags."""
    table, _ = rows(_WHO, [flat(each) for this in rounds for each in this.actions], columns)
    if table is None:
        raise ParameterError(
            f'{_WHO} got actions without features. Pass another value than actions="items".'
        )
    parts = np.split(table, np.cumsum([len(this.actions) for this in rounds])[:-1])
    return [
        Menu(None if contexts is None else contexts[t], part, this.tags or None)
        for t, (this, part) in enumerate(zip(rounds, parts, strict=True))
    ]


def actions_from_vw(rounds: Iterable[Round], by: str = "features") -> list[Any]:
    """Return the distinct actions of a log, in the order in which `log_from_vw` numbers them.

    Pass the list as `actions` to `log_from_vw`, so that other logs get the same numbers.
    `log_to_vw` takes it, too.

    Parameters
    ----------
    rounds
        Rounds from `read_vw` (cb_adf) or `read_dsjson`.
    by
        Identity of actions across rounds: their "features" (default) or their "tag".

    Examples
    --------
    >>> import hannan as hn
    >>> lines = ["0:1:0.5 |ad red", "|ad blue", "", "|ad green", "0:0:0.5 |ad red"]
    >>> hn.adapters.actions_from_vw(hn.adapters.read_vw(lines, "cb_adf"))
    [{'ad': {'red': 1.0}}, {'ad': {'blue': 1.0}}, {'ad': {'green': 1.0}}]
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
    """Convert a `Log` to rounds for `write_vw`.

    Features of contexts are in the namespace x. With `cb_adf`, the available actions are listed. By
    default each has one feature, its number, in the namespace a.

    Parameters
    ----------
    log
        The log; its propensities are written unchanged.
    format
        Text format, "cb" or "cb_adf".
    names
        Names of the entries of a context. Default: their numbers.
    actions
        Features of each action, for cb_adf. Default None.
    cost_range
        Range (low, high) of the costs: loss 0 is written as low, and loss 1 as high. Default (0,
        1); None means the same.

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
        raise InputTypeError(f"log_to_vw needs a Log; got {short(log)}.")
    check_choice("log_to_vw", "format", format, ("cb", "cb_adf"))
    if log.takes_items and (format == "cb" or actions is not None):
        raise ParameterError(
            "The actions of this log have features in its menus. Use format='cb_adf' without "
            "actions=."
        )
    if actions is not None and len(actions) != log.n_actions:
        raise ParameterError(f"actions= needs {log.n_actions} entries; got {len(actions)}.")
    bounds = (0.0, 1.0) if cost_range is None else cost_range
    scale = Scale("log_to_vw", bounds, "cost_range")
    return _written(log, format, names, actions, scale.best + scale.width * log.losses)


def _written(
    log: Log,
    format: str,
    names: Sequence[str] | None,
    actions: Sequence[Features] | None,
    costs: FloatArray,
) -> Iterator[CbRound | CbAdfRound]:
    known = actions or [{"a": {str(k): 1.0}} for k in range(log.n_actions)]
    for row, cost in zip(log, costs.tolist(), strict=True):
        if isinstance(row.context, Menu):  # its ids are the tags, which must be words
            menu = row.context
            listed = tuple(
                {"a": {str(j): float(value) for j, value in enumerate(each) if value != 0.0}}
                for each in menu.rows
            )
            label = row.action, cost, row.propensity
            tags = tuple(map(str, menu.ids or ()))
            yield CbAdfRound(as_features(menu.context, names), listed, *label, tags=tags)
            continue
        context = as_features(row.context, names)
        offered = None if row.available is None else tuple(row.available.tolist())
        if format == "cb":
            yield CbRound(context, row.action, cost, row.propensity, offered)
            continue
        offered = tuple(range(log.n_actions)) if offered is None else offered
        listed = tuple(known[k] for k in offered)
        yield CbAdfRound(context, listed, offered.index(row.action), cost, row.propensity)


def _count(found: list[NumberedRound], known: int, given: int | None) -> int:
    K = max(known, 1 + max(max(row.action, *(row.available or (0,))) for row in found))
    if given is not None:
        if check_integer(_WHO, "n_actions", given, 1) < K:
            raise ParameterError(f"n_actions={given} is too small: the log has action {K - 1}.")
        return int(given)
    if K > _MANY:
        raise ParameterError(
            f"The log contains action {K - 1}; more than {_MANY} actions are usually an error. If "
            "the number is correct, pass n_actions=."
        )
    return K


def _action_distribution(found: list[NumberedRound], K: int) -> FloatArray | None:
    """Return the probabilities of all actions, or None unless every round has them."""
    if any(row.distribution is None for row in found) or len(found) * K > _LARGEST:
        return None
    table = np.zeros((len(found), K))
    for t, row in enumerate(found):
        for k, p in (row.distribution or {}).items():
            table[t, k] = p
    return table


class NumberedRound(NamedTuple):
    """A round with the numbers of its actions."""

    this: Round
    action: int
    available: tuple[int, ...] | None
    distribution: dict[int, float] | None
    weight: float


class Decisions:
    """Numbers for actions, identified by a kind of key or by a list of all actions.

    `known` holds the features or the tag of each action, by its number.
    """

    def __init__(self, actions: Actions) -> None:
        listed = None if isinstance(actions, str) else actions
        self.kind = actions if isinstance(actions, str) else _kind(actions)
        self._numbering = Numbering(listed)
        self.known = self._numbering.labels

    def logged(self, this: Round) -> NumberedRound | None:
        """Return the decision of a round, or None without a cost or if learners must skip it."""
        if not isinstance(this, CbRound | CbAdfRound):
            raise InputTypeError(
                f"log_from_vw needs rounds of cb, cb_adf or dsjson; got {short(this)}."
            )
        if isinstance(this, CbRound) and self.kind != "position":
            raise ParameterError(
                f"actions={self.kind!r} needs cb_adf or dsjson: actions of cb have no features or "
                "tags. Pass actions='position'."
            )
        # Actions of rounds that are left out get numbers, too.
        numbers = self.numbers(this) if isinstance(this, CbAdfRound) else ()
        if this.action is None or this.cost is None or this.probability is None:
            return None
        if isinstance(this, CbRound):
            return NumberedRound(this, this.action, this.available, None, 1.0)
        if this.skip_learn:
            return None
        distribution = None
        if this.others and len(this.others) == len(numbers) - 1:
            told = {**this.others, this.action: this.probability}
            distribution = {numbers[k]: p for k, p in told.items()}
        return NumberedRound(this, numbers[this.action], numbers, distribution, this.weight)

    def numbers(self, this: CbAdfRound) -> tuple[int, ...]:
        """Return the number of each action of a round."""
        if self.kind == "position":
            return tuple(range(len(this.actions)))
        if self.kind == "tag" and not this.tags:
            raise ParameterError(
                f"The actions of a round have no tags: {short(this)}. Use 'features' instead of "
                "'tag'."
            )
        known_by: Sequence[Any] = this.tags if self.kind == "tag" else this.actions
        numbers = self._numbering.of(known_by)
        self._numbering.keep(known_by)
        return tuple(numbers)


def _kind(actions: Any) -> str:
    """Return the kind of keys in a list of distinct actions: "tag" or "features"."""
    listed = list(actions) if isinstance(actions, Sequence) else []
    for kind, what in (("tag", str), ("features", Mapping)):
        fits = all(isinstance(action, what) for action in listed)
        if fits and 0 < len(listed) == len(Numbering(listed).labels):
            return kind
    accepted = "'position', 'features', 'tag', or a list of the tags or features of all actions"
    raise refuse("log_from_vw", "actions", f"{accepted}, each once", actions)


# Named features as feature vectors -----------------------------------------------------------


def flat(*parts: Features) -> dict[str, float]:
    """Return values by their names in VW's audit: name, space^name or space^name^word.

    >>> flat({"": {"sun": 1.0}, "user": {"age": 31.0, "city": "york"}})
    {'sun': 1.0, 'user^age': 31.0, 'user^city^york': 1.0}
    """
    found: dict[str, float] = {}
    for space, name, value in entries(*parts):
        key = f"{space}^{name}" if space else name
        if isinstance(value, str):
            key, value = f"{key}^{value}", 1.0
        found[key] = found.get(key, 0.0) + float(value)
    return found


def rows(
    owner: str, found: Sequence[dict[str, float]], columns: Columns
) -> tuple[FloatArray | None, list[str]]:
    """Return an array [n, p], or None without features, and the names of its columns.

    By default, the columns are all names that occur, in order. If names are given, the columns are
    only these names. If a number is given, names are hashed to this many columns, with signs, so
    that collisions cancel on average.
    """
    from sklearn.feature_extraction import DictVectorizer, FeatureHasher

    made: Any
    if isinstance(columns, int | np.integer):
        width = check_integer(owner, "columns", columns, 1)
        made, names = FeatureHasher(width), [f"#{i}" for i in range(width)]
    else:
        known = sorted({name for row in found for name in row})
        names = known if columns is None else list(columns)
        named = not isinstance(columns, str) and all(isinstance(name, str) for name in names)
        if columns is not None and not (named and 0 < len(names) == len(set(names))):
            raise refuse(owner, "columns", "different names, a number of columns, or None", columns)
        check_names("the log", names, known)
        if not names:
            return None, []
        made = DictVectorizer(sort=False).fit([dict.fromkeys(names, 1.0)])
    if len(found) * len(names) > _LARGEST:
        raise ParameterError(
            f"{owner} would create an array of {len(found)} x {len(names)} numbers. Select the "
            "features, columns=[…], or hash them to a few hundred columns, columns=256."
        )
    return np.ascontiguousarray(made.transform(found).toarray(), dtype=np.float64), names


def as_features(context: Any, names: Sequence[str] | None) -> Features:
    """Return a context as features: a vector by its names, a word or a number as one feature."""
    if context is None:
        return {}
    if isinstance(context, np.ndarray) and context.ndim == 1:
        known = range(len(context)) if names is None else names
        if len(known) != len(context):
            raise ParameterError(
                f"names= has {len(known)} entries for contexts of {len(context)} features. Pass "
                "one name per feature."
            )
        return {"x": {str(name): float(v) for name, v in zip(known, context, strict=True)}}
    if isinstance(context, dict):
        deep = all(isinstance(value, dict) for value in context.values())
        return context if deep else {"x": context}
    if isinstance(context, str | int | float | np.number):
        return {"x": {f"context={context}": 1.0}}
    raise ParameterError(
        f"A context must be a feature vector, a mapping, a word or a number; got {short(context)}."
    )
