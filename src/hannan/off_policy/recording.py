"""Logs of our own decisions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hannan.core import Action, Decision, InputTypeError, Learner, ParameterError
from hannan.core.policy import loss_of
from hannan.core.stored import Stored
from hannan.core.validation import check_integer, refuse
from hannan.off_policy.law import Law, law
from hannan.off_policy.log import Log


@dataclass(slots=True)
class _Entry(Stored):
    """A round: what was decided, under which law, and, later, what it cost."""

    context: Any
    action: int
    law: Law
    available: Any = None
    weight: float | None = None
    loss: float | None = None


class Recorder(Learner):
    r"""Plays as a learner does and keeps a `Log` that others can evaluate policies with.

    Before each decision the law q of the learner's action is asked for, with coins of its own: the
    play is that of the learner alone. Where the learner knows q, it is written down as it is.
    Where q can only be sampled, the share :math:`\bar q` of an action in m draws would not do:
    :math:`1/\bar q` is too large on average, or infinite. But counted together with the action
    that was played, :math:`\hat q = (1 + m \bar q)/(1 + m)` has

    .. math:: E\Big[\frac{1}{\hat q(a)} \,\Big|\, a\Big]
              = \frac{1 - (1 - q(a))^{m+1}}{q(a)},

    which is 1/q but for actions rarer than one in m: the mean that geometric resampling
    has with the cap L = m + 1, and with far less variance. The weights of `decide`, which are such
    resampled ones, are logged too, for `evaluate(..., inverse="weights")`; drawn at decision time,
    they do not depend on the loss. `act` draws them only for losses that are not zero, so in a
    game played by `act` none are logged.

    Parameters
    ----------
    learner
        What plays, from the state it is in: one action a round.
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

    def __init__(self, learner: Learner, draws: int = 1000) -> None:
        super().__init__()
        if not isinstance(learner, Learner):
            raise refuse(self, "learner", "a learner, such as ContextSemiBanditFTPL(…)", learner)
        self.learner: Any = learner
        self.draws = check_integer(self, "draws", draws, 2)
        self.oracle = learner.oracle
        self.feedback = learner.feedback  # type: ignore[misc]
        self.learns = learner.learns  # type: ignore[misc]
        self._K = _n_actions(learner)
        self._count()
        self._made = 0
        self._entries: list[_Entry] = []
        self._tickets: dict[int, _Entry] = {}
        self._acted: _Entry | None = None

    def log(self) -> Log:
        """The rounds answered so far, in the order of their decisions.

        Decisions that still wait for their loss, or were forgotten, are left out: unless that has
        to do with the losses, the others are as good as all.
        """
        kept = [entry for entry in self._entries if entry.loss is not None]
        weights = [entry.weight for entry in kept]
        found = [entry.law.given(entry.action) for entry in kept]
        table = np.array(found, dtype=np.float64).reshape(len(kept), self._K)
        actions = np.array([entry.action for entry in kept], dtype=np.intp)
        draws = max((entry.law.draws for entry in kept), default=0)
        some = [entry.available for entry in kept]
        all_of_them = np.arange(self._K)
        return Log(
            contexts=[entry.context for entry in kept],
            actions=actions,
            losses=[entry.loss for entry in kept],
            propensities=np.minimum(table[np.arange(len(kept)), actions], 1.0),
            n_actions=self._K,
            available=None
            if all(there is None for there in some)
            else [all_of_them if there is None else there for there in some],
            distribution=table,
            weights=None if None in weights or not weights else weights,
            draws=draws + 1 if draws else None,
        )

    # The round --------------------------------------------------------------------------

    def act(self, context: Any = None, available: Any = None) -> Action:
        """The learner's action."""
        some = self._among(available)
        found = self._law(context, some)
        checked = self._check_context(context)
        action: Action = self.learner.act(context, **some)
        self._acted = self._entry(checked, action, found, some)
        self._count()
        return action

    def decide(self, context: Any = None, available: Any = None) -> Decision:
        """An action as a ticket, to be answered by `update(loss, decision=…)` at any time."""
        if not hasattr(self.learner, "decide"):
            raise InputTypeError(f"{type(self.learner).__name__} has no decide(): use act().")
        some = self._among(available)
        found = self._law(context, some)
        made: Decision = self.learner.decide(context, **some)
        entry = self._entry(made.context, made.action, found, some)
        entry.weight = float(made.weights[0]) if len(made.weights) == 1 else None
        self._entries.append(entry)
        self._tickets[made.id] = entry
        self._count()
        return made

    def decide_many(
        self, contexts: Iterable[Any], available: Iterable[Any] | None = None
    ) -> list[Decision]:
        """A decision for each of several contexts, all from the same state."""
        checked = [self._check_context(context, i) for i, context in enumerate(contexts)]
        there = [None] * len(checked) if available is None else list(available)
        return [self.decide(*pair) for pair in zip(checked, there, strict=True)]

    def update(self, loss: Any, decision: Decision | int | None = None) -> None:
        """Learn the losses of a round, and write down what the action cost."""
        if decision is None:
            self.learner.update(loss)
            if self._acted is not None:
                self._acted.loss = _cost(loss, self._acted.action)
                self._entries.append(self._acted)
                self._acted = None
        else:
            self.learner.update(loss, decision=decision)
            entry = self._ticket(decision)
            if entry is not None:
                entry.loss = _cost(loss, entry.action)
        self._count()

    def forget(self, decision: Decision | int) -> None:
        """Give up waiting for a decision's loss; the round is not logged."""
        self.learner.forget(decision)
        self._ticket(decision)

    @property
    def open_decisions(self) -> list[int]:
        """Ids of the decisions not answered yet."""
        found: list[int] = self.learner.open_decisions
        return found

    # As the learner ---------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """What else the learner can do: `best_policy`, `certificate`, `propensities`, …"""
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
        """What copies of the learner would play on a context now."""
        found: list[Action] = self.learner.would_play(
            context, copies, seed, **self._among(available)
        )
        return found

    def regret_bound(self) -> float | None:
        """What theory promises of the learner."""
        found: float | None = self.learner.regret_bound()
        return found

    # Parts ------------------------------------------------------------------------------

    @property
    def _clock(self) -> int:
        found: int = self.learner._clock
        return found

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        return self.learner._check_context(context, ahead)

    def _act(self, context: Any) -> Action:
        found: Action = self.learner._act(context)
        return found

    def _update(self, context: Any, action: Action, loss: Any) -> None:
        self.learner._update(context, action, loss)

    def _among(self, available: Any) -> dict[str, Any]:
        """`available=`, where some actions are missing: learners from outside may not take it."""
        there = None if available is None else self.learner._check_available(available)
        return {} if there is None else {"available": there}

    def _law(self, context: Any, some: dict[str, Any]) -> Law:
        return law(self.learner, context, self._K, self.draws, seed=self._made, **some)

    def _entry(self, context: Any, action: Action, found: Law, some: dict[str, Any]) -> _Entry:
        self._made += 1
        if isinstance(context, np.ndarray):
            context = context.copy()  # callers may use theirs again
        return _Entry(context, _single(action), found, some.get("available"))

    def _ticket(self, decision: Decision | int) -> _Entry | None:
        """The entry of a decision; None for one that was made before recording began."""
        return self._tickets.pop(decision.id if isinstance(decision, Decision) else decision, None)

    def _count(self) -> None:
        self.rounds = self.learner.rounds
        self.oracle_calls = self.learner.oracle_calls


def _n_actions(learner: Learner) -> int:
    """K; an error if the learner cannot be recorded."""
    oracle = learner.oracle
    if oracle is not None and oracle.max_chosen > 1:
        raise ParameterError(
            f"A Recorder is for learners of single actions; {type(oracle).__name__} chooses up to "
            f"{oracle.max_chosen} elements."
        )
    if getattr(learner, "noise", None) == "once":
        raise ParameterError(
            "A Recorder needs coins that are drawn afresh each round: use noise='fresh'."
        )
    found = getattr(learner, "n_actions", None) or getattr(oracle, "n_actions", None)
    if found is None:
        who = type(learner if oracle is None else oracle).__name__
        raise ParameterError(f"A Recorder needs the number of actions: give {who} its n_actions=.")
    return int(found)


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
