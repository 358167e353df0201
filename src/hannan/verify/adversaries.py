"""Environments that are hard for learners."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hannan.core import Environment, Oracle, Round
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.oracles import FinitePolicies


def turns(
    horizon: int,
    last: int,
    contexts: Sequence[Any] = (0,),
    K: int = 2,
    *,
    first: int = 0,
    together: bool = False,
) -> FromArrays:
    """Let each action in turn cost 1, from `first` on, until action 0 is best for the rest.

    The alternation hurts most if there is too little noise, and the end if there is too much noise.
    For two actions on one context, noise of any size s costs s G at the end. Contexts arrive in a
    cycle. The actions alternate on each context separately, or on all contexts `together`. Use
    `together` for classes whose policies relate contexts; K and the number of contexts should then
    be coprime.
    """
    order = [contexts[t % len(contexts)] for t in range(horizon)]
    times = np.arange(horizon) // (1 if together else len(contexts))
    losses = np.eye(K)[(times + first) % K]
    losses[horizon - last :] = 1.0
    losses[horizon - last :, 0] = 0.0
    return FromArrays(order, losses)


def steady(oracle: Oracle, contexts: Sequence[Any], horizon: int, good: float) -> FromArrays:
    """Let the elements of one policy always cost `good`, and all others 1.

    A loss estimate without importance weights would spread the choices over all elements, in
    proportion to one over their losses.
    """
    best = oracle.objective().leader()
    losses = np.ones((horizon, int(oracle.n_actions or 0)))
    order = [contexts[t % len(contexts)] for t in range(horizon)]
    for t, context in enumerate(order):
        losses[t, best(context)] = good
    return FromArrays(order, losses)


class Listed(Environment):
    """Given losses, vectors or functions, without contexts: an oblivious adversary."""

    def __init__(self, losses: Sequence[Any], n_actions: int) -> None:
        self.losses = losses
        self.n_actions = n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        yield from (Round(None, loss) for loss in self.losses[:horizon])


class Repeats(Environment):
    """An adversary that expects the learner to repeat its past actions.

    For each context and each vector of totals (the totals of all policies, less the smallest one),
    it records the actions played. If this state recurs, it charges for the action played most
    often. In a new state, it charges for the last action on that context. Noise drawn once makes
    the learner a function of the totals, so that the learner pays in nearly every round.

    The contexts `arrivals` arrive in a cycle. The expected action costs 1, the others cost `low`.
    """

    oblivious = False
    oracle: FinitePolicies

    def __init__(
        self, oracle: FinitePolicies, arrivals: Sequence[int] = (0,), low: float = 0.0
    ) -> None:
        self.oracle = oracle
        self.arrivals = arrivals
        self.low = low
        self.n_actions = oracle.n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
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
            losses[expected] = 1.0
            this = Round(x, losses)
            yield this
            assert isinstance(this.action, int)
            record[this.action] += 1.0
            last[x] = this.action
            totals += losses[plays[:, x]]


class Habits(Environment):
    """An adversary that charges 1 for the action played most in recent rounds on a context.

    The contexts are drawn uniformly from `arrivals`. Each other element costs 1, too, with
    probability `others`. The weight of a round falls by a tenth per later round on its context.
    """

    oblivious = False
    oracle: Oracle

    def __init__(self, oracle: Oracle, arrivals: Sequence[Any], others: float = 0.3) -> None:
        self.oracle = oracle
        self.arrivals = arrivals
        self.others = others
        self.n_actions = int(oracle.n_actions or 0)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        K, m = self.n_actions, self.oracle.max_chosen
        played = np.zeros((len(self.arrivals), K))
        for _ in range(horizon):
            i = int(rng.integers(len(self.arrivals)))
            losses = (rng.random(K) < self.others).astype(np.float64)
            losses[np.argsort(-played[i], kind="stable")[:m]] = 1.0
            this = Round(self.arrivals[i], losses)
            yield this
            played[i] *= 0.9
            played[i, this.action] += 1.0
