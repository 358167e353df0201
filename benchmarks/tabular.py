"""Every map from contexts to actions: the cost of a round does not depend on d."""

from __future__ import annotations

import statistics

import hannan as hn
from benchmarks.measure import Line, random_rounds, rate, ratio, seconds_per_round, take_turns

MANY, FEW, K = 10**5, 10, 5


def run() -> list[Line]:
    """Two learners, one with ten thousand times as many contexts, in turns."""
    players = []
    for d in (MANY, FEW):
        learner = hn.ContextFTPL(hn.oracles.AllPolicies(d, K), seed=0)
        rounds = random_rounds(4000, d, K)
        seconds_per_round(learner, rounds)
        players.append((learner, rounds))
    many, few = take_turns(
        [lambda pair=pair: seconds_per_round(*pair) for pair in players], repetitions=11
    )
    speed = 1.0 / statistics.median(many)
    slowdown = ratio(many, few)
    return [
        Line(f"AllPolicies, d={MANY:,}, K={K}: rounds a second", speed, rate(many), 20_000.0),
        Line(
            f"AllPolicies: time of a round with d={MANY:,} over that with d={FEW}",
            slowdown,
            f"{slowdown:.2f} ({rate(many)} : {rate(few)})",
            1.15,
            at_least=False,
        ),
    ]
