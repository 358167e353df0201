"""Learners that play as another one does, with somebody who takes notes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core import (
    Action,
    InputTypeError,
    Learner,
    OpenRound,
    ParameterError,
    Propensities,
)
from hannan.core.arrays import as_floats
from hannan.core.availability import PassedOn
from hannan.core.policy import loss_of
from hannan.core.rounds import Odds, n_actions_of
from hannan.core.state import Count, Object, State, require
from hannan.core.validation import check_integer, refuse

_NOTHING = Propensities(np.empty(0), np.empty(0), 0)


class Beside(Learner):
    """Plays as a learner does, one action a round, and asks it before for the law of its action.

    Parameters
    ----------
    learner
        What plays, from the state it is in.
    draws
        From how many draws the law is estimated, for learners that do not know it.
    """

    stored = State(_opened=Count())

    class Round(OpenRound):
        """A round of the learner, and the law of its action."""

        inner: Any = None  # the round of the learner, until it is answered
        known: Propensities = _NOTHING  # before the action was drawn
        place: int = 0  # in the order of decisions

        stored = State(
            inner=Object(OpenRound).where(
                lambda self, inner: inner is self.learner.open_round(inner.number)
            )
            | None,
            known=Object(Propensities).where(
                lambda self, known: len(known.probabilities) == n_actions_of(self)
            ),
            place=Count(),
        )

    def _check_state(self) -> None:
        rounds: Any = self._ledger.opened
        require(self, rounds=all(opened.inner is not None for opened in rounds))

    def __init__(self, learner: Learner, draws: int) -> None:
        super().__init__()
        if not isinstance(learner, Learner):
            raise refuse(self, "learner", "a learner, such as ContextSemiBanditFTPL(…)", learner)
        self.learner: Learner = learner
        self.draws = check_integer(self, "draws", draws, 2)
        self.oracle = learner.oracle
        self.feedback = learner.feedback  # type: ignore[misc]
        self.late = learner.late
        self.rounds = learner.rounds
        self.oracle_calls = learner.oracle_calls
        self._availability = PassedOn()
        self._K = self._n_actions(learner)
        self._opened = 0

    # The round --------------------------------------------------------------------------

    def _act(self, opened: Any) -> None:
        """The learner's action, and the law that it was drawn from."""
        learner, some, late = self.learner, opened.available, opened.number is not None
        if isinstance(opened.context, np.ndarray):
            opened.context = opened.context.copy()  # callers may use theirs again
        opened.known = learner.propensities(opened.context, self.draws, some, decide=late)
        opened.inner = learner.choose(opened.context, some, late)
        opened.play(_single(opened.inner.action))
        opened.place = self._opened

    def _played(self, opened: Any) -> None:
        learner = self.learner
        learner.commit(opened.inner)
        self._opened = opened.place + 1
        opened.calls = learner.oracle_calls - self.oracle_calls

    def _abandoned(self, opened: Any) -> None:
        number = opened.inner.number
        if number is not None and self.learner.open_round(number) is not None:
            self.learner.forget(number)

    def _update(self, opened: Any, loss: Any) -> None:
        """Let the learner learn."""
        self.learner.update(loss, opened.inner.number)
        opened.inner = None
        self.rounds = self.learner.rounds - 1  # it may have answered others itself
        opened.calls = self.learner.oracle_calls - self.oracle_calls

    @property
    def described(self) -> bool:
        return self.learner.described

    # As the learner ---------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """What else the learner can do: `best_policy`, `certificate`, …"""
        if name.startswith("_") or name == "learner":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.learner, name)

    def clone(self, **changes: Any) -> Self:
        """A new one beside a clone of the learner, with nothing learned."""
        return super().clone(**{"learner": self.learner.clone(), **changes})

    def fresh(self, number: int) -> Self:
        """A new one beside a fresh learner, with randomness of its own."""
        return super().clone(learner=self.learner.fresh(number))

    def reset(self) -> None:
        """Forget everything learned and noted."""
        self.learner.reset()
        super().reset()

    def would_play(self, *args: Any, **options: Any) -> list[Any]:
        return self.learner.would_play(*args, **options)

    def propensities(self, *args: Any, **options: Any) -> Propensities:
        return self.learner.propensities(*args, **options)

    def regret_bound(self) -> float | None:
        return self.learner.regret_bound()

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return self.learner.loss_suffered(action, loss)

    @property
    def clock(self) -> int:
        return self.learner.clock

    def _odds(self, opened: Any) -> Odds:
        return opened.inner.odds  # type: ignore[no-any-return]

    @property
    def action_count(self) -> int | None:
        return self._K or None

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self.learner.check_context(context, ahead)

    def _n_actions(self, learner: Learner) -> int:
        """K, 0 where actions are described; an error if the learner does not play single actions,
        or has no law to ask for."""
        who, oracle = type(self).__name__, learner.oracle
        if oracle is not None and oracle.max_chosen > 1:
            raise ParameterError(
                f"A {who} is for learners of single actions; {type(oracle).__name__} chooses up to "
                f"{oracle.max_chosen} elements."
            )
        if getattr(learner, "noise", None) == "once":
            raise ParameterError(f"A {who} needs fresh noise in each round: use noise='fresh'.")
        if learner.described:
            return 0
        if learner.action_count is None:
            which = type(learner if oracle is None else oracle).__name__
            raise ParameterError(
                f"A {who} needs the number of actions: give {which} its n_actions=."
            )
        return learner.action_count


def _single(action: Action) -> int:
    if not isinstance(action, int | np.integer):
        raise InputTypeError(f"Logs are for single actions; got {action!r}.")
    return int(action)


def cost(loss: Any, action: int) -> float:
    """What the action cost, by all losses, a loss function, or its own loss."""
    if callable(loss):
        return float(loss(action))
    found = as_floats(loss).reshape(-1)
    return loss_of(found, action if len(found) > 1 else 0)
