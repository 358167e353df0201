"""Outcomes as people have them, rewards or losses of any range, and losses in [0, 1]."""

from __future__ import annotations

import math
from typing import Any

from hannan.core import InputTypeError, LossError, ParameterError
from hannan.core.arrays import as_scalar
from hannan.core.validation import check_bounded_range

Interval = tuple[float, float]


class Units:
    """Rewards or losses in [low, high], as losses in [0, 1] and back.

    Parameters
    ----------
    rewards, losses
        The range of outcomes, of which one is given.
    clip
        Whether outcomes outside of the range count as its nearest end; else they are refused.
    """

    def __init__(self, rewards: Any, losses: Any, clip: Any) -> None:
        if (rewards is None) == (losses is None):
            given = "neither" if rewards is None else "both"
            raise ParameterError(
                "A Decider needs the range of its outcomes, either rewards=(low, high), where more "
                f"is better, or losses=(low, high), where less is; got {given}."
            )
        if not isinstance(clip, bool):
            raise InputTypeError(f"clip= is True or False; got {clip!r}.")
        self.word = "loss" if rewards is None else "reward"
        name, span = ("losses", losses) if rewards is None else ("rewards", rewards)
        self.low, self.high = check_bounded_range("Decider", span, name)
        self.width = self.high - self.low  # from one end of the range to the other
        if not math.isfinite(self.width):
            raise ParameterError(f"{name}= must have finite ends, low < high; got {span!r}.")
        self.clip = clip

    def outcome(self, reward: Any, loss: Any) -> float:
        """The outcome that was given under the right name, checked."""
        given, other = (reward, loss) if self.word == "reward" else (loss, reward)
        if type(given) is float and self.low <= given <= self.high and other is None:
            return given  # the usual case
        if given is None or other is not None:
            wrong = "loss" if self.word == "reward" else "reward"
            got = f"both {self.word}= and {wrong}=" if given is not None else f"{wrong}={other!r}"
            got = "neither" if given is None and other is None else got
            raise ParameterError(
                f"This Decider was made with {'rewards' if self.word == 'reward' else 'losses'}=, "
                f"so an outcome is {self.word}=…, one number; got {got}."
            )
        return self.checked(given)

    def checked(self, given: Any) -> float:
        """An outcome: a finite number within the range; yes and no count as 1 and 0."""
        if type(given) is not float:
            given = as_scalar(given)
            if not isinstance(given, int | float):
                raise InputTypeError(f"A {self.word} is one number; got {given!r:.100}.")
        value = float(given)
        if self.low <= value <= self.high:
            return value
        if math.isnan(value) or not self.clip:
            mend = (
                "There is no such outcome: leave it out, or let expire() say what no answer means."
                if math.isnan(value)
                else "Give the true range when the Decider is made, or clip=True."
            )
            raise LossError(
                f"A {self.word} must lie in [{self.low:g}, {self.high:g}]; got {value:g}. {mend}"
            )
        return min(max(value, self.low), self.high)

    def as_loss(self, given: float) -> float:
        """Check an outcome and return its loss in [0, 1]; less is better."""
        within = type(given) is float and self.low <= given <= self.high
        outcome = given if within else self.checked(given)
        above = outcome - self.low if self.word == "loss" else self.high - outcome
        share = above / self.width
        return 0.0 if share < 0.0 else 1.0 if share > 1.0 else share

    def back(self, loss: float) -> float:
        """The outcome whose loss this is."""
        moved = loss * self.width
        return self.low + moved if self.word == "loss" else self.high - moved

    def interval(self, losses: Interval) -> Interval:
        """An interval for a mean, from one of losses in [0, 1]."""
        ends = self.back(losses[0]), self.back(losses[1])
        return min(ends), max(ends)
