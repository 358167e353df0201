"""Learners that play as another one does, with somebody who takes notes: a log, or a watch."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core import InputTypeError, Learner, OpenRound, ParameterError, Propensities
from hannan.core.arrays import as_floats
from hannan.core.availability import PassedOn
from hannan.core.params import short
from hannan.core.policy import loss_of
from hannan.core.rounds import n_actions_of
from hannan.core.state import Count, ListOf, Number, Object, OneOf, State, require
from hannan.core.validation import check_integer, refuse
from hannan.off_policy.log import TINY, Log
from hannan.off_policy.rules import Shares, shares
from hannan.off_policy.watch import Watch

_NOTHING = Propensities(np.empty(0), np.empty(0), 0)


def _of_learner(name: str) -> Any:
    """Return an attribute of a `LearnerWrapper` that is the one of its learner."""
    return property(lambda self: getattr(self.learner, name))


class LearnerWrapper(Learner):
    """Plays as a learner does, one action a round, and asks it before for the distribution of its action.

    Parameters
    ----------
    learner
        What plays, from the state it is in.
    draws
        From how many draws the distribution is estimated, for learners that do not know it.
    """

    stored = State(_opened=Count())

    class Round(OpenRound):
        """A round of the learner, and the distribution of its action."""

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
        self.draws = check_integer(self, "draws", draws, 2, 10**6)
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
        """The learner's action, and the distribution that it was drawn from."""
        learner, some, late = self.learner, opened.available, opened.number is not None
        if isinstance(opened.context, np.ndarray):
            opened.context = opened.context.copy()  # callers may use theirs again
        opened.known = learner.propensities(opened.context, self.draws, some, decide=late)
        opened.inner = learner.choose(opened.context, some, late)
        action = opened.inner.action
        if not isinstance(action, int | np.integer):
            raise InputTypeError(f"Logs are for single actions; got {action!r}.")
        opened.play(int(action))
        opened.place, opened.record = self._opened, opened.inner.record

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
        return self.clone(learner=self.learner.fresh(number))

    def reset(self) -> None:
        """Forget everything learned and noted."""
        self.learner.reset()
        super().reset()

    would_play: Any = _of_learner("would_play")
    propensities: Any = _of_learner("propensities")
    regret_bound: Any = _of_learner("regret_bound")
    loss_suffered: Any = _of_learner("loss_suffered")
    check_context: Any = _of_learner("check_context")
    takes_items: Any = _of_learner("takes_items")
    clock: Any = _of_learner("clock")

    @property
    def action_count(self) -> int | None:
        return self._K or None

    def _n_actions(self, learner: Learner) -> int:
        """K, 0 where actions are described; an error if the learner does not play single actions,
        or has no distribution to ask for."""
        who, oracle = type(self).__name__, learner.oracle
        if oracle is not None and oracle.max_chosen > 1:
            raise ParameterError(
                f"A {who} is for learners of single actions; {type(oracle).__name__} chooses up to "
                f"{oracle.max_chosen} elements."
            )
        if getattr(learner, "noise", None) == "once":
            raise ParameterError(f"A {who} needs fresh noise in each round: use noise='fresh'.")
        if learner.takes_items:
            return 0
        if learner.action_count is None:
            which = type(learner if oracle is None else oracle).__name__
            raise ParameterError(
                f"A {who} needs the number of actions: give {which} its n_actions=."
            )
        return learner.action_count


