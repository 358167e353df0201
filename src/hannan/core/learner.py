"""Learners: act on a context, then learn from what it cost."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core.arrays import as_array
from hannan.core.available import (
    IntArray,
    awake,
    best_awake,
    check_available,
    filled_in,
    standing_in,
)
from hannan.core.environment import Feedback
from hannan.core.errors import OrderError, ParameterError
from hannan.core.oracle import Objective, Oracle
from hannan.core.params import Parametrised
from hannan.core.policy import Action
from hannan.core.presence import Presence
from hannan.core.storage import save
from hannan.core.validation import FloatArray, check_integer

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

    Where only some actions are there, `act(context, available=…)`, a learner with an order of its
    own among actions (`_ordered`) plays the best of them, by `_act_among`. For all others the
    game is the plain one with other losses: a substitute, fixed before any coin is drawn, stands
    in for every action that is not there.
    """

    feedback: ClassVar[Feedback] = Feedback.FULL
    learns: ClassVar[bool] = True  # False: `update` takes either feedback, and nothing comes of it
    oracle: Oracle | None = None
    _scratch = frozenset({"_range", "_width"})

    def __init__(self) -> None:
        self.rounds = 0
        self.oracle_calls = 0
        self._open: tuple[Any, Action] | None = None
        self._stands: IntArray | None = None  # what is played for each action in the open round
        self._presence: Presence | None = None  # since the first restricted round
        self._told_all = False  # whether another learner says what actions away are charged
        self._sorted = 0  # restricted rounds played by an order of one's own

    def act(self, context: Any = None, available: Any = None) -> Action:
        """The action for this context: an int, or the sorted indices of the chosen elements.

        Parameters
        ----------
        context
            x, as the policy class takes it.
        available
            The actions that are there in this round, for problems of single actions: distinct
            integers, or K booleans. None where all are.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 3), seed=0)
        >>> learner.act(available=[1, 2])
        1
        >>> learner.update([float("nan"), 0.9, 0.1])
        >>> learner.act(available=[1, 2])
        2
        """
        context = self._check_context(context)
        if available is not None and (there := self._check_available(available)) is not None:
            chosen, stands = self._act_restricted(context, there)
            self._open, self._stands = (context, chosen), stands
            return int(stands[chosen])
        action = self._act(context)
        self._open, self._stands = (context, action), None
        return action

    def update(self, loss: Any) -> None:
        """Learn the losses of the round `act` opened."""
        if self._open is None:
            raise OrderError(
                "update() needs a round to answer: call act(context) first, then update(loss) once."
            )
        context, action = self._open
        if self._stands is None:
            self._update(context, action, loss)
            self._remember(context, action, loss)
        else:
            self._update_restricted(context, action, loss, self._stands)
        self._open = self._stands = None
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file: parameters, totals, position in the noise, open rounds.

        `hannan.load(path)` gives a learner that plays on bit for bit as this one would have. The
        file holds numbers and names, nothing that could be executed; a file that is there already
        is replaced in one step.

        Parameters
        ----------
        path
            Where to; "….hannan" is a good name.
        """
        save(self, path)

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
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
        available
            As for `act`.

        Examples
        --------
        >>> import hannan as hn
        >>> learner = hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2))
        >>> learner.would_play(copies=3)
        [0, 0, 0]
        """
        coins = self._coins(copies, seed)
        return [self._twin(coins).act(context, available) for _ in range(copies)]

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

    # Rounds in which only some actions are there --------------------------------------------

    @property
    def _ordered(self) -> bool:
        """Whether the learner has an order of its own among actions, and `_act_among` with it."""
        return False

    def _act_among(self, context: Any, available: IntArray) -> int:
        """The best of these actions in the learner's own order."""
        raise NotImplementedError

    @property
    def _size(self) -> int | None:
        """K, where it is known."""
        source = self if self.oracle is None else self.oracle
        known: int | None = getattr(source, "n_actions", None)
        return known

    def _past(self) -> Objective | None:
        """The total of what was learned, where one is kept."""
        return None

    def _check_available(self, available: Any) -> IntArray | None:
        who, oracle = type(self).__name__, self.oracle
        single = oracle is None or (oracle.max_chosen == 1 and not oracle.takes_functions)
        if not single or getattr(oracle, "sets", None) is not None:
            raise ParameterError(
                f"available= is for choices of one action, and {type(oracle).__name__} chooses "
                "sets, which have constraints of their own: build an oracle with the elements "
                "that are there, or give the others large losses."
            )
        if self._size is None:
            raise ParameterError(
                f"available= needs the number of actions, which {who} does not know yet: give "
                f"{type(oracle).__name__} its n_actions=."
            )
        return check_available(self, available, self._size)

    def _act_restricted(self, context: Any, available: IntArray) -> tuple[int, IntArray]:
        """The learner's own choice, and what is played for each choice."""
        assert self._size is not None
        substitute = self._substitute(context, available)
        chosen = self._act_among(context, available) if self._ordered else self._act(context)
        assert isinstance(chosen, int)
        return chosen, standing_in(available, substitute, self._size)

    def _substitute(self, context: Any, available: IntArray) -> int:
        """What stands in for actions that are not there: a function of the past alone.

        The action with the smallest mean loss on this context in rounds in which it was there. If
        one was not seen yet: the action of the best score so far, where there are scores, or what
        the best policy so far does among those whose action is there. If there is no such
        policy, one not seen yet.
        """
        past, found, known = self._past(), int(available[0]), False
        if self._presence is not None:
            found, known = self._presence.cheapest(context, available)
        if known or past is None:
            return found
        self.oracle_calls += 1
        if past.scored:
            return int(past.among(context, available).action(context, None, 0, 0.0))
        span = getattr(self, "loss_range", None) or (0.0, 1.0)
        best = best_awake(past, context, available, max(map(abs, span)))
        return found if best is None else best

    def _update_restricted(self, context: Any, action: Action, loss: Any, stands: IntArray) -> None:
        """Learn the losses of what is played for each action."""
        full = self.feedback is Feedback.FULL
        losses = filled_in(loss, stands) if full and not self._told_all else loss
        if self._ordered and full and not self._told_all:
            losses = self._charged(context, losses, stands)
        self._update(context, action, losses)
        self._sorted += self._ordered
        self._presence = self._presence or Presence(len(stands))
        self._remember(context, int(stands[action]), losses, awake(stands))

    def _charged(self, context: Any, losses: Any, stands: IntArray) -> Any:
        """Losses in which actions that were not there cost what they do when they are."""
        away, guesses = self._guesses(context, stands)
        if away is None or np.shape(losses) != stands.shape:
            return losses
        return np.where(away, guesses, losses)

    def _guesses(
        self, context: Any, stands: IntArray
    ) -> tuple[NDArray[np.bool_] | None, FloatArray]:
        """Which actions are away and known from other rounds, and what they cost then."""
        if self._presence is None:
            return None, np.empty(0)
        guesses, known = self._presence.guess(context)
        span = getattr(self, "_range", None) or getattr(self, "loss_range", None)
        low, high = span or (-np.inf, np.inf)
        away = stands != np.arange(len(stands))
        return away & known, np.clip(guesses, low, high)

    def _remember(
        self, context: Any, action: Action, loss: Any, there: IntArray | None = None
    ) -> None:
        """Note what was seen of the actions that were there, once some have been away."""
        if self._presence is None or self._told_all:
            return
        if self.feedback is not Feedback.FULL:
            self._presence.learn(context, action, float(as_array(loss).ravel()[0]))
            return
        losses = as_array(loss)
        seen = np.arange(len(losses)) if there is None else there
        self._presence.learn(context, seen, losses[seen])

    # What subclasses write ------------------------------------------------------------------

    @abstractmethod
    def _act(self, context: Any) -> Action: ...

    @abstractmethod
    def _update(self, context: Any, action: Action, loss: Any) -> None:
        """Check the loss, then learn; must change nothing if it raises."""
