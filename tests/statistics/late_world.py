"""Games with late losses against adversaries that see all that is played, open rounds included."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hannan.core import Feedback, Learner, Oracle
from hannan.oracles import AllPolicies, FinitePolicies, Subsets

Chosen = int | tuple[int, ...]
ACT = -1  # in place of a number: the round that `act` opened


class Waiting(NamedTuple):
    """A round whose loss has not been told."""

    number: int
    context: Any
    losses: list[float]
    action: Chosen
    ticket: Any
    """Its decision; None for the round that `act` opened."""
    cost: float
    """Beyond the lowest losses."""
    luck: float

    @property
    def key(self) -> int:
        """Under which the world keeps it."""
        return ACT if self.ticket is None else self.number


@dataclass
class Table:
    """All that an adversary may look at."""

    rows: list[Any]
    """The policies, as actions on each context."""
    contexts: list[Any]
    K: int
    T: int
    rng: np.random.Generator
    t: int = 0
    opened: dict[int, Waiting] = field(default_factory=dict)
    suffered: float = 0.0

    def __post_init__(self) -> None:
        self.known = [0.0] * len(self.rows)
        self.true = [0.0] * len(self.rows)
        self.plays = [0] * self.K

    def add(self, totals: list[float], x: Any, losses: list[float]) -> None:
        """Add a round to the totals of all policies."""
        i = self.contexts.index(x)
        for n, row in enumerate(self.rows):
            totals[n] += cost(losses, row[i])

    def hit(self, action: Chosen) -> list[float]:
        """Losses where only this costs something."""
        chosen = elements(action)
        return [float(j in chosen) for j in range(self.K)]

    def leader(self, totals: list[float], x: Any) -> Chosen:
        """What the first of the best policies does."""
        best = min(range(len(totals)), key=totals.__getitem__)
        found: Chosen = self.rows[best][self.contexts.index(x)]
        return found

    @property
    def waited_for(self) -> set[int]:
        """Elements of open actions."""
        return {j for each in self.opened.values() for j in elements(each.action)}

    @property
    def regret(self) -> float:
        """So far, of all rounds."""
        return self.suffered - min(self.true)


def elements(action: Chosen) -> tuple[int, ...]:
    """Of a set, or the action itself."""
    return (action,) if isinstance(action, int) else action


def cost(losses: list[float], action: Chosen) -> float:
    """The sum over them."""
    return sum(losses[j] for j in elements(action))


def policies(oracle: Oracle) -> list[Any]:
    """All of them, as actions on each context; sets are tuples."""
    if isinstance(oracle, FinitePolicies):
        return list(oracle.table.tolist())
    K = int(oracle.n_actions or 0)
    if isinstance(oracle, AllPolicies):
        return [list(row) for row in itertools.product(range(K), repeat=oracle.n_contexts)]
    assert isinstance(oracle, Subsets)
    sizes = [oracle.m] if oracle.exactly else range(oracle.m + 1)
    return [[chosen] for size in sizes for chosen in itertools.combinations(range(K), size)]


# Losses beyond the lowest: functions of what has happened before a round is decided ----------

Losses = Callable[[Table, Any], list[float]]


def _coins(world: Table, x: Any) -> list[float]:
    return [float(u < 0.5) for u in world.rng.random(world.K)]


def _gap(world: Table, x: Any) -> list[float]:
    return [float(u < (0.6 if j else 0.3)) for j, u in enumerate(world.rng.random(world.K))]


def _graded(world: Table, x: Any) -> list[float]:
    found: list[float] = world.rng.random(world.K).tolist()
    return found


def _blocks(length: int) -> Losses:
    return lambda world, x: world.hit(world.t // length % world.K)


def _settling(world: Table, x: Any) -> list[float]:
    if world.t < world.T // 2:
        return world.hit(world.t % world.K)
    return [0.0] + [1.0] * (world.K - 1)


def _last_open(world: Table, x: Any) -> list[float]:
    last = next(reversed(world.opened.values()), None)
    return world.hit(world.t % world.K if last is None else last.action)


def _all_open(world: Table, x: Any) -> list[float]:
    return world.hit(tuple(world.waited_for) or world.t % world.K)


def _others(world: Table, x: Any) -> list[float]:
    found = world.waited_for
    return [float(j not in found) for j in range(world.K)]


LOSSES: dict[str, Losses] = {
    "coins": _coins,
    "a gap": _gap,
    "graded": _graded,
    "turns": _blocks(1),
    "blocks of 5": _blocks(5),
    "blocks of 10": _blocks(10),
    "turns that settle": _settling,
    "hits the known leader": lambda w, x: w.hit(w.leader(w.known, x)),
    "hits the true leader": lambda w, x: w.hit(w.leader(w.true, x)),
    "hits the last open action": _last_open,
    "hits all open actions": _all_open,
    "spares all open actions": _others,
    "hits the favourite": lambda w, x: w.hit(max(range(w.K), key=w.plays.__getitem__)),
}

# Delays: which rounds are answered now, and in which order ----------------------------------


class Delay(NamedTuple):
    """Rounds that never become ready wait for the end of the game."""

    ready: Callable[[Table, Waiting], bool]
    order: Callable[[Waiting], Any] = lambda r: r.number


ORDERS: dict[str, Callable[[Waiting], Any]] = {
    "in order": lambda r: r.number,
    "reversed": lambda r: -r.number,
    "good first": lambda r: (r.cost, r.number),
    "bad first": lambda r: (-r.cost, r.number),
    "shuffled": lambda r: r.luck,
}


def _after(rounds: int) -> Callable[[Table, Waiting], bool]:
    return lambda w, r: w.t >= r.number + rounds


def _every(length: int) -> Callable[[Table, Waiting], bool]:
    return lambda w, r: w.t % length == length - 1


def _late(which: Callable[[Table, Waiting], bool], rounds: float = math.inf) -> Delay:
    """Some rounds wait, the others do not."""
    return Delay(lambda w, r: not which(w, r) or w.t >= r.number + rounds)


def _has(j: int) -> Callable[[Table, Waiting], bool]:
    return lambda w, r: j in elements(r.action)


def _good(w: Table, r: Waiting) -> bool:
    return r.cost < 0.5


def _bad(w: Table, r: Waiting) -> bool:
    return r.cost >= 0.5


def _rare(w: Table, r: Waiting) -> bool:
    return any(3 * w.plays[j] * w.K < 2 * w.t for j in elements(r.action))


def _leads(w: Table, r: Waiting) -> bool:
    return r.action == w.leader(w.known, r.context)


DELAYS: dict[str, Delay] = {
    "none": Delay(lambda w, r: True),
    **{f"by {k}": Delay(_after(k)) for k in (1, 5, 10)},
    **{f"end, {name}": Delay(lambda w, r: False, ORDERS[name]) for name in ORDERS},
    **{
        f"bursts of {n}, {name}": Delay(_every(n), ORDERS[name])
        for n, name in itertools.product((5, 12), list(ORDERS)[:4])
    },
    "stragglers": Delay(lambda w, r: r.luck < 0.7),
    "at random": Delay(lambda w, r: w.t >= r.number + 10.0 * r.luck, ORDERS["shuffled"]),
    "good late": _late(_good),
    "bad late": _late(_bad),
    "good by 5": _late(_good, 5),
    "bad by 5": _late(_bad, 5),
    "action 0 late": _late(_has(0)),
    "action 1 late": _late(_has(1)),
    "action 0 by 6": _late(_has(0), 6),
    "rare late": _late(_rare),
    "rare by 8": _late(_rare, 8)._replace(order=ORDERS["reversed"]),
    "once it leads": Delay(_leads),
    "once it leads no more": _late(_leads),
    "with another one": Delay(lambda w, r: len({str(o.action) for o in w.opened.values()}) > 1),
}

# Games --------------------------------------------------------------------------------------

ENDINGS = ("answered", "open", "forgotten", "ahead")
"""What becomes of rounds that were not ready; "ahead" stops as soon as regret is large."""
MODES = ("decide", "mixed", "dropping")
"""Whether `act` decides some rounds, and whether it may drop the one that it opened before."""
VOICES = ("perverse", "true", "random", "turncoat")
"""What a predictor says."""


class Played(NamedTuple):
    """What came of a game with one seed."""

    regrets: list[float]
    """Against each policy, or with full information against the best one; of all rounds decided."""
    stated: float | None
    """What the certificate says."""
    overdrawn: float
    """The most by which S exceeded the budget of hints."""
    learner: Any


@dataclass(frozen=True)
class LateGame:
    """A game in which losses come late, by names of `LOSSES`, `DELAYS`, and so on."""

    losses: str
    delay: str
    ending: str = "answered"
    mode: str = "decide"
    voice: str = "perverse"
    T: int = 30

    def play(self, model: Any, rows: list[Any], seed: int) -> Played:
        """The game with a learner like the model and a world, both of this seed."""
        learner = model.fresh(seed)
        contexts = list(_points(learner))
        rng = np.random.default_rng([seed, 9])
        world = Table(rows, contexts, learner.oracle.n_actions, self.T, rng)
        over = -math.inf
        for t in range(self.T):
            world.t = t
            x = contexts[t % len(contexts)]
            self._round(learner, world, x)
            over = max(over, overdrawn(learner, t + 1))
            delay = DELAYS[self.delay]
            self._answer(
                learner, world, [r for r in world.opened.values() if delay.ready(world, r)]
            )
            over = max(over, overdrawn(learner, t + 1))
            if self.ending == "ahead" and world.regret > 2.5:
                break
        left = list(world.opened.values())
        if self.ending == "answered":
            self._answer(learner, world, left)
        elif self.ending == "forgotten":
            for r in left:
                if r.ticket is not None:
                    learner.forget(r.ticket)
        over = max(over, overdrawn(learner, world.t + 1))
        said, whole = learner.certificate(), learner.feedback is Feedback.FULL
        regrets = [world.suffered - total for total in world.true]
        if whole:
            return Played([max(regrets)], said.measured, over, learner)
        return Played(regrets, said.stability_estimate, over, learner)

    def _round(self, learner: Any, world: Table, x: Any) -> None:
        low = learner.loss_range[0]
        losses = [low + each for each in LOSSES[self.losses](world, x)]
        if learner.predictor is not None:
            learner.predictor.now = self._guess(world, losses, low)
        world.add(world.true, x, losses)
        may_act = self.mode == "dropping" or (self.mode == "mixed" and ACT not in world.opened)
        ticket = None
        if may_act and world.rng.random() < 0.5:
            action = learner.act(x)
            world.opened.pop(ACT, None)  # one that was not answered is dropped
        else:
            ticket = learner.decide(x)
            action = ticket.action
        action = action if isinstance(action, int) else tuple(action.tolist())
        spent = cost(losses, action)
        world.suffered += spent
        for j in elements(action):
            world.plays[j] += 1
        beyond = spent - low * len(elements(action))
        opened = Waiting(world.t, x, losses, action, ticket, beyond, world.rng.random())
        world.opened[opened.key] = opened

    def _answer(self, learner: Learner, world: Table, ready: Iterable[Waiting]) -> None:
        for r in sorted(ready, key=DELAYS[self.delay].order):
            shown: Any = r.losses
            if learner.feedback is not Feedback.FULL:
                seen = [r.losses[j] for j in elements(r.action)]
                shown = seen[0] if isinstance(r.action, int) else seen
            learner.update(shown, decision=r.ticket)
            world.add(world.known, r.context, r.losses)
            del world.opened[r.key]

    def _guess(self, world: Table, losses: list[float], low: float) -> Any:
        if self.voice == "random":
            return low + world.rng.random(world.K)
        honest = self.voice == "true" or (self.voice == "turncoat" and world.t < world.T // 2)
        return np.array(losses) if honest else 1.0 + 2.0 * low - np.array(losses)


def overdrawn(learner: Any, n: int) -> float:
    """By how much S exceeds c√(Gn), the budget of hints in n rounds; -∞ where there are none."""
    hint = getattr(learner, "hint", None)
    if hint is None or not hint.mixes:
        return -math.inf
    table = not hasattr(learner, "leader")
    G = learner.oracle.complexity(_points(learner)) if table else learner.leader.G
    return float(hint.S - hint.trust.budget * math.sqrt(G * n))


def _points(learner: Any) -> Any:
    """The contexts that may arrive."""
    return learner.leader.X.points if hasattr(learner, "leader") else learner.oracle.contexts
