"""Learners with noise on the future rounds, whose contexts or their distribution are known."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from hannan.core import (
    ContextError,
    Learner,
    Objective,
    OpenRound,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import Contexts, as_rows
from hannan.core.oracle import Timed, context_at, fixed_actions, losses_alone, with_rounds
from hannan.core.state import Count, NoiseKey, Number, Part, State, TupleOf
from hannan.core.validation import check_integer, check_loss_range, check_positive, check_seed
from hannan.learners.context_set import Pool
from hannan.perturbation import FuturePlayout, seed_key


class PlayoutRound(OpenRound):
    """A round with its number in the sequence, and the number of dropped rounds before it."""

    place: tuple[int, int] = (0, 0)

    stored = State(place=TupleOf(Count(), Count()))


class Playout(Learner):
    """Base of learners that follow the leader of the past and of noise on the future rounds.

    The learner knows the contexts of all T = `_horizon` rounds in order, or a pool from which
    they are drawn. A subclass sets the size of the noise, acts under it and learns.
    """

    oracle: Oracle
    knows_future = True
    Round = PlayoutRound

    stored = State(_past=Part(), _dropped=Count(), _key=NoiseKey(), _loss=Number())
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
        self._known = not isinstance(contexts, Pool)
        rows = self._announced()
        self._horizon = len(rows) if self.horizon is None else self.horizon
        checked = [oracle.check_context(context) for context in rows]
        self._keys = [oracle.key(context) for context in checked]
        numbers: dict[Hashable, int] = {}
        self._order = [numbers.setdefault(key, len(numbers)) for key in self._keys]
        self._points = [checked[i] for i in np.unique(self._order, return_index=True)[1].tolist()]
        self._past = oracle.objective()
        self._past.prepare(self._points)
        self._dropped = 0
        self._loss = 0.0
        self._put_noise(*self._size_and_rate(), seed_key(seed))

    def _announced(self) -> Sequence[Any]:
        """Return the contexts of all rounds, or the pool from which they are drawn."""
        who, contexts, horizon = type(self).__name__, self.contexts, self.horizon
        if self.oracle.n_actions is None:
            raise ParameterError(
                f"{who} needs the number of actions: pass n_actions= to "
                f"{type(self.oracle).__name__}."
            )
        rows: Any = contexts.rows if isinstance(contexts, Pool) else contexts
        if rows is None:
            rows = () if self.oracle.contexts is None else self.oracle.contexts
            if not isinstance(self.oracle, Timed):  # a timed oracle knows the whole sequence
                rows = list(rows) * (horizon or 0) if len(rows) == 1 else ()
        rows = as_rows(rows)
        if len(rows) == 0:
            raise ParameterError(
                f"{who} needs the future contexts. Pass contexts=, all contexts in the order in "
                "which they will arrive, or pass a sample as contexts=Pool(rows) together with "
                "horizon=. If there is only one context, horizon= is enough."
            )
        if horizon is None and not self._known:
            raise ParameterError(f"{who} with a Pool needs horizon=, the number of rounds.")
        if self._known and horizon not in (None, len(rows)):
            raise ParameterError(
                f"{who} needs contexts= for all horizon={horizon} rounds, in the order in which "
                f"they will arrive; got {len(rows)}. If you know only their distribution, pass a "
                "sample as contexts=Pool(rows)."
            )
        return rows  # type: ignore[no-any-return]

    @abstractmethod
    def _size_and_rate(self) -> tuple[float, float | None]:
        """Check the parameters; return the noise size per round, and its rate if sparse."""

    def _put_noise(self, size: float, rate: float | None, key: np.uint64) -> None:
        """Set the distribution of the noise and its seed."""
        order = self._order if self._known else None
        shares = None if self._known else np.bincount(self._order) / len(self._order)
        sizes = self._horizon, self.oracle.n_actions or 1, size, rate
        self._key = key
        self._noise = FuturePlayout(self._points, order, shares, *sizes, key)

    def _prepare(self, opened: PlayoutRound) -> None:
        """Set the round's place; dropped rounds count, because no noise is used twice."""
        ledger = self._ledger
        number = self.rounds + ledger.discarded + ledger.pending(opened)
        opened.place = number, self._dropped + ledger.supersedes_open_round(opened)

    def _perturbed(self, opened: PlayoutRound) -> Objective:
        """Return the past losses with fake losses on the rounds after this one."""
        return with_rounds(self._past, *self._noise.fakes(*opened.place))

    def _played(self, opened: PlayoutRound) -> None:
        self._dropped = opened.place[1]

    def best_policy(self) -> Policy:
        """Return the leader without noise: the best policy for the losses so far."""
        return losses_alone(self._past).leader()

    @property
    def _has_bound(self) -> bool:
        """Whether the bound holds for the whole run, and so for a part: other losses may be 0."""
        covered = self.oracle.exact and not self._availability.by_score and self.epsilon is None
        return covered and self._ledger.immediate

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._noise = self._noise.reseeded(rng.integers(2**64, dtype=np.uint64))
        return twin

    def _restored(self) -> None:
        self._noise = self._noise.reseeded(self._key)

    def _total(self) -> Objective:
        return self._past

    @property
    def _scores_actions(self) -> bool:
        return self._past.scored

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        """Return the checked context of a round; raise `ContextError` if it is not as declared."""
        who, time = type(self).__name__, self.clock + ahead
        context = context_at(self.oracle, time, context)
        if time >= self._horizon:
            raise ContextError(
                f"All {self._horizon} rounds of {who} are over; got context {context!r} for "
                "another round. Create a new learner with a larger horizon."
            )
        if self._known and self.oracle.key(context) != self._keys[time]:
            raise ContextError(
                f"contexts= of {who} declares {self._points[self._order[time]]!r} for round "
                f"{time}; got {context!r}. If you know only the distribution of the contexts, "
                "pass a sample as contexts=Pool(rows)."
            )
        return context
