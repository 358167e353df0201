"""Convert logged interactions of coba from and to a `Log`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.adapters._numbers import action_key
from hannan.adapters._rewards import Scale
from hannan.adapters._rows import Encoding
from hannan.adapters.coba.encoding import (
    Actions,
    Translation,
    as_coba,
    check_rows_differ,
    interactions,
)
from hannan.core import ParameterError
from hannan.core.params import short
from hannan.core.validation import FloatArray
from hannan.off_policy import Log


def log_from_coba(
    environment: Any,
    *,
    reward_range: tuple[float, float] = (0.0, 1.0),
    encoding: Encoding = None,
    actions: Actions = "names",
    action_encoding: Encoding = None,
    take: int | None = None,
) -> Log:
    r"""Convert the logged interactions of a coba environment to a `Log`.

    A reward r in [low, high] is the loss :math:`(high - r)/(high - low)`.

    Parameters
    ----------
    environment
        A coba environment whose interactions have `action`, `reward` and `probability`, such as the
        result of `logged`.
    reward_range
        Range (low, high) of the rewards. Default (0, 1).
    encoding, actions, action_encoding
        Conversion of contexts and actions, as in `CobaLearner`, except actions="positions". With
        actions="items" each context is a `Menu` of the offered actions.
    take
        Maximum number of interactions to read. Default: all.

    Examples
    --------
    >>> import coba as cb
    >>> import hannan as hn
    >>> world = cb.Environments.from_linear_synthetic(9, n_actions=2, n_action_features=0)
    >>> hn.adapters.log_from_coba(world.logged(cb.RandomLearner()), reward_range=(-1, 2))
    <Log: 9 rounds, 2 actions, mean loss ..., propensities from 0.5>
    """
    if isinstance(actions, str) and actions == "positions":
        raise ParameterError(
            "log_from_coba does not support actions='positions'. Pass actions='names', 'items' or "
            "a list."
        )
    rewards = Scale("log_from_coba", reward_range)
    translation = Translation("log_from_coba", encoding, actions, action_encoding)
    rows: list[tuple[Any, int, float, float]] = []
    offers: list[list[int] | None] = []
    for row in interactions(environment, "log_from_coba", take):
        offered, action, reward, probability = _logged(row)
        place = _place(action, offered) if translation.takes_items else 0
        context, numbers = translation.read(row.get("context"), offered)
        if not translation.takes_items:
            translation.keep(offered)
            (place,) = translation.numbers([action])
            translation.keep([action])
            offers.append(numbers or None)
        rows.append((context, place, rewards.loss(reward), probability))
    contexts, taken, losses, propensities = zip(*rows, strict=True) if rows else ((), (), (), ())
    K = len(translation.labels)
    if translation.takes_items:
        K = max(map(len, contexts), default=1)
    some = any(offer is not None and len(set(offer)) < K for offer in offers)
    everything = list(range(K))
    return Log(
        contexts=list(contexts),
        actions=np.array(taken, dtype=np.intp),
        losses=losses,
        propensities=propensities,
        n_actions=max(1, K),
        available=[offer or everything for offer in offers] if some else None,
    )


def log_to_coba(log: Log, *, reward_range: tuple[float, float] = (0.0, 1.0)) -> LoggedEnvironment:
    r"""Convert a `Log` to a coba environment of logged interactions.

    Contexts, actions and rewards are converted as in `ToCoba`.

    Parameters
    ----------
    log
        Log with losses in [0, 1].
    reward_range
        Range (low, high) of the rewards. Default (0, 1).

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log(None, [0, 1], [0.0, 1.0], [0.5, 0.25], 2)
    >>> environment = hn.adapters.log_to_coba(log)
    >>> print(next(environment.read())["reward"])
    1.0
    >>> hn.adapters.log_from_coba(environment, actions=range(2)) == log
    True
    """
    rewards = Scale("log_to_coba", reward_range).rewards("log_to_coba", log.losses)
    for t, context in enumerate(log.contexts):
        check_rows_differ(context, f"Round {t} of the log")
    return LoggedEnvironment(log, rewards)


@dataclass(frozen=True, eq=False)
class LoggedEnvironment:
    """A coba environment of the interactions in a `Log`."""

    log: Log
    rewards: FloatArray

    @property
    def params(self) -> dict[str, Any]:
        """Description of the environment in coba's tables."""
        sizes = {"n_interactions": len(self.log), "n_actions": self.log.n_actions}
        return {"env_type": "hannan.Log", **sizes}

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the interactions, with context, actions, action, reward and probability."""
        log = self.log
        for row, reward in zip(log, self.rewards.tolist(), strict=True):
            some = range(log.n_actions) if row.available is None else row.available.tolist()
            context, offered = as_coba(row.context, some)
            yield {
                "context": context,
                "actions": offered,
                "action": offered[row.action] if log.takes_items else row.action,
                "reward": reward,
                "probability": row.propensity,
            }


def _place(action: Any, offered: list[Any]) -> int:
    """Return the index of the logged action in the list of offered actions."""
    keys, taken = list(map(action_key, offered)), action_key(action)
    if taken not in keys:
        raise ParameterError(
            f"The logged action {short(action)} is not one of the offered actions, "
            f"{short(offered)}. With actions='items', log all offered actions."
        )
    return keys.index(taken)


def _logged(row: Mapping[str, Any]) -> tuple[list[Any], Any, Any, float]:
    missing = [name for name in ("action", "reward", "probability") if row.get(name) is None]
    if missing:
        raise ParameterError(
            "log_from_coba needs interactions with action, reward and probability; got one "
            f"without {' and '.join(missing)}. Without known probabilities, actions cannot be "
            "weighted. For environments with rewards for all actions use FromCoba."
        )
    return row.get("actions") or [], row["action"], row["reward"], float(row["probability"])
