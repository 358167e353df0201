"""Checks of learners whose oracle or predictor fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any
from unittest import mock

import numpy as np

from hannan.checks._require import require
from hannan.checks.availability import restricted_rounds, takes_available
from hannan.checks.parameters import parts
from hannan.core import (
    Decision,
    Environment,
    HannanError,
    Learner,
    Objective,
    Oracle,
    Predictor,
    Round,
)

_BLOCK = 5  # rounds; two of them are decisions, with feedback while the next round is open
_FAILING = 10  # rounds in which every call fails once
_AFTER = 10  # rounds in which nothing fails any more
# These methods only read a context, and accept a context again that they accepted before.
_NEVER_FAIL = frozenset({"at", "check_context", "check_contexts", "key"})


# If a predictor learns too, one of the two must come last: adding checked losses, which needs no
# optimiser.
_ADDING = frozenset({"add", "charge", "observe"})


class _Failure(Exception):
    """Exception of a part that the check lets fail; no other code raises it."""


def check_a_failing_oracle_changes_nothing(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that an oracle that fails leaves the learner as it was before the call.

    The check plays a short run several times. In run n, the n-th call fails that each call of
    `act`, `decide` or `update` makes to the oracle, its totals or its noise. Then the check repeats
    the call of the learner. Actions, weights, counts, certificate and bound must equal those of a
    run without a failure. Calls between the methods of one total do not count.
    """
    if learner.oracle is not None:
        totals = type(learner.oracle.objective())
        watched = {type(learner.oracle): Oracle, totals: Objective}
        predicts = any(part.params.get("predictor") is not None for part in parts(learner))
        never = _ADDING if predicts else frozenset()
        _require_nothing_changes(learner, environment, horizon, watched, never)


def check_a_failing_predictor_changes_nothing(
    learner: Learner, environment: Environment, horizon: int
) -> None:
    """Check that a predictor that fails leaves the learner as it was before the call.

    The predictor is the learner's own or one that the learner makes.
    """
    kinds: set[type] = set(_subclasses(Predictor))
    for part in parts(learner):
        if (given := part.params.get("predictor")) is not None:
            kinds.add(type(given))
    _require_nothing_changes(learner, environment, horizon, dict.fromkeys(kinds, Predictor))


FAILURE_CHECKS = (check_a_failing_oracle_changes_nothing, check_a_failing_predictor_changes_nothing)


def _require_nothing_changes(
    learner: Learner,
    environment: Environment,
    horizon: int,
    watched: Mapping[type, type],
    never: frozenset[str] = frozenset(),
) -> None:
    game, first = _script(learner, environment, min(horizon, _FAILING + _AFTER))
    with ExitStack() as patches:
        watch = _Watch(_NEVER_FAIL | never, patches)
        for made, base in watched.items():
            watch.watch(made, base)
        expected, calls = _played(learner, game, first, watch, failing=0)
        for number in range(1, calls + 1):
            found, _ = _played(learner, game, first, watch, failing=number)
            _require_same(learner, found, expected, watch)


def _subclasses(base: type[Any]) -> Iterator[type[Any]]:
    for made in base.__subclasses__():
        yield made
        yield from _subclasses(made)


# The game -----------------------------------------------------------------------------------

Step = Callable[[Any, list[Any]], Any]
"""A call, given the learner and the results of earlier calls."""


def _script(learner: Learner, environment: Environment, horizon: int) -> tuple[list[Step], int]:
    """Return the calls of a run, and how many of them belong to the rounds in which parts fail.

    If the learner allows it, some rounds are restricted, and some have delayed feedback.
    """
    rounds = restricted_rounds(environment, horizon)
    restricts = not learner.takes_items and environment.n_actions > 1
    restricts = restricts and takes_available(learner, rounds[0][0])
    late = learner.late is None
    steps: list[Step] = []
    waiting: list[tuple[int, Any, Any]] = []
    first = 0
    for t, (context, losses, there) in enumerate(rounds):
        available = there if restricts and t % _BLOCK in (1, 2) else None
        decides = late and t % _BLOCK in (2, 3)
        this = (len(steps), losses, available)
        steps.append(partial(_open, "decide" if decides else "act", context, available))
        if decides:
            waiting.append(this)
        else:
            steps += [partial(_answer, *one) for one in (*reversed(waiting), this)]
            waiting.clear()
        if t < _FAILING:
            first = len(steps)
    return steps, first


