"""Write your own adversary for rock, paper, scissors.

`MindReader` counts your moves after each of your previous moves and beats the most frequent one.
A habit loses, a random choice draws, and a learner wins because the machine has habits, too. In an
experiment file, its name is "package.module:MindReader".
"""

from collections.abc import Iterator

import numpy as np

import hannan as hn

MOVES = 3  # move k is beaten by move k + 1


class MindReader(hn.Environment):
    """Yield losses (draw 0.5, defeat 1), then read the action of the learner."""

    oblivious = False
    n_actions, contexts = MOVES, range(MOVES)  # a context is the learner's last move

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        counts, last = np.zeros((MOVES, MOVES)), 0
        for _ in range(horizon):
            move = (counts[last].argmax() + 1) % MOVES
            yield (this_round := hn.Round(last, np.roll([0.5, 0.0, 1.0], move)))
            counts[last, this_round.action] += 1
            last = this_round.action


hn.checks.check_environment(MindReader())
learners = {
    "a habit": hn.baselines.FollowTheLeader(hn.oracles.FinitePolicies([[1, 2, 0]])),
    "random choice": hn.baselines.UniformRandom(MOVES, seed=0),
    "ContextFTPL": hn.ContextFTPL(hn.oracles.AllPolicies(MOVES, MOVES), seed=0),
}
for name, learner in learners.items():
    losses = hn.play(learner, MindReader(), 3000, seed=0).losses
    print(f"{name:13} wins {np.sum(losses == 0.0):4d}, defeats {np.sum(losses == 1.0):4d}")
