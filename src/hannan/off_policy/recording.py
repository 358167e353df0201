"""Logs of our own decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from hannan.core import (
    Action,
    Decision,
    InputTypeError,
    Learner,
    OpenRound,
    ParameterError,
    Propensities,
)
from hannan.core.availability import PassedOn
from hannan.core.kept import expect, is_array, is_count, is_number
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.off_policy.log import Log

_NOTHING = Propensities(np.empty(0), np.empty(0), 0)


class Recorder(Learner):
    r"""Plays as a learner does and keeps a `Log` that others can evaluate policies with.

    Before each decision the learner's `propensities` are asked for, which changes nothing of the
    play. Where the learner knows q, it is written down as it is. Where q can only be sampled, the
    share :math:`\bar q` of an action in m draws is counted together with the action that was
    played: :math:`\hat q = (1 + m \bar q)/(1 + m)` has

    .. math:: E\Big[\frac{1}{\hat q(a)} \,\Big|\, a\Big]
              = \frac{1 - (1 - q(a))^{m+1}}{q(a)},

    which is 1/q but for actions rarer than one in m. The weights of `decide`, which are drawn by
    geometric resampling, are logged too, for `evaluate(..., inverse="weights")`; in a game played
    by `act` there are none.

    Parameters
    ----------
    learner
        What plays, from the state it is in: one action a round. Decisions that it made before are
        answered by itself.
    draws
        m, for learners that do not know their law.

    Guarantee
    ---------
    That of the learner.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    >>> recorder = hn.off_policy.Recorder(learner)
    >>> for t in range(200):
    ...     decision = recorder.decide(t % 2)
    ...     recorder.update(0.1 if decision.action == 2 else 0.9, decision=decision)
    >>> recorder.log()
    <Log: 200 rounds, 3 actions, mean loss 0.18, propensities from 0.003494>
    >>> found = hn.off_policy.evaluate(recorder.log(), learner.best_policy(), "snips")
    >>> round(found.value, 6)
    0.1

    References
    ----------
    [neu2016]
    """

    class Round(OpenRound):
        """A round of the learner, and what the log says of it."""

        inner: Decision | None = None  # of the learner; None for the round that its `act` opened
        known: Propensities = _NOTHING  # the law of the action, before it was drawn
        place: int = 0  # in the order of decisions
        weight: float | None = None
        loss: float = np.nan

        @property
        def inverse(self) -> FloatArray:
            """The weights of the learner's decision."""
            return super().inverse if self.inner is None else self.inner.weights

        def check(self, n_actions: int | None, sets: bool) -> None:
            super().check(n_actions, sets)
            known, inner = self.known, self.inner
            expect(
                self,
                inner=inner is None
                or (
                    type(inner) is Decision and is_count(inner.id) and is_array(inner.weights, None)
                ),
                known=type(known) is Propensities
                and is_array(known.probabilities, n_actions, low=0.0, high=1.0 + 1e-9)
                and is_array(known.standard_errors, n_actions, low=0.0)
                and is_count(known.draws),
                place=is_count(self.place),
                weight=self.weight is None or is_number(self.weight, low=0.0),
                loss=is_number(self.loss) or self.loss != self.loss,
            )

    _varying = frozenset({"_answered"})
    _fixed = frozenset({"_K"})

    def _check_stored(self) -> None:
        super()._check_stored()
        expect(self, _answered=type(self._answered) is list)
        for opened in self._answered:
            self.check_round(opened)
            expect(self, _answered=opened.inner is None and is_number(opened.loss))

    def check_round(self, opened: Round) -> None:
        super().check_round(opened)
        inner = opened.inner
        expect(self, round=inner is None or inner.id in self.learner.open_decisions)

    def __init__(self, learner: Learner, draws: int = 1000) -> None:
        super().__init__()
        if not isinstance(learner, Learner):
            raise refuse(self, "learner", "a learner, such as ContextSemiBanditFTPL(…)", learner)
        self.learner: Learner = learner
        self.draws = check_integer(self, "draws", draws, 2)
        self.oracle = learner.oracle
        self.feedback = learner.feedback  # type: ignore[misc]
        self.learns = learner.learns  # type: ignore[misc]
        self.rounds = learner.rounds
        self.oracle_calls = learner.oracle_calls
        self._availability = PassedOn()
        self._K = _n_actions(learner)
        self._opened = 0
        self._answered: list[Recorder.Round] = []

    def log(self) -> Log:
        """The rounds answered so far, in the order of their decisions.

        Decisions that still wait for their loss, or were forgotten, are left out: unless that has
        to do with the losses, the others are as good as all.
        """
        kept = sorted(self._answered, key=lambda opened: opened.place)
        weights = [opened.weight for opened in kept]
        found = [opened.known.given(int(opened.action)) for opened in kept]
        table = np.array(found, dtype=np.float64).reshape(len(kept), self._K)
        actions = np.array([opened.action for opened in kept], dtype=np.intp)
        draws = max((opened.known.draws for opened in kept), default=0)
        some = [opened.available for opened in kept]
        all_of_them = np.arange(self._K)
        return Log(
            contexts=[opened.context for opened in kept],
            actions=actions,
            losses=[opened.loss for opened in kept],
            propensities=np.minimum(table[np.arange(len(kept)), actions], 1.0),
            n_actions=self._K,
            available=None
            if all(these is None for these in some)
            else [all_of_them if these is None else these for these in some],
            distribution=table,
            weights=None if None in weights or not weights else weights,
            draws=draws + 1 if draws else None,
        )

    # The round --------------------------------------------------------------------------

    def _act(self, opened: Round) -> None:
        """The learner's action, and the law that it was drawn from."""
        learner, some = self.learner, opened.available
        if isinstance(opened.context, np.ndarray):
            opened.context = opened.context.copy()  # callers may use theirs again
        known: Propensities = learner.propensities(opened.context, self.draws, some)
        if opened.number is None:
            opened.play(_single(learner.act(opened.context, some)))
        else:
            made = opened.inner = learner.decide(opened.context, some)
            opened.play(_single(made.action))
            opened.weight = float(made.weights[0]) if len(made.weights) == 1 else None
        opened.known = known
        opened.place, self._opened = self._opened, self._opened + 1
        opened.calls = learner.oracle_calls - self.oracle_calls

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the learner learn, and write down what the action cost."""
        self.learner.update(loss, opened.inner)
        opened.loss = _cost(loss, int(opened.action))
        opened.inner = None
        self._answered.append(opened)
        self.rounds = self.learner.rounds - 1  # it may have answered others itself
        opened.calls = self.learner.oracle_calls - self.oracle_calls

    def decide_many(
        self, contexts: Iterable[Any], available: Iterable[Any] | None = None
    ) -> list[Decision]:
        before = set(self.learner.open_decisions)
        try:
            return super().decide_many(contexts, available)
        except BaseException:
            for number in set(self.learner.open_decisions) - before:  # they were never returned
                self.learner.forget(number)
            raise

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a decision's loss; the round is not logged."""
        opened: Any = self._ledger.find(decision, self._context_key)
        self.learner.forget(opened.inner)
        self._ledger.forget(opened)

    @property
    def late(self) -> str | None:
        return self.learner.late

    # As the learner ---------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """What else the learner can do: `best_policy`, `certificate`, …"""
        if name.startswith("_") or name == "learner":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.learner, name)

    def clone(self, **changes: Any) -> Self:
        """A new recorder of a clone of the learner, with nothing learned."""
        return super().clone(**{"learner": self.learner.clone(), **changes})

    def fresh(self, number: int) -> Self:
        """A new recorder of a fresh learner, with randomness of its own."""
        return super().clone(learner=self.learner.fresh(number))

    def reset(self) -> None:
        """Forget everything learned and logged."""
        self.learner.reset()
        super().reset()

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
        return self.learner.would_play(context, copies, seed, available)

    def propensities(
        self, context: Any = None, draws: int = 1000, available: Any = None
    ) -> Propensities:
        return self.learner.propensities(context, draws, available)

    def regret_bound(self) -> float | None:
        return self.learner.regret_bound()

    def worst_case(self, rounds: int, restarts: int) -> float | None:
        return self.learner.worst_case(rounds, restarts)

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return self.learner.loss_suffered(action, loss)

    @property
    def clock(self) -> int:
        return self.learner.clock

    def _propensity(self, opened: Round) -> tuple[Any, Any]:
        assert opened.inner is not None
        return opened.inner.propensity, opened.inner.propensity_error

    @property
    def action_count(self) -> int | None:
        return self._K

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self.learner.check_context(context, ahead)


def _n_actions(learner: Learner) -> int:
    """K; an error if the learner cannot be recorded."""
    oracle = learner.oracle
    if oracle is not None and oracle.max_chosen > 1:
        raise ParameterError(
            f"A Recorder is for learners of single actions; {type(oracle).__name__} chooses up to "
            f"{oracle.max_chosen} elements."
        )
    if getattr(learner, "noise", None) == "once":
        raise ParameterError("A Recorder needs fresh noise in each round: use noise='fresh'.")
    if learner.action_count is None:
        who = type(learner if oracle is None else oracle).__name__
        raise ParameterError(f"A Recorder needs the number of actions: give {who} its n_actions=.")
    return learner.action_count


def _single(action: Action) -> int:
    if not isinstance(action, int | np.integer):
        raise InputTypeError(f"Logs are for single actions; got {action!r}.")
    return int(action)


def _cost(loss: Any, action: int) -> float:
    """What the action cost, by all losses, a loss function, or its own loss."""
    if callable(loss):
        return float(loss(action))
    found = np.asarray(loss, dtype=np.float64).reshape(-1)
    return loss_of(found, action if len(found) > 1 else 0)
