"""What a round costs before any kernel has work to do.

Fixed overhead is defined as the time of `act` + `update` on the smallest class that still needs
noise: two policies, one context, two actions, self-tuned. Its kernels handle one vector of sixteen
padded scores, so what is left is Python: validation, bookkeeping, the calls into compiled code and
the blocks of noise. It is an upper bound, since those tiny kernels are counted as overhead too.
"""

from __future__ import annotations

import statistics

import hannan as hn
from benchmarks.measure import Line, random_rounds, seconds_per_round, take_turns


def run() -> list[Line]:
    """Microseconds of a round on two policies, and of calling empty methods for scale."""
    learner = hn.ContextFTPL(hn.oracles.FinitePolicies([[0], [1]]), seed=0)
    rounds = random_rounds(5000, 1, 2)
    seconds_per_round(learner, rounds)
    nothing = _Nothing()
    ours, bare = take_turns(
        [lambda: seconds_per_round(learner, rounds), lambda: seconds_per_round(nothing, rounds)],
        repetitions=11,
    )
    cost, loop = (1e6 * statistics.median(seconds) for seconds in (ours, bare))
    return [
        Line(
            "fixed overhead of act + update, µs",
            cost - loop,
            f"{cost - loop:.1f} µs",
            12.0,
            at_least=False,
        ),
        Line("the loop itself with two empty methods, µs", loop, f"{loop:.2f} µs"),
    ]


class _Nothing(hn.Learner):
    """Two empty methods."""

    def act(self, context: object = None, available: object = None) -> int:
        return 0

    def update(self, loss: object, decision: object = None) -> None:
        pass

    def _act(self, opened: hn.OpenRound) -> None:
        pass

    def _update(self, opened: hn.OpenRound, loss: object) -> None:
        pass
