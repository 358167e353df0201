"""Your own adversary: a machine that reads minds at rock, paper, scissors.

It counts what you did after each of your moves and plays what beats the most frequent answer, much
as Shannon's machine did at heads and tails. Habits lose, chance draws, and a learner wins, for the
machine has habits too. An experiment file would call it "package.module:MindReader".
"""

from collections.abc import Iterator

import numpy as np

import hannan as hn

MOVES = 3  # move k is beaten by move k + 1


class MindReader(hn.Environment):
    """Fixes losses (draw 0.5, defeat 1), yields them, then sees the action."""

    oblivious = False
    n_actions, contexts = MOVES, range(MOVES)  # a context is the player's last move

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        seen, last = np.zeros((MOVES, MOVES)), 0
        for _ in range(horizon):
            move = (seen[last].argmax() + 1) % MOVES
            yield (this_round := hn.Round(last, np.roll([0.5, 0.0, 1.0], move)))
            seen[last, this_round.action] += 1
            last = this_round.action


hn.checks.check_environment(MindReader())
players = {
    "a habit": hn.baselines.FollowTheLeader(hn.oracles.FinitePolicies([[1, 2, 0]])),
    "chance": hn.baselines.UniformRandom(MOVES, seed=0),
    "ContextFTPL": hn.ContextFTPL(hn.oracles.AllPolicies(MOVES, MOVES), seed=0),
}
for name, player in players.items():
    losses = hn.play(player, MindReader(), 3000, seed=0).losses
    print(f"{name:12} won {np.sum(losses == 0.0):4d} games and lost {np.sum(losses == 1.0):4d}")
