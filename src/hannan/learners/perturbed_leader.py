"""The perturbed leader: total losses so far, with fake outcomes added."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hannan.bounds import Complexity, kappa, laplace_complexity, out_of_order_factor
from hannan.core import Action, Noise, Objective, Oracle, ParameterError
from hannan.core.oracle import WITHOUT_NOISE, Draw, Timed, extended, foresee
from hannan.core.rounds import Choice, IntArray
from hannan.core.state import Count, Flag, NoiseKey, Number, Object, OneOf, Part, State, TupleOf
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.kernels.noise import uniforms
from hannan.learners.context_set import ContextSet
from hannan.learners.hint import AdvisedRound

_STREAM = 0  # `laplace_complexity` uses another one
_COINS = 2
_AT_ONCE = 64  # uniform numbers drawn per call, because a call takes longer than many of them
_HIDDEN_STREAM = 3


class NoisyRound(AdvisedRound):
    """A round that was decided under a draw of fake outcomes."""

    draw: Draw
    draws: int = 0
    """Number of draws used by the current call of the learner."""
    hidden_draw: int | None = None
    """Number of its hidden noise draw, or None: see `PerturbedLeader.hidden_draw`."""
    hidden_choice: Action = -1
    """The leader's choice under that draw, given the past at the decision."""

    stored = State(
        stored_draw=TupleOf(Count(), Number(low=0.0)),
        hidden_draw=Count() | None,
        hidden_choice=(Choice() | OneOf(-1)).where(
            lambda self, choice: self.hidden_draw is None or type(choice) is not int or choice >= 0
        ),
    )

    @property
    def stored_draw(self) -> tuple[int, float]:
        """Number and scale of its draw: noise is a function of its key, which the leader has."""
        return self.draw.number, self.draw.scale

    @stored_draw.setter
    def stored_draw(self, draw: tuple[int, float]) -> None:
        self.draw = Draw(None, *draw)


class Past(NamedTuple):
    """Total losses as one round uses them: with `plus` added, among the available actions."""

    total: Objective
    plus: FloatArray | None = None
    available: IntArray | None = None

    def action(self, context: Any, draw: Draw) -> Action:
        """Return the leader's action under a noise draw."""
        return self.total.action(context, draw, self.plus, self.available)

    def chosen(self, context: Any, draw: Draw, count: int) -> NDArray[np.bool_]:
        """Return which elements the leader chooses under each of several draws, [count, K]."""
        return self.total.chosen(context, draw, count, self.plus, self.available)

    def distribution(self, context: Any, draw: Draw) -> FloatArray | None:
        """Return the probability of each element, or None if it is unknown."""
        return self.total.distribution(context, draw, self.plus, self.available)

    def inclusion(self, context: Any, elements: IntArray, draw: Draw) -> FloatArray | None:
        """Return the probability of some elements, or None if only draws can estimate it."""
        return self.total.inclusion(context, elements, draw, self.plus, self.available)

    def weights(
        self, context: Any, elements: IntArray, draw: Draw, limit: int, successes: int
    ) -> tuple[FloatArray, int]:
        """Return importance weights of elements by resampling, and the number of draws used."""
        given = elements, draw, limit, successes, self.plus, self.available
        return self.total.weights(context, *given)


class Outlook(NamedTuple):
    """The inputs of the next decision: past, noise draw, and hint with its share."""

    context: Any
    past: Past
    draw: Draw
    advice: Action | None = None
    """The hint, an action that the predictor recommends, or None."""
    share: float = 0.0
    """Probability with which the learner follows the hint."""


