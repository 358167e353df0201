r"""A predictor's two roles under bandit feedback.

A *hint* H decides what is played: it enters the objective with a weight comparable to the whole
history. What a wrong hint costs is measured, and hints are taken only while that stays within a
budget of the order of the guarantee itself. A *baseline* Q sits inside the loss estimate and
lowers its variance; where it is too high it costs an amount that nobody can observe.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Oracle, ParameterError, Predictor
from hannan.core.predictor import adopt, check_guess
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, check_choice, check_positive, refuse
from hannan.learners.perturbed_leader import PerturbedLeader


@dataclass(frozen=True, slots=True)
class Trust(Stored):
    """How far a predictor is believed under bandit feedback.

    Parameters
    ----------
    hint
        How many times the whole history a hint counts; None for no hints. Hints need single
        actions. A hint must outweigh the history, or it could not lead where the history of an
        action is poor; 30 was enough on every stream that was tried.
    baseline
        What is subtracted from losses before they are weighted: None for nothing, so that
        guarantee and certificate stay valid; "low" for the predictor's cautious guess; "guess" for
        its guess itself.
    signed
        Whether a baseline that was too high makes the estimate negative, in place of zero. Signed
        estimates are less biased and often better, but an adaptive adversary can force linear
        regret on them.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle, guess = hn.oracles.AllPolicies(2, 3), hn.predictors.Mean()
    >>> learner = hn.ContextSemiBanditFTPL(oracle, predictor=guess, trust=hn.Trust(hint=10), seed=0)
    >>> learner.act(0) in range(3)
    True
    """

    hint: float | None = 30.0
    baseline: str | None = None
    signed: bool = False

    def __post_init__(self) -> None:
        if self.hint is not None:
            check_positive(self, "hint", self.hint)
        if self.baseline is not None:
            check_choice(self, "baseline", self.baseline, ("low", "guess"))
        if self.hint is None and self.baseline is None:
            raise ParameterError("Trust needs a hint=, a baseline=, or both; got neither.")

    @property
    def has_theorem(self) -> bool:
        """Whether loss estimates stay plain, so that the guarantee holds."""
        return self.baseline is None


PRESETS = {
    "strict": Trust(hint=30.0),
    "balanced": Trust(hint=10.0, baseline="low", signed=True),
    "baseline": Trust(hint=None, baseline="guess"),
}


def check_trust(owner: object, trust: Any, predictor: Any, oracle: Oracle) -> Trust:
    """The trust that a word names, or one given as it is."""
    if isinstance(trust, str) and trust in PRESETS:
        found = PRESETS[trust]
    elif isinstance(trust, Trust):
        found = trust
    else:
        words = ", ".join(map(repr, PRESETS))
        raise refuse(owner, "trust", f"one of {words}, or a Trust", trust)
    if predictor is not None and found.hint is not None and oracle.max_chosen > 1:
        raise ParameterError(
            f"trust={trust!r} uses hints, which are for single actions; with sets of "
            "elements use trust='baseline'."
        )
    return found


class NoHint(Stored):
    """No predictor: the leader alone decides, and losses are weighted as they are."""

    predictor: Any = None
    has_theorem = True
    signed = False
    S = 0.0

    def advise(self, opened: Any, leader: PerturbedLeader, n: int) -> None:
        """Nothing to say about round n."""

    def surprise(self, opened: Any, losses: Any) -> Any:
        """What the chosen elements cost beyond the baseline."""
        return losses

    def learn(self, opened: Any, losses: Any) -> None:
        """Nothing to learn."""

    def charge(self, opened: Any, boldness: float, instability: float) -> None:
        """Nothing was spent."""

    def limit(self, limit: int, scale: float, top: float) -> int:
        """L, the most draws for a weight."""
        return max(2, limit)


class Hint(NoHint):
    r"""A predictor at work, within its budget.

    Attributes
    ----------
    S
        The sum over hinted rounds of what the hinted leader costs more than the plain one, by the
        loss estimates: on average what hints have really cost.
    instability
        What instability has cost in hinted rounds.
    """

    _derived = frozenset({"_key"})

    def __init__(
        self,
        predictor: Predictor,
        trust: Trust,
        n_actions: int,
        top: float,
        key: Callable[[Any], Hashable],
    ) -> None:
        self.predictor: Any = adopt(predictor)
        if hasattr(self.predictor, "prepare"):
            self.predictor.prepare(n_actions)
        self.trust = trust
        self.S = 0.0
        self.instability = 0.0
        # With plain estimates the guarantee allows for hints that cost as much as the learner
        # itself may; without a guarantee a smaller budget has proved better.
        self._factor = math.sqrt(2.0 * n_actions) if trust.has_theorem else 1.0
        self._n_actions = n_actions
        self._top = top
        self._key = key
        self._visits: Counter[Hashable] = Counter()

    @property
    def has_theorem(self) -> bool:  # type: ignore[override]
        """Whether loss estimates stay plain."""
        return self.trust.has_theorem

    @property
    def signed(self) -> bool:  # type: ignore[override]
        """Whether estimates may be negative."""
        return self.trust.signed

    def advise(self, opened: Any, leader: PerturbedLeader, n: int) -> None:
        """Set the hint and the baseline of round n: functions of the context and the past."""
        context, trust = opened.context, self.trust
        if trust.hint is not None:
            weight = leader.total.hint_weight(context, trust.hint)
            if self._affordable(leader.G, n):
                if weight is None:
                    weight = max(1.0, trust.hint * self._visits[self._key(context)])
                opened.hint = weight * self._checked(self.predictor.predict(context))
        if trust.baseline is not None:
            guess = self.predictor.predict
            if trust.baseline == "low":
                guess = getattr(self.predictor, "baseline", guess)
            opened.baseline = self._checked(guess(context))
        if opened.plays is not None:
            opened.hint = None if opened.hint is None else opened.hint[opened.plays]
            opened.baseline = None if opened.baseline is None else opened.baseline[opened.plays]

    def surprise(self, opened: Any, losses: Any) -> Any:
        """What the chosen elements cost beyond the baseline."""
        if opened.baseline is None:
            return losses
        found = losses - opened.baseline[opened.action]
        return found if self.signed else np.maximum(found, 0.0)

    def learn(self, opened: Any, losses: Any) -> None:
        """Pass on what was seen."""
        self.predictor.learn(opened.context, opened.action, losses)
        if self.trust.hint is not None:
            self._visits[self._key(opened.context)] += 1

    def charge(self, opened: Any, boldness: float, instability: float) -> None:
        """Charge the budget with what the hint of a round has cost."""
        if opened.hint is not None:
            self.S += boldness
            self.instability += instability

    def limit(self, limit: int, scale: float, top: float) -> int:
        """L; shorter where a hint comes with a baseline, as there is no guarantee to keep."""
        if self.trust.hint is None or self.trust.has_theorem:
            return super().limit(limit, scale, top)
        return max(20, min(math.ceil(scale / top), limit))

    def _affordable(self, G: float, n: int) -> bool:
        """Whether what hints have cost leaves room for another one in round n."""
        spent = max(self.S, 0.0) + 2.0 * self.instability
        return spent <= self._factor * self._top * math.sqrt(G * n)

    def _checked(self, guess: Any) -> FloatArray:
        return check_guess(self.predictor, guess, self._n_actions, (0.0, self._top))
