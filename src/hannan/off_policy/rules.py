"""Conversion of policies of any form to action probabilities, per round or for a log."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Decision, InputTypeError, Learner, ParameterError, Policy
from hannan.core.arrays import as_array, as_list
from hannan.core.params import short
from hannan.core.rounds import context_key
from hannan.core.state import Array, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, refuse
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.frames import context_frame
from hannan.off_policy.log import TINY, TOLERANCE, IntArray, Log, place_of

_KINDS = {  # by (played, copied); see `Shares`
    (0.0, 0.0): evidence.NEVER,
    (1.0, 0.0): evidence.SURELY,
    (0.0, 1.0): evidence.AS_PLAYED,
}

Target = int | FloatArray | None
"""An action, the probabilities of all actions, or None for the played action."""
Places = Mapping[Any, int]
"""Mapping from names of actions to numbers; empty if actions have no names."""


@dataclass(frozen=True, eq=False)
class Shares(Stored):
    """For each policy, its probabilities of the played action and of copying the played action.

    The ratio π(a)/q(a) of a policy is `played` times 1/q(a), plus `copied`: the probability with
    which the policy copies the played action because its own choice is unavailable.
    """

    played: FloatArray
    copied: FloatArray
    _is_value = True

    stored = State(
        played=Array(lambda self: len(self._sums), low=0.0, high=1.0),  # one row for each policy
        copied=Array(lambda self: len(self._sums), low=0.0, high=1.0).where(
            lambda self, copied: (self.played + copied <= 1.0 + 1e-9).all()
        ),
    )

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Kind of each policy in this round; see `supermartingales`."""
        pairs = zip(self.played.tolist(), self.copied.tolist(), strict=True)
        return np.array([_KINDS.get(pair, evidence.IN_PART) for pair in pairs], dtype=np.int64)

    def extended(self, rows: list[int]) -> Shares:
        """Return the shares with these rows, for a Watch with more policies."""
        return Shares(self.played[rows], self.copied[rows])


def check_policies(
    owner: object,
    policies: Any,
    n_actions: int | None,
    places: Places,
    check: Callable[[str, Any], Any] | None = None,
) -> dict[str, Any]:
    """Check a dictionary of policies, which are actions or functions of a context.

    If actions are sets, `check` checks those policies that are not functions.
    """
    if policies is None and n_actions is not None and check is None:
        return {f"always {action}": action for action in places or range(n_actions)}
    accepted = (
        "a dictionary of names and policies, such as {'always 0': 0, 'today': rule}; or None, with "
        "n_actions=, for all constant policies"
    )
    if check is not None:
        accepted = "a dictionary of names and sets, such as {'today': [0, 3], 'new': rule}"
    if not isinstance(policies, Mapping) or not policies:
        raise refuse(owner, "policies", accepted, policies)
    for name, policy in policies.items():
        if not isinstance(name, str) or not name.strip() or "\n" in name:
            raise refuse(owner, "policies", f"{accepted}; names are non-blank lines", policies)
        if isinstance(policy, Learner):
            raise InputTypeError(
                f"The policy {name!r} is a learner, which changes with every round. Pass its "
                "best_policy(), or a function of a context that calls the learner."
            )
        if not callable(policy):
            _action(name, policy, n_actions, places) if check is None else check(name, policy)
    return dict(policies)


def target(
    name: str,
    policy: Any,
    told: bool,
    context: Any,
    available: IntArray | None,
    n_actions: int | None,
    places: Places,
) -> Target:
    """Ask a policy for its action on a context, among the available actions (None for all).

    `told` says whether the policy has an argument `available`. `places` maps the names that the
    policy returns to numbers.
    """
    answer = ask(name, policy, told, context, available, n_actions, places)
    if isinstance(answer, Mapping):
        answer = np.array([float(answer.get(each, 0.0)) for each in places])
    if not isinstance(answer, int) and np.ndim(answer) == 1:
        return _action_distribution(name, answer, available, n_actions, told)
    action = _action(name, answer, n_actions, {} if isinstance(policy, Policy) else places)
    if available is None or action in available:
        return action
    if told:
        raise _unavailable(name, action, available)
    return None


