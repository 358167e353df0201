"""What every learner that follows a perturbed leader on a context set has in common."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from hannan.bounds import Complexity, kappa, laplace_complexity
from hannan.core import (
    Action,
    ContextError,
    Learner,
    Noise,
    Objective,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import Contexts
from hannan.core.available import IntArray, standing_in
from hannan.core.validation import (
    FloatArray,
    check_choice,
    check_integer,
    check_loss_range,
    check_positive,
    check_seed,
    refuse,
)
from hannan.learners.playout import Playout
from hannan.learners.reservoir import Reservoir
from hannan.perturbation import seed_key

_RESERVOIR = 512  # contexts kept in an open world
_STREAM = 0  # `laplace_complexity` uses another one


class PerturbedLeader(Learner):
    r"""A context set X, fake outcomes on it, and their scale 1/ε.

    Self-tuning keeps D, the sum of what instability has cost so far, and sets ε = G/D: expected
    regret is then at most 2 E[D], whatever the horizon or the range of the losses. While D = 0
    the plain leader is played. G is estimated through the oracle when D first moves.

    X is what is known of the contexts: all that may arrive (`contexts=`, transductive), a set on
    which all policies differ (`separator=`), or without any theorem a sample of their like
    (`pool=`); and where nothing is given and the class has no contexts of its own, a reservoir of
    those seen so far (an *open world*, not covered by a theorem either).

    With perturbation="playout" the noise sits on the contexts still to come instead, the past is
    free of it, and there is nothing to tune: see `FuturePlayout`.
    """

    oracle: Oracle
    _eager = 1.0  # factor on G in ε = G/D
    _scratch = frozenset(
        {"_fakes", "_perturbed", "_arrivals", "_covered", "_playout", "_kappa", "_estimated"}
    )

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None,
        separator: Contexts | None,
        pool: Contexts | None,
        perturbation: str,
        epsilon: float | str,
        horizon: int | None,
        seed: int | None,
        loss_range: tuple[float, float] | None,
        noise: str,
        noise_memory: int,
    ) -> None:
        super().__init__()
        self.oracle = oracle
        self.contexts = contexts
        self.separator = separator
        self.pool = pool
        self.perturbation = check_choice(self, "perturbation", perturbation, ("laplace", "playout"))
        self.epsilon = epsilon
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self.noise = check_choice(self, "noise", noise, ("fresh", "once"))
        self.noise_memory = check_integer(self, "noise_memory", noise_memory, 1)

        self._range = check_loss_range(self, loss_range)
        self._key = seed_key(seed)
        self._reservoir: Reservoir | None = None
        self._playout = self._plan_playout() if perturbation == "playout" else None
        self._perturbed = self._context_set() if self._playout is None else self._playout.contexts
        known = separator is None and pool is None and self._reservoir is None
        self._arrivals = frozenset(map(oracle.key, self._perturbed)) if known else None
        # Whether a theorem speaks of X.
        self._covered = separator is not None or known or self._playout is not None
        self._sized = oracle if oracle.n_actions is not None else None
        self._fakes: Noise | None = None
        self._complexity: Complexity | None = None
        self._estimated: Complexity | None = None
        self._history = self._first_total()
        self._draw = 0
        self._D = 0.0
        self._scale = 0.0
        plain = self._playout is None
        self._adaptive = plain and isinstance(epsilon, str) and epsilon == "adaptive"
        self._anytime = plain and isinstance(epsilon, str) and epsilon == "anytime"
        self._spread = 0.0
        self._fixed_scale = 0.0
        if self._playout is not None:
            self._play_out(self._playout)
        elif not self._adaptive:
            self._fixed_scale = 0.0 if self._anytime else 1.0 / self._fixed_epsilon()
            self._make_fakes()

    def best_policy(self) -> Policy:
        """The leader without noise: the best policy for the losses so far."""
        return self._history.plain().leader()

    def _first_total(self) -> Objective:
        """The total before the first round."""
        total = self.oracle.objective()
        if self._perturbed:
            total.expect(self._perturbed)
        return total

    @property
    def forecaster(self) -> Any:
        """The predictor at work, which has learned all that was seen, or None."""
        return None

    def fresh(self, number: int) -> Self:
        """A new learner like this one, which keeps what is known of the class itself: its G."""
        twin = super().fresh(number)
        if self._reservoir is None:
            twin._complexity = self._complexity
        return twin

    def would_play(
        self, context: Any = None, copies: int = 1, seed: int = 0, available: Any = None
    ) -> list[Action]:
        """What copies of this learner would play on a context now: same past, other noise."""
        if self._playout is not None:
            return super().would_play(context, copies, seed, available)
        context = self._check_context(context)
        there = None if available is None else self._check_available(available)
        twin = self._twin(self._coins(copies, seed))
        stands = twin._stand_ins(context, there)
        total = twin._prospect(context, stands)
        return [total.action(context, twin._fakes, n, twin._scale) for n in range(copies)]

    def _twin(self, coins: np.random.Generator) -> Self:
        """A shallow copy with noise under another key; the totals are not changed by `act`."""
        twin = copy.copy(self)
        twin._key = coins.integers(2**64, dtype=np.uint64)
        if self._fakes is not None:
            twin._make_fakes()
        if self._playout is not None:
            twin._playout = self._playout.reseeded(twin._key)
        return twin

    @property
    def _ordered(self) -> bool:
        return self._history.scored

    @property
    def _size(self) -> int | None:
        return None if self._sized is None else self._sized.n_actions

    def _past(self) -> Objective:
        return self._history

    def _stand_ins(self, context: Any, available: IntArray | None) -> IntArray | None:
        """What stands in for each action."""
        if available is None:
            return None
        assert self._size is not None
        return standing_in(available, self._substitute(context, available), self._size)

    @property
    def complexity(self) -> Complexity:
        """G of the policy class on X."""
        if self._complexity is None:
            self._complexity = self._estimate()
            self._estimated = None
            self.oracle_calls += self._complexity.oracle_calls
        return self._complexity

    def _estimate(self) -> Complexity:
        """G, found without counting oracle calls: for statements, which must change nothing."""
        if self._complexity is not None:
            return self._complexity
        if self._sized is None:
            raise ParameterError(
                f"{type(self.oracle).__name__} does not know its number of actions yet: give "
                "it n_actions=, or play a round first."
            )
        if self._estimated is None:
            self._estimated = laplace_complexity(
                self._sized, self._perturbed, seed=self.seed, memory=self.noise_memory
            )
        return self._estimated

    @property
    def _G(self) -> float:
        """G, or 0 in an open world in which nothing was seen yet."""
        return self.complexity.value if self._perturbed else 0.0

    @property
    def _setting(self) -> str:
        return "transductive" if self._arrivals is not None else "separator"

    @cached_property
    def _kappa(self) -> float:
        """κ of the shift lemma on X; forgotten when X or K changes."""
        sized = self._sized or self.oracle
        return kappa(
            setting=self._setting,
            d=max(1, len(self._perturbed)),
            n_actions=sized.n_actions or 1,
            m=sized.max_chosen,
            nonnegative=self._nonnegative,
            antichain=sized.antichain,
        )

    @property
    @abstractmethod
    def _nonnegative(self) -> bool:
        """Whether what enters the totals is linear and never negative."""

    @abstractmethod
    def _prospect(self, context: Any, stands: IntArray | None = None) -> Objective:
        """The totals whose perturbed leader the round to come will follow, its ε being set."""

    @abstractmethod
    def _play_out(self, future: Playout) -> None:
        """Choose the law of noise on the contexts to come."""

    @abstractmethod
    def _theorem_epsilon(self) -> float:
        """The paper's ε for the declared horizon."""

    def _check_context(self, context: Any, ahead: int = 0) -> Any:
        context = self.oracle.at(self._clock + ahead, context)
        if self._arrivals is not None and self.oracle.key(context) not in self._arrivals:
            raise ContextError(
                f"Context {context!r} is not among the {len(self._arrivals)} contexts declared to "
                "arrive (transductive setting). Declare it in contexts=, or give a separator= "
                "to allow any context."
            )
        if self._playout is not None:
            self._playout.check(self._clock + ahead, context)
        return context

    def _tune(self, instability: float) -> None:
        """Count what instability cost in a round, and set the next ε."""
        if instability <= 0.0:
            return
        G = self._G
        if self._fakes is None:
            self._make_fakes()
        self._D += instability
        self._scale = self._D / (self._eager * G) if G > 0.0 else 0.0

    def _widen(self, variance: float) -> None:
        r"""The anytime schedule :math:`\epsilon_t = \sqrt{G/(2 W_t)}`, W the sum of variances."""
        if self._fakes is not None:
            self._spread += variance
            self._scale = math.sqrt(2.0 * self._spread / self._G) if self._G > 0.0 else 0.0

    def _renew(self, history: Iterable[tuple[Any, FloatArray]], factor: float) -> None:
        """Make the total anew from these rounds, and multiply what was measured by a factor."""
        total = self.oracle.objective()
        if self._perturbed:
            total.expect(self._perturbed)
        for context, losses in history:
            total.add(context, losses)
        self._history = total
        self._D *= factor
        self._scale *= factor

    def _learn_size(self, n_actions: int) -> None:
        """The first loss vector says how many actions there are."""
        if self._sized is None:
            self._sized = self.oracle.clone(n_actions=n_actions)
            self.__dict__.pop("_kappa", None)
            if not self._adaptive:
                self._make_fakes()

    def _make_fakes(self) -> None:
        """Put the noise on X, once both X and K are known; until then the scale is 0."""
        if self._sized is not None and self._perturbed:
            self._fakes = self._sized.noise(self._perturbed, self._key, _STREAM, self.noise_memory)
            self._scale = max(self._scale, self._fixed_scale)

    def _see(self, context: Any) -> None:
        """In an open world, let the noise follow the contexts seen so far.

        Only between rounds: a round's weights must be drawn under the noise it was played with.
        """
        if self._reservoir is not None and self._reservoir.offer(context):
            self._perturbed = self.oracle.check_contexts(self._reservoir.contexts)
            self._complexity = self._estimated = None
            self.__dict__.pop("_kappa", None)
            self._make_fakes()
            if self._adaptive and self._D > 0.0 and self._G > 0.0:
                self._scale = self._D / (self._eager * self._G)

    def _restored(self) -> None:
        """Noise is a function of the key and of X: it is not kept, but made again."""
        if self._reservoir is not None:
            self._perturbed = self.oracle.check_contexts(self._reservoir.contexts)
        if self._playout is not None:
            self._playout = self._playout.reseeded(self._key)
        elif not self._adaptive or self._D > 0.0 or self._fakes is not None:
            self._make_fakes()

    def _context_set(self) -> list[Any]:
        choices = {"contexts": self.contexts, "separator": self.separator, "pool": self.pool}
        given = {name: value for name, value in choices.items() if value is not None}
        if len(given) > 1:
            raise ParameterError(
                "Give one of contexts= (the contexts that may arrive), separator= (contexts on "
                "which all policies differ) and pool= (contexts like those that may arrive), not "
                f"{' and '.join(given)}."
            )
        if not given and self.oracle.contexts is None:
            if self.oracle.open_world:
                self._reservoir = Reservoir(_RESERVOIR, self._key)
                return []
            raise ParameterError(
                f"{type(self.oracle).__name__} does not list its contexts: give contexts= (those "
                "that may arrive) or separator= (contexts on which all policies differ)."
            )
        name, value = next(iter(given.items()), ("contexts", self.oracle.contexts))
        found = self.oracle.check_contexts(value)
        if not found:
            raise refuse(self, name, "a non-empty sequence of contexts", value)
        if name == "separator" and self.oracle.separates(found) is False:
            raise ParameterError(
                f"separator= holds {len(found)} contexts on which two different policies agree, so "
                "it does not separate the class. Add contexts on which they differ."
            )
        return found

    def _plan_playout(self) -> Playout:
        refused = {
            "separator": self.separator is not None,
            "pool together with contexts": self.pool is not None and self.contexts is not None,
            "noise='once'": self.noise == "once",
            "epsilon='anytime'": isinstance(self.epsilon, str) and self.epsilon == "anytime",
        }
        for what, given in refused.items():
            if given:
                raise ParameterError(
                    f"perturbation='playout' does not go with {what}: its noise is fresh, of fixed "
                    "size, and on contexts to come, from contexts= (in order) or pool=."
                )
        if self.oracle.n_actions is None:
            raise ParameterError(
                "perturbation='playout' needs the number of actions: give "
                f"{type(self.oracle).__name__} its n_actions=."
            )
        return Playout(self.oracle, self.contexts, self.pool, self.horizon)

    def _fixed_epsilon(self) -> float:
        if not isinstance(self.epsilon, str):
            return check_positive(self, "epsilon", self.epsilon)
        if self.epsilon != "theorem":
            accepted = "'adaptive', 'anytime', 'theorem' or a positive number"
            raise refuse(self, "epsilon", accepted, self.epsilon)
        if self.horizon is None:
            raise ParameterError(
                "epsilon='theorem' needs horizon=, the number of rounds that will be played; "
                "epsilon='adaptive' needs nothing."
            )
        return self._theorem_epsilon()

    def _log_size(self) -> float:
        size = self.oracle.log_size(self._perturbed)
        if size is None:
            raise ParameterError(
                f"A theorem's ε needs the size of the policy class, which "
                f"{type(self.oracle).__name__} does not know. Use epsilon='adaptive', or a number."
            )
        return size
