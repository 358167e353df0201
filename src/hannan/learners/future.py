"""Games whose contexts are known beforehand, in order or in law: the past, noise on the rest."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from hannan.core import (
    ContextError,
    Learner,
    Ledger,
    Objective,
    OpenRound,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import Contexts, as_rows
from hannan.core.oracle import Timed, context_at, fixed_actions, losses_alone, with_rounds
from hannan.core.state import Count, NoiseKey, Number, Part, State, TupleOf
from hannan.core.stored import Stored
from hannan.core.validation import check_integer, check_loss_range, check_positive, check_seed
from hannan.learners.context_set import Pool
from hannan.perturbation import FuturePlayout, seed_key


class PlayoutRound(OpenRound):
    """A round with its number in the sequence, and how many rounds were dropped before it."""

    place: tuple[int, int] = (0, 0)

    stored = State(place=TupleOf(Count(), Count()))


class Future(Stored):
    """The losses so far, T = `horizon` rounds with their distinct contexts `points`, and noise."""

    noise: FuturePlayout

    stored = State(past=Part(), _dropped=Count(), _key=NoiseKey())

    def __init__(
        self, owner: object, oracle: Oracle, contexts: Contexts | Pool | None, horizon: int | None
    ) -> None:
        self._owner = type(owner).__name__
        self._known = not isinstance(contexts, Pool)
        if oracle.n_actions is None:
            raise ParameterError(
                f"{self._owner} needs the number of actions: give {type(oracle).__name__} its "
                "n_actions=."
            )
        given: Any = contexts.rows if isinstance(contexts, Pool) else contexts
        given = _own_sequence(oracle, horizon) if given is None else given
        given = None if given is None else as_rows(given)
        if given is None or len(given) == 0:
            raise ParameterError(
                f"{self._owner} needs the future: give contexts=, all contexts in the order they "
                "will arrive; or contexts=Pool(rows), contexts to draw them from, and horizon=; or "
                "horizon= alone where there is one context only."
            )
        if horizon is None and not self._known:
            raise ParameterError(f"{self._owner} with a Pool needs horizon=, the number of rounds.")
        self.oracle = oracle
        self.horizon = len(given) if horizon is None else horizon
        if self._known and len(given) != self.horizon:
            raise ParameterError(
                f"{self._owner} needs contexts= for all horizon={self.horizon} rounds, in the "
                f"order they will arrive; got {len(given)}. Where only their law is known, give a "
                "sample of it as contexts=Pool(rows)."
            )
        checked = [oracle.check_context(context) for context in given]
        self._keys = [oracle.key(context) for context in checked]
        numbers: dict[Hashable, int] = {}
        self._order = [numbers.setdefault(key, len(numbers)) for key in self._keys]
        self.points = [checked[i] for i in np.unique(self._order, return_index=True)[1].tolist()]
        self.past = oracle.objective()
        self.past.prepare(self.points)
        self._dropped = 0
        self._key = np.uint64(0)

    def put_noise(self, size: float, rate: float | None, key: np.uint64) -> None:
        """Fix the law of the noise and its seed."""
        order = self._order if self._known else None
        shares = None if self._known else np.bincount(self._order) / len(self._order)
        K = self.oracle.n_actions or 1
        self._key = key
        self.noise = FuturePlayout(self.points, order, shares, self.horizon, K, size, rate, key)

    def reseeded(self, key: np.uint64) -> Self:
        """The same future, with noise under another key."""
        twin = copy.copy(self)
        twin._key = key
        twin.noise = self.noise.reseeded(key)
        return twin

    def locate(self, opened: PlayoutRound, rounds: int, ledger: Ledger) -> None:
        """Note a round's place. Noise that was seen is not used again, so dropped rounds count."""
        number = rounds + ledger.forgotten + ledger.pending(opened)
        opened.place = number, self._dropped + ledger.supersedes_open_round(opened)

    def perturbed(self, opened: PlayoutRound) -> Objective:
        """The past with fake losses on the rounds after this one."""
        return with_rounds(self.past, *self.noise.fakes(*opened.place))

    def played(self, opened: PlayoutRound) -> None:
        """The noise of this round has been seen."""
        self._dropped = opened.place[1]

    def log_size(self) -> float | None:
        """log N on these contexts, where it is known."""
        return self.oracle.log_size(self.points)

    def check(self, time: int, context: Any) -> Any:
        """The context of a round, checked, if it is the one announced for this time."""
        context = context_at(self.oracle, time, context)
        if time >= self.horizon:
            raise ContextError(
                f"The {self.horizon} rounds announced to {self._owner} are over; got {context!r} "
                "for one more."
            )
        if self._known and self.oracle.key(context) != self._keys[time]:
            raise ContextError(
                f"{self._owner} was told that round {time} brings context "
                f"{self.points[self._order[time]]!r}; got {context!r}. Where only the law of the "
                "contexts is known, give a sample of it as contexts=Pool(rows)."
            )
        return context

    def _restored(self) -> None:
        self.noise = self.noise.reseeded(self._key)


def _own_sequence(oracle: Oracle, horizon: int | None) -> Sequence[Any] | None:
    """What the class itself knows: all, where it changes with time; where it has one context."""
    known = oracle.contexts
    if known is None or isinstance(oracle, Timed):
        return known
    return list(known) * horizon if len(known) == 1 and horizon is not None else None


class Playout(Learner):
    """Base of learners that follow the leader of the past and of noise on the rounds to come.

    A subclass says how large the noise is, plays under it and learns.
    """

    oracle: Oracle
    knows_future = True
    Round = PlayoutRound

    stored = State(_future=Part(), _loss=Number())
    room_for = ("horizon unless contexts",)

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | Pool | None = None,
        *,
        horizon: int | None = None,
        epsilon: float | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.oracle = fixed_actions(self, oracle)
        self.contexts = contexts
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.epsilon = None if epsilon is None else check_positive(self, "epsilon", epsilon)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_loss_range(self, loss_range)
        self._future = Future(self, oracle, contexts, self.horizon)
        self._future.put_noise(*self._size_and_rate(), seed_key(seed))
        self._loss = 0.0

    @abstractmethod
    def _size_and_rate(self) -> tuple[float, float | None]:
        """Check the parameters; return the size of a round's noise, and its rate if sparse."""

    def _prepare(self, opened: PlayoutRound) -> None:
        self._future.locate(opened, self.rounds, self._ledger)

    def _played(self, opened: PlayoutRound) -> None:
        self._future.played(opened)

    def best_policy(self) -> Policy:
        """The leader without noise."""
        return losses_alone(self._future.past).leader()

    @property
    def _has_bound(self) -> bool:
        """Whether the bound for the whole game holds, and for a part: other losses may be zero."""
        covered = self.oracle.exact and not self._availability.by_score and self.epsilon is None
        return covered and self._ledger.immediate

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._future = self._future.reseeded(rng.integers(2**64, dtype=np.uint64))
        return twin

    def _total(self) -> Objective:
        return self._future.past

    @property
    def _scores_actions(self) -> bool:
        return self._future.past.scored

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        return self._future.check(self.clock + ahead, context)