def ask(
    name: str,
    policy: Any,
    told: bool,
    context: Any,
    available: IntArray | None,
    n_actions: int | None,
    places: Places,
) -> Any:
    """Return the answer of a policy, or the policy itself if it is not a function."""
    if not told:
        return policy(context) if callable(policy) else policy
    if available is None:
        if n_actions is None:
            raise ParameterError(
                f"The policy {name!r} has an argument 'available': pass n_actions= to Watch."
            )
        available = np.arange(n_actions)
    return policy(context, available=_offer(available, places))


def shares(targets: list[Target], action: int, available: IntArray | None) -> Shares:
    """Return the policies' probabilities of the played action; the last row is the played action.

    A policy copies the played action with its total probability of unavailable actions.
    """
    played, copied = np.zeros(len(targets) + 1), np.zeros(len(targets) + 1)
    copied[-1] = 1.0
    for i, each in enumerate(targets):
        if each is None:
            copied[i] = 1.0
        elif isinstance(each, int):
            played[i] = each == action
        else:
            played[i] = each[action] if action < len(each) else 0.0
            left = 0.0 if available is None else 1.0 - float(each[available].sum())
            copied[i] = left if left > 1e-12 else 0.0
    return Shares(played, copied)


def _offer(there: IntArray, places: Places) -> Any:
    return [[*places][place] for place in there] if places else there


def _action(name: str, found: Any, n_actions: int | None, places: Places) -> int:
    if places:
        place = place_of(found, places, len(places))
        if place is None:
            known = f"an action out of {list(places)!r:.200}, or return one"
            raise ParameterError(f"The policy {name!r} must be {known}; got {short(found)}.")
        return place
    whole = isinstance(found, int | np.integer) and not isinstance(found, bool | np.bool_)
    if not whole and isinstance(found, np.ndarray) and found.ndim == 0:
        whole = found.dtype.kind in "iu"
    top = (n_actions or 2**31) - 1
    if not whole:
        raise InputTypeError(
            f"The policy {name!r} must be an action, an integer from 0 to {top}, or a function "
            "of a context that returns an action or probabilities of all actions; got "
            f"{short(found)}.{_about_sets(found)}"
        )
    if not 0 <= int(found) <= top:
        raise ParameterError(
            f"The policy {name!r} must choose an action from 0 to {top}; got {int(found)}."
        )
    return int(found)


def _action_distribution(
    name: str, found: Any, available: IntArray | None, n_actions: int | None, told: bool
) -> FloatArray:
    distribution = np.asarray(found)
    fits = distribution.dtype.kind == "f" and n_actions in (None, len(distribution))
    fits = fits and (available is None or len(distribution) > int(available[-1]))
    if not fits or not are_distributions(distribution[None])[0]:
        many = "all" if n_actions is None else n_actions
        raise ParameterError(
            f"The policy {name!r} must return the probabilities of {many} actions, which sum to 1; "
            f"got {short(found)}.{_about_sets(found)}"
        )
    distribution = np.clip(distribution.astype(np.float64), 0.0, 1.0)
    if told and available is not None:
        there = np.zeros(len(distribution), dtype=np.bool_)
        there[available] = True
        if distribution[~there].sum() > TOLERANCE:
            raise _unavailable(name, int((distribution * ~there).argmax()), available)
        distribution[~there] = 0.0
    return np.asarray(distribution / distribution.sum())


def _about_sets(found: Any) -> str:
    """Return a sentence on sets if a policy gives a set of elements."""
    listed = isinstance(found, list | tuple | np.ndarray) and np.asarray(found).dtype.kind in "iu"
    return " For sets of elements, pass n_actions= and max_chosen= to Watch." if listed else ""


def _unavailable(name: str, action: int, available: IntArray) -> ParameterError:
    return ParameterError(
        f"The policy {name!r} chooses action {action}, but only {available.tolist()} are "
        "available. Return one of the available actions."
    )


def inverse(owner: object, decision: Any, propensity: Any, weight: Any) -> float | None:
    """Return the inverse propensity of an action or an estimate of it; None if it is unknown."""
    if propensity is not None and weight is not None:
        raise ParameterError("Pass propensity= or weight=, not both.")
    if propensity is weight is None and isinstance(decision, Decision):
        if decision.propensity_error == 0.0:
            propensity = decision.propensity
        elif len(decision.weights):
            weight = decision.weights[0]
    if propensity is weight is None:
        return None
    name, given, low, high = "propensity", propensity, TINY, 1.0
    if propensity is None:
        name, given, low, high = "weight", weight, 1.0 - TOLERANCE, 1.0 / TINY
    try:
        number = math.nan if isinstance(given, bool | str) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not low <= number <= high:
        raise refuse(owner, name, f"a number from {low:g} to {high:g}", given)
    return max(1.0, number) if propensity is None else 1.0 / number


