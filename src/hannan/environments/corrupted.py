"""Feedback that is false."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hannan.core import Action, Environment, Feedback, InputTypeError, Round
from hannan.core.validation import (
    FloatArray,
    LossRange,
    check_bounded_range,
    check_choice,
    check_integer,
    check_probability,
)
from hannan.environments._wrapper import WrappedRound, Wrapper


class Corrupted(Wrapper):
    r"""The rounds of another environment, some of them with false feedback.

    Each round is corrupted with probability `rate`, until `budget` of them have been. The loss that
    counts stays :math:`\ell_t`; what the learner is shown in a corrupted round is

    * "flip": :math:`\mathrm{low} + \mathrm{high} - \ell_t`, so that good actions look bad,
    * "noise": losses drawn evenly from [low, high],
    * "missing": nothing, and the learner does not learn from the round.

    With losses in [0, 1] the corruption :math:`\sum_t \lVert \tilde\ell_t - \ell_t \rVert_\infty`
    is at most `budget`. Which rounds are corrupted is decided before the learner acts.

    Parameters
    ----------
    environment
        What is played.
    rate
        The probability that a round is corrupted; with 1 and a budget, the first ones are.
    kind
        "flip", "noise" or "missing".
    budget
        The largest number of corrupted rounds; any by default.
    loss_range
        (low, high), between which losses lie.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.FromArrays(None, [[0, 1]] * 4)
    >>> liar = hn.environments.Corrupted(world, rate=1.0, budget=2)
    >>> [r.reveal(0).tolist() for r in liar.rounds(4, np.random.default_rng(0))]
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> learner = hn.ContextFTPL(hn.oracles.AllPolicies(1, 2), seed=0)
    >>> hn.play(learner, liar).outcomes.tolist()
    [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        environment: Environment,
        rate: float = 0.1,
        *,
        kind: str = "flip",
        budget: int | None = None,
        loss_range: LossRange = (0.0, 1.0),
    ) -> None:
        super().__init__(environment)
        self.rate = check_probability(self, "rate", rate)
        self.kind = check_choice(self, "kind", kind, ("flip", "noise", "missing"))
        self.budget = None if budget is None else check_integer(self, "budget", budget, 0)
        self.loss_range = check_bounded_range(self, loss_range)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        own_rng = rng.spawn(1)[0]
        left = horizon if self.budget is None else self.budget
        for this_round in self.environment.rounds(horizon, rng):
            if own_rng.random() < self.rate and left > 0:
                left -= 1
                yield self._corrupt(this_round, own_rng)
            else:
                yield this_round

    def _corrupt(self, this_round: Round, own_rng: np.random.Generator) -> Round:
        if self.kind == "missing":
            return _Missing(this_round)
        low, high = self.loss_range
        if self.kind == "flip":
            return _False(this_round, low + high, None)
        return _False(this_round, 0.0, own_rng.uniform(low, high, size=self.n_actions))


class _Missing(WrappedRound):
    __slots__ = ()

    def reveal(self, action: Action, feedback: Feedback = Feedback.FULL) -> None:
        self.inner.reveal(action, feedback)


class _False(WrappedRound):
    """A round that shows the losses drawn, or if there are none `ends` less the true ones."""

    __slots__ = ("drawn", "ends")

    def __init__(self, inner: Round, ends: float, drawn: FloatArray | None) -> None:
        super().__init__(inner)
        self.ends = ends
        self.drawn = drawn

    def reveal(
        self, action: Action, feedback: Feedback = Feedback.FULL
    ) -> FloatArray | float | None:
        shown = self.inner.reveal(action, feedback)
        if shown is None:
            return None
        if not isinstance(shown, float | np.ndarray):
            raise InputTypeError(
                f"Corrupted changes losses that are numbers; got a {type(shown).__name__}. "
                "With kind='missing' any loss will do."
            )
        if self.drawn is None:
            return self.ends - shown
        return Round(None, self.drawn).reveal(action, feedback)
