"""Replay of a log of actions and their losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hannan.core import Action, Environment, Feedback, ParameterError, Round
from hannan.core.policy import loss_of
from hannan.core.rounds import IntArray
from hannan.core.validation import (
    FloatArray,
    check_choice,
    check_loss_range,
    check_probability,
    refuse,
)
from hannan.environments._columns import Labels, Numbers, read
from hannan.environments._features import Stream
from hannan.environments._tabular import InFile

METHODS = ("rejection", "importance")
_TINY = 5e-324  # the smallest number above zero


class LoggedRound(Round):
    """A round whose loss is known for the logged action, `current`, only.

    Its weight is 0 until an action is revealed, and if that is not the logged one.
    """

    __slots__ = ("_full", "_known", "_weight")

    def __init__(
        self,
        context: Any,
        losses: FloatArray,
        logged: int,
        known: float,
        weight: float,
        full: bool,
    ) -> None:
        super().__init__(context, losses, current=logged)
        self.weight = 0.0
        self._known = known
        self._weight = weight
        self._full = full

    def reveal(
        self, action: Action, feedback: Feedback = Feedback.FULL
    ) -> FloatArray | float | None:
        """Estimated losses; or, by rejection, the loss of the logged action if it is this one."""
        self.action = action
        self.weight = self._weight if action == self.current else 0.0
        if self._full:
            return self._losses if feedback is Feedback.FULL else loss_of(self._losses, action)
        return self._known if self.weight and feedback is Feedback.SEMI else None

    @property
    def loss(self) -> float:
        """The logged loss, which counts with `weight`."""
        return super().loss if self.action is None else self._known

    @property
    def current_loss(self) -> float:
        return self.loss


class Logged(Environment):
    """Rounds in which only the loss of the logged action is known."""

    method: str

    @property
    def estimates_range(self) -> tuple[float, float]:
        """(low, high) of the estimates that learners are shown by importance weighting."""
        raise NotImplementedError

    def meet(self, learner: Any) -> None:
        """Refuse a learner that cannot learn from this log, or not from estimates."""
        name, taken = type(learner).__name__, getattr(learner, "loss_range", None)
        full = getattr(learner, "feedback", Feedback.FULL) is Feedback.FULL
        if self.method != "importance":
            if full and getattr(learner, "oracle", None) is not None:
                raise ParameterError(
                    f"{name} learns from the losses of all actions, which a log does not hold: use "
                    "method='importance', or a learner with bandit feedback."
                )
            return
        low, high = self.estimates_range
        if taken is not None and (low < taken[0] or taken[1] < high):
            advice = "Pass loss_range=None, or that range, to a learner with full information"
            if not full:
                advice = "Use method='rejection' for a learner with bandit feedback"
            raise ParameterError(
                f"{name} takes losses in loss_range={tuple(taken)}, but by importance weighting "
                f"learners are shown estimates of losses, here from {low:g} to {high:g}. {advice}."
            )


@dataclass(repr=False, eq=False, kw_only=True)
class FromLog(Logged, InFile):
    r"""The rows of a log: the action b that was taken, its probability p and what it cost.

    By *rejection* a learner keeps a row of the log if it chooses the logged action, and then with
    probability :math:`p_{\min}/p`, as if the logging policy had been uniform: the rows kept are a
    real, shorter game. In other rows it gets no feedback. By *importance* weighting it is shown an
    unbiased estimate of all losses in every row, as with full information,

    .. math:: \hat\ell_t(a) = c_t + \frac{1[a = b_t]}{p_t}(\ell_t - c_t).

    In both, a round in which the logged action is played has the weight w = 1 (rejection) or 1/p
    (importance), others have 0; :math:`\sum w \ell / \sum w` estimates the mean loss.

    Parameters
    ----------
    path, context, categorical, scale, missing, dialect, oracle
        As in `FromFile`.
    action
        The column that names the action taken.
    loss, reward
        The column that holds what it cost, or what it earned; give one. A reward r counts as the
        loss high - r, with the end of its range.
    propensity
        The column of the probabilities with which the logged actions were taken; or a number
        where it was always the same, 1/K for uniform logging.
    actions
        The possible actions; by default all in the log.
    method
        "rejection", for learners with bandit feedback, or "importance", for learners with full
        information; estimates leave [0, 1], so these need loss_range=None (or
        `estimates_range`).
    value_range
        (low, high) of the loss or reward column, mapped to [0, 1].
    baseline
        c: a number in [0, 1], where 0 is the textbook estimate; or "running", the mean of the
        losses logged so far.
    floor
        p_min, for rejection; by default the smallest probability in the log. A larger one keeps
        more rows, at the price of a bias against actions that were logged more rarely.
    max_columns, max_unpacked
        As in `FromFile`.

    Attributes
    ----------
    actions
        The actions, in order.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import hannan as hn
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "log.csv"
    >>> _ = file.write_text("hour,ad,click\n9,red,1\n10,blue,0\n11,red,0\n")
    >>> log = hn.environments.FromLog(
    ...     file, context=["hour"], action="ad", reward="click", propensity=0.5
    ... )
    >>> log.actions
    ['blue', 'red']
    >>> for this_round in log.rounds(3, np.random.default_rng(0)):
    ...     print(this_round.reveal(1, hn.Feedback.SEMI), this_round.weight, this_round.losses)
    0.0 1.0 [ 0.5 -0.5]
    None 0.0 [2. 0.]
    1.0 1.0 [0.5 1.5]
    >>> folder.cleanup()

    References
    ----------
    [li2011], [dudik2011]
    """

    action: str
    loss: str | None = None
    reward: str | None = None
    propensity: str | float | None = None
    actions: Any = None
    method: str = "rejection"
    value_range: tuple[float, float] = (0.0, 1.0)
    baseline: float | str = "running"
    floor: float | None = None

    def __post_init__(self) -> None:
        check_choice(self, "method", self.method, METHODS)
        self._range = check_loss_range(self, self.value_range, "value_range")
        self._outcome = self._check_outcome()
        chances = [self.propensity] if isinstance(self.propensity, str) else []
        declared = self.actions
        asked = self.action if declared is None else None
        found = self._open(self._file(), [self.action, self._outcome, *chances], asked)
        self.actions = found if declared is None else list(declared)
        if not self.actions:
            raise refuse(self, "actions", "a list of the possible actions", declared)
        self.n_actions = len(self.actions)
        logged = Labels(self.action, self.actions, holes=self._drops)
        self._parts = [
            logged,
            Numbers([self._outcome, *chances], holes=self._drops),
            *self._features.parts,
        ]

    @cached_property
    def smallest_propensity(self) -> float:
        """The smallest probability in the log; the file is read once for it."""
        if not isinstance(self.propensity, str):
            return float(self.propensity or 1.0)
        parts = [Numbers([self.propensity], holes=self._drops)]
        smallest = 1.0
        for first, batch in self._table.batches([self.propensity]):
            (column,) = read(self._table.source, parts, batch, first)
            known = self._propensities(column[:, 0], first + np.arange(len(column)))
            smallest = float(np.fmin.reduce(known, initial=smallest))
        return smallest

    @property
    def estimates_range(self) -> tuple[float, float]:
        r"""(low, high) of what :math:`\hat\ell` may be, by the smallest probability."""
        return range_of_estimates(self.baseline, (0.0, 1.0), self.smallest_propensity)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[LoggedRound]:
        stream, means = Stream(self._features), Means(self.baseline)
        low, high = self._range
        full = self.method == "importance"
        floor = 0.0 if full else self.floor or self.smallest_propensity
        # The log itself may have been drawn from a generator with the same seed.
        own_rng = rng if full else rng.spawn(1)[0]
        for numbers, (logged, values, *found) in self._batches(horizon):
            self._check_range([self._outcome], values[:, :1], numbers, self._range)
            costs = high - values[:, 0] if self.reward is not None else values[:, 0] - low
            losses = costs / (high - low)
            if isinstance(self.propensity, str):
                p = self._propensities(values[:, 1], numbers)
            else:
                p = np.full(len(losses), self.smallest_propensity)
            c = means.before(losses)
            table = np.repeat(c[:, None], self.n_actions, axis=1)
            table[np.arange(len(c)), logged] += (losses - c) / p
            estimates = [row.copy() for row in table]
            # By rejection 1 where a row may be used, so that logging looks uniform.
            weights = 1.0 / p if full else (own_rng.random(len(p)) * p < floor).astype(np.float64)
            contexts = stream.contexts(found, len(losses))
            columns = contexts, estimates, logged.tolist(), losses.tolist(), weights.tolist()
            for row in zip(*columns, strict=True):
                yield LoggedRound(*row, full)

    def _propensities(self, values: FloatArray, numbers: IntArray) -> FloatArray:
        why = "is no probability in (0, 1] of an action that was taken"
        self._check_range([str(self.propensity)], values[:, None], numbers, (_TINY, 1.0), why)
        return values

    def _check_outcome(self) -> str:
        """The column of losses or rewards."""
        if (self.loss is None) == (self.reward is None):
            raise ParameterError(
                "FromLog needs either loss= or reward=, the column of what the logged action cost "
                f"or earned; got loss={self.loss!r} and reward={self.reward!r}."
            )
        p = self.propensity
        if p is None:
            raise ParameterError(
                "FromLog needs propensity=, the column of the probabilities with which the logged "
                "actions were taken, or a number such as 0.25 if each of four was equally likely."
            )
        if not isinstance(p, str) and not 0.0 < check_probability(self, "propensity", p) <= 1.0:
            raise refuse(self, "propensity", "a column or a number in (0, 1]", p)
        if self.floor is not None and check_probability(self, "floor", self.floor) == 0.0:
            raise refuse(self, "floor", "a number in (0, 1]", self.floor)
        if isinstance(self.baseline, str):
            check_choice(self, "baseline", self.baseline, ("running",))
        else:
            check_probability(self, "baseline", self.baseline)
        return str(self.loss if self.reward is None else self.reward)


def range_of_estimates(
    baseline: float | str, losses: tuple[float, float], p: float
) -> tuple[float, float]:
    """What c + (loss - c)/p may be for losses in a range and probabilities of at least p."""
    low, high = losses
    least, most = (low, high) if isinstance(baseline, str) else (baseline, baseline)
    return most + (low - most) / p, least + (high - least) / p


class Means:
    """c of each row: a constant, or the mean loss of the rows before (1/2 before the first)."""

    def __init__(self, baseline: float | str) -> None:
        self._fixed = None if isinstance(baseline, str) else float(baseline)
        self._sum = 0.0
        self._count = 0

    def before(self, losses: FloatArray) -> FloatArray:
        """c of the next rows, of which these are the losses."""
        if self._fixed is not None:
            return np.full(len(losses), self._fixed)
        # The sum so far is added first, so that rounding does not depend on the batches.
        sums = np.cumsum(np.concatenate(([self._sum], losses)))
        counts = self._count + np.arange(len(losses))
        self._sum = float(sums[-1])
        self._count += len(losses)
        return np.where(counts > 0, sums[:-1] / np.maximum(counts, 1), 0.5)
