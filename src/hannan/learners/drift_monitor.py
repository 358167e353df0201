"""Drift detection from the errors of predictions."""

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
    """Return whether these numbers can be the state of two tests."""
    counts = numbers[drift.COUNTS : drift.SPREADS]
    spreads = numbers[drift.SPREADS : drift.SUMS]
    return bool(
        np.array_equal(numbers[: drift.RANGE], Agreement().numbers[: drift.RANGE])
        and 0.0 < numbers[drift.RANGE] <= 1.0
        and (numbers[drift.TOTALS : drift.COUNTS] >= 1.0).all()
        and ((counts >= 0.0) & (counts <= MOST) & (counts % 1.0 == 0.0)).all()
        and (spreads[1::2] >= 0.0).all()
    )


class Agreement(Stored):
    """Two `Bernstein` tests on two streams; they report drift if both have found it recently.

    An alarm stays valid for as many rounds as its test had read before. Both streams are squared
    errors of predictions, as in `DriftMonitor`: minus the variance that explains them, and
    unchanged. The mean error of m elements varies less than one error, so for sets the tests take
    1/√m for its range. If the elements depend on each other, the measured variance shows this.
    """

    stored = State(numbers=Array().where(lambda self, numbers: _could_be(numbers)))

    def __init__(self, elements: int = 1) -> None:
        test = Bernstein()
        self.numbers = np.zeros(drift.SUMS + 2 * (test.longest + 1))
        span = 1.0 / math.sqrt(elements)
        self.numbers[: drift.COUNTS] = test.minimum, test.delta, span, 1.0, 1.0

    def update(self, first: float, second: float) -> bool:
        """Read one more number in [0, 1] of each stream; return whether there is drift."""
        if not math.isfinite(first + second):
            raise not_finite(first, second)
        return bool(drift.both_have_risen(self.numbers, first, second))

    def weigh(self, square: float, variance: float) -> bool:
        """Read a squared error, and the variance of a 0/1 loss with the predicted mean."""
        found: int = drift.weigh(self.numbers, square, variance)
        if found < 0:
            raise not_finite(square, variance)
        return found > 0


def not_finite(*values: float) -> LossError:
    """Return the error for values that are not finite."""
    return LossError(
        f"The drift detector needs finite numbers in [0, 1]; got {values}. Check the losses and "
        "the predictor's estimates."
    )


class DriftMonitor(Stored):
    r"""Passes the errors of predictions to a drift detector, on the scale [0, 1].

    The prediction is the `estimate` of the given predictor, else of the learner's own predictor,
    made before it learns from the loss. With losses scaled to [0, 1] by `loss_range`, an element
    counts

    .. math:: (\ell - \hat\ell)^2 - c\, \hat\ell (1 - \hat\ell) ,

    its squared error minus the variance of a 0/1 loss with this mean. So there is no alarm when a
    learner merely turns to actions whose losses vary more. The factor c ≤ 1 is the ratio of the
    sums of both so far. It corrects for losses that vary less than 0/1 losses, and for predictions
    that are too cautious at first. The detector reads the mean over the chosen elements. With loss
    functions it reads the value for the whole action, and without a predictor the loss itself.

    The given detector decides. The default is a `Bernstein` test. With predictions, a second test
    on the plain squared errors must agree (`Agreement`). The reason: the first stream also rises
    when a learner turns to actions that cost less under the same noise, and the second when it
    turns to actions whose losses vary more.
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
        self.teaches = predictor is not None  # the monitor has a separate predictor
        self._own: Any = None
        if self.teaches:
            self._own = adopt(_copied(predictor), n_actions=self._K)
        sets = oracle is not None and oracle.chooses_sets
        mixes = getattr(getattr(learner, "hint", None), "mixes", False)
        # Whether the monitor must compute predictions, because the learner's rounds lack them.
        self.asks = self.teaches or sets or not mixes
        self._watches = self._source is not None
        m = 1 if oracle is None or oracle.takes_functions else oracle.max_chosen
        usual: Any = Agreement(m) if self._watches else Bernstein()
        self._detector = usual if detector is None else _copied(detector)
        self._full = learner.feedback is Feedback.FULL
        self._whole = self._full and oracle is not None and oracle.takes_functions
        low, high = check_loss_range(learner, getattr(learner, "loss_range", None))
        self._range = low, high
        if not math.isfinite(high - low):
            low, high = 0.0, 1.0  # losses stay unscaled
        self._width = high - low
        # Range of the whole action's loss; sets may have few elements.
        self._lowest = low if m == 1 else m * min(low, 0.0)
        self._breadth = self._width if m == 1 else m * (max(high, 0.0) - min(low, 0.0))
        self._totals = np.ones(2)  # sums of squared errors and of variances, for a given detector

    def extended(self, learner: Learner, n_actions: int) -> Self:
        """Return a copy for the same learner with more actions."""
        twin = copy.copy(self)
        twin._learner, twin._totals = learner, self._totals.copy()
        twin._K = None if self._K is None else n_actions
        if self._own is not None:
            twin._own = extended_predictor(self._own, n_actions)
        return twin

    def watches(self, learner: Learner) -> bool:
        """Return whether this monitor watches a learner."""
        return self._learner is learner

    def expect(self, context: Any, action: Action, guess: Any = None) -> Any:
        """Return the predicted loss of each chosen element, or None without a prediction.

        `guess` is the estimate of the learner's own predictor, if it is known already.
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
        """Predictor whose errors the detector reads, or None."""
        return getattr(self._learner, "predictor_", None) if self._own is None else self._own

    def drift(self, action: Action, loss: Any, expected: Any) -> bool:
        """Pass the loss of an action to the detector, and return whether it finds drift.

        `expected` is the result of `expect`; for a single action it may also be an array with the
        predictions for all actions.
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
        seen, expected = np.atleast_1d(seen), np.atleast_1d(expected)
        square, variance, count = drift.mean_errors(seen, expected, low, width)
        if count == 0:
            return False  # all losses are missing
        if type(test) is Agreement:
            return test.weigh(square, variance)
        found = self._ask(drift.surprise(*self._totals.tolist(), square, variance))
        self._totals += (square, variance)
        return found

    def _seen(self, action: Action, loss: Any) -> Any:
        """Return the loss of the action, or of each of its elements."""
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
        """Let the given predictor, if any, learn from the losses of the available actions."""
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
    """Return a loss as a number, a loss function, or an array of numbers."""
    if type(loss) is float:
        return loss
    return loss if isinstance(loss, LossFunction) else np.asarray(loss, dtype=np.float64)


def _copied(thing: Any) -> Any:
    """Return a clone of an object if it can be cloned, else a deep copy."""
    return thing.clone() if hasattr(thing, "clone") else copy.deepcopy(thing)