class Recorder(LearnerWrapper):
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
        m, for learners that do not know their distribution.

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

    stored = State(
        _answered=ListOf(
            Object(LearnerWrapper.Round).where(lambda self, each: self._could_have(each))
        )
    )

    class Round(LearnerWrapper.Round):
        """A round of the learner, and what the log says of it."""

        weight: float | None = None
        loss: float = np.nan

        stored = State(weight=Number(low=0.0) | None, loss=Number())

    def _could_have(self, opened: Any) -> bool:
        """Whether a round can be among those with feedback."""
        return type(opened) is self.Round and opened.inner is None and np.isfinite(opened.loss)

    def __init__(self, learner: Learner, draws: int = 1000) -> None:
        super().__init__(learner, draws)
        self._answered: list[Recorder.Round] = []

    def log(self) -> Log:
        """The rounds answered so far, in the order of their decisions.

        Decisions that still wait for their loss, or were forgotten, are left out: unless that has
        to do with the losses, the others are as good as all.
        """
        kept = sorted(self._answered, key=lambda opened: opened.place)
        weights = [opened.weight for opened in kept]
        available = [opened.available for opened in kept]
        draws = max((opened.known.draws for opened in kept), default=0)
        K = self._K or max((len(opened.context) for opened in kept), default=1)
        table = np.zeros((len(kept), K))
        for row, opened in zip(table, kept, strict=True):
            distribution = opened.known.given(int(opened.action))
            row[: len(distribution)] = distribution
        actions = np.array([opened.action for opened in kept], dtype=np.intp)
        return Log(
            contexts=[opened.context for opened in kept],
            actions=actions,
            losses=[opened.loss for opened in kept],
            propensities=np.minimum(table[np.arange(len(kept)), actions], 1.0),
            n_actions=K,
            available=None if all(there is None for there in available) else available,
            distribution=table,
            weights=None if None in weights or not weights else weights,
            draws=draws + 1 if draws else None,
        )

    # The round --------------------------------------------------------------------------

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the learner learn, and write down what the action cost."""
        super()._update(opened, loss)
        if opened.record is not None and np.size(opened.record.weights) == 1:
            opened.weight = float(
                np.ravel(opened.record.weights)[0]
            )  # drawn ones are shown only now
        opened.loss = _cost(loss, int(opened.action))
        self._answered.append(opened)


class Watched(LearnerWrapper):
    r"""Plays as a learner does, and tells a `Watch` of every round.

    Before each decision the learner's `propensities` are asked for, which changes nothing of the
    play, and the policies of the watch for their choices. Where the learner knows the distribution
    q of its
    action, weights are 1/q. Where q can only be sampled, they are :math:`(1 + m)/(1 + h)`, with h
    the number of m draws that chose the action that was played, as in `Recorder`: on average at
    most 1/q, as a watch needs it.

    Parameters
    ----------
    learner
        What plays, from the state it is in. Rounds before do not count, and decisions that it made
        before are answered by itself.
    watch
        Which policies are watched; it may have seen other rounds before.
    draws
        m, for learners that do not know their distribution.

    Guarantee
    ---------
    That of the learner for regret, that of `Watch` for what is said about policies.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), epsilon=0.02, seed=0)
    >>> watched = hn.off_policy.Watched(learner, hn.off_policy.Watch({"always 0": 0}))
    >>> for t in range(500):
    ...     action = watched.act()
    ...     watched.update(0.7 if action == 0 else 0.4)
    >>> print(watched.watch)
    After 500 rounds. With probability 0.95, at all times at once:
    policy            its mean loss     our regret against it
    (what is played)  0.4237 to 0.5071
    always 0          0.3909 to 0.8673  -205.8 to 22.4         not known

    References
    ----------
    [howard2021]
    """

    stored = State()

    class Round(LearnerWrapper.Round):
        """A round of the learner, and what the policies have to do with its action."""

        shares: Shares | None = None  # until the watch is told
        weight: float = 1.0

        stored = State(shares=OneOf(None), weight=OneOf(1.0))

    def __init__(self, learner: Learner, watch: Watch, draws: int = 200) -> None:
        super().__init__(learner, draws)
        if not isinstance(watch, Watch):
            raise refuse(self, "watch", "a Watch, such as Watch({'always 0': 0})", watch)
        if watch.n_actions not in (None, self._K):
            raise ParameterError(
                f"watch= must have the {self._K} actions of the learner; it has {watch.n_actions}."
            )
        self.watch = watch

    def _check_state(self) -> None:
        super()._check_state()
        rounds: Any = self._ledger.opened
        places = {opened.place for opened in rounds}
        known = places <= {*self.watch.open_decisions} and max(places, default=-1) < self._opened
        require(self, rounds=known and len(places) == len(rounds))

    # The round --------------------------------------------------------------------------

    def _act(self, opened: Round) -> None:
        """What the policies choose, then the learner's action."""
        self.watch.check_room()
        some = opened.available
        targets = self.watch.targets(opened.context, some, self._K)
        super()._act(opened)
        while opened.place in self.watch:  # a round that somebody else told it of
            opened.place += 1
        action = int(opened.action)
        q = float(opened.known.given(action)[action])
        opened.weight = 1.0 / min(max(q, TINY), 1.0)
        opened.shares = shares(targets, action, some)

    def _played(self, opened: Round) -> None:
        assert opened.shares is not None
        super()._played(opened)
        self.watch.enter(opened.place, opened.shares, opened.weight)
        opened.shares, opened.weight = None, 1.0

    def _abandoned(self, opened: Round) -> None:
        super()._abandoned(opened)
        self.watch.abandon(opened.place)

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the learner learn, and tell the watch what the action cost."""
        try:
            found = _cost(loss, int(opened.action))
        except (TypeError, ValueError, IndexError, OverflowError):
            raise InputTypeError(
                f"The loss must be numbers, or a function of an action; got {short(loss)}."
            ) from None
        paid = self.watch.check_loss(found)
        super()._update(opened, loss)
        self.watch.settle(opened.place, paid)

    # Copies -----------------------------------------------------------------------------

    def clone(self, **changes: Any) -> Self:
        """A new one beside a clone of the learner, with a watch that has seen nothing."""
        return super().clone(**{"watch": self.watch.clone(), **changes})

    def reset(self) -> None:
        """Forget everything learned, and all rounds that were watched."""
        self.watch.reset()
        super().reset()


def _cost(loss: Any, action: int) -> float:
    """What the action cost, by all losses, a loss function, or its own loss."""
    if callable(loss):
        return float(loss(action))
    found = as_floats(loss).reshape(-1)
    return loss_of(found, action if len(found) > 1 else 0)
