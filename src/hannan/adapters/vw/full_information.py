"""Costs of all actions, from and to the format csoaa."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.adapters.vw.encoding import Columns, as_features, flat, rows
from hannan.adapters.vw.logs import bounds_of, losses_of
from hannan.adapters.vw.rounds import CsoaaRound, Round
from hannan.core import InputTypeError, LossError, ParameterError
from hannan.core.params import short
from hannan.core.validation import check_integer
from hannan.environments import FromArrays


def environment_from_vw(
    rounds: Iterable[Round],
    *,
    columns: Columns = None,
    n_actions: int | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
    missing: float | None = None,
) -> FromArrays:
    r"""The costs of a csoaa file as an environment with full information.

    A cost c in [low, high] is the loss :math:`(c - low)/(high - low)`. Lines without any cost are
    left out.

    Parameters
    ----------
    rounds
        What `read_vw` gives for csoaa.
    columns, n_actions, cost_range
        As in `log_from_vw`.
    missing
        The cost of actions that a line does not tell; None refuses such lines.

    Examples
    --------
    >>> import hannan as hn
    >>> lines = ["1:0 2:1 |user age:31", "1:1 2:0.5 |user age:18"]
    >>> world = hn.adapters.environment_from_vw(hn.adapters.read_vw(lines, "csoaa"))
    >>> world.horizon, world.n_actions
    (2, 2)
    >>> hn.play(hn.baselines.FollowTheLeader(hn.oracles.Stumps(2)), world).losses
    array([0., 1.])
    """
    who = "environment_from_vw"
    found = [row for row in map(_known, rounds) if any(c is not None for c in row.costs.values())]
    if not found:
        raise ParameterError(f"{who} got no round with costs.")
    K = 1 + max(max(row.costs) for row in found)
    if n_actions is not None:
        if check_integer(who, "n_actions", n_actions, 1) < K:
            raise ParameterError(f"n_actions={n_actions} is too few: there is an action {K - 1}.")
        K = int(n_actions)
    if len(found) * K > 10**8:
        raise ParameterError(f"{who} would make an array of {len(found)} x {K} losses.")
    table = np.full((len(found), K), np.nan if missing is None else float(missing))
    for losses, row in zip(table, found, strict=True):
        for k, cost in row.costs.items():
            if cost is not None:
                losses[k] = cost
    if np.isnan(table).any():
        t = int(np.argmax(np.isnan(table).any(axis=1)))
        raise LossError(
            f"Round {t} with costs tells those of {len(found[t].costs)} of {K} actions. Pass "
            "missing=, the cost of those left out."
        )
    contexts = rows(who, [flat(row.context) for row in found], columns)
    return FromArrays(contexts, losses_of(table, cost_range, who))


def losses_to_vw(
    contexts: Sequence[Any] | None,
    losses: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    cost_range: tuple[float, float] | None = (0.0, 1.0),
) -> Iterator[CsoaaRound]:
    """Contexts with the losses of all actions, for `write_vw` in the format csoaa.

    Parameters
    ----------
    contexts, losses
        As in `FromArrays`; those of a game are `trace.contexts` and `trace.outcomes`.
    names, cost_range
        As in `log_to_vw`.

    Examples
    --------
    >>> import sys
    >>> import hannan as hn
    >>> world = hn.environments.FromArrays(["sun", "rain"], [[0, 1], [1, 0.5]])
    >>> trace = hn.play(hn.baselines.UniformRandom(2), world)
    >>> rounds = hn.adapters.losses_to_vw(trace.contexts, trace.outcomes)
    >>> hn.adapters.write_vw(rounds, sys.stdout, "csoaa")
    1:0.0 2:1.0 |x context=sun
    1:1.0 2:0.5 |x context=rain
    2
    """
    try:
        table = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"losses must be an array of numbers; got {short(losses)}.") from None
    if table.ndim != 2 or (contexts is not None and len(contexts) != len(table)):
        raise ParameterError(
            f"losses_to_vw needs losses [T, K] and as many contexts; got losses of shape "
            f"{table.shape} and {None if contexts is None else len(contexts)} contexts."
        )
    low, high = bounds_of((0.0, 1.0) if cost_range is None else cost_range, "losses_to_vw")
    known = [None] * len(table) if contexts is None else contexts
    costs = low + (high - low) * table
    return (
        CsoaaRound(as_features(context, names), dict(enumerate(row.tolist())))
        for context, row in zip(known, costs, strict=True)
    )


def _known(this_round: Round) -> CsoaaRound:
    if not isinstance(this_round, CsoaaRound):
        raise InputTypeError(
            f"environment_from_vw takes rounds of csoaa; got {short(this_round)}. Logs of one "
            "action are for log_from_vw."
        )
    return this_round
