"""Small worlds to put wrappers around."""

import numpy as np

import hannan as hn


class Remembers(hn.Environment):
    """Charges 1 for whatever was played last, and keeps what it was told and whom it met."""

    oblivious = False
    n_actions = 4

    def __init__(self):
        self.played = []
        self.met = None
        self.would = []

    @property
    def horizon(self):
        return 50

    @property
    def contexts(self):
        return [0, 1]

    def meet(self, learner):
        self.met = learner

    def rounds(self, horizon, rng):
        losses = np.zeros(4)
        for _ in range(horizon):
            if self.met is not None:
                self.would.append(self.met.would_play(0, 1, 0)[0])
            this_round = hn.Round(int(rng.integers(2)), losses)
            yield this_round
            self.played.append(this_round.action)
            losses = np.zeros(4)
            losses[this_round.action] = 1.0


class Steps(hn.Environment):
    """Losses 0, 1/K, …, (K-1)/K in every round, after one draw from the generator."""

    def __init__(self, n_actions=4):
        self.n_actions = n_actions

    def rounds(self, horizon, rng):
        for _ in range(horizon):
            yield hn.Round(int(rng.integers(100)), np.arange(self.n_actions) / self.n_actions)


class Player:
    """Would play the same actions on and on."""

    def __init__(self, *actions):
        self.actions = list(actions)

    def would_play(self, context=None, copies=1, seed=0):
        return [self.actions.pop(0) for _ in range(copies)]
