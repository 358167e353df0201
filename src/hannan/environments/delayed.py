"""Delayed feedback."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Environment, Round
from hannan.core.validation import check_choice, check_integer
from hannan.environments._wrapper import Wrapper


class Delayed(Wrapper):
    r"""The rounds of another environment, with delayed feedback.

    The feedback of a round with delay D comes after D further rounds, so it may be out of order. D
    is constant, or drawn independently with the same mean: uniformly from 0..2 `delay`, or
    :math:`P(D = n) = p (1 - p)^n` with :math:`p = 1 / (1 + \mathrm{delay})`. Delays of wrappers
    inside are added. The learner must take delayed feedback, by `decide`.

    Parameters
    ----------
    environment
        What is played.
    delay
        The mean number of rounds until feedback comes.
    law
        "constant", "uniform" or "geometric".

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.FromArrays(None, [[0, 1]] * 4)
    >>> late = hn.environments.Delayed(world, 2, law="uniform")
    >>> [r.delay for r in late.rounds(4, np.random.default_rng(0))]
    [4, 4, 0, 1]
    """

    def __init__(self, environment: Environment, delay: int = 10, *, law: str = "constant") -> None:
        super().__init__(environment)
        self.delay = check_integer(self, "delay", delay, 0)
        self.law = check_choice(self, "law", law, ("constant", "uniform", "geometric"))

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        own_rng = rng.spawn(1)[0]
        for this_round in self.environment.rounds(horizon, rng):
            this_round.delay += self._delay(own_rng)
            yield this_round

    def _delay(self, own_rng: np.random.Generator) -> int:
        if self.law == "constant":
            return self.delay
        if self.law == "uniform":
            return int(own_rng.integers(2 * self.delay, endpoint=True))
        return int(own_rng.geometric(1.0 / (1.0 + self.delay))) - 1
