"""Concept drift: actions change their meaning."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, Environment, Feedback, InputTypeError, Round
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.environments._wrapper import WrappedRound, Wrapper

Places = NDArray[np.intp]


class Drifting(Wrapper):
    r"""Another environment whose actions swap places now and then: its *concept* changes.

    Concept i is a permutation :math:`\sigma_i` of the actions: while it holds, action a costs what
    the environment inside charges for :math:`\sigma_i(a)`. Concept 0 is the identity; each further
    one is drawn at random, different from the one before.

    Let :math:`c_1 < c_2 < \dots` be the places of the changes: `changes` of them cut the game
    into equal parts, or else there is one every `period` rounds. A change takes `width` rounds,
    half of them before its place. At time :math:`s = t + \frac12`, the middle of round t, the game
    has come to

    .. math:: p_t = \sum_i \mathrm{clip}\Bigl(\frac{s - c_i}{\mathrm{width}} + \frac12, 0, 1\Bigr),

    and concept :math:`\lfloor p_t \rfloor` holds, or with probability
    :math:`p_t - \lfloor p_t \rfloor` the next one. So drift is abrupt with `width` 0, gradual with
    a larger one, and recurring with `concepts`.

    Parameters
    ----------
    environment
        What is played.
    changes
        How many changes, at equal distances; 3 by default.
    period
        In place of `changes`: rounds from one change to the next.
    width
        Rounds that a change takes. In games so short that changes would overlap, each lasts until
        the next.
    concepts
        How many concepts take turns; by default every change brings a new one.

    Examples
    --------
    >>> import hannan as hn
    >>> digits = hn.environments.Classification.bundled("digits")
    >>> permuted = hn.environments.Drifting(digits, changes=3)

    Two concepts that take turns every third round:

    >>> world = hn.environments.FromArrays(None, [[0, 1]] * 9)
    >>> world = hn.environments.Drifting(world, period=3, concepts=2)
    >>> [r.reveal(0, hn.Feedback.SEMI) for r in world.rounds(9, np.random.default_rng(0))]
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
            raise refuse(self, "environment", "one with two actions at least", environment)
        # 12! concepts are more than enough.
        if concepts is not None and concepts > math.factorial(min(self.n_actions, 12)):
            raise refuse(self, "concepts", f"at most the {self.n_actions}! orders", concepts)
        self._changes = 3 if self.changes is None else self.changes
        self._places: Places = np.arange(self.n_actions)

    def meet(self, learner: Any) -> None:
        """Introduce the learner to the environment inside, its actions renamed."""
        asked = callable(getattr(learner, "would_play", None))
        self.environment.meet(_Translated(learner, self) if asked else learner)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        schedule = self._schedule(horizon, rng.spawn(1)[0])
        # The concept of a round is chosen before the round is made: an adversary inside may query
        # what the learner would play, and the answer must use the names of that concept.
        inner = self.environment.rounds(horizon, rng)
        for places, this_round in zip(schedule, inner, strict=False):
            yield _Permuted(this_round, places)

    def _schedule(self, horizon: int, own_rng: np.random.Generator) -> Iterator[Places]:
        """The concept of each round."""
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
        """p_t, how many changes have taken place."""
        parts, length = self._parts(horizon)
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

    def _parts(self, horizon: int) -> tuple[int, int]:
        """The number of equal parts, and the rounds in all of them."""
        return (self._changes + 1, horizon) if self.period is None else (1, self.period)

    def _orders(self, own_rng: np.random.Generator) -> Iterator[Places]:
        """The order of the actions in one concept after another."""
        known: list[Places] = [np.arange(self.n_actions)]
        yield known[0]
        while self.concepts is None or len(known) < self.concepts:
            drawn = own_rng.permutation(self.n_actions)
            if not any(np.array_equal(drawn, old) for old in known):
                known = [drawn] if self.concepts is None else [*known, drawn]
                yield drawn
        yield from itertools.cycle(known)


class _Permuted(WrappedRound):
    """A round whose action a is action `places[a]` of the round inside."""

    __slots__ = ("places",)

    def __init__(self, inner: Round, places: Places) -> None:
        super().__init__(inner)
        self.places = places
        if inner.current is not None:
            renamed = np.argsort(places)[inner.current]
            self.current = int(renamed) if renamed.ndim == 0 else np.sort(renamed)
        if inner.available is not None:
            self.available = np.sort(np.argsort(places)[inner.available])

    def reveal(
        self, action: Action, feedback: Feedback = Feedback.FULL
    ) -> FloatArray | float | None:
        self.action = action
        if isinstance(action, int | np.integer):
            shown = self.inner.reveal(int(self.places[action]), feedback)
        else:
            chosen = self.places[action]
            order = np.argsort(chosen)
            shown = self.inner.reveal(chosen[order], feedback)
            if feedback is Feedback.SEMI and isinstance(shown, np.ndarray):
                # The chosen elements are in another order inside.
                return shown[np.argsort(order)]
        return shown if shown is None or feedback is Feedback.SEMI else self._moved(shown)

    @property
    def losses(self) -> FloatArray:
        return self._moved(self.inner.losses)

    def _moved(self, losses: Any) -> FloatArray:
        if not isinstance(losses, np.ndarray):
            raise InputTypeError(
                f"Drifting changes the order of losses that are numbers; got a "
                f"{type(losses).__name__}."
            )
        return losses[self.places]


class _Translated:
    """A learner whose answers to `would_play` use the action names of the environment inside."""

    def __init__(self, learner: Any, world: Drifting) -> None:
        self.learner = learner
        self.world = world

    def would_play(self, context: Any = None, copies: int = 1, seed: int = 0) -> list[Action]:
        """What copies of the learner would play now."""
        places = self.world._places
        found = self.learner.would_play(context, copies, seed)
        return [
            int(places[a]) if isinstance(a, int | np.integer) else np.sort(places[a]) for a in found
        ]
