"""What a drift detector is shown of a game."""

from __future__ import annotations

import copy
import math
from typing import Any, Self

import numpy as np

from hannan.core import Action, Feedback, Learner, LossError, LossFunction
from hannan.core.policy import loss_of
from hannan.core.predictor import adopt, check_guess, extended_predictor
from hannan.core.rounds import IntArray
from hannan.core.state import MOST, Array, Count, Object, Part, State
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray, check_loss_range
from hannan.detectors import Bernstein
from hannan.kernels import drift


def _could_be(numbers: FloatArray) -> bool:
    """Whether two tests could have left these numbers."""
    counts = numbers[drift.COUNTS : drift.SPREADS]
    spreads = numbers[drift.SPREADS : drift.SUMS]
    return bool(
        np.array_equal(numbers[: drift.TOTALS], Agreement().numbers[: drift.TOTALS])
        and (numbers[drift.TOTALS : drift.COUNTS] >= 1.0).all()
        and ((counts >= 0.0) & (counts <= MOST) & (counts % 1.0 == 0.0)).all()
        and (spreads[1::2] >= 0.0).all()
    )


class Agreement(Stored):
    """Two tests as in `Bernstein`, on two streams; drift is what both have found lately.

    An alarm of one counts for as many rounds as were read until then. The streams are errors of
    predictions, as in `DriftMonitor`: less the variance that explains them, and as they are.
    """

    stored = State(numbers=Array().where(lambda self, numbers: _could_be(numbers)))

    def __init__(self) -> None:
        test = Bernstein()
        self.numbers = np.zeros(drift.SUMS + 2 * (test.longest + 1))
        self.numbers[: drift.COUNTS] = test.minimum, test.delta, 1.0, 1.0

    def update(self, first: float, second: float) -> bool:
        """Read one more number of each stream, in [0, 1]; whether there is drift."""
        if not math.isfinite(first + second):
            raise not_finite(first, second)
        return bool(drift.both_have_risen(self.numbers, first, second))

    def weigh(self, square: float, variance: float) -> bool:
        """The same of its squared error, and of the variance of a 0/1 loss with that mean."""
        found: int = drift.weigh(self.numbers, square, variance)
        if found < 0:
            raise not_finite(square, variance)
        return found > 0


def not_finite(*values: float) -> LossError:
    """What to say of errors that cannot be compared."""
    return LossError(f"A test for drift reads finite numbers in [0, 1]; got {values}.")


