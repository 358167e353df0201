"""Wrappers that delay or corrupt the feedback of an environment, or permute its actions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Action, Environment, Feedback, InputTypeError, Round
from hannan.core.rounds import IntArray
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_bounded_range,
    check_choice,
    check_integer,
    check_probability,
    refuse,
)

Revealed = FloatArray | float | None


class Wrapper(Environment):
    """Base class of environments that change the rounds of another environment.

    A wrapper draws from a generator spawned from the generator of the run. So the inner environment
    yields the same rounds as without the wrapper, and nested wrappers do not affect each other.
    """

    def __init__(self, environment: Environment) -> None:
        if not isinstance(environment, Environment):
            raise refuse(self, "environment", "an environment", environment)
        self.environment = environment
        self.n_actions = environment.n_actions
        self.oracle = environment.oracle
        self.oblivious = environment.oblivious  # type: ignore[misc]

    @property
    def horizon(self) -> int | None:
        return self.environment.horizon

    @property
    def contexts(self) -> Sequence[Any] | None:
        return self.environment.contexts

    def meet(self, learner: Any) -> None:
        self.environment.meet(learner)


class WrappedRound(Round):
    """A round of another environment; attributes that are not set here are read from this round.

    The inner round receives the action, because an adaptive adversary reads the action there.
    """

    __slots__ = ("inner",)

    def __init__(self, inner: Round) -> None:
        # The slots of `Round` stay empty on purpose: `__getattr__` then reads the inner round.
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner" or name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def reveal(self, action: Action, feedback: Feedback = Feedback.FULL) -> Revealed:
        return self.inner.reveal(action, feedback)

    @property
    def losses(self) -> FloatArray:
        return self.inner.losses

    @property
    def loss(self) -> float:
        return self.inner.loss

    @property
    def current_loss(self) -> float | None:
        return self.inner.current_loss


class Delayed(Wrapper):
    r"""Delay the feedback of another environment, by a constant or random number of rounds.

    The feedback of a round with delay D arrives after D further rounds, so it may be out of order.
    D is constant, or drawn independently with the same mean: uniformly from 0..2 `delay`, or
    :math:`P(D = n) = p (1 - p)^n` with :math:`p = 1 / (1 + \mathrm{delay})`. Delays of nested
    wrappers add up. The learner must support delayed feedback, by `decide`.

    Parameters
    ----------
    environment
        Environment to wrap.
    delay
        Mean number of rounds until feedback arrives, an integer >= 0. Default 10.
    distribution
        Distribution of the delay: "constant" (default), "uniform" or "geometric".

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.FromArrays(None, [[0, 1]] * 4)
    >>> late = hn.environments.Delayed(world, 2, distribution="uniform")
    >>> [r.delay for r in late.rounds(4, np.random.default_rng(0))]
    [4, 4, 0, 1]
    """

    def __init__(
        self, environment: Environment, delay: int = 10, *, distribution: str = "constant"
    ) -> None:
        super().__init__(environment)
        self.delay = check_integer(self, "delay", delay, 0)
        self.distribution = check_choice(
            self, "distribution", distribution, ("constant", "uniform", "geometric")
        )

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        own_rng = rng.spawn(1)[0]
        for this_round in self.environment.rounds(horizon, rng):
            this_round.delay += self._delay(own_rng)
            yield this_round

    def _delay(self, own_rng: np.random.Generator) -> int:
        if self.distribution == "constant":
            return self.delay
        if self.distribution == "uniform":
            return int(own_rng.integers(2 * self.delay, endpoint=True))
        return int(own_rng.geometric(1.0 / (1.0 + self.delay))) - 1


class Corrupted(Wrapper):
    r"""Corrupt the feedback of some rounds of another environment.

    Each round is corrupted with probability `rate`, until `budget` rounds have been corrupted. The
    loss that counts stays :math:`\ell_t`. In a corrupted round the learner observes one of the
    following:

    * "flip": :math:`\mathrm{low} + \mathrm{high} - \ell_t`, so that good actions look bad,
    * "noise": losses drawn evenly from [low, high],
    * "missing": nothing, and the learner does not learn from the round.

    With losses in [0, 1] the corruption :math:`\sum_t \lVert \tilde\ell_t - \ell_t \rVert_\infty`
    is at most `budget`. The choice of the corrupted rounds is made before the learner acts.

    Parameters
    ----------
    environment, kind
        Environment to wrap, and kind of corruption: "flip" (default), "noise" or "missing".
    rate, budget
        Probability that a round is corrupted, 0.1 by default, and maximum number of corrupted
        rounds, without limit by default. With rate 1 and a budget, the first rounds are corrupted.
    loss_range
        (low, high) of the losses. Default (0, 1).

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.FromArrays(None, [[0, 1]] * 4)
    >>> liar = hn.environments.Corrupted(world, rate=1.0, budget=2)
    >>> [r.reveal(0).tolist() for r in liar.rounds(4, np.random.default_rng(0))]
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    >>> hn.play(learner, liar).outcomes.tolist()
    [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        environment: Environment,
        rate: float = 0.1,
        *,
        kind: str = "flip",
        budget: int | None = None,
        loss_range: LossRange = (0.0, 1.0),
    ) -> None:
        super().__init__(environment)
        self.rate = check_probability(self, "rate", rate)
        self.kind = check_choice(self, "kind", kind, ("flip", "noise", "missing"))
        self.budget = None if budget is None else check_integer(self, "budget", budget, 0)
        self.loss_range = check_bounded_range(self, loss_range)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        own_rng = rng.spawn(1)[0]
        left = horizon if self.budget is None else self.budget
        for this_round in self.environment.rounds(horizon, rng):
            if own_rng.random() < self.rate and left > 0:
                left -= 1
                yield self._corrupt(this_round, own_rng)
            else:
                yield this_round

    def _corrupt(self, this_round: Round, own_rng: np.random.Generator) -> Round:
        if self.kind == "missing":
            return _Missing(this_round)
        low, high = self.loss_range
        if self.kind == "flip":
            return _False(this_round, low + high, None)
        return _False(this_round, 0.0, own_rng.uniform(low, high, size=self.n_actions))


