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
from hannan.environments._columns import Labels, Numbers
from hannan.environments._features import Codes, Stream
from hannan.environments._propensities import (
    check_propensities,
    estimate_propensities,
    is_sorted,
)
from hannan.environments._tabular import InFile

METHODS = ("rejection", "importance")
_TINY = 5e-324  # the smallest number above zero
_CELLS = 50_000_000  # most cells of features for which the check uses the features


class LoggedRound(Round):
    """A round in which only the loss of the logged action, `current`, is known.

    Its weight is 0 until an action is revealed, and stays 0 unless this is the logged action.
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
        """Return estimated losses; by rejection, the logged loss if this is the logged action."""
        self.action = action
        self.weight = self._weight if action == self.current else 0.0
        if self._full:
            return self._losses if feedback is Feedback.FULL else loss_of(self._losses, action)
        return self._known if self.weight and feedback is Feedback.BANDIT else None

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
        """(low, high) of the loss estimates that learners observe by importance weighting."""
        raise NotImplementedError

    def meet(self, learner: Any) -> None:
        """Raise `ParameterError` for a learner that cannot learn from this log by this method."""
        name, taken = type(learner).__name__, getattr(learner, "loss_range", None)
        full = getattr(learner, "feedback", Feedback.FULL) is Feedback.FULL
        if self.method != "importance":
            if full and getattr(learner, "oracle", None) is not None:
                raise ParameterError(
                    f"{name} learns from the losses of all actions, which a log does not contain. "
                    "Use method='importance', or a learner with bandit feedback."
                )
            return
        low, high = self.estimates_range
        if taken is not None and (low < taken[0] or taken[1] < high):
            advice = "Pass loss_range=None, or that range, to a learner with full information"
            if not full:
                advice = "Use method='rejection' for a learner with bandit feedback"
            raise ParameterError(
                f"{name} takes losses in loss_range={tuple(taken)}, but importance weighting gives "
                f"learners estimates of losses, here from {low:g} to {high:g}. {advice}."
            )


@dataclass(repr=False, eq=False, kw_only=True)
class FromLog(Logged, InFile):
    r"""Replay a log of actions, with their propensities and their losses or rewards.

    Each row holds the chosen action b, its propensity p and its loss. By *rejection* a learner uses
    a row of the log only if it chooses the logged action, and then with probability
    :math:`p_{\min}/p`. The used rows are then a real, shorter run, as if the logging policy had
    been uniform. In other rows the learner gets no feedback. By *importance* weighting the learner
    observes an unbiased estimate of all losses in every row, as with full information,

    .. math:: \hat\ell_t(a) = c_t + \frac{1[a = b_t]}{p_t}(\ell_t - c_t).

    In both methods, a round in which the learner plays the logged action has the weight w = 1
    (rejection) or 1/p (importance). Other rounds have weight 0. The ratio :math:`\sum w \ell / \sum
    w` estimates the mean loss.

    Parameters
    ----------
    path, context, categorical, scale, missing, dialect, oracle
        As in `FromFile`.
    action
        Column of the logged actions.
    loss, reward
        Column of the losses, or of the rewards, of the logged actions; pass one of the two. A
        reward r counts as the loss high - r, where high is the upper end of `value_range`.
    propensity
        Column of the propensities: the probabilities with which the logged actions were chosen. A
        number if this probability was constant, 1/K for uniform logging. "estimate" (unless a
        column has this name) estimates the propensities from the context by
        `hannan.off_policy.estimate_propensities`. This assumes that nothing except the context
        influenced both the choice and the outcome.
    actions
        List of the possible actions. Default: all actions in the log.
    method
        "rejection" (default), for learners with bandit feedback, or "importance", for learners with
        full information. Estimates can lie outside [0, 1], so learners need loss_range=None (or
        `estimates_range`) with "importance".
    value_range
        (low, high) of the loss or reward column, mapped to [0, 1]. Default (0, 1).
    baseline
        Baseline c of the estimate: a number in [0, 1], where 0 gives the textbook estimate, or
        "running" (default), the mean of the losses logged so far.
    floor
        Probability p_min for rejection, in (0, 1]. Default: the smallest propensity in the log. A
        larger value uses more rows, but biases the results against actions that were logged more
        rarely.
    check
        Whether to raise `PropensityError` if the propensities cannot be right, see
        `hannan.off_policy.check_propensities`. This reads the log once. Default True.
    max_columns, max_unpacked
        As in `FromFile`.

    Attributes
    ----------
    actions
        Names of the actions, in order.
    left_out
        Rows that are left out, with the reasons and by action.

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
    ...     print(this_round.reveal(1, hn.Feedback.BANDIT), this_round.weight, this_round.losses)
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
    check: bool = True

    def __post_init__(self) -> None:
        check_choice(self, "method", self.method, METHODS)
        self._range = check_loss_range(self, self.value_range, "value_range")
        self._outcome = self._check_outcome()
        table = self._file()
        self._estimates = self.propensity == "estimate" and "estimate" not in table.names
        in_column = isinstance(self.propensity, str) and not self._estimates
        chances = [str(self.propensity)] if in_column else []
        declared = self.actions
        asked = self.action if declared is None else None
        found = self._open(table, [self.action, self._outcome, *chances], asked)
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

        if self.check and not self._estimates and self.horizon:
            self._check_propensities()

    @cached_property
    def propensities(self) -> FloatArray:
        """Propensities of the played rows, logged or estimated; reads the log once."""
        if self._estimates:
            return self._estimated()
        batches = self._batches(self.horizon) if self.horizon else ()
        return np.concatenate([np.empty(0), *(self._chances(*batch) for batch in batches)])

    @cached_property
    def smallest_propensity(self) -> float:
        """Smallest propensity in the log; reads the file once."""
        if not isinstance(self.propensity, str):
            return float(self.propensity or 1.0)
        return float(self.propensities.min(initial=1.0))

    def _chances(self, numbers: IntArray, columns: list[Any], start: int = 0) -> FloatArray:
        """Return the propensities of a batch, after `start` rows of earlier batches."""
        values = columns[1]
        if self._estimates:
            return self.propensities[start : start + len(values)]
        if isinstance(self.propensity, str):
            return self._checked(values[:, 1], numbers)
        return np.full(len(values), self.smallest_propensity)

    def _estimated(self) -> FloatArray:
        stream = Stream(self._features)
        for _ in range(2):  # the second pass scales contexts by all rows
            logged, rows = [], []
            for _, (places, _, *shown) in self._batches(self.horizon):
                logged.append(places)
                rows += [np.atleast_1d(x) for x in stream.contexts(shown, len(places))]
        X = np.array(rows, dtype=np.float64) if self._features.names else None
        return estimate_propensities(X, np.concatenate(logged), self.n_actions)

    def _check_propensities(self) -> None:
        """Read the log and raise `PropensityError` for propensities that cannot be right."""
        codes = Codes(self._features)
        logged, chances, tables, outcomes = [], [], [], []
        small = self.horizon * len(codes.names) <= _CELLS
        for numbers, columns in self._batches(self.horizon):
            self._check_range([self._outcome], columns[1][:, :1], numbers, self._range)
            logged.append(columns[0])
            outcomes.append(columns[1][:, 0])
            chances.append(self._chances(numbers, columns))
            if small:
                tables.append(codes.table(columns[2:], len(numbers)))
        self.propensities = np.concatenate(chances)
        X = np.concatenate(tables) if small else None
        actions = np.concatenate(logged)
        check_propensities(
            actions,
            self.propensities,
            self.actions,
            X,
            features=codes.names,
            in_order=not is_sorted(actions, np.concatenate(outcomes)),
        )

    @property
    def estimates_range(self) -> tuple[float, float]:
        r"""(low, high) of the estimates :math:`\hat\ell`, given the smallest propensity."""
        return range_of_estimates(self.baseline, (0.0, 1.0), self.smallest_propensity)

    def columns(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the logged actions, their outcomes as in the file, and their propensities."""
        parts: list[Any] = [(np.empty(0, dtype=np.intp), np.empty(0))]
        for numbers, (logged, values, *_) in self._batches(self.horizon):
            self._check_range([self._outcome], values[:, :1], numbers, self._range)
            parts.append((logged, values[:, 0]))
        actions, outcomes = map(np.concatenate, zip(*parts, strict=True))
        return actions, outcomes, self.propensities

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[LoggedRound]:
        stream, means = Stream(self._features), Means(self.baseline)
        low, high = self._range
        full = self.method == "importance"
        floor = 0.0 if full else self.floor or self.smallest_propensity
        played = 0
        # The log itself may have been drawn from a generator with the same seed.
        own_rng = rng if full else rng.spawn(1)[0]
        for numbers, columns in self._batches(horizon):
            logged, values, *found = columns
            self._check_range([self._outcome], values[:, :1], numbers, self._range)
            costs = high - values[:, 0] if self.reward is not None else values[:, 0] - low
            losses = costs / (high - low)
            p = self._chances(numbers, columns, played)
            played += len(p)
            c = means.before(losses)
            table = np.repeat(c[:, None], self.n_actions, axis=1)
            table[np.arange(len(c)), logged] += (losses - c) / p
            estimates = [row.copy() for row in table]
            # By rejection, 1 in the rows to use, so that logging looks uniform.
            weights = 1.0 / p if full else (own_rng.random(len(p)) * p < floor).astype(np.float64)
            contexts = stream.contexts(found, len(losses))
            rows = contexts, estimates, logged.tolist(), losses.tolist(), weights.tolist()
            for row in zip(*rows, strict=True):
                yield LoggedRound(*row, full)

    def _checked(self, values: FloatArray, numbers: IntArray) -> FloatArray:
        why = "is not a probability in (0, 1]; divide percentages by 100"
        self._check_range([str(self.propensity)], values[:, None], numbers, (_TINY, 1.0), why)
        return values

    def _check_outcome(self) -> str:
        """Return the column of losses or rewards, and check the parameters."""
        if (self.loss is None) == (self.reward is None):
            raise ParameterError(
                "FromLog needs either loss= or reward=, the column of the losses or rewards of the "
                f"logged actions; got loss={self.loss!r} and reward={self.reward!r}."
            )
        p = self.propensity
        if p is None:
            raise ParameterError(
                "FromLog needs propensity=. Pass the column of the probabilities with which the "
                "logged actions were chosen, or 'estimate' if they were not logged. Pass a number "
                "only if each row's action was drawn uniformly at random."
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
    """Return the range of c + (loss - c)/p, for losses in a range and propensities >= p."""
    low, high = losses
    least, most = (low, high) if isinstance(baseline, str) else (baseline, baseline)
    return most + (low - most) / p, least + (high - least) / p


class Means:
    """Baseline c of each row: a constant, or the mean loss of earlier rows (at first 1/2)."""

    def __init__(self, baseline: float | str) -> None:
        self._fixed = None if isinstance(baseline, str) else float(baseline)
        self._sum = 0.0
        self._count = 0

    def before(self, losses: FloatArray) -> FloatArray:
        """Return c for the next rows, which have these losses."""
        if self._fixed is not None:
            return np.full(len(losses), self._fixed)
        # Start the sum at its value so far, so that rounding does not depend on the batches.
        sums = np.cumsum(np.concatenate(([self._sum], losses)))
        counts = self._count + np.arange(len(losses))
        self._sum = float(sums[-1])
        self._count += len(losses)
        return np.where(counts > 0, sums[:-1] / np.maximum(counts, 1), 0.5)