def _open(name: str, context: Any, available: Any, learner: Any, returned: list[Any]) -> Any:
    given = {} if available is None else {"available": available}
    return getattr(learner, name)(context, **given)


def _answer(opened: int, losses: Any, available: Any, learner: Any, returned: list[Any]) -> None:
    made = returned[opened]
    late = isinstance(made, Decision)
    seen = Round(None, losses.copy(), available=available)
    loss = seen.reveal(made.action if late else made, learner.feedback)
    learner.update(loss, **({"decision": made} if late else {}))


def _played(
    learner: Learner, game: list[Step], first: int, watch: _Watch, failing: int
) -> tuple[list[Any], int]:
    """Return the observations of a clone after every step, and the most calls in a failing step."""
    player: Any = learner.clone()
    calls = 0
    returned: list[Any] = []
    seen: list[Any] = []
    for t, step in enumerate(game):
        before = _progress(player)
        watch.calls, watch.failing = 0, failing if t < first else 0
        try:
            found = step(player, returned)
        except _Failure:
            require(
                _progress(player) == before,
                f"{watch.said} and changed the rounds and open decisions of {learner!r} from "
                f"{before} to {_progress(player)}.",
            )
            watch.failing = 0
            found = step(player, returned)
        returned.append(found)
        # Calls are compared when an action has been chosen. Values that are computed only once,
        # such as G, may come from a call that failed later, and copies that failed to learn from a
        # round catch up before the next one.
        calls_so_far = None if found is None else player.oracle_calls
        seen.append((_plain(found), _progress(player), calls_so_far))
        if t < first:
            calls = max(calls, watch.calls)
    return [*seen, _stated(player)], calls


def _progress(learner: Any) -> tuple[int, list[int]]:
    return learner.rounds, list(getattr(learner, "open_decisions", ()))


def _plain(found: Any) -> Any:
    """Return an action or a decision as values that can be compared."""
    if isinstance(found, Decision):
        return found.id, np.asarray(found.action).tolist(), np.asarray(found.weights).tolist()
    return np.asarray(found).tolist()


def _stated(learner: Any) -> tuple[str, str]:
    """Return the certificate and the bound, as far as the learner has them."""
    try:
        certificate = str(learner.certificate()) if hasattr(learner, "certificate") else ""
    except HannanError:  # raised by a wrapper whose learner has none
        certificate = ""
    return certificate, repr(learner.regret_bound())


def _require_same(learner: Any, found: list[Any], expected: list[Any], watch: _Watch) -> None:
    for t, (here, there) in enumerate(zip(found, expected, strict=True)):
        what = "at the end states" if t == len(expected) - 1 else f"after call {t} shows"
        if here != there:
            raise AssertionError(
                f"{watch.said} and {learner!r} {what} {here}; without the failure: {there}."
            )


# Parts that fail ----------------------------------------------------------------------------


@dataclass
class _Watch:
    """Counts the calls that reach a part from outside, and lets one of them fail."""

    never: frozenset[str]
    patches: ExitStack
    calls: int = 0
    failing: int = 0
    said: str = "Nothing failed"
    _inside: int = 0
    _known: set[tuple[type, str]] = field(default_factory=set)

    def watch(self, made: type, base: type) -> None:
        """Watch all methods that a class of parts must have, in every class that defines them."""
        for name, declared in vars(base).items():
            method = getattr(made, name, None)
            if name.startswith("_") or name in self.never or (made, name) in self._known:
                continue
            if inspect.isfunction(declared) and method is not None:
                self._known.add((made, name))
                watched = self._watched(method, f"{made.__name__}.{name}")
                self.patches.enter_context(mock.patch.object(made, name, watched))

    def _watched(self, method: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(method)
        def call(*given: Any, **options: Any) -> Any:
            self.calls += self._inside == 0
            if self._inside == 0 and self.calls == self.failing:
                self.said = f"{name} failed as call {self.calls} of such parts in a step,"
                raise _Failure(name)
            self._inside += 1
            try:
                found = method(*given, **options)
            finally:
                self._inside -= 1
            if isinstance(found, Objective):
                self.watch(type(found), Objective)
            return found

        return call