class _Missing(WrappedRound):
    __slots__ = ()

    def reveal(self, action: Action, feedback: Feedback = Feedback.FULL) -> None:
        self.inner.reveal(action, feedback)


class _False(WrappedRound):
    """A round that reveals drawn losses or, without these, `ends` minus the true losses."""

    __slots__ = ("drawn", "ends")

    def __init__(self, inner: Round, ends: float, drawn: FloatArray | None) -> None:
        super().__init__(inner)
        self.ends = ends
        self.drawn = drawn

    def reveal(self, action: Action, feedback: Feedback = Feedback.FULL) -> Revealed:
        shown = self.inner.reveal(action, feedback)
        if shown is None:
            return None
        if not isinstance(shown, float | np.ndarray):
            raise InputTypeError(
                f"Corrupted needs losses that are numbers; got a {type(shown).__name__}. Use "
                "kind='missing' for other losses."
            )
        if self.drawn is None:
            return self.ends - shown
        return Round(None, self.drawn).reveal(action, feedback)


class Drifting(Wrapper):
    r"""Permute the actions of another environment from time to time (*concept* drift).

    Concept i is a permutation :math:`\sigma_i` of the actions: during this concept, the loss of
    action a is the inner environment's loss of :math:`\sigma_i(a)`. Concept 0 is the identity. Each
    further concept is drawn at random, different from the previous one.

    Let :math:`c_1 < c_2 < \dots` be the times of the changes: `changes` of them divide the run into
    equal parts, or there is one every `period` rounds. A change takes `width` rounds, half of them
    before its time. At time :math:`s = t + \frac12`, the middle of round t, the progress of the run
    is

    .. math:: p_t = \sum_i \mathrm{clip}\Bigl(\frac{s - c_i}{\mathrm{width}} + \frac12, 0, 1\Bigr),

    and concept :math:`\lfloor p_t \rfloor` applies, or with probability :math:`p_t - \lfloor p_t
    \rfloor` the next one. So drift is abrupt with `width` 0, gradual with a larger `width`, and
    recurring with `concepts`.

    Parameters
    ----------
    environment, changes
        Environment to wrap, and number of changes, at equal distances. By default 3 changes.
    period
        Number of rounds from one change to the next, instead of `changes`.
    width
        Number of rounds that a change takes. Default 0. If the run is so short that changes would
        overlap, each change lasts until the next.
    concepts
        Number of concepts that alternate. By default every change brings a new concept.

    Examples
    --------
    >>> import hannan as hn
    >>> digits = hn.environments.Classification.bundled("digits")
    >>> permuted = hn.environments.Drifting(digits, changes=3)

    Two concepts that take turns every third round:

    >>> world = hn.environments.FromArrays(None, [[0, 1]] * 9)
    >>> world = hn.environments.Drifting(world, period=3, concepts=2)
    >>> [r.reveal(0, hn.Feedback.BANDIT) for r in world.rounds(9, np.random.default_rng(0))]
    [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        environment: Environment,
        changes: int | None = None,
        *,
        period: int | None = None,
        width: int = 0,
        concepts: int | None = None,
    ) -> None:
        super().__init__(environment)
        if changes is not None and period is not None:
            raise refuse(self, "changes", f"left out where period={period!r} is given", changes)
        self.changes = None if changes is None else check_integer(self, "changes", changes, 0)
        self.period = None if period is None else check_integer(self, "period", period, 1)
        self.width = check_integer(self, "width", width, 0)
        if period is not None and width > period:
            raise refuse(self, "width", f"at most period={period}", width)
        self.concepts = None if concepts is None else check_integer(self, "concepts", concepts, 2)
        if self.n_actions < 2:
            raise refuse(self, "environment", "one with at least two actions", environment)
        # 12! exceeds any useful number of concepts.
        if concepts is not None and concepts > math.factorial(min(self.n_actions, 12)):
            raise refuse(self, "concepts", f"at most the {self.n_actions}! orders", concepts)
        self._changes = 3 if self.changes is None else self.changes
        self._places: IntArray = np.arange(self.n_actions)

    def meet(self, learner: Any) -> None:
        """Pass the learner to the inner environment, with its actions renamed."""
        asked = callable(getattr(learner, "would_play", None))
        self.environment.meet(_Translated(learner, self) if asked else learner)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        schedule = self._schedule(horizon, rng.spawn(1)[0])
        # The concept of a round is chosen before the round is made: an inner adversary may query
        # the learner's next action, and the answer must use the names of that concept.
        inner = self.environment.rounds(horizon, rng)
        for places, this_round in zip(schedule, inner, strict=False):
            yield _Permuted(this_round, places)

    def _schedule(self, horizon: int, own_rng: np.random.Generator) -> Iterator[IntArray]:
        """Yield the concept of each round."""
        orders = self._orders(own_rng)
        holding, coming, number = next(orders), next(orders), 0
        for t in itertools.count():
            position = self._position(t, horizon)
            while number < math.floor(position):
                holding, coming, number = coming, next(orders), number + 1
            ahead = position > number and own_rng.random() < position - number
            self._places = coming if ahead else holding
            yield self._places

    def _position(self, t: int, horizon: int) -> float:
        """Return the progress p_t, the number of completed changes."""
        # Number of equal parts, and the number of rounds in all of them.
        parts, length = 1, self.period
        if length is None:
            parts, length = self._changes + 1, horizon
        if self.width == 0:
            return t * parts // length
        nearest = ((2 * t + 1) * parts + length) // (2 * length)
        if self.period is None:
            nearest = min(nearest, self._changes)
        if nearest == 0:
            return 0.0
        width = min(self.width, length / parts)
        done = (t + 0.5 - nearest * length / parts) / width + 0.5
        return nearest - 1 + min(max(done, 0.0), 1.0)

    def _orders(self, own_rng: np.random.Generator) -> Iterator[IntArray]:
        """Yield the order of the actions in each concept."""
        known: list[IntArray] = [np.arange(self.n_actions)]
        yield known[0]
        while self.concepts is None or len(known) < self.concepts:
            drawn = own_rng.permutation(self.n_actions)
            if not any(np.array_equal(drawn, old) for old in known):
                known = [drawn] if self.concepts is None else [*known, drawn]
                yield drawn
        yield from itertools.cycle(known)


class _Permuted(WrappedRound):
    """A round whose action a is action `places[a]` of the inner round."""

    __slots__ = ("places",)

    def __init__(self, inner: Round, places: IntArray) -> None:
        super().__init__(inner)
        self.places = places
        if inner.current is not None:
            self.current = _renamed(inner.current, np.argsort(places))
        if inner.available is not None:
            self.available = np.sort(np.argsort(places)[inner.available])

    def reveal(self, action: Action, feedback: Feedback = Feedback.FULL) -> Revealed:
        self.action = action
        if isinstance(action, int | np.integer):
            shown = self.inner.reveal(int(self.places[action]), feedback)
        else:
            chosen = self.places[action]
            order = np.argsort(chosen)
            shown = self.inner.reveal(chosen[order], feedback)
            if feedback is Feedback.BANDIT and isinstance(shown, np.ndarray):
                # The chosen elements have another order in the inner round.
                return shown[np.argsort(order)]
        return shown if shown is None or feedback is Feedback.BANDIT else self._moved(shown)

    @property
    def losses(self) -> FloatArray:
        return self._moved(self.inner.losses)

    def _moved(self, losses: Any) -> FloatArray:
        if not isinstance(losses, np.ndarray):
            raise InputTypeError(
                f"Drifting needs losses that are numbers, because it permutes them; got a "
                f"{type(losses).__name__}."
            )
        return losses[self.places]


@dataclass(frozen=True)
class _Translated:
    """A learner whose answers to `would_play` use the action names of the inner environment."""

    learner: Any
    world: Drifting

    def would_play(self, context: Any = None, copies: int = 1, seed: int = 0) -> list[Action]:
        """Return the actions that copies of the learner would play now."""
        found = self.learner.would_play(context, copies, seed)
        return [_renamed(action, self.world._places) for action in found]


def _renamed(action: Action, names: IntArray) -> Action:
    """Return an action, or a set of elements, under other names."""
    return int(names[action]) if isinstance(action, int | np.integer) else np.sort(names[action])
