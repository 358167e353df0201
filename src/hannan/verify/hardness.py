"""Theorem 7: no learner can learn thresholds from contexts unknown in advance."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hannan import baselines, bounds
from hannan.core import Environment, Learner, Round
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.experiments import Trace, play
from hannan.learners import (
    FTPL,
    AdaptiveDiscount,
    ContextFTPL,
    ContextSemiBanditFTPL,
    Discounted,
    Pool,
    Restarting,
    StronglyAdaptive,
)
from hannan.oracles import FinitePolicies, FunctionOracle, Thresholds
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import sizes

_LEVEL = 1e-6  # level of each check
_VOTES, _WITNESSES = 3, 8


class Bisection(Environment):
    """Shows the midpoint of the open interval, with the label that the learner does not expect.

    The environment knows the learner and the past, but no random number still to be drawn. It
    therefore samples the next action of copies of the learner in its present state, with other
    random numbers. Given the past, these actions are independent of the learner's action and have
    its distribution. The majority of three copies agrees with the learner at least half of the
    time; other copies measure how often. Points are fractions, because floats would run out after
    52 rounds. `name` converts a point to the learner's context.
    """

    oblivious = False
    n_actions = 2

    def __init__(self, learner: Learner, name: Callable[[Fraction], Any] | None = None) -> None:
        self.learner = learner
        self.name = name
        self.expected: list[float] = []  # mean loss of each round over the learner's randomness

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        low, high = Fraction(0), Fraction(1)
        for _ in range(horizon):
            x = (low + high) / 2
            context = x if self.name is None else self.name(x)
            seed = int(rng.integers(2**31))
            played: Any = self.learner.would_play(context, _VOTES + _WITNESSES, seed)
            wrong = int(2 * sum(played[:_VOTES]) > _VOTES)
            self.expected.append(float(np.mean(np.array(played[_VOTES:]) == wrong)))
            losses = np.zeros(2)
            losses[wrong] = 1.0
            yield Round(context, losses)
            low, high = (low, x) if wrong == 0 else (x, high)


def solve_exactly(contexts: list[Any], losses: np.ndarray) -> Callable[[Any], int]:
    """Return the best rule "1 where x ≥ θ" for comparable contexts, like a user's optimiser."""
    order = sorted(range(len(contexts)), key=contexts.__getitem__)
    points = [contexts[i] for i in order]
    zero, one = (losses[order, a] if losses.size else np.zeros(0) for a in (0, 1))
    below = np.concatenate([[0.0], np.cumsum(zero)])
    above = np.concatenate([np.cumsum(one[::-1])[::-1], [0.0]])
    place = int(np.argmin(below + above))
    return lambda x: int(bisect_left(points, x) >= place and place < len(points))


def _fakes(rng: np.random.Generator) -> list[tuple[Fraction, np.ndarray]]:
    """Draw fake outcomes for Algorithm 1: losses on random points."""
    return [(Fraction(int(i), 2**20), rng.laplace(size=2)) for i in rng.integers(1, 2**20, size=4)]


_GRID = [Fraction(i, 16) for i in range(1, 16)]


def on_a_line(seed: int) -> dict[str, Learner]:
    """Return learners that accept any number as a context."""
    line = Thresholds()
    plain = ContextFTPL(line, seed=seed)
    return {
        "ContextFTPL": plain,
        "ContextFTPL, pool": ContextFTPL(line, Pool(_GRID), epsilon="anytime", seed=seed),
        "ContextFTPL, own optimiser": ContextFTPL(
            FunctionOracle(solve_exactly, n_actions=2), Pool(_GRID), epsilon=0.5, seed=seed
        ),
        "ContextSemiBanditFTPL": ContextSemiBanditFTPL(line, seed=seed),
        "FTPL": FTPL(line, _fakes, seed=seed),
        "StronglyAdaptive": StronglyAdaptive(plain, shortest=32, seed=seed),
        "Discounted": Discounted(plain, discount=0.95),
        "AdaptiveDiscount": AdaptiveDiscount(line, seed=seed),
        "Restarting": Restarting(plain),
        "FollowTheLeader": baselines.FollowTheLeader(line),
        "UniformRandom": baselines.UniformRandom(2, seed=seed),
        "EpsilonGreedy": baselines.EpsilonGreedy(2, seed=seed),
        "EpochGreedy": baselines.EpochGreedy(line, seed=seed),
        "LinUCB": baselines.LinUCB(2),
    }


def on_a_list(table: FinitePolicies, seed: int) -> dict[str, Learner]:
    """Return learners over a list of all thresholds that n bisections can end with: N = 2^n."""
    names = ("Hedge", "Exp4", "FixedShare", "AdaNormalHedge", "OptimisticHedge", "KalaiVempala")
    return {name: getattr(baselines, name)(table, seed=seed) for name in names}


