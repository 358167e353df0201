"""Feedback that comes late: what it costs, and when the weights must be drawn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from hannan.bounds import anytime
from hannan.core import Action, Environment, Round
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays, LeaderPunisher, PlantedPolicy
from hannan.learners import ContextSemiBanditFTPL
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._bandits import (
    FIXED_SEEDS,
    SIGMAS,
    learner_seeds,
    pseudo_regret,
    totals_of,
    traces,
)
from hannan.verify._games import seeded, sizes
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim


@claim(
    "delayed-weights",
    "Delayed feedback (beyond the paper)",
    f"false alarm below 1e-5: {SIGMAS} standard errors for each of three means",
)
def weights(effort: Effort) -> Finding:
    """Weights drawn when an action is chosen keep estimates right however late the loss comes;
    drawn from the state in which it comes they are wrong.

    Many tickets from one state, answered while the state moves on: what they add to the totals
    must be (1-(1-q)^L)ℓ a ticket, q that of the state they were drawn from. Against it: weights
    from the state ten answers later, by deciding there until the same action comes up.
    """
    n, L, K = effort.pick(2500, 20_000), 20, 3
    losses = np.array([0.3, 0.6, 1.0])
    learner = ContextSemiBanditFTPL(
        AllPolicies(1, K), epsilon=0.3, max_resamples=L, resampling="shared", seed=effort.seed
    )
    for _ in range(5):
        learner.update(losses[learner.act()])
    q = learner.propensities().probabilities
    before = totals_of(learner)
    tickets = learner.decide_many([None] * n)
    late: FloatArray = np.zeros(n)
    for i, ticket in enumerate(tickets):
        learner.update(losses[ticket.action], decision=ticket)
        if i == 10:
            late[:] = [_again(learner, other.action, L) for other in tickets]
    added = (totals_of(learner) - before) / n
    chosen = (np.array([ticket.action for ticket in tickets])[:, None] == np.arange(K)) * losses
    drawn = np.array([float(ticket.weights[0]) for ticket in tickets])
    right = (1.0 - (1.0 - q) ** L) * losses
    at_decision, at_arrival = chosen * drawn[:, None], chosen * late[:, None]
    kept = np.abs(added - right) / (at_decision.std(axis=0) / math.sqrt(n))
    moved = np.abs(at_arrival.mean(axis=0) - right) / (at_arrival.std(axis=0) / math.sqrt(n))
    what = "mean estimate less (1-(1-q)^L)ℓ, in standard errors"
    checks = [
        Check(f"drawn at decision: {what}", float(kept.max()), SIGMAS),
        Check(f"drawn ten rounds later: {what}, at least", float(moved.max()), 2 * SIGMAS, False),
    ]
    series = [
        Series("drawn at decision", np.arange(K), added, "points"),
        Series("drawn ten rounds later (invalid)", np.arange(K), at_arrival.mean(axis=0), "points"),
        Series("(1-(1-q)^L)ℓ", np.arange(K), right, "dashed"),
    ]
    return Finding(checks, Plot("action", "mean estimate of its loss", series), note=f"n = {n}")


def _again(learner: ContextSemiBanditFTPL, action: Action, L: int) -> int:
    """Decisions until an action comes up again, L at most."""
    for J in range(1, L):
        decision = learner.decide()
        learner.forget(decision)
        if decision.action == action:
            return J
    return L


class Late(Environment):
    """A world with given delays until its rounds are learned from."""

    def __init__(self, world: Environment, delays: Sequence[int]) -> None:
        self.world = world
        self.delays = delays
        self.n_actions = world.n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """The same rounds."""
        for this, delay in zip(self.world.rounds(horizon, rng), self.delays, strict=True):
            this.delay = delay
            yield this

    @property
    def total(self) -> int:
        """How many rounds are pending when others are played, in all."""
        T = len(self.delays)
        return sum(min(delay, T - 1 - t) for t, delay in enumerate(self.delays))


@claim("price-of-delay", "Delayed feedback (beyond the paper)", FIXED_SEEDS)
def price(effort: Effort) -> Finding:
    """With the schedule ε = √(G/2W), W = κΣ(2mK + m²·pending), pseudo-regret is at most 2√(2GW) + Σ
    K/(eL), whatever the order in which losses come.

    Fixed and random delays in three worlds, none of which reacts to what is played.
    """
    T, seeds = effort.pick(2000, 12_000), learner_seeds(effort, effort.pick(2, 5))
    oracle = FinitePolicies(list(product(range(2), repeat=2)), n_actions=2)
    make = seeded(ContextSemiBanditFTPL, oracle, epsilon="anytime", resampling="shared")
    known = sizes(oracle, pairs=2000)
    delays = {
        "none": [0] * T,
        "5 rounds": [5] * T,
        "40 rounds": [40] * T,
        "0 to 160 at random": effort.rng("delay").integers(161, size=T).tolist(),
    }
    checks, pending = [], []
    found: dict[str, list[float]] = defaultdict(list)
    for what, late in delays.items():
        # Two actions that are good in turns as long as the delay: whoever follows is late.
        waves = np.eye(2)[np.arange(T) // (3 * max(late) // 2 + 1) % 2]
        worlds = {
            "random": PlantedPolicy(oracle, good=0.2, bad=0.6),
            "punishes the leader": LeaderPunisher(oracle),
            "waves": FromArrays([t % 2 for t in range(T)], waves),
        }
        for name, world in worlds.items():
            played = traces(make, Late(world, late), T, seeds)
            found[name].append(pseudo_regret(played, oracle))
        waited = Late(world, late).total
        bound = anytime(T, feedback="bandit", total_delay=waited, **known).value
        worst = max(values[-1] for values in found.values())
        checks.append(Check(f"delay {what}: hardest of three worlds", worst, bound))
        pending.append(waited / T)
    series = [Series(name, pending, values) for name, values in found.items()]
    series.append(Series("bound", pending, [check.limit for check in checks], "dashed"))
    plot = Plot("pending rounds, on average", "pseudo-regret", series)
    return Finding(checks, plot, f"T = {T}, epsilon='anytime'")
