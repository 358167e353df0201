"""Adversaries that punish the favourite action of the learner."""

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
    """Base class of adversaries that give loss 1 to one action per round, the favourite."""

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
        # Use another stream, because a learner with the same seed may draw from this one.
        return super()._draws(horizon, rng.spawn(1)[0])

    def _losses(self, u: FloatArray, favourite: Any) -> FloatArray:
        """Return losses of 1 on the favourite's elements, elsewhere 1 with probability `low`."""
        losses = (u < self.low).astype(np.float64)
        if favourite is not None:
            losses[list(favourite) if isinstance(favourite, tuple) else favourite] = 1.0
        return losses

    def _check_actions(self, n_actions: int | None) -> int:
        who, known = type(self).__name__, None if self.oracle is None else self.oracle.n_actions
        if n_actions is None and known is None:
            raise ParameterError(f"{who} needs n_actions=, or an oracle with n_actions.")
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
                f"{who} needs contexts=, the contexts that may arrive, or features=, the length of "
                "random context vectors."
            )
        if oracle is not None:
            for context in found:
                oracle.check_context(context)
        return list(found)


class Tally:
    """Counts of actions, and the favourite, which is the most frequent action.

    Ties go to the smallest action; sets are compared element by element.
    """

    def __init__(self) -> None:
        self.favourite: Any = None
        """An int, a tuple of elements, or None before the first action."""
        self._counts: Counter[Any] = Counter()
        self._most = 0

    def add(self, action: Action) -> None:
        """Count an action."""
        key = int(action) if isinstance(action, int | np.integer) else tuple(action.tolist())
        self._counts[key] += 1
        count = self._counts[key]
        if count > self._most or (count == self._most and key < self.favourite):
            self.favourite, self._most = key, count


class AsksCopies(Environment):
    """Base class of adversaries that query copies of the learner."""

    oblivious = False
    copies: int
    _learner: Any = None

    def meet(self, learner: Any) -> None:
        """Set the learner whose copies are queried."""
        if not callable(getattr(learner, "would_play", None)):
            raise InputTypeError(
                f"{type(self).__name__} queries copies of the learner, but "
                f"{type(learner).__name__} has no method would_play(context, copies, seed)."
            )
        self._learner = learner

    def _first_seed(self, rng: np.random.Generator) -> int:
        """Return a seed for the copies of the first round; raise `OrderError` without a learner."""
        if self._learner is None:
            raise OrderError(
                f"{type(self).__name__} needs the learner before the first round. Run it with "
                "hannan.play, or call meet(learner) first."
            )
        return int(rng.integers(2**62))

    def _favourite(self, context: Any, seed: int) -> Any:
        """Return the action that most copies would play."""
        answers = Tally()
        for action in self._learner.would_play(context, self.copies, seed):
            answers.add(action)
        return answers.favourite


class CopyPunisher(AsksCopies, Punisher):
    """An adversary that gives loss 1 to the action that copies of the learner choose most often.

    This is the adaptive adversary of the theorems on adversarial learning. In each round it draws a
    context. It then queries a few copies of the learner, with the same past and independent
    randomness, for their next action (`Learner.would_play`), and gives loss 1 to the most frequent
    answer. All other elements cost 1 with probability `low`, else 0. So a deterministic learner
    loses in every round. Uniform play over K actions loses 1/K + (1 - 1/K) `low` per round. In the
    long run the same holds for any learner without regret against the constant policies.

    Parameters
    ----------
    oracle
        Policy class that regret is measured against. Optional.
    contexts
        Contexts that may arrive. Default: the contexts of the oracle.
    n_actions
        Number of actions K. Default: the number of actions of the oracle.
    n_contexts
        Number of contexts. Without `contexts`, `features` and an oracle, the contexts are the
        integers below this number. Default 20.
    features
        Length of random context vectors. If given, the contexts are `n_contexts` vectors of this
        length with standard normal entries.
    copies
        Number of copies to query. Ties among their answers go to the smallest action. Default 8.
    low
        Probability of loss 1 for all other elements. Default 0.2.
    seed
        Seed of the random context vectors. Default 0.

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
        """Yield rounds against the last learner given to `meet`."""
        seed = self._first_seed(rng)
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            x = self._contexts[i]
            yield Round(x, self._losses(u, self._favourite(x, seed + t)))


class FrequencyPunisher(Punisher):
    """An adversary that gives loss 1 to the action played most often so far in the context.

    This adaptive adversary needs only the past actions of the learner. All other elements cost 1
    with probability `low`, else 0. When a context arrives for the first time, this holds for all
    elements. Ties go to the smallest action.

    The adversary is cheap to run, and exploits learners that are slow to leave an action.

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


class ItemPool:
    """Items with random features and unique ids, replaced one by one.

    In every round one item is replaced by a new one with probability size/lifetime.
    """

    def __init__(self, size: int, features: int, lifetime: float, rng: np.random.Generator) -> None:
        self.rows: FloatArray = rng.standard_normal((size, features))
        self.quality: FloatArray = rng.standard_normal(size)
        """Quality of each item, independent of its features."""
        self.ids: IntArray = np.arange(size)
        self._death = min(size / lifetime, 1.0)
        self._rng = rng

    def turn(self) -> None:
        """Replace a random item, with probability size/lifetime."""
        rng = self._rng
        if rng.random() < self._death:
            place = int(rng.integers(len(self.ids)))
            self.rows[place] = rng.standard_normal(self.rows.shape[1])
            self.quality[place] = rng.standard_normal()
            self.ids[place] = self.ids.max() + 1

    def offer(self, n: int, context: FloatArray) -> tuple[Menu, IntArray]:
        """Return some of the items as a `Menu`, and their indices in the pool."""
        chosen = self._rng.permutation(len(self.ids))[:n]
        return Menu(context, self.rows[chosen], tuple(self.ids[chosen].tolist())), chosen


class ItemPunisher(AsksCopies):
    """An adversary that gives loss 1 to the item that copies of the learner choose most often.

    This is `CopyPunisher` for actions with features. A round offers some items of a pool, each with
    features and an id. Losses are independent of the features. All other items cost 1 with
    probability `low`, else 0. A learner without randomness loses in every round. Uniform play over
    K items loses 1/K + (1 - 1/K) `low` per round, and no learner can do better in all rounds.

    Parameters
    ----------
    offered, pool
        Number of items in a round, and number of items in the pool. By default 10 and 200.
    features
        Number of features of a visitor, and of an item; all are standard normal. Default 4.
    lifetime
        Mean number of rounds before an item is replaced. Default 4,000.
    copies
        Number of copies to query. Ties among their answers go to the item offered first. Default
        32.
    low
        Probability of loss 1 for all other items. Default 0.2.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.ItemPunisher(offered=5)
    >>> learner = hn.baselines.ItemLinUCB()
    >>> float(hn.play(learner, world, horizon=100, seed=0).losses.mean())
    1.0
    """

    n_actions = None  # type: ignore[assignment]  # the number of items in the round

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
        """Yield rounds against the last learner given to `meet`."""
        seed = self._first_seed(rng)
        rng = rng.spawn(1)[0]  # a learner with the same seed may draw from the other
        pool = ItemPool(self.pool, self.features, self.lifetime, rng)
        for t in range(horizon):
            pool.turn()
            menu, _ = pool.offer(self.offered, rng.standard_normal(self.features))
            favourite = self._favourite(menu, seed + t)
            losses = (rng.random(self.offered) < self.low).astype(np.float64)
            losses[favourite] = 1.0
            yield Round(menu, losses)