def dyadic_thresholds(n: int) -> FinitePolicies:
    """List all 2^n thresholds on the points i/2^n, 0 < i < 2^n."""
    place = np.arange(2**n)
    return FinitePolicies((place[:-1] >= place[:, None]).astype(np.int8), n_actions=2)


class Games(NamedTuple):
    """Several runs of one learner."""

    name: str
    traces: list[Trace]
    expected: FloatArray  # mean loss of each round given the past, [runs, T]
    claimed: int  # bounds that the learner claimed after a run

    def forced(self) -> Check:
        r"""Check that the regret is at least T/2: the mean loss, as the best threshold has none.

        The share of n witnesses that lose in a round has a mean of 1/2 ± δ, plus with probability
        1/2 + δ at least, so :math:`E[e^{-\lambda (\text{share} - 1/2)}] \le e^{\lambda^2/8n}` for
        :math:`\lambda \le 4`. The allowance is Azuma's.
        """
        T = int(self.expected.shape[1])
        regret = float(self.expected.mean(axis=0).sum())
        chance = T * math.sqrt(math.log(1.0 / _LEVEL) / (2.0 * self.expected.size * _WITNESSES))
        what = f"regret of {self.name} in {T} rounds"
        return Check(what, regret, bounds.non_transductive(T), at_most=False, allowance=chance)


@claim(
    "hardness",
    "Theorem 7 (appendix on infinite classes)",
    "false alarm below 1e-4: Azuma's inequality at 1e-6 for each check",
)
def forced_regret(effort: Effort) -> Iterator[Check]:
    """Adversaries force regret T/2 on every learner of thresholds on a line (dimension one) that
    does not know the contexts in advance, but not on a learner that knows them.

    Regret is an average over the randomness given the past, except for the learner that knows the
    contexts.
    """
    T, n = effort.pick(56, 150), effort.pick(9, 11)
    line = _play(on_a_line, T, effort.pick(2, 8), effort)
    table = dyadic_thresholds(n)

    def number(x: Fraction) -> int:
        return int(x * 2**n) - 1

    listed = _play(lambda seed: on_a_list(table, seed), n, effort.pick(12, 24), effort, number)
    yield from (games.forced() for games in (*line, *listed))
    # The adversary follows its rules.
    traces = [trace for games in (*line, *listed) for trace in games.traces]
    best = max(float(trace.losses.sum() - trace.regret()) for trace in traces)
    yield Check("largest loss of the best threshold, all runs", best, 0.0)
    suffered, rounds = sum(float(trace.losses.sum()) for trace in traces), sum(map(len, traces))
    expected = sum(float(games.expected.sum()) for games in (*line, *listed))
    chance = math.sqrt(math.log(2.0 / _LEVEL) * (1.0 + 1.0 / _WITNESSES) / (2.0 * rounds))
    off = abs(suffered - expected) / rounds
    yield Check("loss per round, less the mean of the copies", off, chance)
    yield from _told(line[0].traces)
    claimed = float(sum(games.claimed for games in line))
    yield Check("bounds claimed by learners without known contexts", claimed, 0.0)


def _play(
    players: Callable[[int], dict[str, Learner]],
    T: int,
    games: int,
    effort: Effort,
    name: Callable[[Fraction], Any] | None = None,
) -> list[Games]:
    """Let each learner play several runs, each against another adversary."""
    found: dict[str, list[tuple[Trace, list[float], int]]] = defaultdict(list)
    for seed in effort.rng("hardness", T).integers(2**31, size=games).tolist():
        for who, learner in players(seed).items():
            world = Bisection(learner, name)
            trace = play(learner, world, T, seed=seed, oracle=learner.oracle or Thresholds())
            found[who].append((trace, world.expected, claimed_bounds(learner)))
    every = {who: zip(*played, strict=True) for who, played in found.items()}
    return [
        Games(who, list(traces), np.array(expected), sum(claimed))
        for who, (traces, expected, claimed) in every.items()
    ]


def _told(games: Sequence[Trace]) -> Iterator[Check]:
    """Play the same sequences with a learner that knows the contexts in advance."""
    T, line, regrets = len(games[0]), Thresholds(), []
    # G depends on the number of points, not on their places.
    bound = bounds.self_tuned(T, **sizes(line, games[0].contexts)).value
    for game in games:
        world, known = FromArrays(game.contexts, game.outcomes), sorted(game.contexts)
        learners = [ContextFTPL(line, contexts=known, seed=seed) for seed in range(8)]
        regrets += [play(learner, world).regret() for learner in learners]
    regret = float(np.mean(regrets))
    what = "ContextFTPL with known contexts, same sequences: regret"
    yield Check(what, regret, bound)
    yield Check(f"{what} at most half of T/2", regret, 0.5 * bounds.non_transductive(T))


def claimed_bounds(learner: Any) -> int:
    """Count the regret bounds that a learner claims."""
    said = learner.certificate().statements if hasattr(learner, "certificate") else ()
    return sum(each.bounds and each.value is not None for each in said)