# Logs -----------------------------------------------------------------------------------------


def probabilities(policy: Any, log: Log, draws: int = 1000) -> FloatArray:
    r"""Return the table [n, K] of :math:`\pi(a \mid x_t)` for the rounds of a log.

    Parameters
    ----------
    policy
        One of these; in a log with names, actions are names:

        - an action, for the policy that always takes this action;
        - a `Policy` or any function of a context that returns an action, the probabilities of all
          K actions, or a mapping from actions to probabilities. A function with an argument named
          `available` also receives the available actions of the round;
        - a learner, evaluated by the distribution of its next action;
        - a fitted classifier: an object with `predict`, which receives the contexts (a frame if
          they are mappings, else feature vectors) and returns actions;
        - n actions, or a table [n, K].
    log
        The log with the contexts.
    draws
        Number of draws for a learner that does not know its action distribution.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log([0, 1], [0, 0], [0.0, 1.0], [0.5, 0.5], n_actions=2)
    >>> hn.off_policy.probabilities(lambda context: 1 - context, log)
    array([[0., 1.],
           [1., 0.]])
    """
    n, K, constant = len(log), log.n_actions, log.place(policy)
    if constant is not None:
        table = np.repeat(np.eye(K)[constant][None], n, axis=0)
    elif isinstance(policy, Learner):
        table = _asked(_distribution_of(policy, K, draws), log, ours=True)
    elif callable(policy):
        table = _asked(policy, log, ours=isinstance(policy, Policy))
    elif hasattr(policy, "predict") and not hasattr(policy, "learn"):  # a model of scikit-learn
        table = _given(_predicted(policy, log), log)
    else:
        table = _given(policy, log)
    wrong = ~are_distributions(table)
    if wrong.any():
        t = int(np.argmax(wrong))
        raise ParameterError(
            f"policy= must return the probabilities of {K} actions, which sum to 1; round {t} has "
            f"{table[t]}."
        )
    _check_offered(table, log)
    return table


def _check_offered(table: FloatArray, log: Log) -> None:
    """Raise `ParameterError` if a policy chooses an unavailable action."""
    outside = (table * ~log.allowed > TOLERANCE).any(axis=1)
    if outside.any():
        t = int(np.argmax(outside))
        action, there = int((table[t] * ~log.allowed[t]).argmax()), log.available[t].tolist()
        if log.names is not None:
            action, there = log.names[action], [log.names[each] for each in there]
        raise ParameterError(
            f"policy= chooses action {action!r} in round {t}, where only {there} were available. "
            "Pass a function policy(context, available) that returns one of the available "
            "actions, or n actions or a table [n, K] that respect availability."
        )


def are_distributions(table: FloatArray) -> NDArray[np.bool_]:
    """Return for each row whether it holds probabilities that sum to 1."""
    whole = (table >= -TOLERANCE).all(axis=1) & np.isfinite(table).all(axis=1)
    return np.asarray(whole & (abs(table.sum(axis=1) - 1.0) <= TOLERANCE))


def _distribution_of(learner: Learner, K: int, draws: int) -> Callable[[Any, IntArray], FloatArray]:
    """Return a function for a learner's action distribution, cached by context and actions."""
    if learner.oracle is not None and learner.oracle.max_chosen > 1:
        raise InputTypeError(
            f"A Log holds single actions; {type(learner).__name__} chooses sets of elements. "
            "Record it with Recorder, and evaluate rules on its SetLog."
        )
    if not learner.takes_items:
        _check_number(learner, learner.action_count or K, K)
    known: dict[Hashable, FloatArray] = {}

    def answer(context: Any, available: IntArray) -> FloatArray:
        key = context_key(context), available.tobytes()
        if key not in known:
            some = None if len(available) == K or learner.takes_items else available
            distribution = known[key] = learner.propensities(context, draws, some).probabilities
            _check_number(learner, len(distribution), len(context) if learner.takes_items else K)
        return known[key]

    return answer