class DriftMonitor(Stored):
    r"""Shows a detector how wrong predictions of what was played are, on the scale [0, 1].

    The prediction is the `estimate` of the predictor given, else of the learner's own, made
    before the loss is learned. With losses brought to [0, 1] by `loss_range`, an element counts

    .. math:: (\ell - \hat\ell)^2 - c\, \hat\ell (1 - \hat\ell) ,

    its squared error less the variance of a 0/1 loss with that mean: a learner that merely turns to
    actions whose losses vary more raises no alarm. c ≤ 1 is the ratio of the sums of both so far:
    losses may vary less than 0/1 ones, and predictions may be too cautious at first; when they
    become firm that shall not look like a rise. That is the mean over the chosen elements, or the
    same of the whole action's loss for loss functions. Without a predictor the loss itself counts.

    The detector given decides. Where none is given, a `Bernstein` does; if there are predictions,
    a second one, which is shown the squared errors themselves, has to agree (`Agreement`). For the
    first also rises when a learner turns to actions that cost less while the noise stays as it is,
    and the second when it turns to actions that vary more.
    """

    stored = State(
        _learner=Object(Learner),
        _own=Part(),
        _detector=Part(),
        _K=(Count() | None).where(
            lambda self, K: K is None or self._learner.action_count in (None, K)
        ),
        _totals=Array(low=1.0),
    )

    def __init__(self, learner: Learner, detector: Any, predictor: Any) -> None:
        self._learner, oracle = learner, learner.oracle
        self._K: int | None = getattr(learner if oracle is None else oracle, "n_actions", None)
        self.teaches = predictor is not None  # a predictor here, beside the learner
        self._own: Any = None
        if self.teaches:
            self._own = adopt(_copied(predictor), n_actions=self._K)
        sets = oracle is not None and oracle.chooses_sets
        mixes = getattr(getattr(learner, "hint", None), "mixes", False)
        # Whether what is expected has to be asked for, as the learner's rounds do not have it.
        self.asks = self.teaches or sets or not mixes
        self._watches = self._source is not None
        usual: Any = Agreement() if self._watches else Bernstein()
        self._detector = usual if detector is None else _copied(detector)
        self._full = learner.feedback is Feedback.FULL
        self._whole = self._full and oracle is not None and oracle.takes_functions
        low, high = check_loss_range(learner, getattr(learner, "loss_range", None))
        self._range = low, high
        m = 1 if oracle is None or self._whole else oracle.max_chosen
        if not math.isfinite(high - low):
            low, high = 0.0, 1.0  # as they come
        self._width = high - low
        # Of the whole action's loss; sets may be small.
        self._lowest = low if m == 1 else m * min(low, 0.0)
        self._breadth = self._width if m == 1 else m * (max(high, 0.0) - min(low, 0.0))
        self._totals = np.ones(2)  # of squared errors, and of variances, for a detector given

    def extended(self, learner: Learner, n_actions: int) -> Self:
        """For the same learner with more actions."""
        twin = copy.copy(self)
        twin._learner, twin._totals = learner, self._totals.copy()
        twin._K = None if self._K is None else n_actions
        if self._own is not None:
            twin._own = extended_predictor(self._own, n_actions)
        return twin

    def watches(self, learner: Learner) -> bool:
        """Whether it is this learner's game."""
        return self._learner is learner

    def expect(self, context: Any, action: Action, guess: Any = None) -> Any:
        """What the action will cost, one number for each chosen element; None for no idea.

        `guess` is what the learner's own predictor said, where that is known already.
        """
        if guess is None or self._own is not None:
            source = self._source
            unsized = self._K is None and self._learner.rounds == 0
            if source is None or unsized:
                return None
            guess = getattr(source, "estimate", source.predict)(context)
            if not isinstance(guess, LossFunction):
                guess = check_guess(source, guess, self._K or np.size(guess), (-np.inf, np.inf))
        low, high = self._range
        if not self._whole and not isinstance(action, int):
            return np.clip(guess[action], low, high)
        return min(max(float(loss_of(guess, action)), low), high)

    @property
    def _source(self) -> Any:
        """The predictor whose errors are watched, or None."""
        return getattr(self._learner, "predictor_", None) if self._own is None else self._own

    def drift(self, action: Action, loss: Any, expected: Any) -> bool:
        """Whether the detector, shown what the action did cost, finds that the world changed.

        `expected` is as in `expect`; of a single action what was expected of all of them will do.
        """
        low, high = self._range
        if type(expected) is np.ndarray and type(action) is int:
            value = expected.item(action)
            expected = low if value < low else high if value > high else value
        test, width = self._detector, self._width
        if type(loss) is float and type(expected) is float and type(test) is Agreement:
            found: int = drift.watch(test.numbers, loss, expected, low, width)
            if found < 0:
                raise not_finite(loss, expected)
            return found > 0
        seen = self._seen(action, loss)
        if expected is None:
            if self._watches:
                return False
            return self._ask((float(np.sum(seen)) - self._lowest) / self._breadth)
        if np.size(expected) == 0:
            return False
        error = (seen - expected) / width
        mean = (expected - low) / width if math.isfinite(low) else 0.0
        square, variance = float(np.mean(error * error)), float(np.mean(mean * (1.0 - mean)))
        if type(test) is Agreement:
            return test.weigh(square, variance)
        found = self._ask(drift.surprise(*self._totals.tolist(), square, variance))
        self._totals += (square, variance)
        return found

    def _seen(self, action: Action, loss: Any) -> Any:
        """What the action did cost, or each of its elements."""
        seen = _numbers(loss)
        if self._whole:
            return loss_of(seen, action)
        return seen[action] if self._full else seen

    def _ask(self, value: float) -> bool:
        found = self._detector.update(value)
        return bool(getattr(self._detector, "drift_detected", found))

    def learn(
        self, context: Any, action: Action, loss: Any, available: IntArray | None = None
    ) -> None:
        """Show the predictor given, if any, what it missed: of all losses those `available`."""
        if self._own is None:
            return
        loss = _numbers(loss)
        if self._K is None:
            self._K = len(loss)
            if hasattr(self._own, "prepare"):
                self._own.prepare(self._K)
        if self._full:
            seen = np.arange(self._K) if available is None else available
            self._own.learn(context, seen, loss if available is None else loss[available])
        else:
            self._own.learn(context, action, float(loss) if isinstance(action, int) else loss)


def _numbers(loss: Any) -> Any:
    """A number, a loss function, or an array of numbers."""
    if type(loss) is float:
        return loss
    return loss if isinstance(loss, LossFunction) else np.asarray(loss, dtype=np.float64)


def _copied(thing: Any) -> Any:
    """One's own, as it was given; a clone where there is one."""
    return thing.clone() if hasattr(thing, "clone") else copy.deepcopy(thing)
