"""Learners: act on a context, then learn from what it cost."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from hannan.core.environment import Feedback
from hannan.core.errors import OrderError
from hannan.core.oracle import Oracle
from hannan.core.params import Parametrised
from hannan.core.policy import Action
from hannan.core.validation import check_integer

_OWN = 0x6F776E  # sets a learner's coins apart from those of a world with the same seed
_COINS = 0x636F696E  # sets the coins of `would_play` apart from both


def own_coins(seed: int | None) -> np.random.Generator:
    """The generator of a learner.

    Environments draw from `default_rng(seed)`, and are often given the same number: a learner that
    did so as well would act on what the adversary is about to draw.
    """
    return np.random.default_rng(None if seed is None else [_OWN, seed])


class Learner(Parametrised, ABC):
    """Two calls a round: `action = act(context)`, then `update(loss)`.

    Subclasses write `_act` and `_update`; here is only the order of calls. A refused call
    changes nothing. A second `act` before `update` starts the round anew: the unanswered
    context is dropped.
    """

    feedback: ClassVar[Feedback] = Feedback.FULL
    oracle: Oracle | None = None

    def __init__(self) -> None:
        self.rounds = 0
        self.oracle_calls = 0
        self._open: tuple[Any, Action] | None = None

    def act(self, context: Any = None) -> Action:
        """The action for this context: an int, or the sorted indices of the chosen elements."""
        context = self._check_context(context)
        action = self._act(context)
        self._open = (context, action)
        return action

    def update(self, loss: Any) -> None:
        """Learn the losses of the round `act` opened."""
        if self._open is None:
            raise OrderError(
                "update() needs a round to answer: call act(context) first, then update(loss) once."
            )
        context, action = self._open
        self._update(context, action, loss)
        self._open = None
        self.rounds += 1

    def reset(self) -> None:
        """Forget everything learned; equal to a fresh clone with the same seed."""
        self.__init__(**self.params)  # type: ignore[misc]

    def fresh(self, number: int) -> Self:
        """A new learner like this one, with nothing learned and randomness of its own.

        Its seed is a function of this one's and of `number`.
        """
        seed = self.params.get("seed")
        if seed is None:
            return self.clone()
        state = np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)
        return self.clone(seed=int(state[0] >> np.uint64(1)))

    def would_play(self, context: Any = None, copies: int = 1, seed: int = 0) -> list[Action]:
        """What copies of this learner would play on a context now: same past, other coins.

        Independent draws from the law of the action that `act(context)` would return, given all
        that was learned so far. Asking changes nothing. A learner that draws no coins gives its
        own action each time.

        Parameters
        ----------
        context
            As for `act`.
        copies
            How many to ask.
        seed
            Of the copies' coins, which are never those of the learner, whatever its own seed.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2))
        >>> learner.would_play(copies=3)
        [0, 0, 0]
        """
        coins = self._coins(copies, seed)
        return [self._twin(coins).act(context) for _ in range(copies)]

    def _coins(self, copies: int, seed: int) -> np.random.Generator:
        check_integer("would_play", "copies", copies, 1)
        return np.random.default_rng([_COINS, check_integer("would_play", "seed", seed, 0)])

    def _twin(self, coins: np.random.Generator) -> Self:
        """A copy for one `act`, which draws from `coins` whatever it draws.

        Here a deep one with all generators and learners among its attributes replaced. Where that
        is wasteful a subclass shares what `act` does not change.
        """
        known: dict[int, Any] = {id(self.oracle): self.oracle}
        for value in vars(self).values():
            if isinstance(value, np.random.Generator):
                known[id(value)] = coins
            elif isinstance(value, Learner):
                known[id(value)] = value._twin(coins)
        return copy.deepcopy(self, known)

    def regret_bound(self) -> float | None:
        """What theory promises for expected regret after the rounds so far.

        Against the best policy of the class in hindsight (semi-bandit feedback: any fixed one),
        whatever the adversary, on average over the learner's coins. None where nothing is
        promised. Asking changes nothing, and the calls it may take are not counted.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.baselines.Hedge([[0], [1]], learning_rate=0.1, seed=0)
        >>> for _ in range(100):
        ...     action = learner.act(0)
        ...     learner.update([1.0, 0.0])
        >>> round(learner.regret_bound(), 2)
        8.18
        >>> print(hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2)).regret_bound())
        None
        """
        return None

    @property
    def _clock(self) -> int:
        """The number of the round that comes next."""
        return self.rounds

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        """The context of the next round, or of one that many rounds later."""
        return context if self.oracle is None else self.oracle.at(self._clock + ahead, context)

    @abstractmethod
    def _act(self, context: Any) -> Action: ...

    @abstractmethod
    def _update(self, context: Any, action: Action, loss: Any) -> None:
        """Check the loss, then learn; must change nothing if it raises."""
