"""Rules for ε in each round; the noise has size 1/ε, the *scale*."""

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
    """Base of rules for the scale 1/ε of the noise; the scale is 0 while there is no noise."""

    measures: ClassVar[bool] = False  # whether the rule needs the instability cost of each round
    schedules: ClassVar[bool] = False  # whether the rule needs the variance of the next round

    stored = State(scale=Number(low=0.0))

    def __init__(self) -> None:
        self.scale = 0.0

    def start(self, leader: PerturbedLeader) -> None:
        """Prepare the rule before the first round, and whenever X or K has changed."""

    def before(self, leader: PerturbedLeader, variance: float) -> float:
        """Return the scale of the next round, whose loss may have this variance."""
        return self.scale

    def played(self, leader: PerturbedLeader, scale: float, variance: float) -> None:
        """Update the rule after the decision of a round at this scale."""

    def after(self, leader: PerturbedLeader, instability: float, late: bool = False) -> None:
        """Update the rule with the instability cost of a round with feedback.

        With delayed feedback (`late`), the cost may be negative. In other rounds only inexact
        oracles and rounding make it negative, and it then counts as 0.
        """

    def extended(self, leader: PerturbedLeader) -> Self:
        """Return a copy of the rule, in its current state, for a leader with more actions."""
        twin = copy.copy(self)
        twin.start(leader)
        return twin

    def prepare(self, leader: PerturbedLeader, instability: float) -> None:
        """Make all oracle calls for `after` and `start` now, before any state changes."""
        leader.put_noise()

    def rescale(self, factor: float) -> None:
        """Convert the scale to another unit of losses."""
        self.scale *= factor

    def restore(self, leader: PerturbedLeader) -> None:
        """Recreate the noise after loading; key and X determine it, so files do not hold it."""
        if not self.measures or self.scale > 0.0 or leader.X.takes_new_contexts:
            leader.put_noise()


class Fixed(StepSize):
    """A constant ε, a positive number, for the whole run."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = check_positive(self, "epsilon", epsilon)

    def start(self, leader: PerturbedLeader) -> None:
        if leader.put_noise():
            self.scale = 1.0 / self.epsilon


class Anytime(StepSize):
    r"""The schedule :math:`\epsilon_t = \sqrt{G/(2 W_t)}`, W the sum of variances of the rounds.

    For single actions and losses in [0, 1], ε is of order :math:`1/\sqrt t`. The schedule needs
    the range of the losses, and it takes delayed feedback into account.

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
    r"""Self-tuned ε = eagerness · G/M, with M the maximum so far of the instability cost D.

    For eagerness 1, expected regret is at most 2 E[M], for any horizon and any range of the
    losses. With immediate feedback D only grows, and M = D. Delayed feedback may show that a
    leader was better than it seemed, and then D falls. While M = 0, the learner plays the leader
    without noise. The oracle estimates G when M first exceeds 0.

    Parameters
    ----------
    eagerness
        Factor on G. None (default) uses the learner's value for the class and the feedback, mostly
        1. A value e ≥ 1 increases the bound by a factor of at most (√e + 1/√e)/2.

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
        """Set ε from the G of a renewed X if contexts are not declared; else wait for M > 0."""
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
            self.M = D  # before D, so that no other thread can observe D > M
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
        """The eagerness in use."""
        return self.eagerness or 1.0


def step_size(
    owner: object, epsilon: Any, horizon: int | None, theorem: Callable[[], float], eager: float
) -> StepSize:
    """Return the rule for `epsilon`: "adaptive", "anytime", "theorem", a number, or a rule.

    `theorem()` returns the paper's ε for the horizon, and `eager` is the default eagerness.
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
            "epsilon='theorem' needs the number of rounds. Pass horizon=, or use "
            "epsilon='adaptive', which needs no horizon."
        )
    return Fixed(theorem())