def _check_number(learner: Learner, own: int, K: int) -> None:
    if own != K:
        raise ParameterError(
            f"policy={type(learner).__name__}(…) has {own} actions, but the log has {K}. Both "
            "must have the same actions."
        )


def _asked(policy: Callable[..., Any], log: Log, ours: bool) -> FloatArray:
    """Ask a function for each round; with `ours` it takes encoded rows and returns numbers."""
    K, told, by_name = log.n_actions, takes_available(policy), log.names is not None and not ours
    contexts = log.rows if ours else log.contexts
    table = np.zeros((len(log), K))
    sets = repeat(np.arange(K), len(log)) if log.available is None else log.available
    for t, (row, context, there) in enumerate(zip(table, contexts, sets, strict=True)):
        offer = [log.names[place] for place in there] if by_name and told else there
        answer = policy(context, available=offer) if told else policy(context)
        if not _write(answer, row, log, len(context) if log.takes_items else K, by_name):
            known = f"out of {list(log.names)!r:.200}" if by_name else f"from 0 to {K - 1}"
            raise InputTypeError(
                f"policy= must return an action {known}, or {K} probabilities; in round {t} it "
                f"returned {short(answer)}."
            )
    return table


def _write(answer: Any, row: FloatArray, log: Log, offered: int, by_name: bool) -> bool:
    """Write an answer as probabilities; return whether it is an action or probabilities."""
    if isinstance(answer, Mapping):
        places = {log.place(name): float(share) for name, share in answer.items()}
        for place, share in places.items():
            row[-1 if place is None else place] = share
        return None not in places
    distribution = np.asarray(answer)
    if distribution.ndim == 0:
        whole = distribution.dtype.kind in "iu" and 0 <= distribution < log.n_actions
        place = log.place(answer) if by_name else int(distribution) if whole else None
        if place is not None:
            row[place] = 1.0
        return place is not None
    fits = (
        distribution.ndim == 1
        and len(distribution) in (log.n_actions, offered)
        and distribution.dtype.kind == "f"
    )
    if fits:
        row[: len(distribution)] = distribution
    return fits


def takes_available(policy: Callable[..., Any]) -> bool:
    """Return whether a policy has an argument `available`."""
    try:
        return "available" in inspect.signature(policy).parameters
    except (TypeError, ValueError):  # some compiled functions have no signature
        return False


def _predicted(model: Any, log: Log) -> Any:
    who, n = type(model).__name__, len(log)
    if log.features is None:
        raise InputTypeError(
            f"policy={who}(…) predicts from feature vectors, but the contexts of this log are not "
            "vectors of one length. Pass a function of a context, or the n actions."
        )
    answers = as_array(model.predict(context_frame(log) if log.mapped else log.features))
    if answers.shape != (n,) or (log.names is None and answers.dtype.kind not in "iu"):
        raise InputTypeError(
            f"policy={who}(…) must predict {n} integers from 0 to {log.n_actions - 1}, or names of "
            f"the log's actions, one for each row; got {short(answers)}. Pass a function of a "
            "context that converts predictions to actions."
        )
    return answers


def _given(policy: Any, log: Log) -> FloatArray:
    n, K, answers = len(log), log.n_actions, as_array(policy)
    if answers.shape == (n,) and (log.names is not None or answers.dtype.kind in "iu" or not n):
        places = [log.place(each) for each in as_list(answers)]
        if None in places:
            t = places.index(None)
            known = (
                f"from 0 to {K - 1}" if log.names is None else f"out of {list(log.names)!r:.200}"
            )
            raise ParameterError(
                f"policy= must hold actions {known}; round {t} has {short(as_list(answers)[t])}."
            )
        return np.eye(K)[np.array(places, dtype=np.intp)]
    if answers.shape == (n, K) and answers.dtype.kind in "iuf":
        return answers.astype(np.float64)
    if log.names is not None and isinstance(policy, str | int | float):
        known = ", ".join(map(repr, log.names))
        raise ParameterError(f"The log has no action {policy!r:.100}. Its actions: {known:.200}.")
    raise InputTypeError(
        f"policy= must be an action, a function of a context, a fitted classifier, a learner, {n} "
        f"actions, or an array of shape {(n, K)}; got {short(policy)}."
    )
