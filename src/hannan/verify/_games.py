"""Games the experiments play again and again, and worlds made to hurt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hannan.bounds import Sizes, laplace_complexity, sizes_of
from hannan.core import Environment, Learner, Oracle, Round
from hannan.core.oracle import Noise
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.experiments import Trace, play
from hannan.learners import ContextFTPL, SelfTuned
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.oracles import FinitePolicies
from hannan.verify.claim import Check, Effort, Plot, Series


def seeds(effort: Effort, name: str, quick: int, full: int) -> list[int]:
    """As many seeds as the effort allows."""
    found: list[int] = effort.rng(name).integers(2**31, size=effort.pick(quick, full)).tolist()
    return found


def seeded(kind: Callable[..., Any], *args: Any, **options: Any) -> Callable[[int], Any]:
    """How to make a learner from a seed."""
    return lambda seed: kind(*args, seed=seed, **options)


def sizes(
    oracle: Oracle,
    contexts: Sequence[Any] | None = None,
    separator: Sequence[Any] | None = None,
    pairs: int | None = None,
) -> Sizes:
    """What bounds need to know of a class, its complexity G included."""
    X = contexts if separator is None else separator
    setting = "transductive" if separator is None else "separator"
    G = laplace_complexity(oracle, X, pairs=pairs)
    return sizes_of(oracle, X, setting=setting, complexity=G)


def games(
    make: Callable[[int], Learner],
    world: Environment,
    horizon: int,
    seeds: Sequence[int],
    world_seed: int | None = None,
) -> list[tuple[Any, Trace]]:
    """One game for each seed, the learner's and, if no other is given, the world's."""
    learners = [make(seed) for seed in seeds]
    each = seeds if world_seed is None else [world_seed] * len(seeds)
    return [
        (learner, play(learner, world, horizon, seed))
        for learner, seed in zip(learners, each, strict=True)
    ]


def regrets(
    make: Callable[[int], Learner],
    world: Environment,
    horizon: int,
    seeds: Sequence[int],
    switches: int | None = None,
) -> FloatArray:
    """The regret of each game, against the best policy for its own losses."""
    played = games(make, world, horizon, seeds)
    return np.array([trace.regret(switches) for _, trace in played])


def standard_error(values: FloatArray) -> float:
    """Of their mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


class Means(list[Check]):
    """Checks of means, and by how many standard errors they hold at the least."""

    room = np.inf

    def below(self, what: str, values: FloatArray, limits: float | FloatArray) -> None:
        """Check that a mean is at most its limit, or the mean of one limit for each value."""
        self.append(Check(what, float(np.mean(values)), float(np.mean(limits))))
        error = standard_error(values - limits)
        if error > 0.0:
            self.room = min(self.room, -float(np.mean(values - limits)) / error)

    def note(self, limits: str = "their bounds") -> str:
        """That in words."""
        return f"means lie at least {self.room:.0f} standard errors below {limits}"


def let_play(learner: ContextFTPL, context: Any, losses: Any) -> None:
    """One round."""
    learner.act(context)
    learner.update(losses)


def noise_of(learner: ContextFTPL) -> tuple[Noise, float]:
    """A learner's unit noise, and the scale it is used at."""
    assert learner.leader.noise is not None
    return learner.leader.noise, learner.step.scale


def mean_curve(label: str, played: Sequence[tuple[Any, Trace]], every: int) -> Series:
    """Regret as it grows, on average over games."""
    curves = [trace.regret_curve(every) for _, trace in played]
    return Series(label, curves[0][0], np.mean([y for _, y in curves], axis=0))


def scatter(drawn: Sequence[Check], x: str, y: str, log: bool = False) -> Plot:
    """What some checks measured, beside their limits; with `log` what is below 0.1 is at 0.1."""
    limits, measured = np.array([(check.limit, check.measured) for check in drawn]).T
    low = 0.1 if log else 0.0
    if log:
        measured = np.maximum(measured, low)
    ends = np.array([low, limits.max()])
    series = [
        Series("measured", limits, measured, "points"),
        Series("the limit", ends, ends, "dashed"),
    ]
    return Plot(x, y, series, log_x=log, log_y=log)


def turns(
    horizon: int,
    last: int,
    contexts: Sequence[Any] = (0,),
    K: int = 2,
    *,
    first: int = 0,
    together: bool = False,
) -> FromArrays:
    """All actions take turns at costing 1, `first` first, till action 0 is best for good.

    Taking turns is what hurts most if there is too little noise, the end if there is too much:
    for two actions on one context, noise of any size s costs s G at the end. Contexts come round
    and round, and turns are taken on each of them, or `together` (for classes in which contexts
    have to do with each other; K and the number of contexts should then be coprime).
    """
    order = [contexts[t % len(contexts)] for t in range(horizon)]
    times = np.arange(horizon) // (1 if together else len(contexts))
    losses = np.eye(K)[(times + first) % K]
    losses[horizon - last :] = 1.0
    losses[horizon - last :, 0] = 0.0
    return FromArrays(order, losses)


class Recorded(SelfTuned):
    """Self-tuning, with a record of what instability cost."""

    def __init__(self, eagerness: float | None = None) -> None:
        super().__init__(eagerness)
        self.found: list[tuple[int, float]] = []

    def after(self, leader: PerturbedLeader, instability: float) -> None:
        """Note it with the number of the round, and tune."""
        self.found.append((leader.number - 1, instability))
        super().after(leader, instability)


def instability(learner: Any) -> FloatArray:
    """What it cost a learner that has a record, in each round."""
    costs = np.zeros(learner.rounds)
    for t, cost in learner.step.found:
        costs[t] = cost
    return costs


class Listed(Environment):
    """Given losses, vectors or functions, without contexts: an oblivious adversary."""

    def __init__(self, losses: Sequence[Any], n_actions: int) -> None:
        self.losses = losses
        self.n_actions = n_actions

    @property
    def horizon(self) -> int:
        """Their number."""
        return len(self.losses)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """The first ones."""
        for loss in self.losses[:horizon]:
            yield Round(None, loss)


class Repeats(Environment):
    """An adversary that expects what it has seen before.

    For each context and totals (those of all policies, less the smallest) it notes what was
    played, and when they come back charges for the action played most often; the first time, for
    the last action on that context. Noise drawn once makes the learner a function of the totals,
    and then it pays in nearly every round.

    The `arrivals` are the contexts, again and again in this order; the expected action costs
    `high` and the others `low`.
    """

    oblivious = False
    oracle: FinitePolicies

    def __init__(
        self,
        oracle: FinitePolicies,
        arrivals: Sequence[int] = (0,),
        low: float = 0.0,
        high: float = 1.0,
    ) -> None:
        self.oracle = oracle
        self.arrivals = arrivals
        self.low = low
        self.high = high
        self.n_actions = oracle.n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """What was seen before costs most."""
        K = self.n_actions
        plays = self.oracle.table
        totals = np.zeros(len(plays))
        seen: dict[tuple[int, bytes], FloatArray] = defaultdict(lambda: np.zeros(K))
        last = dict.fromkeys(self.arrivals, 0)
        for t in range(horizon):
            x = self.arrivals[t % len(self.arrivals)]
            record = seen[x, (totals - totals.min()).tobytes()]
            expected = int(record.argmax()) if record.any() else last[x]
            losses = np.full(K, self.low)
            losses[expected] = self.high
            this = Round(x, losses)
            yield this
            assert isinstance(this.action, int)
            record[this.action] += 1.0
            last[x] = this.action
            totals += losses[plays[:, x]]
