"""Follow the perturbed leader with exponential noise."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from hannan.core import (
    Action,
    ContextError,
    Learner,
    Objective,
    OpenRound,
    Oracle,
    ParameterError,
    Policy,
)
from hannan.core.arrays import Contexts
from hannan.core.oracle import WITHOUT_NOISE, as_policies, with_rounds
from hannan.core.policy import loss_of
from hannan.core.state import Count, Part, State
from hannan.core.validation import (
    FloatArray,
    check_bounded_range,
    check_integer,
    check_losses,
    check_positive,
    check_seed,
    refuse,
)
from hannan.perturbation import seed_key

_BLOCK = 2**15  # variates sampled at a time, at least those of one round


class KalaiVempala(Learner):
    r"""Follow the leader after adding fresh exponential noise to all elements in every round.

    Let :math:`\xi` be independent and exponential with mean 1, for every context x of a set X and
    every element. Round t plays :math:`\pi_t(x_t)`,

    .. math:: \pi_t = \arg\min_{\pi \in \Pi} \sum_{s<t} \langle \pi(x_s), \ell_s \rangle
              - \frac1{\epsilon_t} \sum_{x \in X} \langle \pi(x), \xi_x - 1 \rangle .

    The means are subtracted, so that larger sets are not favoured if sizes differ. `ContextFTPL`
    with a number for `epsilon` is the two-sided version, for signed costs.

    Parameters
    ----------
    oracle
        Policy class with its optimiser (oracle); losses are linear.
    contexts
        Set X of the contexts that may arrive. Default: the contexts of the oracle.
    epsilon
        Inverse size of the noise, > 0. Default None: :math:`\epsilon = \sqrt{H/T}/B` if the horizon
        T is given, else :math:`\epsilon_t = \sqrt{H/2t}/B`. B is the largest difference between the
        losses of two actions in a round, and H is defined below, about log K for K experts.
    horizon
        Number of rounds T, for `epsilon`. Default None.
    seed, loss_range
        As in `Hedge`.

    Guarantee
    ---------
    Assume an adaptive adversary, an exact oracle, and either losses that are not negative or
    actions of equal size. Then the expected regret is at most :math:`\epsilon B^2 T + H/\epsilon`.
    This is :math:`2B\sqrt{HT}` tuned for T, and :math:`2B\sqrt{2HT}` after every T with the
    default, with :math:`H = E \max_\pi \sum_x \langle \pi(x), \xi_x - 1 \rangle \le \sqrt{2dm \log
    N} + \log N`. A context outside X raises `ContextError`. There is no guarantee for signed losses
    of actions of different sizes, because the noise has one sign. [kalai2005]

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.baselines.KalaiVempala(hn.oracles.AllPolicies(1, 3), seed=0)
    >>> for _ in range(300):
    ...     action = learner.act()
    ...     learner.update([1.0, 0.0, 1.0])
    >>> learner.act()
    1

    References
    ----------
    [kalai2005]
    """

    oracle: Oracle

    stored = State(_history=Part(), _noise_key=Count(2**64), _draws=Count())

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        epsilon: float | None = None,
        horizon: int | None = None,
        seed: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        super().__init__()
        self.oracle = as_policies(self, oracle)
        self.contexts = contexts
        self.epsilon = None if epsilon is None else check_positive(self, "epsilon", epsilon)
        self.horizon = None if horizon is None else check_integer(self, "horizon", horizon, 1)
        self.seed = check_seed(self, seed)
        self.loss_range = loss_range
        self._range = check_bounded_range(self, loss_range)
        self._perturbed = self._context_set()
        self._arrivals = frozenset(map(oracle.key, self._perturbed))
        self._history = oracle.objective()
        self._history.prepare(self._perturbed)
        self._H = exponential_complexity(oracle, self._perturbed)
        self._width = _width(oracle, *self._range)
        self._K = oracle.n_actions or 0
        self._noise_key = int(seed_key(seed))
        self._draws = 0  # number of noise draws so far, one per action
        self._rows = max(1, _BLOCK // (len(self._perturbed) * self._K))
        self._block: tuple[int, FloatArray] = (-1, np.empty(0))

    def best_policy(self) -> Policy:
        """Return the leader without noise."""
        return self._history.leader()

    def regret_bound(self) -> float | None:
        """Return εB²T + H/ε; None if the guarantee does not apply or feedback was delayed."""
        signed = self._range[0] < 0.0 and not self.oracle.fixed_size
        if not self.oracle.exact or signed or not self._ledger.immediate:
            return None
        T, H, B = self.rounds, self._H, self._width
        if T == 0 or H == 0.0:
            return 0.0
        if self.epsilon is None and self.horizon is None:
            return 2.0 * B * math.sqrt(2.0 * H * T)
        scale = self._scale()
        return B * B * T / scale + H * scale

    def _act(self, opened: OpenRound) -> None:
        fakes = self._noise(self._draws) * self._scale()
        past = with_rounds(self._history, self._perturbed, fakes)
        opened.play(past.action(opened.context, WITHOUT_NOISE))
        opened.calls += 1

    def _played(self, opened: OpenRound) -> None:
        self._draws += 1

    def _update(self, opened: OpenRound, loss: Any) -> None:
        self._history.add(opened.context, self._check(loss))

    def _reseeded(self, rng: np.random.Generator) -> Self:
        twin = copy.copy(self)
        twin._noise_key = int(rng.integers(2**64, dtype=np.uint64))
        twin._rows = 1
        twin._block = (-1, np.empty(0))
        return twin

    def _total(self) -> Objective:
        return self._history

    def loss_suffered(self, action: Action, loss: Any) -> float:
        return loss_of(self._check(loss), action)

    def _check(self, loss: Any) -> FloatArray:
        return check_losses(loss, self.oracle.n_actions, self._range)[0]

    def check_context(self, context: Any, ahead: int = 0) -> Any:
        context = super().check_context(context, ahead)
        if self.oracle.key(context) not in self._arrivals:
            raise ContextError(
                f"Context {context!r} is not one of the {len(self._arrivals)} declared contexts. "
                "Add it to contexts=."
            )
        return context

    def _scale(self) -> float:
        """Return 1/ε of the next round."""
        if self.epsilon is not None:
            return 1.0 / self.epsilon
        if self._H == 0.0:  # one policy
            return 0.0
        T = 2.0 * (self.rounds + 1) if self.horizon is None else self.horizon
        return self._width * math.sqrt(T / self._H)

    def _noise(self, draw: int) -> FloatArray:
        """Return 1 - ξ for an action, [d, K]: a function of the seed and the action's number."""
        number, row = divmod(draw, self._rows)
        if self._block[0] != number:
            bits = np.random.Philox(key=self._noise_key, counter=[0, 0, 0, number])
            rng = np.random.Generator(bits)
            shape = self._rows, len(self._perturbed), self._K
            self._block = number, 1.0 - rng.standard_exponential(shape)
        noise: FloatArray = self._block[1][row]
        return noise

    def _context_set(self) -> list[Any]:
        who = type(self.oracle).__name__
        if self.oracle.n_actions is None:
            raise ParameterError(
                f"KalaiVempala needs the number of actions: pass n_actions= to {who}."
            )
        known = self.oracle.contexts if self.contexts is None else self.contexts
        if known is None:
            raise ParameterError(
                f"{who} does not list its contexts: pass contexts=, the contexts that may arrive."
            )
        if not (contexts := self.oracle.check_contexts(known)):
            raise refuse(self, "contexts", "a non-empty sequence of contexts", self.contexts)
        return contexts


def exponential_complexity(oracle: Oracle, contexts: Sequence[Any]) -> float:
    r"""Return an upper bound on :math:`E \max_\pi \sum_x \langle \pi(x), \xi_x - 1 \rangle`.

    This is the smaller of two bounds: :math:`\sqrt{2dm \log N} + \log N`, by the moments of the
    exponential distribution, and the value for all maps to actions (sets: to all sets).

    >>> import hannan as hn
    >>> exponential_complexity(hn.oracles.AllPolicies(6, 2), range(6))
    3.0
    """
    d, K, m = len(contexts), oracle.n_actions, oracle.max_chosen
    assert K is not None
    each = K / math.e if m > 1 else sum(1.0 / k for k in range(2, K + 1))
    log_size = oracle.log_size(contexts)
    if log_size is None:
        return d * each
    return min(d * each, math.sqrt(2.0 * d * m * log_size) + log_size)


def _width(oracle: Oracle, low: float, high: float) -> float:
    """Return the largest loss difference of two actions in a round (if sizes differ, also to 0)."""
    if oracle.fixed_size:
        return oracle.max_chosen * (high - low)
    return oracle.max_chosen * (max(high, 0.0) - min(low, 0.0))
