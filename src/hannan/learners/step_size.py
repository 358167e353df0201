"""ε, round by round; noise has size 1/ε, the *scale*."""

from __future__ import annotations

import copy
import math
from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar, Self

from hannan.core import ParameterError
from hannan.core.params import Parametrised
from hannan.core.state import Number, State
from hannan.core.validation import check_positive, refuse
from hannan.learners.perturbed_leader import PerturbedLeader


class StepSize(Parametrised, ABC):
    """The scale 1/ε of the noise; 0 while there is none."""

    measures: ClassVar[bool] = False  # whether it asks what instability cost in a round
    schedules: ClassVar[bool] = False  # whether it asks for the variance of a round to come

    stored = State(scale=Number(low=0.0))

    def __init__(self) -> None:
        self.scale = 0.0

    def start(self, leader: PerturbedLeader) -> None:
        """Before the first round, and whenever X or K has changed."""

    def before(self, leader: PerturbedLeader, variance: float) -> float:
        """The scale of a round to come whose loss may have this variance; nothing changes."""
        return self.scale

    def played(self, leader: PerturbedLeader, scale: float, variance: float) -> None:
        """The round has been played at this scale."""

    def after(self, leader: PerturbedLeader, instability: float, late: bool = False) -> None:
        """The round has been learned, and instability cost so much in it.

        In a round that others have out_of_order, a `late` one, that may be less than nothing; in
        others only inexact oracles and rounding make it so, and then it counts as nothing.
        """

    def extended(self, leader: PerturbedLeader) -> Self:
        """The rule for a leader with more actions, from where this one is."""
        twin = copy.copy(self)
        twin.start(leader)
        return twin

    def prepare(self, leader: PerturbedLeader, instability: float) -> None:
        """Ask the oracle now for what `after` and `start` will need, while nothing has changed."""
        leader.put_noise()

    def rescale(self, factor: float) -> None:
        """Losses are measured in another unit from now on."""
        self.scale *= factor

    def restore(self, leader: PerturbedLeader) -> None:
        """Make noise again after loading: a function of its key and X, it is in no file."""
        if not self.measures or self.scale > 0.0 or leader.X.takes_new_contexts:
            leader.put_noise()


class Fixed(StepSize):
    """One ε, a positive number, for the whole game."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = check_positive(self, "epsilon", epsilon)

    def start(self, leader: PerturbedLeader) -> None:
        if leader.put_noise():
            self.scale = 1.0 / self.epsilon


class Anytime(StepSize):
    r"""The schedule :math:`\epsilon_t = \sqrt{G/(2 W_t)}`, W the sum of variances of the rounds.

    For single actions and losses in [0, 1] that is of order :math:`1/\sqrt t`. It needs the range
    of the losses, and pays for feedback that comes late.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), epsilon=hn.Anytime(), seed=0)
    >>> learner.act(0) in range(3)
    True
    """

    schedules = True

    stored = State(W=Number(low=0.0))

    def __init__(self) -> None:
        super().__init__()
        self.W = 0.0

    def start(self, leader: PerturbedLeader) -> None:
        leader.put_noise()

    def before(self, leader: PerturbedLeader, variance: float) -> float:
        if not leader.put_noise():
            return self.scale
        G = leader.G
        return math.sqrt(2.0 * (self.W + variance) / G) if G > 0.0 else 0.0

    def played(self, leader: PerturbedLeader, scale: float, variance: float) -> None:
        if leader.noise is not None:  # else nothing was scheduled
            self.scale = scale
            self.W += variance


class SelfTuned(StepSize):
    r"""ε = eagerness · G/M, M the largest value so far of D, the sum of what instability has cost.

    Expected regret is then at most 2 E[M] for eagerness 1, whatever the horizon or the range of the
    losses. D only grows, and M = D, while every loss comes before the next decision; a late one may
    show that a leader was better than it seemed. While M = 0 the plain leader is played. G is
    estimated through the oracle when M first moves.

    Parameters
    ----------
    eagerness
        Factor on G. By default what suits the class and the feedback: 1 for most. e ≥ 1 costs the
        guarantee a factor (√e + 1/√e)/2 at most.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(2, 3), epsilon=hn.SelfTuned(4.0), seed=0)
    >>> learner.act(0)
    0
    """

    measures = True

    stored = State(D=Number(), M=Number(low=lambda self: max(self.D, 0.0)))

    def __init__(self, eagerness: float | None = None) -> None:
        super().__init__()
        self.eagerness = None if eagerness is None else check_positive(self, "eagerness", eagerness)
        self.D = 0.0
        self.M = 0.0

    def start(self, leader: PerturbedLeader) -> None:
        """In an open world ε follows the G of the renewed X; otherwise wait until M moves."""
        if leader.X.takes_new_contexts and leader.put_noise() and self.M > 0.0 and leader.G > 0.0:
            self.scale = self.M / (self.factor * leader.G)

    def extended(self, leader: PerturbedLeader) -> Self:
        twin = copy.copy(self)
        if self.M > 0.0 and leader.G > 0.0 and leader.put_noise():
            twin.scale = self.M / (self.factor * leader.G)
        return twin

    def after(self, leader: PerturbedLeader, instability: float, late: bool = False) -> None:
        if instability < 0.0 and not late:
            return
        D = self.D + instability
        if D > self.M:
            G = leader.G
            if leader.noise is None:
                leader.put_noise()
            self.M = D  # first, so that no other thread can see D above it
            self.scale = D / ((self.eagerness or 1.0) * G) if G > 0.0 else 0.0
        self.D = D

    def prepare(self, leader: PerturbedLeader, instability: float) -> None:
        if max(self.M, self.D + instability) > 0.0:
            leader.get_ready()

    def rescale(self, factor: float) -> None:
        super().rescale(factor)
        self.D *= factor
        self.M *= factor

    @property
    def factor(self) -> float:
        """The eagerness at work."""
        return self.eagerness or 1.0


def step_size(
    owner: object, epsilon: Any, horizon: int | None, theorem: Callable[[], float], eager: float
) -> StepSize:
    """The rule that `epsilon` names: "adaptive", "anytime", "theorem", a number, or a rule itself.

    `theorem()` gives the paper's ε for the horizon, and `eager` is the default eagerness.
    """
    if isinstance(epsilon, StepSize):
        plain = isinstance(epsilon, SelfTuned) and epsilon.eagerness is None
        return epsilon.clone(eagerness=eager) if plain else epsilon.clone()
    if not isinstance(epsilon, str):
        return Fixed(check_positive(owner, "epsilon", epsilon))
    if epsilon in ("adaptive", "anytime"):
        return SelfTuned(eager) if epsilon == "adaptive" else Anytime()
    if epsilon != "theorem":
        accepted = "'adaptive', 'anytime', 'theorem', a positive number or a rule like SelfTuned()"
        raise refuse(owner, "epsilon", accepted, epsilon)
    if horizon is None:
        raise ParameterError(
            "epsilon='theorem' needs horizon=, the number of rounds that will be played; "
            "epsilon='adaptive' needs nothing."
        )
    return Fixed(theorem())
