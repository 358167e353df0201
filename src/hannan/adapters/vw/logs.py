"""From rounds of Vowpal Wabbit to a `Log`, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.adapters.vw.decisions import Actions, Decisions, Logged
from hannan.adapters.vw.encoding import Columns, as_features, rows
from hannan.adapters.vw.rounds import CbAdfRound, CbRound, Features, Round
from hannan.core import InputTypeError, LossError, ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_choice, check_integer, check_loss_range
from hannan.off_policy import Log

_MANY = 10**6


def log_from_vw(
    rounds: Iterable[Round],
    *,
    columns: Columns = None,
    actions: Actions = "position",
    n_actions: int | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
) -> Log:
    r"""Logged decisions of Vowpal Wabbit as a log of ours.

    A cost c in [low, high] is the loss :math:`(c - low)/(high - low)`. Rounds without a cost, and
    those that nobody should learn from, are left out. Every slot of a `CcbRound` is a round of its
    own, with the features of the context and of the slot, in which the actions of earlier slots
    are not available.

    Parameters
    ----------
    rounds
        What `read_vw` (cb, cb_adf, ccb) or `read_dsjson` gives.
    columns
        The entries of the contexts: a list of names as in VW's audit, ``user^age`` or
        ``user^city^york``; or a number of columns to hash them to; or None for all that occur.
    actions
        What makes two actions of different rounds the same: their "position", their "features" or
        their "tag". The last two are numbered as they first come, which `actions_from_vw` lists;
        or such a list, of the features or tags of all actions, by which they are numbered.
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
    who = "log_from_vw"
    if isinstance(actions, str):
        check_choice(who, "actions", actions, ("position", "features", "tag"))
    names = Decisions(actions)
    found = [row for this_round in rounds for row in names.of(this_round)]
    if not found:
        raise ParameterError(f"{who} got no round with a cost, so that there is nothing to log.")
    if len({row.weight for row in found}) > 1:
        raise ParameterError(
            f"{who} got records of different pdrop, and a Log counts all rounds alike. Take those "
            "of one pdrop, or thin the others to it."
        )
    taken = np.array([row.action for row in found], dtype=np.intp)
    K = _count(who, found, len(names.known), n_actions)
    offers = [row.available for row in found]
    partial = any(offer is not None and len(offer) < K for offer in offers)
    everything = range(K)
    return Log(
        rows(who, [row.features for row in found], columns),
        taken,
        losses_of([row.cost for row in found], cost_range, who),
        np.array([row.probability for row in found]),
        K,
        [everything if offer is None else offer for offer in offers] if partial else None,
        _distribution(found, K),
    )


def log_to_vw(
    log: Log,
    format: str,
    *,
    names: Sequence[str] | None = None,
    actions: Sequence[Features] | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
) -> Iterator[CbRound | CbAdfRound]:
    """The rounds of a log, for `write_vw` or `write_dsjson`.

    Features of contexts stand in the namespace x. With `cb_adf` the actions that were available
    are listed, by default each with one feature in the namespace a, its number.

    Parameters
    ----------
    log
        What was logged; its propensities are written as they are.
    format
        "cb" or "cb_adf"; the second is also that of dsjson.
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
    if actions is not None and len(actions) != log.n_actions:
        raise ParameterError(f"actions= needs {log.n_actions} entries; got {len(actions)}.")
    low, high = bounds_of((0.0, 1.0) if cost_range is None else cost_range, "log_to_vw")
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
        context = as_features(row.context, names)
        cost = low + width * row.loss
        offered = None if row.available is None else tuple(row.available.tolist())
        if format == "cb":
            yield CbRound(context, row.action, cost, row.propensity, offered)
            continue
        offered = tuple(range(log.n_actions)) if offered is None else offered
        place = offered.index(row.action)
        others: dict[int, float] = {}
        if row.distribution is not None:
            law = row.distribution[list(offered)].tolist()
            others = {k: p for k, p in enumerate(law) if k != place}
        listed = tuple(known[k] for k in offered)
        yield CbAdfRound(context, listed, place, cost, row.propensity, others)


def _count(who: str, found: list[Logged], known: int, given: int | None) -> int:
    K = 1 + max(max(row.available or (row.action,)) for row in found)
    K = max(K, known, 1 + max(row.action for row in found))
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


def bounds_of(cost_range: Any, who: str) -> tuple[float, float]:
    """A pair low < high of finite costs."""
    return check_loss_range(who, cost_range, "cost_range")


def losses_of(costs: Any, cost_range: Any, who: str) -> FloatArray:
    """Costs as losses in [0, 1]."""
    values = np.array(costs, dtype=np.float64)
    if cost_range is None:
        return values
    low, high = bounds_of(cost_range, who)
    if values.min() < low or values.max() > high:
        raise LossError(
            f"Costs must lie in cost_range={(low, high)}; got values from {values.min():g} to "
            f"{values.max():g}. Pass the range they really have, or None to leave them as they are."
        )
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
