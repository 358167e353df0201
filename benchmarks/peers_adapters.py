"""Other libraries' bandits with our two verbs, so that one loop plays and times them all."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

import hannan as hn


class Foreign(hn.Learner):
    """A learner with bandit feedback that takes feature rows and is made elsewhere.

    Rewards are 1 - loss. What it would play is asked of the library itself, which then goes on in
    its own random numbers: its next action has the same distribution, but not the same value.
    """

    feedback = hn.Feedback.BANDIT

    def __init__(self, n_actions: int, seed: int) -> None:
        super().__init__()
        self.n_actions = n_actions
        self.seed = seed

    def _act(self, opened: hn.OpenRound) -> None:
        opened.play(self._ask(opened.context, 1)[0])

    def _replay(self, opened: hn.OpenRound, copies: int, rng: np.random.Generator) -> list[Any]:
        return self._ask(opened.context, copies)

    @abstractmethod
    def _ask(self, context: Any, copies: int) -> list[Any]:
        """What the library would play now, so many times."""


class ContextualBandits(Foreign):
    """LinUCB of `contextualbandits`, which adds an intercept; fitted after every round."""

    def __init__(self, n_actions: int, seed: int, alpha: float = 1.0) -> None:
        from contextualbandits.online import LinUCB

        super().__init__(n_actions, seed)
        self.alpha = alpha
        self._model = LinUCB(n_actions, alpha=alpha, random_state=seed + 1)

    def _ask(self, context: Any, copies: int) -> list[Any]:
        return self._model.predict(np.repeat(context[None], copies, axis=0)).tolist()

    def _update(self, opened: hn.OpenRound, loss: Any) -> None:
        action = np.array([opened.action])
        self._model.partial_fit(opened.context[None], action, np.array([1.0 - loss]))


class Mabwiser(Foreign):
    """LinUCB or LinTS of `mabwiser`, fitted after every round; a constant feature is added."""

    def __init__(self, n_actions: int, seed: int, policy: str, alpha: float = 1.0) -> None:
        from mabwiser.mab import MAB, LearningPolicy

        super().__init__(n_actions, seed)
        self.policy = policy
        self.alpha = alpha
        made = getattr(LearningPolicy, policy)(alpha=alpha)
        self._model = MAB(list(range(n_actions)), made, seed=seed)
        self._first = np.random.default_rng(seed)

    def _ask(self, context: Any, copies: int) -> list[Any]:
        # It predicts nothing before it has been fitted, so the first round is played at random.
        if self.rounds == 0:
            return self._first.integers(self.n_actions, size=copies).tolist()
        found = self._model.predict(np.repeat(_with_constant(context), copies, axis=0))
        return found if copies > 1 else [found]

    def _update(self, opened: hn.OpenRound, loss: Any) -> None:
        learn = self._model.fit if self.rounds == 0 else self._model.partial_fit
        learn([opened.action], [1.0 - loss], _with_constant(opened.context))


class River(Foreign):
    """LinUCB (disjoint) of `river` as it comes; a constant feature is added."""

    def __init__(self, n_actions: int, seed: int) -> None:
        from river.bandit import LinUCBDisjoint

        super().__init__(n_actions, seed)
        self._model = LinUCBDisjoint(seed=seed)
        self._arms = list(range(n_actions))

    def _ask(self, context: Any, copies: int) -> list[Any]:
        row = _named(context)
        return [self._model.pull(self._arms, row) for _ in range(copies)]

    def _update(self, opened: hn.OpenRound, loss: Any) -> None:
        self._model.update(opened.action, _named(opened.context), 1.0 - loss)


class OnRows(hn.Learner):
    """Hands row number i of a table to a learner that takes features, where the context is i."""

    late = "OnRows is for feedback that comes at once."

    def __init__(self, learner: Any, rows: np.ndarray) -> None:
        super().__init__()
        self.learner = learner
        self.rows = rows
        self.feedback = learner.feedback  # type: ignore[misc]
        self._rows = list(rows)

    def _act(self, opened: hn.OpenRound) -> None:
        opened.play(self.learner.act(self._rows[opened.context]))

    def _replay(self, opened: hn.OpenRound, copies: int, rng: np.random.Generator) -> list[Any]:
        row = self._rows[opened.context]
        return self.learner.would_play(row, copies, int(rng.integers(2**31)))

    def _update(self, opened: hn.OpenRound, loss: Any) -> None:
        self.learner.update(loss)


def _with_constant(row: np.ndarray) -> np.ndarray:
    return np.append(row, 1.0)[None]


def _named(row: np.ndarray) -> dict[int, float]:
    return dict(enumerate([*row.tolist(), 1.0]))
