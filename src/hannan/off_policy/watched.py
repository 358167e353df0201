"""Learners whose decisions are watched."""

from __future__ import annotations

from typing import Any, Self

from hannan.core import InputTypeError, Learner, ParameterError
from hannan.core.params import short
from hannan.core.state import OneOf, State, require
from hannan.core.validation import refuse
from hannan.off_policy.beside import Beside, cost
from hannan.off_policy.rules import Shares, shares
from hannan.off_policy.watch import Watch

_TINY = 1e-100


class Watched(Beside):
    r"""Plays as a learner does, and tells a `Watch` of every round.

    Before each decision the learner's `propensities` are asked for, which changes nothing of the
    play, and the policies of the watch for their choices. Where the learner knows the law q of its
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
        m, for learners that do not know their law.

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
    (what is played)  0.4293 to 0.5015
    always 0          0.3883 to 0.8717  -208.0 to 25.7         not known

    References
    ----------
    [howard2021]
    """

    stored = State()

    class Round(Beside.Round):
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
        places = [opened.place for opened in self._ledger.opened]  # type: ignore[attr-defined]
        distinct = len(set(places)) == len(places)
        require(self, rounds=distinct and set(places) <= set(self.watch.open_decisions))
        require(self, rounds=all(place < self._opened for place in places))

    # The round --------------------------------------------------------------------------

    def _act(self, opened: Round) -> None:
        """What the policies choose, then the learner's action."""
        self.watch.check_room()
        some = opened.available
        aims = self.watch.aims(opened.context, some, self._K)
        super()._act(opened)
        while opened.place in self.watch:  # a round that somebody else told it of
            opened.place += 1
        action = int(opened.action)
        q = float(opened.known.given(action)[action])
        opened.weight = 1.0 / min(max(q, _TINY), 1.0)
        opened.shares = shares(aims, action, some)

    def _played(self, opened: Round) -> None:
        assert opened.shares is not None
        super()._played(opened)
        self.watch.enter(opened.place, opened.shares, opened.weight)
        opened.shares, opened.weight = None, 1.0

    def _abandoned(self, opened: Round) -> None:
        super()._abandoned(opened)
        self.watch.forgotten(opened.place)

    def _update(self, opened: Round, loss: Any) -> None:
        """Let the learner learn, and tell the watch what the action cost."""
        try:
            found = cost(loss, int(opened.action))
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

    def fresh(self, number: int) -> Self:
        """A new one beside a fresh learner, with randomness of its own."""
        return self.clone(learner=self.learner.fresh(number))

    def reset(self) -> None:
        """Forget everything learned, and all rounds that were watched."""
        self.watch.reset()
        super().reset()
