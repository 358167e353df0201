"""What every learner that follows a perturbed leader on a context set has in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from hannan.bounds import Complexity, laplace_complexity
from hannan.core import ContextError, Learner, Noise, Oracle, ParameterError, Policy
from hannan.core.oracle import distinct
from hannan.core.validation import (
    check_choice,
    check_integer,
    check_loss_range,
    check_positive,
    check_seed,
    refuse,
)
from hannan.perturbation import seed_key

_STREAM = 0  # `laplace_complexity` uses another one


class PerturbedLeader(Learner):
    r"""A context set X, fake outcomes on it, and their scale 1/ε.

    Self-tuning keeps D, the sum of what instability has cost so far, and sets ε = G/D: expected
    regret is then at most 2 E[D], whatever the horizon or the range of the losses. While D = 0
    the plain leader is played. G is estimated through the oracle when D first moves.
    """

    oracle: Oracle
    _eager = 1.0  # factor on G in ε = G/D

    def __init__(
        self,
        oracle: Oracle,
        contexts: Sequence[Any] | None,
        separator: Sequence[Any] | None,
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
        self.epsilon = epsilon
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self.noise = check_choice(self, "noise", noise, ("fresh", "once"))
        self.noise_memory = check_integer(self, "noise_memory", noise_memory, 1)

        self._range = check_loss_range(self, loss_range)
        self._perturbed = self._context_set()
        self._arrivals = frozenset(self._perturbed) if separator is None else None
        self._key = seed_key(seed)
        self._sized = oracle if oracle.n_actions is not None else None
        self._fakes: Noise | None = None
        self._complexity: Complexity | None = None
        self._history = oracle.objective()
        self._draw = 0
        self._D = 0.0
        self._scale = 0.0
        self._adaptive = isinstance(epsilon, str) and epsilon == "adaptive"
        self._anytime = isinstance(epsilon, str) and epsilon == "anytime"
        self._spread = 0.0
        if not self._adaptive:
            self._scale = 0.0 if self._anytime else 1.0 / self._fixed_epsilon()
            self._make_fakes()

    def best_policy(self) -> Policy:
        """The leader without noise: the best policy for the losses so far."""
        return self._history.leader()

    @property
    def complexity(self) -> Complexity:
        """G of the policy class on X."""
        if self._complexity is None:
            if self._sized is None:
                raise ParameterError(
                    f"{type(self.oracle).__name__} does not know its number of actions yet: give "
                    "it n_actions=, or play a round first."
                )
            self._complexity = laplace_complexity(
                self._sized, self._perturbed, seed=self.seed, memory=self.noise_memory
            )
            self.oracle_calls += self._complexity.oracle_calls
        return self._complexity

    @abstractmethod
    def _theorem_epsilon(self) -> float:
        """The paper's ε for the declared horizon."""

    def _check_context(self, context: Any) -> Any:
        context = self.oracle.check_context(context)
        if self._arrivals is not None and context not in self._arrivals:
            raise ContextError(
                f"Context {context!r} is not among the {len(self._arrivals)} contexts declared to "
                "arrive (transductive setting). Declare it in contexts=, or give a separator= "
                "to allow any context."
            )
        return context

    def _tune(self, instability: float) -> None:
        """Count what instability cost in a round, and set the next ε."""
        if instability <= 0.0:
            return
        if self._fakes is None:
            self._make_fakes()
        self._D += instability
        G = self.complexity.value
        self._scale = self._D / (self._eager * G) if G > 0.0 else 0.0

    def _widen(self, variance: float) -> None:
        r"""The anytime schedule :math:`\epsilon_t = \sqrt{G/(2 W_t)}`, W the sum of variances."""
        if self._sized is not None:
            self._spread += variance
            self._scale = math.sqrt(2.0 * self._spread / self.complexity.value)

    def _learn_size(self, n_actions: int) -> None:
        """The first loss vector says how many actions there are."""
        if self._sized is None:
            self._sized = self.oracle.clone(n_actions=n_actions)
            if not self._adaptive:
                self._make_fakes()

    def _make_fakes(self) -> None:
        if self._sized is not None:
            self._fakes = self._sized.noise(self._perturbed, self._key, _STREAM, self.noise_memory)

    def _context_set(self) -> list[Any]:
        if self.contexts is not None and self.separator is not None:
            raise ParameterError(
                "Give contexts= (the contexts that may arrive) or separator= (contexts on which "
                "all policies differ), not both."
            )
        name = "contexts" if self.separator is None else "separator"
        given = self.contexts if self.separator is None else self.separator
        given = self.oracle.contexts if given is None else given
        if given is None:
            raise ParameterError(
                f"{type(self.oracle).__name__} does not list its contexts: give contexts= (those "
                "that may arrive) or separator= (contexts on which all policies differ)."
            )
        found = distinct([self.oracle.check_context(x) for x in given])
        if not found:
            raise refuse(self, name, "a non-empty sequence of contexts", given)
        if self.separator is not None and self.oracle.separates(found) is False:
            raise ParameterError(
                f"separator= holds {len(found)} contexts on which two different policies agree, so "
                "it does not separate the class. Add contexts on which they differ."
            )
        return found

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
                f"epsilon='theorem' needs the size of the policy class, which "
                f"{type(self.oracle).__name__} does not know. Use epsilon='adaptive'."
            )
        return size
