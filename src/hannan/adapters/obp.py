"""Convert logged feedback of the Open Bandit Pipeline (obp) from and to a `Log`.

This needs only dictionaries and arrays, not obp itself (which requires PyTorch).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hannan.adapters._rewards import Scale
from hannan.core import ContextError, InputTypeError, LossError, Menu, ParameterError
from hannan.core.arrays import as_array, as_floats, as_list, columns_of, is_frame, missing
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_choice, refuse
from hannan.off_policy import Log, probabilities
from hannan.off_policy.log import IntArray


def log_from_obp(
    feedback: Mapping[str, Any],
    *,
    reward_range: tuple[float, float] = (0.0, 1.0),
    action_context: Any = None,
) -> Log:
    r"""Convert obp's dictionary of logged feedback to a `Log`.

    A reward r in [low, high] is the loss :math:`(high - r)/(high - low)`; a reward outside the
    range raises `LossError`. A log has no position of an action: append it to the contexts if
    policies need it.

    Parameters
    ----------
    feedback
        Dictionary with n_actions, context, action, reward and pscore, as obp's datasets return it.
        If present, pi_b of shape [n, K, positions] becomes the distribution of the log; with
        several positions it needs position. Other entries are ignored.
    reward_range
        (low, high) of the rewards.
    action_context
        Features of the items, [K, q], for a log of actions with features: each context is then a
        `Menu` of all K items, whose ids are their numbers. In a frame, such as the file
        ``item_context.csv`` of the Open Bandit Dataset, the column item_id names the item of each
        row. A column without a name is ignored, and text becomes one indicator per value. Default
        None.

    Examples
    --------
    >>> import numpy as np
    >>> import hannan as hn
    >>> shown = {"n_actions": 3, "context": np.array([[0.1, 0.2], [0.3, 0.4]])}
    >>> feedback = {**shown, "action": [2, 0], "reward": [1, 0], "pscore": [0.25, 0.5]}
    >>> hn.adapters.log_from_obp(feedback).losses
    array([0., 1.])
    >>> items = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    >>> hn.adapters.log_from_obp(feedback, action_context=items).contexts[0]
    <menu of 3 actions with 2 features>
    """
    if not isinstance(feedback, Mapping):
        raise InputTypeError(
            f"log_from_obp needs a dictionary of obp's logged feedback; got {short(feedback)}."
        )
    for name in ("n_actions", "action", "reward", "pscore"):
        if feedback.get(name) is None:
            raise ParameterError(
                f"{name!r} is missing. log_from_obp needs feedback with n_actions, action, reward "
                "and pscore, the propensities."
            )
    losses = Scale("log_from_obp", reward_range).losses(_rewards(feedback["reward"]))
    log = Log(
        contexts=feedback.get("context"),
        actions=feedback["action"],
        losses=losses,
        propensities=feedback["pscore"],
        n_actions=int(feedback["n_actions"]),
        distribution=_action_distribution(feedback, len(losses)),
    )
    if action_context is None:
        return log
    menu = Menu(None, _items(action_context, log.n_actions), tuple(range(log.n_actions)))
    contexts = [np.array(x) if isinstance(x, np.ndarray) else x for x in log.contexts]
    return replace(log, contexts=list(map(menu.with_context, contexts)))


def log_to_obp(
    log: Log,
    *,
    reward_range: tuple[float, float] = (0.0, 1.0),
    inverse: str = "propensities",
    action_context: Any = None,
) -> dict[str, Any]:
    r"""Convert a `Log` to obp's dictionary of logged feedback.

    The loss ℓ in [0, 1] becomes the reward :math:`high - \ell\,(high - low)`. Entries that a log
    does not contain are None: expected_reward, position, and (without a distribution in the log)
    pi_b.

    Parameters
    ----------
    log
        Log with losses in [0, 1] and all actions available in every round. Its contexts are
        vectors, numbers (one column) or absent (a column of zeros). The features of actions become
        the action_context, so all menus must be equal.
    reward_range
        (low, high) of the rewards.
    inverse
        "propensities" (default), or "weights": pscore is then 1 divided by the weights of the log,
        so that obp's importance weights are unbiased; pi_b becomes None.
    action_context
        Features [K, p] of the actions, for obp's regressions. Default: one indicator per action.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log([[0.5], [1.5]], [0, 1], [0.25, 1.0], [0.5, 0.25], 2)
    >>> feedback = hn.adapters.log_to_obp(log)
    >>> feedback["reward"], feedback["pscore"]
    (array([0.75, 0.  ]), array([0.5 , 0.25]))
    >>> hn.adapters.log_from_obp(feedback) == log
    True
    """
    rewards = Scale("log_to_obp", reward_range).rewards("log_to_obp", log.losses)
    check_choice("log_to_obp", "inverse", inverse, ("propensities", "weights"))
    if inverse == "weights" and log.weights is None:
        raise ParameterError("inverse='weights' needs a log with weights=; this log has none.")
    if log.takes_items:
        action_context = log.contexts[0].rows if action_context is None else action_context
        log = _undescribed(log)
    if not log.allowed.all():
        raise ParameterError(
            "obp's feedback has no field for the available actions of a round. To drop them, "
            "pass dataclasses.replace(log, available=None); policy_to_obp(policy, log) restricts "
            "a policy to them."
        )
    plain = inverse == "propensities"
    features = np.eye(log.n_actions) if action_context is None else as_floats(action_context)
    if features.ndim != 2 or len(features) != log.n_actions:
        raise refuse("log_to_obp", "action_context", f"{log.n_actions} rows", action_context)
    distribution = log.distribution if plain else None
    return {
        "n_rounds": len(log),
        "n_actions": log.n_actions,
        "context": _contexts(log),
        "action_context": features,
        "action": np.array(log.actions),
        "position": None,
        "reward": rewards,
        "expected_reward": None,
        "pi_b": None if distribution is None else np.array(distribution)[:, :, None],
        "pscore": np.array(log.propensities) if plain else np.minimum(1.0 / log.weights, 1.0),
    }


def policy_to_obp(policy: Any, log: Log, *, draws: int = 1000) -> FloatArray:
    """Return the action probabilities of a policy as obp's `action_dist`, of shape [n, K, 1].

    Parameters
    ----------
    policy
        Policy, as in `off_policy.evaluate`.
    log
        Log with the contexts.
    draws
        Number of samples, for a learner that does not know its action distribution. Default 1000.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log([0, 1], [0, 0], [0.0, 1.0], [0.5, 0.5], n_actions=2)
    >>> hn.adapters.policy_to_obp(lambda context: context, log).shape
    (2, 2, 1)
    """
    return probabilities(policy, log, draws)[:, :, None]


def _undescribed(log: Log) -> Log:
    """Return the log with the contexts of its menus, which must have the same items."""
    first = log.contexts[0].with_context(None)
    for t, menu in enumerate(log.contexts):
        if menu.with_context(None) != first:
            raise ParameterError(
                f"obp's feedback needs the same items in all rounds, but round {t} of the log "
                "offers other items than round 0."
            )
    return replace(log, contexts=[menu.context for menu in log.contexts], available=None)


def _items(given: Any, n_actions: int) -> FloatArray:
    """Return the features of each item, [K, q]."""
    table = _item_columns(given, n_actions) if is_frame(given) else given
    try:
        rows = np.array(as_floats(table))
    except (TypeError, ValueError):
        raise InputTypeError(
            f"action_context= needs numbers, one row per item, or a frame; got {short(given)}."
        ) from None
    if rows.ndim != 2 or len(rows) != n_actions:
        raise ParameterError(
            f"action_context= must have the shape [{n_actions}, q], one row of q features per item "
            f"of the feedback; got {rows.shape}."
        )
    return rows


def _item_columns(frame: Any, n_actions: int) -> FloatArray:
    """Return the columns of a frame as numbers, in the order of the items."""
    order: Any = None
    found: list[FloatArray] = []
    for name, column in columns_of(frame):
        values = as_list(column)
        if name == "item_id":
            order = _order(column, n_actions)
        elif not str(name) or str(name).startswith("Unnamed:"):  # the index that pandas wrote
            continue
        elif any(map(missing, values)):
            row = next(i for i, value in enumerate(values) if missing(value))
            raise ContextError(
                f"Row {row} of the column {name!r} of action_context= is missing. Fill in missing "
                "features of items first."
            )
        elif all(isinstance(value, str) for value in values):
            levels = sorted(set(values))
            found += [np.array([value == level for value in values]) for level in levels]
        else:
            try:
                found.append(as_floats(values))
            except (TypeError, ValueError):
                raise InputTypeError(
                    f"The column {name!r} of action_context= must hold only numbers or only text."
                ) from None
    if not found:
        raise ParameterError("action_context= has no column of features. Pass at least one.")
    table = np.column_stack(found).astype(np.float64)
    return table if order is None else table[order]


def _order(ids: Any, n_actions: int) -> IntArray:
    """Return the index of the row of each item."""
    given = as_array(ids)
    if given.dtype.kind not in "iu" or sorted(given.tolist()) != list(range(n_actions)):
        found = as_list(given)
        wrong = [one for one in found if not isinstance(one, int) or not 0 <= one < n_actions]
        twice = [one for i, one in enumerate(found) if one in found[:i]]
        lost = [one for one in range(n_actions) if one not in found]
        if wrong:
            what = f"{wrong[0]!r:.100} is not one of them"
        else:
            what = f"{twice[0]} occurs twice" if twice else f"{lost[0]} is missing"
        raise ParameterError(
            f"The item_id of action_context= must be the actions 0 to {n_actions - 1}, each once; "
            f"{what}."
        )
    return np.argsort(given)


def _rewards(given: Any) -> FloatArray:
    try:
        found = as_floats(given)
    except (TypeError, ValueError):
        raise InputTypeError("The reward of obp's feedback must be numbers.") from None
    if found.ndim != 1 or not np.isfinite(found).all():
        raise LossError("The reward of obp's feedback must be finite numbers, one per round.")
    return found


def _action_distribution(feedback: Mapping[str, Any], n: int) -> FloatArray | None:
    """Return pi_b at the position of each round."""
    if feedback.get("pi_b") is None:
        return None
    table = as_floats(feedback["pi_b"])
    if table.ndim != 3 or len(table) != n:
        raise ParameterError(f"pi_b must have the shape [{n}, K, positions]; got {table.shape}.")
    given = feedback.get("position")
    if given is None and table.shape[2] != 1:
        raise ParameterError(
            f"pi_b has the distributions of {table.shape[2]} positions; got position=None. Pass "
            f"the position of each of the {n} rounds."
        )
    place: IntArray = np.zeros(n, dtype=np.intp) if given is None else as_array(given)
    if place.shape != (n,) or place.dtype.kind not in "iu":
        raise ParameterError(f"position must hold {n} integers, or be None.")
    if n and not (place.min() >= 0 and place.max() < table.shape[2]):
        raise ParameterError(
            f"position must lie between 0 and {table.shape[2] - 1}, the positions of pi_b; got "
            f"values from {place.min()} to {place.max()}."
        )
    return np.asarray(table[np.arange(n), :, place])


def _contexts(log: Log) -> FloatArray:
    if log.features is not None:
        return np.array(log.features)
    if all(context is None for context in log.contexts):
        return np.zeros((len(log), 1))
    try:
        return as_floats(log.contexts).reshape(len(log), 1)
    except (TypeError, ValueError):
        raise InputTypeError(
            "obp's contexts are vectors: convert the contexts of the log to feature vectors first."
        ) from None