class PerturbedLeader(Stored):
    r"""M({z} ∪ y_1..t): the running total of losses, and Laplace noise on X under one key.

    Attributes
    ----------
    oracle
        Policy class with its optimiser; it gets its number of actions as soon as it is known.
    total
        Total losses so far.
    n_actions
        Number of actions K, or None while it is unknown.
    number
        Number of the next noise draw. The n-th draw is a function of the key and n, so actions do
        not depend on when noise is generated.
    key
        Key of all random numbers.
    kappa
        κ of the shift lemma on X.
    """

    stored = State(
        X=Part(),
        total=Part(),
        number=Count(),
        hidden_draws=Count(),
        found=Object(Complexity) | None,
        owed=Count(),
        key=NoiseKey(),
        nonnegative=Flag(),
        n_actions=(Count() | None).where(lambda self, n_actions: self._could_have(n_actions)),
    )

    def __init__(
        self,
        oracle: Oracle,
        X: ContextSet,
        total: Objective,
        key: np.uint64,
        seed: int | None,
        memory: int,
        *,
        nonnegative: bool,
        fresh: bool = True,
    ) -> None:
        self.oracle = oracle
        self.X = X
        self.total = total
        self.number = 0
        self.noise: Noise | None = None
        self.hidden_draws = 0
        self._hidden_noise: list[Noise | None] = [None, None]
        self.found: Complexity | None = None  # G, once a round has needed it
        self.owed = 0  # oracle calls for G that no round has counted yet
        self._estimate: Complexity | None = None
        self.key = key
        self._coins: list[float] = []
        self._tossed = -1  # the block of draws to which the uniform numbers belong
        self._seed = seed
        self._memory = memory
        self.nonnegative = nonnegative
        self._fresh = fresh
        # With items: the largest number of items in a round so far, at least two.
        self.n_actions = 2 if oracle.takes_items else oracle.n_actions
        self._size()

    def _could_have(self, n_actions: int | None) -> bool:
        known = self.oracle.n_actions
        if n_actions is None:
            return known is None
        return self.oracle.takes_items or n_actions == (known or self.total.n_actions)

    # Draws ----------------------------------------------------------------------------------

    def draw(self, scale: float, ahead: int = 0) -> Draw:
        """Return the next noise draw, or the one `ahead` draws later; see `advance`."""
        # At scale 0 the result must not depend on whether noise exists already, because some
        # totals prepare for the noise that they get.
        return Draw(self.noise if scale else None, self.number + ahead, scale)

    def again(self, draw: Draw) -> Draw:
        """Return the draw of a round with its noise, which saved files do not hold."""
        return draw if draw.noise is not None else Draw(self.noise, draw.number, draw.scale)

    def uniform(self, number: int) -> float:
        """Return the uniform number in [0, 1) of a draw, independent of all noise."""
        block, place = divmod(number, _AT_ONCE)
        if block != self._tossed:
            coins = np.empty(_AT_ONCE)
            uniforms(self.key, _COINS, block * _AT_ONCE, coins)
            self._coins, self._tossed = coins.tolist(), block
        return self._coins[place]

    def hidden_draw(self, number: int, scale: float, reader: int = 1) -> Draw:
        """Return a hidden noise draw: it only measures instability, and no action depends on it.

        For a round with delayed feedback, it compares the leader at the decision (reader 0) with
        the leader when the feedback arrives (reader 1). The draw that chose the action cannot
        serve: the delay may depend on the action. `hidden_draws` is the number of the next draw.
        """
        # Each reader has a separate object with the same noise: it reads the draws nearly in
        # order, so each block of noise is generated once.
        noises = self._hidden_noise
        if scale and noises[reader] is None:
            noises[reader] = self.oracle.noise(
                self.X.points, self.key, _HIDDEN_STREAM, self._memory
            )
        return Draw(noises[reader] if scale else None, number, scale)

    def hidden_choice(self, opened: NoisyRound, past: Past, number: int) -> Action:
        """Return the leader's choice under a hidden noise draw, given the past at the decision."""
        return past.action(opened.context, self.hidden_draw(number, opened.draw.scale, 0))

    def draw_hidden_noise(self, opened: NoisyRound, past: Past) -> int:
        """Store in a round the choice under the next hidden draw; return the oracle calls used."""
        opened.hidden_draw = self.hidden_draws
        opened.hidden_choice = self.hidden_choice(opened, past, self.hidden_draws)
        return 1

    def advance(self, used: int) -> None:
        """Advance to fresh draws after a round has used `used` draws."""
        if self._fresh:
            self.number += used

    def put_noise(self) -> bool:
        """Put noise on X if both X and K are known; return whether there is noise."""
        if self.noise is None and self.X.points and self.n_actions is not None:
            self.noise = self.oracle.noise(self.X.points, self.key, _STREAM, self._memory)
        return self.noise is not None

    def limit_noise(self, memory: int) -> None:
        """Generate at most `memory` bytes of noise in advance; call it while no draw is in use."""
        self._memory = memory
        self._hidden_noise = [None, None]
        if self.noise is not None:
            self.noise = None
            self.put_noise()

    # The past -------------------------------------------------------------------------------

    def past(self, opened: NoisyRound, plus: FloatArray | None = None) -> Past:
        """Return the total losses as a round uses them, with `plus` added.

        If substitutes replace unavailable actions, leaders return their choice before this.
        """
        return Past(self.total, plus, opened.plays if self.total.scored else None)

    def settle(self, opened: NoisyRound, losses: Any, draw: Draw) -> Action:
        """Add a round; return the new leader's action on its context under a draw."""
        total = self.total
        return total.settle(opened.context, losses, draw, opened.plays if total.scored else None)

    def foresee(self, opened: NoisyRound, losses: Any, draw: Draw) -> Action:
        """Return the result of `settle` without adding the round."""
        some = opened.plays if self.total.scored else None
        return foresee(self.total, opened.context, losses, draw, some)

    def stability(self, width: float, scale: float) -> float:
        r"""Return a bound on the instability cost of a round whose losses have this width.

        By the shift lemma it is :math:`\min(v, \epsilon\kappa v^2)`, v the width; κ and v must
        belong together.
        """
        return self.kappa * width * width / scale if self.kappa * width < scale else width

    def late_stability(self, width: float, since: float, scale: float, decided: float) -> float:
        r"""Return the bound of `stability` for a round with feedback at a larger scale.

        `since` is the sum of the widths of all rounds with feedback since its decision, including
        its own. By the combined lemma the leader stays with a probability of at least
        :math:`1 - \epsilon\kappa \cdot \text{since} - C (1 - s/\sigma)`.
        """
        if scale == 0.0:
            return width
        C = out_of_order_factor(len(self.X.points), self.n_actions or 1, self.oracle.max_chosen)
        moved = self.kappa * since / scale + C * (1.0 - decided / scale)
        return width * min(1.0, moved)

    # G --------------------------------------------------------------------------------------

    @property
    def G(self) -> float:
        """Laplace complexity of the class on X; 0 while X is empty. Adds its calls to `owed`."""
        found = self.found
        if found is None:
            if not self.X.points:
                return 0.0
            found = self.found = self.complexity()
            self.owed += found.oracle_calls
        return found.value

    def get_ready(self) -> None:
        """Compute G and noise with the oracle now, so that setting ε from them cannot fail."""
        if (self.noise is None or self.found is None) and self.G > 0.0:
            self.put_noise()

    def complexity(self) -> Complexity:
        """Return G with its standard error, for statements; counts no oracle calls."""
        if self.found is not None:
            return self.found
        if self.n_actions is None:
            raise ParameterError(
                f"{type(self.oracle).__name__} does not know its number of actions yet. Pass "
                "n_actions= to it, or finish a round first."
            )
        if self._estimate is None:
            self._estimate = laplace_complexity(
                self.oracle, self.X.points, seed=self._seed, memory=self._memory
            )
        return self._estimate

    @property
    def sizes(self) -> dict[str, Any]:
        """Sizes of the class on X, as keyword arguments of functions in `bounds`."""
        assert self.n_actions is not None
        return {
            "d": len(self.X.points),
            "n_actions": max(self.n_actions, self.oracle.max_chosen),
            "m": self.oracle.max_chosen,
            "setting": self.X.setting,
            "antichain": self.oracle.antichain,
        }

    def collect(self) -> int:
        """Return the uncounted oracle calls for G, and reset them to 0."""
        owed, self.owed = self.owed, 0
        return owed

    def share_complexity(self, other: PerturbedLeader) -> None:
        """Take G from a leader of the same class on the same X, if it has been computed."""
        if self.found is None and not self.X.takes_new_contexts:
            self.found = other.found

    # Copies -----------------------------------------------------------------------------------

    def sized(self, n_actions: int) -> Self:
        """Return this leader with K known: a copy, or itself if K was known before."""
        return self if self.n_actions is not None else self._with(owed=0, n_actions=n_actions)

    def seeing(self, context: Any) -> Self | None:
        """Return a copy of this leader on the renewed X if X is due for renewal, else None.

        X changes only between rounds, because weights must be drawn under the action's noise.
        """
        X = self.X.renewed(context)
        if X is None:
            return None
        return self._with(X=X, owed=0, noise=None, found=None, _estimate=None)

    def reseeded(self, key: np.uint64) -> Self:
        """Return a copy with the same past under other noise."""
        twin = copy.copy(self)
        twin.key, twin._tossed = key, -1
        twin._hidden_noise = [None, None]
        if self.noise is not None:
            twin.noise = None
            twin.put_noise()
        return twin

    def extended(self, oracle: Oracle) -> Self:
        """Return a copy with the same past and key for a class with more actions."""
        past = {"X": self.X.of(oracle), "total": extended(self.total, oracle)}
        sizes = {"oracle": oracle, "n_actions": oracle.n_actions}
        twin = self._with(**past, **sizes, noise=None, found=None, _estimate=None)
        if self.noise is not None:
            twin.put_noise()
        return twin

    def _with(self, **changes: Any) -> Self:
        """Return a copy with other attributes and the κ that belongs to them."""
        twin = copy.copy(self)
        vars(twin).update(changes, _hidden_noise=[None, None])
        twin._size()
        return twin

    def expect_nonnegative(self) -> None:
        """Assume that losses are never negative, which improves κ."""
        self.nonnegative = True
        self._size()

    def _size(self) -> None:
        unsized = self.oracle.n_actions is None and not self.oracle.takes_items
        if self.n_actions is not None and unsized:
            self.oracle = self.oracle.clone(n_actions=self.n_actions)
        self.kappa = kappa(
            setting=self.X.setting,
            d=max(1, len(self.X.points)),
            n_actions=self.n_actions or 1,
            m=self.oracle.max_chosen,
            nonnegative=self.nonnegative,
            antichain=self.oracle.antichain,
        )

    def _restored(self) -> None:
        self._size()


