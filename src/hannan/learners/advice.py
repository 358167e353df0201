r"""A predictor's two roles under bandit feedback.

A *hint* H decides what is played: it enters the objective with a weight comparable to the whole
history. What a wrong hint costs is measured (S and `over` below), and hints are taken only while
that stays within a budget of the order of the guarantee itself. A *baseline* Q sits inside the
loss estimate and lowers its variance; where it is too high it costs an amount that nobody can
observe.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from hannan.core import Predictor
from hannan.core.predictor import adopt, check_guess
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray

PRESETS = ("strict", "balanced", "baseline")


class Advice(Stored):
    """What a learner does with a predictor: see `ContextSemiBanditFTPL`, parameter `trust`."""

    _scratch = frozenset({"_key"})

    def __init__(
        self,
        predictor: Predictor,
        trust: str,
        strength: float | None,
        K: int,
        top: float,
        key: Callable[[Any], Hashable],
    ) -> None:
        self.predictor: Any = adopt(predictor)
        if hasattr(self.predictor, "prepare"):
            self.predictor.prepare(K)
        self.trust = trust
        self.strength = strength if strength is not None else 30.0 if trust == "strict" else 10.0
        self.S = 0.0
        self.over = 0.0
        self._factor = math.sqrt(2.0 * K) if trust == "strict" else 1.0
        self._K = K
        self._top = top
        self._key = key
        self._visits: Counter[Hashable] = Counter()

    @property
    def hints(self) -> bool:
        """Whether the prediction may decide what is played."""
        return self.trust != "baseline"

    def hint(self, context: Any, G: float, n: int, weight: float | None) -> FloatArray | None:
        """The weighted hint for round n, or None when the budget is spent."""
        spent = max(self.S, 0.0) + 2.0 * self.over
        if not self.hints or spent > self._factor * self._top * math.sqrt(G * n):
            return None
        if weight is None:
            weight = max(1.0, self.strength * self._visits[self._key(context)])
        return weight * self._checked(self.predictor.predict(context))

    def baseline(self, context: Any) -> FloatArray | None:
        """The baseline, or None where estimates stay plain."""
        if self.trust == "strict":
            return None
        guess = self.predictor.predict if self.trust == "baseline" else self._cautious
        return self._checked(guess(context))

    def learn(self, context: Any, action: Any, loss: Any) -> None:
        """Pass on what was seen."""
        self.predictor.learn(context, action, loss)
        if self.hints:
            self._visits[self._key(context)] += 1

    def _cautious(self, context: Any) -> Any:
        lower = getattr(self.predictor, "baseline", self.predictor.predict)
        return lower(context)

    def _checked(self, guess: Any) -> FloatArray:
        return check_guess(self.predictor, guess, self._K, (0.0, self._top))
