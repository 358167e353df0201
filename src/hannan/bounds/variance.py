"""What instability may cost in all rounds together, for either feedback."""

import math
from dataclasses import dataclass
from typing import Any

from hannan.bounds.complete_information import instability
from hannan.bounds.semi_bandit import default_limit
from hannan.bounds.sizes import (
    FEEDBACKS,
    Sizes,
    check_losses,
    check_second_moment,
    check_semi_bandit_losses,
    check_total,
)
from hannan.core.errors import ParameterError
from hannan.core.validation import check_choice, check_integer, refuse


@dataclass(frozen=True, slots=True)
class Variance:
    r"""W: with a fixed ε, regret is at most εW + G/ε and what truncation costs."""

    W: float
    T: int
    K: int
    largest: float
    """Largest loss of an element under semi-bandit feedback; 0 with full information."""

    def truncation(self, max_resamples: int | None, growing: bool) -> tuple[float, int | None]:
        r"""Σ K/(eL_t) and L; L_t = ⌈√(Kt)⌉ grows with t where T is not known in advance."""
        if self.largest == 0.0:
            return 0.0, None
        T, K = self.T, self.K
        if max_resamples is not None:
            return self.largest * K * T / (math.e * max_resamples), max_resamples
        limit = default_limit(K, T)
        each = 2.0 * math.sqrt(K * T) if growing else K * T / limit
        return self.largest * each / math.e, limit


def check_variance(
    sizes: Sizes,
    horizon: Any,
    feedback: str,
    loss_bound: Any,
    loss_range: Any,
    nonnegative: bool,
    second_moment: Any,
    total_delay: Any = 0,
    reacting: bool = False,
) -> Variance:
    """Checked arguments, as the W they give."""
    owner, m, K = sizes.owner, sizes.m, sizes.K
    T = check_integer(owner, "horizon", horizon, 1)
    delay = check_total(owner, "total_delay", total_delay)
    if delay > T * (T - 1) / 2:
        most = f"at most T(T-1)/2 = {T * (T - 1) // 2}"
        raise refuse(owner, "total_delay", f"a number of pending rounds, {most}", total_delay)
    check_choice(owner, "feedback", feedback, FEEDBACKS)
    if feedback == "full":
        each = instability(sizes, loss_bound, loss_range, nonnegative, "sharp")
        return Variance(each * (T + delay), T, K, 0.0)
    if not nonnegative:
        raise ParameterError(
            f"{owner}: with semi-bandit feedback losses must not be negative (Theorem 3); got "
            "nonnegative=False. Add a constant to each element's loss."
        )
    if feedback == "bandit" and m > 1:
        raise refuse(owner, "feedback", "'full' or 'semi-bandit' for sets of elements", feedback)
    B = check_semi_bandit_losses(owner, loss_bound, loss_range)
    c = check_second_moment(owner, second_moment)
    pending = m * (K if reacting else m)
    return Variance(sizes.kappa() * B**2 * (c * m * K * T + pending * delay), T, K, B)


def check_limit(sizes: Sizes, max_resamples: Any) -> int | None:
    """L, where given."""
    if max_resamples is None:
        return None
    return check_integer(sizes.owner, "max_resamples", max_resamples, 1)


def check_spread(sizes: Sizes, loss_bound: Any, loss_range: Any, nonnegative: bool) -> float:
    """How much more than another an action can lose in a round."""
    return check_losses(sizes, loss_bound, loss_range, nonnegative)[1]
