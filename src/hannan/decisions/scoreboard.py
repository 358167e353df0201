"""Running comparison of the decisions with a baseline and each constant action."""

from __future__ import annotations

import copy
import math
from functools import lru_cache
from typing import Any, Self

import numpy as np

from hannan.core.arrays import grown
from hannan.core.rounds import IntArray
from hannan.core.state import Array, Count, Number, Part, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.off_policy import Watch
from hannan.off_policy.centres import Centre
from hannan.off_policy.rules import Shares, shares

BASELINE, RANDOM = "baseline", "at random"
_RECENT = 0.999  # discount factor of the mean entropy, per decision
_KEPT = 1024  # size of the caches of shares


class Scoreboard(Stored):
    """Counts of decisions and outcomes, and a `Watch` over the baseline and constant actions.

    The `Watch` never calls its policies. The `Decider` calls a baseline rule once, before the
    decision, so that no file has to hold the rule.

    Parameters
    ----------
    n_actions
        Number of actions K; 0 if items are passed to each decision. Decisions between items are
        compared with an item chosen at random.
    baseline
        Whether there is a baseline.
    confidence
        Joint confidence level of all intervals.
    """

    stored = State(
        watch=Part(),
        plays=Array(low=0.0),
        with_feedback=Array(low=0.0).where(
            lambda self, with_feedback: (with_feedback <= self.plays).all()
        ),
        sums=Array(low=0.0).where(lambda self, sums: (sums <= self.with_feedback + 1e-6).all()),
        expired=Count(),
        late=Count(),
        logged=Count(),
        min_propensity=Number(0.0, 1.0).where(lambda self, min_propensity: min_propensity > 0.0),
        groups=Array(low=0.0),
        _entropy=Array(low=0.0),
    )
    room_for = ("n_actions",)

    def __init__(self, n_actions: int, baseline: bool, confidence: float) -> None:
        self.n_actions, self.baseline, self.confidence = n_actions, baseline, confidence
        self.watch = Watch(self._compared(n_actions), n_actions or None, confidence=confidence)
        size = max(n_actions, 1)  # one slot for all items
        self.plays = np.zeros(size)
        self.with_feedback = np.zeros(size)
        self.sums = np.zeros(size)  # sums of losses in [0, 1]
        self.expired = 0  # decisions without an outcome
        self.late = 0  # outcomes reported for expired decisions
        self.logged = 0  # logged decisions of other systems
        self.min_propensity = 1.0  # so far
        # The holdout, then all others: numbers of decisions and outcomes, sums of losses and of
        # squared losses.
        self.groups = np.zeros((2, 4))
        self._entropy = np.zeros(2)

    def _compared(self, n_actions: int) -> dict[str, int]:
        policies = {str(action): action for action in range(n_actions)} or {RANDOM: 0}
        return policies | ({BASELINE: 0} if self.baseline else {})

    # Events -------------------------------------------------------------------------------------

    def add_decision(
        self,
        number: int,
        action: int,
        propensity: float,
        target: int | None,
        available: list[int] | None,
        items: int,
        chances: FloatArray | None = None,
        values: FloatArray | None = None,
    ) -> None:
        """Count a decision; `target` is the baseline's action. Never fails.

        Decisions in the holdout have negative numbers, other decisions have the learner's numbers.
        `items` is the number of actions to choose from, `chances` are their probabilities, and
        `values` the losses in [0, 1] that a predictor expected of them.
        """
        there = None if available is None else tuple(available)
        if self.n_actions:
            held, targets = _shares(self.n_actions, self.baseline, action, target, there)
        else:
            held = _shares_of_item(items, self.baseline, target == action, target is None)
            targets = np.array([0, *([-1 if target is None else target] if self.baseline else [])])
        centre = None
        if chances is not None:
            values = self._guesses(items) if values is None else values
            centre = Centre.of(targets, action, chances, values, not self.n_actions)
        self.watch.enter(number, held, 1.0 / propensity, centre)
        self.groups[0 if number < 0 else 1, 0] += 1.0
        self.plays[action if self.n_actions else 0] += 1.0
        self.min_propensity = min(self.min_propensity, propensity)
        # The mean of -log2(propensity) estimates the entropy of the action distribution.
        sums = self._entropy
        sums[0] = _RECENT * sums[0] - math.log2(propensity)
        sums[1] = _RECENT * sums[1] + 1.0

    def add_outcome(self, number: int, action: int, loss: float) -> None:
        """Count the outcome of a decision, a loss in [0, 1]. Never fails."""
        self.watch.settle(number, loss)
        self.groups[0 if number < 0 else 1, 1:] += 1.0, loss, loss * loss
        place = action if self.n_actions else 0
        self.with_feedback[place] += 1.0
        self.sums[place] += loss

    def add_expired(self, number: int) -> None:
        """Count a decision that expired without an outcome."""
        self.watch.abandon(number)
        self.expired += 1

    def extended(self, n_actions: int) -> Self:
        """Return a copy with more actions, which were unavailable so far."""
        twin = copy.copy(self)
        twin.n_actions, twin._entropy = n_actions, self._entropy.copy()
        twin.groups = self.groups.copy()
        for name in ("plays", "with_feedback", "sums"):
            setattr(twin, name, grown(getattr(self, name), n_actions))
        twin.watch = self.watch.extended(self._compared(n_actions), n_actions)
        return twin

    # Results ------------------------------------------------------------------------------------

    @property
    def entropy(self) -> float:
        """Mean entropy of the action distribution, in bits, of about the last 1,000 decisions."""
        total, count = self._entropy.tolist()
        return total / count if count else math.nan

    @property
    def held_out(self) -> int:
        """Number of decisions in the holdout."""
        return int(self.groups[0, 0])

    def _guesses(self, items: int) -> FloatArray:
        """Predict the loss of each action: its mean so far, shrunk towards the mean of all."""
        overall = (float(self.sums.sum()) + 0.5) / (float(self.with_feedback.sum()) + 1.0)
        guesses = (self.sums + overall) / (self.with_feedback + 1.0)
        return np.asarray(guesses) if self.n_actions else np.full(items, guesses[0])

    def means(self) -> FloatArray:
        """Return the mean loss of each action over its decisions with feedback."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums / self.with_feedback)


@lru_cache(_KEPT)
def _shares(
    n_actions: int, baseline: bool, action: int, target: int | None, there: tuple[int, ...] | None
) -> tuple[Shares, IntArray]:
    """Return the shares of each constant action and the baseline, and their choices.

    A choice is -1 if its action is unavailable.
    """
    targets: list[Any] = [*range(n_actions), *([target] if baseline else [])]
    if there is not None:
        targets = [each if each in there else None for each in targets]
    choices = np.array([-1 if each is None else each for each in targets], dtype=np.intp)
    return shares(targets, action, None), choices


@lru_cache(_KEPT)
def _shares_of_item(items: int, baseline: bool, same: bool, absent: bool) -> Shares:
    """Return the shares of a random item and of the baseline, for one item among several."""
    played = [1.0 / items, *([float(same)] if baseline else []), 0.0]
    return Shares(np.array(played), np.array([0.0, *([float(absent)] if baseline else []), 1.0]))
