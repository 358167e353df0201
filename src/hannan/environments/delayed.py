"""Feedback that comes late."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Environment, Round
from hannan.core.validation import check_choice, check_integer
from hannan.environments._wrapper import Wrapper


class Delayed(Wrapper):
    r"""The rounds of another environment, each learned from some rounds later.

    A round with delay D is answered after D further rounds have been played, so feedback may
    come out of order. D is always the same, or drawn for each round with the same mean: evenly
    from 0..2 `delay`, or :math:`P(D = n) = p (1 - p)^n` with :math:`p = 1 / (1 + \mathrm{delay})`.
    Delays of wrappers inside are added. The learner must be able to learn late, by `decide`: all
    baselines but `EpochGreedy` can, `ContextSemiBanditFTPL`, `ContextFTPL` with a number for
    `epsilon` or "anytime", and `Restarting` around any of these.

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
        """The same rounds, with delays."""
        coins = rng.spawn(1)[0]
        for this_round in self.environment.rounds(horizon, rng):
            this_round.delay += self._delay(coins)
            yield this_round

    def _delay(self, coins: np.random.Generator) -> int:
        if self.law == "constant":
            return self.delay
        if self.law == "uniform":
            return int(coins.integers(2 * self.delay, endpoint=True))
        return int(coins.geometric(1.0 / (1.0 + self.delay))) - 1
