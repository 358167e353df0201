"""Adversaries that punish a favourite action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.core import (
    Action,
    Environment,
    InputTypeError,
    Menu,
    Oracle,
    OrderError,
    ParameterError,
    Round,
)
from hannan.core.arrays import Contexts, as_rows
from hannan.core.rounds import IntArray
from hannan.core.validation import (
    FloatArray,
    check_integer,
    check_positive,
    check_probability,
    check_seed,
)
from hannan.environments.planted import DrawnContexts


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
        who, known = type(self).__name__, None if self.oracle is None else self.oracle.n_actions
        if n_actions is None and known is None:
            raise ParameterError(f"{who} needs n_actions=, or an oracle that knows it.")
        if None not in (known, n_actions) and known != n_actions:
            raise ParameterError(f"{who} got n_actions={n_actions} and an oracle with {known}.")
        return check_integer(self, "n_actions", known if n_actions is None else n_actions, 1)

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


class AsksCopies(Environment):
    """An adversary that asks copies of the learner that it plays against."""

    oblivious = False
    copies: int
    _learner: Any = None

    def meet(self, learner: Any) -> None:
        """Ask copies of this learner from now on."""
        if not callable(getattr(learner, "would_play", None)):
            raise InputTypeError(
                f"{type(self).__name__} asks a learner what copies of it would play; "
                f"{type(learner).__name__} has no would_play(context, copies, seed)."
            )
        self._learner = learner

    def _first_seed(self, rng: np.random.Generator) -> int:
        """A seed for the copies of the first round; an error where there is no learner."""
        if self._learner is None:
            raise OrderError(
                f"{type(self).__name__} must know the learner before the first round: let "
                "hannan.play run the game, or call meet(learner) first."
            )
        return int(rng.integers(2**62))

    def _favourite(self, context: Any, seed: int) -> Any:
        """What most copies would play."""
        answers = Tally()
        for action in self._learner.would_play(context, self.copies, seed):
            answers.add(action)
        return answers.favourite


class CopyPunisher(AsksCopies, Punisher):
    """The action that copies of the learner would most likely play now costs 1.

    This is the adaptive adversary of the theorems on adversarial learning. In each round it draws a
    context, asks a few copies of the learner, with the same past and independent randomness, what
    they would play (`Learner.would_play`), and puts loss 1 on the most frequent answer. All other
    elements cost 1 with probability `low`, else 0. So a deterministic learner loses in every round;
    uniform play over K actions, and in the long run any learner without regret against the constant
    policies, loses 1/K + (1 - 1/K) `low` a round.

    Parameters
    ----------
    oracle
        A policy class to measure regret against; may be left out.
    contexts
        The contexts that may arrive; by default the oracle's own.
    n_actions
        K; by default the oracle's.
    n_contexts
        Where neither contexts nor an oracle are given, contexts are the integers below this.
    features
        Contexts are `n_contexts` random vectors of this length instead, with standard normal
        entries.
    copies
        How many copies are asked. Ties among their answers go to the smallest action.
    low
        The probability of a loss on all other elements.
    seed
        Of the vectors.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.CopyPunisher(hn.oracles.AllPolicies(20, 3))
    >>> leader = hn.baselines.FollowTheLeader(world.oracle)
    >>> float(hn.play(leader, world, horizon=200, seed=0).losses.mean())
    1.0
    >>> learner = hn.ContextFTPL(world.oracle, seed=0)
    >>> float(hn.play(learner, world, horizon=1000, seed=0).losses.mean()) < 0.6
    True
    """

    def __init__(
        self,
        oracle: Oracle | None = None,
        contexts: Contexts | None = None,
        *,
        n_actions: int | None = None,
        n_contexts: int = 20,
        features: int | None = None,
        copies: int = 8,
        low: float = 0.2,
        seed: int | None = 0,
    ) -> None:
        super().__init__(
            oracle,
            contexts,
            n_actions=n_actions,
            n_contexts=n_contexts,
            features=features,
            low=low,
            seed=seed,
        )
        self.copies = check_integer(self, "copies", copies, 1)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Rounds against the last learner given to `meet`."""
        seed = self._first_seed(rng)
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            x = self._contexts[i]
            yield Round(x, self._losses(u, self._favourite(x, seed + t)))


