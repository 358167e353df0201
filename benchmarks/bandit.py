"""Bandit feedback: ContextSemiBanditFTPL, Algorithm 3 written out, and Exp4."""

from __future__ import annotations

import math
import statistics
import time

import numpy as np

import hannan as hn
from benchmarks.measure import Line, Rounds, random_rounds, rate, ratio, take_turns
from benchmarks.transcription import Transcription
from benchmarks.worlds import digits

N, D, K, EARLY, LATE = 1000, 50, 5, 2000, 100_000
MANY, MANY_D, MANY_K = 10**6, 20, 4


class BanditTranscription(Transcription):
    """Algorithm 3 as printed: every resampling draw is a call on the whole history."""

    def update(self, loss: float) -> None:
        """Draw until the action comes again, L times at most; lengthen the history."""
        t = len(self.contexts) + 1
        context, action = self._open, self._played
        count = 1
        while count < math.ceil(math.sqrt(self.n_actions * t)) and self._draw(context) != action:
            count += 1
        proxy = np.zeros(self.n_actions)
        proxy[action] = count * loss
        self.contexts.append(context)
        self.losses.append(proxy)

    def act(self, context: int) -> int:
        """The perturbed leader's action."""
        self._played = self._draw(context)
        return self._played

    def _draw(self, context: int) -> int:
        return super().act(context)


def run() -> list[Line]:
    """Contenders take turns, in one loop of act and update with the loss of the action played."""
    return [*_small(), *_digits(), *_thousand(), *_million()]


def _small() -> list[Line]:
    """What a round costs where kernels have next to nothing to do."""
    two = hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies([[0], [1]]), seed=0)
    every = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(10, K), seed=0)
    players = (two, random_rounds(5000, 1, 2)), (every, random_rounds(5000, 10, K))
    for player, rounds in players:
        seconds_per_round(player, rounds)
    one, other = take_turns(
        [lambda each=each: seconds_per_round(*each) for each in players], repetitions=11
    )
    cost, speed = 1e6 * statistics.median(one), 1.0 / statistics.median(other)
    what = "fixed overhead of act + update, two policies, µs"
    return [
        Line(what, cost, f"{cost:.1f} µs", 15.0, at_least=False),
        Line(f"AllPolicies, d=10, K={K}: rounds a second", speed, rate(other), 80_000.0),
    ]


def _digits() -> list[Line]:
    """Rows of 64 features and ten actions, contexts not declared, no threads held back."""
    game = digits(0, 6000)
    rounds = list(zip(game.contexts, game.losses, strict=True))
    ours = hn.bandit(10, predictor=hn.predictors.Ridge(), seed=0)
    theirs = hn.baselines.VowpalWabbit(10, "--squarecb", seed=0)
    for player in (ours, theirs):
        seconds_per_round(player, rounds[:3000])
    window = rounds[3000:4000]
    fast, slow = take_turns(
        [lambda: seconds_per_round(ours, window), lambda: seconds_per_round(theirs, window)],
        repetitions=11,
    )
    speed = ratio(slow, fast)
    what = "digits, hn.bandit with ridge regression: speed over Vowpal Wabbit's SquareCB"
    return [Line(what, speed, f"{speed:.2f} x ({rate(fast)} : {rate(slow)})", 1.0)]


def _thousand() -> list[Line]:
    actions = np.random.default_rng(0).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(actions, n_actions=K)
    warm_up, window = random_rounds(EARLY, D, K), random_rounds(1000, D, K, seed=1)
    late = hn.ContextSemiBanditFTPL(oracle, seed=0)
    for _ in range(LATE // len(window)):
        seconds_per_round(late, window)
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    exp4 = hn.baselines.Exp4(oracle, seed=0)
    written_out = BanditTranscription(actions, K, 0.3, seed=0)
    for player in (learner, exp4):
        seconds_per_round(player, warm_up)
    written_out.contexts = [context for context, _ in warm_up]
    written_out.losses = [losses / K for _, losses in warm_up]

    def early() -> float:
        fresh = hn.ContextSemiBanditFTPL(oracle, seed=0)
        seconds_per_round(fresh, warm_up)
        return seconds_per_round(fresh, window)

    ours, exponential, direct, now, then = take_turns(
        [
            lambda: seconds_per_round(learner, window),
            lambda: seconds_per_round(exp4, window),
            lambda: seconds_per_round(written_out, window[:3]),
            lambda: seconds_per_round(late, window),
            early,
        ],
        repetitions=9,
    )
    size = f"N={N:,}, d={D}, K={K}"
    speeds = ratio(direct, ours), ratio(exponential, ours), ratio(now, then)
    return [
        Line(
            f"{size}: speed over Algorithm 3 written out, t={EARLY:,}",
            speeds[0],
            f"{speeds[0]:,.0f} x ({rate(ours)} : {rate(direct)})",
            300.0,
        ),
        Line(
            f"{size}: speed over Exp4",
            speeds[1],
            f"{speeds[1]:.2f} x ({rate(ours)} : {rate(exponential)})",
            1.15,
        ),
        Line(
            f"{size}: time of a round around t={LATE:,} over that around t={EARLY:,}",
            speeds[2],
            f"{speeds[2]:.3f} ({rate(now)} : {rate(then)})",
            1.15,
            at_least=False,
        ),
    ]


def _million() -> list[Line]:
    table = np.random.default_rng(0).integers(MANY_K, size=(MANY, MANY_D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=MANY_K)
    del table
    learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
    exp4 = hn.baselines.Exp4(oracle, seed=0)
    rounds = random_rounds(32, MANY_D, MANY_K)
    for player in (learner, exp4):
        seconds_per_round(player, rounds)
    ours, exponential = take_turns(
        [lambda: seconds_per_round(learner, rounds), lambda: seconds_per_round(exp4, rounds)],
        repetitions=11,
    )
    speed = ratio(exponential, ours)
    return [
        Line(
            f"N={MANY:,}, d={MANY_D}, K={MANY_K}: speed over Exp4",
            speed,
            f"{speed:.2f} x ({rate(ours)} : {rate(exponential)})",
            1.3,
        )
    ]


def seconds_per_round(player: hn.Learner | Transcription, rounds: Rounds) -> float:
    """The ordinary loop, showing the loss of what was played."""
    started = time.perf_counter()
    for context, losses in rounds:
        player.update(float(losses[player.act(context)]))
    return (time.perf_counter() - started) / len(rounds)
