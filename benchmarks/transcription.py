"""Algorithm 2 as it stands in the paper, in plain NumPy: the yardstick of the `finite` study."""

from __future__ import annotations

import numpy as np


class Transcription:
    """Every round draws {z}, puts it before the whole history and looks for the best policy.

    The oracle reads the sequence of (context, loss vector) pairs it is given, and adds up what
    each policy of the table would have lost on it.
    """

    def __init__(self, actions: np.ndarray, n_actions: int, epsilon: float, seed: int) -> None:
        self.actions = actions
        self.n_actions = n_actions
        self.epsilon = epsilon
        self.contexts: list[int] = []
        self.losses: list[np.ndarray] = []
        self._rng = np.random.default_rng(seed)

    def act(self, context: int) -> int:
        """M({z} ∪ y_1..y_{t-1}), applied to the context."""
        d = self.actions.shape[1]
        fakes = self._rng.laplace(scale=1.0 / self.epsilon, size=(d, self.n_actions))
        contexts = np.concatenate([np.arange(d), np.array(self.contexts, dtype=np.intp)])
        losses = np.concatenate([fakes, np.reshape(self.losses, (-1, self.n_actions))])
        best = int(np.argmin(self.values(contexts, losses)))
        self._open = context
        return int(self.actions[best, context])

    def update(self, losses: np.ndarray) -> None:
        """Lengthen the history by one outcome."""
        self.contexts.append(self._open)
        self.losses.append(losses)

    def values(self, contexts: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """What each policy loses on a sequence of outcomes."""
        return losses[np.arange(len(contexts)), self.actions[:, contexts]].sum(axis=1)


class SummedTranscription(Transcription):
    """The same, but the history is re-read only to add it up for each context."""

    def values(self, contexts: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """What each policy loses, from one total for each context and action."""
        d = self.actions.shape[1]
        totals = np.zeros((d, self.n_actions))
        np.add.at(totals, contexts, losses)
        return totals[np.arange(d), self.actions].sum(axis=1)
