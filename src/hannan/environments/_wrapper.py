"""Environments around another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hannan.core import Action, Environment, Feedback, Round
from hannan.core.validation import FloatArray, refuse


class Wrapper(Environment):
    """The rounds of another environment, changed.

    A wrapper draws from a generator spawned from that of the game. So the environment inside plays
    exactly as it would by itself, and nested wrappers do not affect each other.
    """

    def __init__(self, environment: Environment) -> None:
        if not isinstance(environment, Environment):
            raise refuse(self, "environment", "an environment", environment)
        self.environment = environment
        self.n_actions = environment.n_actions
        self.oracle = environment.oracle
        self.oblivious = environment.oblivious  # type: ignore[misc]

    @property
    def horizon(self) -> int | None:
        return self.environment.horizon

    @property
    def contexts(self) -> Sequence[Any] | None:
        return self.environment.contexts

    def meet(self, learner: Any) -> None:
        self.environment.meet(learner)


class WrappedRound(Round):
    """A round of another environment; attributes that are not set here are read from it.

    The action reaches the round inside, where an adaptive adversary looks for it.
    """

    __slots__ = ("inner",)

    def __init__(self, inner: Round) -> None:
        # The slots of `Round` stay empty on purpose: `__getattr__` then finds them inside.
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "inner" or name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def reveal(
        self, action: Action, feedback: Feedback = Feedback.FULL
    ) -> FloatArray | float | None:
        return self.inner.reveal(action, feedback)

    @property
    def losses(self) -> FloatArray:
        return self.inner.losses

    @property
    def loss(self) -> float:
        return self.inner.loss

    @property
    def current_loss(self) -> float | None:
        return self.inner.current_loss
