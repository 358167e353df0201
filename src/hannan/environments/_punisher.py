"""Shared parts of adversaries that punish a favourite action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.core import Action, InputTypeError, Oracle, OrderError, ParameterError
from hannan.core.arrays import Contexts, as_rows
from hannan.core.validation import FloatArray, check_integer, check_probability, check_seed
from hannan.environments._planted import DrawnContexts


class Punisher(DrawnContexts):
    """Losses that are rare except on one action, which is chosen again in every round."""

    oblivious = False

    def __init__(
        self,
        oracle: Oracle | None = None,
        contexts: Contexts | None = None,
        *,
        n_actions: int | None = None,
        n_contexts: int = 20,
        features: int | None = None,
        low: float = 0.2,
        seed: int | None = 0,
    ) -> None:
        self.oracle = oracle
        self._given = {"contexts": contexts, "n_actions": n_actions}
        self.n_contexts = check_integer(self, "n_contexts", n_contexts, 1)
        self.features = None if features is None else check_integer(self, "features", features, 1)
        self.low = check_probability(self, "low", low)
        self.seed = check_seed(self, seed)
        self.n_actions = self._check_actions(n_actions)
        self._contexts = self._check_contexts(contexts)

    @property
    def params(self) -> dict[str, Any]:
        return {**super().params, **self._given}

    def _draws(self, horizon: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
        # A learner with the same seed as the game may draw from this very stream, so use another.
        return super()._draws(horizon, rng.spawn(1)[0])

    def _losses(self, u: FloatArray, favourite: Any) -> FloatArray:
        """1 on the favourite's elements, elsewhere 1 with probability `low`."""
        losses = (u < self.low).astype(np.float64)
        if favourite is not None:
            losses[list(favourite) if isinstance(favourite, tuple) else favourite] = 1.0
        return losses

    def _check_actions(self, n_actions: int | None) -> int:
        known = None if self.oracle is None else self.oracle.n_actions
        if n_actions is None:
            if known is None:
                raise ParameterError(
                    f"{type(self).__name__} needs n_actions=, or an oracle that knows it."
                )
            return known
        if known not in (None, n_actions):
            raise ParameterError(
                f"{type(self).__name__} got n_actions={n_actions} and an oracle with {known}."
            )
        return check_integer(self, "n_actions", n_actions, 1)

    def _check_contexts(self, contexts: Contexts | None) -> list[Any]:
        who, oracle = type(self).__name__, self.oracle
        found = None if contexts is None else as_rows(contexts)
        if self.features is not None:
            if contexts is not None:
                raise ParameterError(f"{who} takes contexts= or features=, not both.")
            rng = np.random.default_rng(self.seed)
            found = list(rng.standard_normal((self.n_contexts, self.features)))
        elif contexts is None:
            found = range(self.n_contexts) if oracle is None else oracle.contexts
        if found is None or len(found) == 0:
            raise ParameterError(
                f"{who} needs contexts=, those that may arrive, or features=, the length of "
                "random vectors."
            )
        if oracle is not None:
            for context in found:
                oracle.check_context(context)
        return list(found)


class Tally:
    """How often each action was seen, and the favourite: the most frequent one.

    Ties go to the smallest action, sets being compared element by element.
    """

    def __init__(self) -> None:
        self.favourite: Any = None
        """An int, a tuple of elements, or None before anything was seen."""
        self._counts: Counter[Any] = Counter()
        self._most = 0

    def add(self, action: Action) -> None:
        """Count one more."""
        key = int(action) if isinstance(action, int | np.integer) else tuple(action.tolist())
        self._counts[key] += 1
        count = self._counts[key]
        if count > self._most or (count == self._most and key < self.favourite):
            self.favourite, self._most = key, count


class Copies:
    """So many copies of the learner that the adversary `whose` plays against."""

    def __init__(self, whose: object, number: int) -> None:
        self._whose = type(whose).__name__
        self._number = number
        self._learner: Any = None

    def meet(self, learner: Any) -> None:
        """Ask copies of this learner from now on."""
        if not callable(getattr(learner, "would_play", None)):
            raise InputTypeError(
                f"{self._whose} asks a learner what copies of it would play; "
                f"{type(learner).__name__} has no would_play(context, copies, seed)."
            )
        self._learner = learner

    def check_met(self) -> None:
        """Refuse to begin without a learner."""
        if self._learner is None:
            raise OrderError(
                f"{self._whose} must know the learner before the first round: let hannan.play run "
                "the game, or call meet(learner) first."
            )

    def favourite(self, context: Any, seed: int) -> Any:
        """What most of them would play."""
        answers = Tally()
        for action in self._learner.would_play(context, self._number, seed):
            answers.add(action)
        return answers.favourite