class FrequencyPunisher(Punisher):
    """On each context, the action played most often so far costs 1.

    An adaptive adversary that needs to know only the past actions of the learner. All other
    elements cost 1 with probability `low`, else 0; on a context that arrives for the first time
    this holds for all elements. Ties go to the smallest action.

    It is cheap, and hurts learners that are slow to leave an action.

    Parameters
    ----------
    oracle, contexts, n_actions, n_contexts, features, low, seed
        As in `CopyPunisher`.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.FrequencyPunisher(n_actions=3, n_contexts=5)
    >>> chance = hn.baselines.UniformRandom(3, seed=0)
    >>> round(float(hn.play(chance, world, horizon=3000, seed=0).losses.mean()), 1)
    0.5
    """

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        played = [Tally() for _ in self._contexts]
        for i, u in self._draws(horizon, rng):
            this_round = Round(self._contexts[i], self._losses(u, played[i].favourite))
            yield this_round
            if this_round.action is not None:
                played[i].add(this_round.action)


class Pool:
    """Items with random features, each under a number that is never given to another.

    In every round one dies with probability size/lifetime, and another is born in its place.
    """

    def __init__(self, size: int, features: int, lifetime: float, rng: np.random.Generator) -> None:
        self.rows: FloatArray = rng.standard_normal((size, features))
        self.quality: FloatArray = rng.standard_normal(size)
        """What an item has that its features do not tell."""
        self.ids: IntArray = np.arange(size)
        self._death = min(size / lifetime, 1.0)
        self._rng = rng

    def turn(self) -> None:
        """Death and birth."""
        rng = self._rng
        if rng.random() < self._death:
            place = int(rng.integers(len(self.ids)))
            self.rows[place] = rng.standard_normal(self.rows.shape[1])
            self.quality[place] = rng.standard_normal()
            self.ids[place] = self.ids.max() + 1

    def offer(self, n: int, context: FloatArray) -> tuple[Menu, IntArray]:
        """Some of the items, and where in the pool they are."""
        chosen = self._rng.permutation(len(self.ids))[:n]
        return Menu(context, self.rows[chosen], tuple(self.ids[chosen].tolist())), chosen


class ItemPunisher(AsksCopies):
    """Of the items offered, the one that copies of the learner would most likely choose costs 1.

    As `CopyPunisher`, for described actions: a round offers some items of a pool, each with
    features and an id, and losses have nothing to do with the features. All other items cost 1
    with probability `low`, else 0. A learner without randomness loses in every round; uniform play
    loses 1/K + (1 - 1/K) `low` a round, and nobody can do better in all of them.

    Parameters
    ----------
    offered, pool
        Items in a round, and items that there are at a time.
    features
        Features of a visitor, and as many of an item; all standard normal.
    lifetime
        Rounds that an item lives, on average.
    copies
        How many copies are asked. Ties among their answers go to the item offered first.
    low
        The probability of a loss on all other items.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.ItemPunisher(offered=5)
    >>> learner = hn.baselines.ItemLinUCB()
    >>> float(hn.play(learner, world, horizon=100, seed=0).losses.mean())
    1.0
    """

    n_actions = None  # type: ignore[assignment]  # those that a round offers

    def __init__(
        self,
        offered: int = 10,
        pool: int = 200,
        *,
        features: int = 4,
        lifetime: float = 4000.0,
        copies: int = 32,
        low: float = 0.2,
    ) -> None:
        self.pool = check_integer(self, "pool", pool, 1)
        self.offered = check_integer(self, "offered", offered, 1, self.pool + 1)
        self.features = check_integer(self, "features", features, 1)
        self.lifetime = check_positive(self, "lifetime", lifetime)
        self.copies = check_integer(self, "copies", copies, 1)
        self.low = check_probability(self, "low", low)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Rounds against the last learner given to `meet`."""
        seed = self._first_seed(rng)
        rng = rng.spawn(1)[0]  # a learner with the same seed may draw from the other
        pool = Pool(self.pool, self.features, self.lifetime, rng)
        for t in range(horizon):
            pool.turn()
            menu, _ = pool.offer(self.offered, rng.standard_normal(self.features))
            favourite = self._favourite(menu, seed + t)
            losses = (rng.random(self.offered) < self.low).astype(np.float64)
            losses[favourite] = 1.0
            yield Round(menu, losses)