def distribution_of(past: Past, opened: NoisyRound) -> FloatArray | None:
    """Return the probability of each element in a round with this past, or None if unknown."""
    if opened.draw.scale == 0.0:
        distribution: Any = past.chosen(opened.context, WITHOUT_NOISE, 1)[0].astype(np.float64)
    else:
        distribution = past.distribution(opened.context, opened.draw)
    return None if distribution is None else opened.mixed(_played(distribution, past, opened))


def replay(
    leader: PerturbedLeader, past: Past, opened: NoisyRound, copies: int, rng: np.random.Generator
) -> list[Action]:
    """Return the actions of a round under the first draws of other noise."""
    twin = leader.reseeded(rng.integers(2**64, dtype=np.uint64))
    K = len(opened.context) if leader.oracle.takes_items else leader.n_actions or 1
    actions: list[Action] = []
    for n in range(copies):
        chosen = opened.without_base(twin.uniform(n), K) if opened.mixes else None
        if chosen is None:
            opened.play(past.action(opened.context, Draw(twin.noise, n, opened.draw.scale)))
            chosen = opened.action
        actions.append(chosen)
    return actions


def shares(
    leader: PerturbedLeader, past: Past, opened: NoisyRound, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return how often each element is chosen under the draws of `replay`, in one pass."""
    noise = leader.reseeded(rng.integers(2**64, dtype=np.uint64)).noise
    found = past.chosen(opened.context, Draw(noise, 0, opened.draw.scale), draws).mean(axis=0)
    return opened.mixed(_played(found, past, opened))


def _played(distribution: FloatArray, past: Past, opened: NoisyRound) -> FloatArray:
    """Return the distribution of the action, given the distribution of the leader's choice."""
    if opened.plays is None or past.total.scored:
        return distribution
    return np.bincount(opened.plays, distribution, len(distribution)).astype(np.float64)


def starting_total(oracle: Oracle, X: ContextSet, spread: float | None = None) -> Objective:
    """Return empty totals that are prepared for X.

    With `spread`, the spread of the losses, for a self-tuned learner: the class may prefer some
    policies.
    """
    if spread is not None and isinstance(oracle, Timed):
        return oracle.start(X.points, spread)
    total = oracle.objective()
    if X.points:
        total.prepare(X.points)
    return total
