"""The sizes that all results share, checked once."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from hannan.bounds.kappa import check_setting, kappa
from hannan.bounds.laplace_complexity import Complexity, complexity_bound, printed_complexity
from hannan.core.errors import ParameterError
from hannan.core.validation import check_integer, check_loss_range, check_positive, refuse

FORMS = ("printed", "sharp")
FEEDBACKS = ("full", "semi-bandit", "bandit")


@dataclass(frozen=True, slots=True)
class Sizes:
    """d, K, m and what is known about the size of the class."""

    owner: str
    d: int
    K: int
    m: int
    setting: str
    antichain: bool
    log_size: float | None
    complexity: float | None

    @property
    def C(self) -> float:
        r"""The printed error constant :math:`10\sqrt{dm}\log N`."""
        if self.log_size is None:
            raise refuse(self.owner, "log_size", "log N for form='printed'", None)
        return printed_complexity(self.log_size, self.d, self.m)

    @property
    def G(self) -> float:
        """The smallest upper bound on the Laplace complexity that is known."""
        known = [] if self.complexity is None else [self.complexity]
        if self.log_size is not None:
            known.append(complexity_bound(self.log_size, self.d, self.m, self.K, self.antichain))
        return min(known)

    def kappa(self, nonnegative: bool = True) -> float:
        """κ of the shift lemma."""
        return kappa(
            setting=self.setting,
            d=self.d,
            n_actions=self.K,
            m=self.m,
            nonnegative=nonnegative,
            antichain=self.antichain,
        )


def check_sizes(
    owner: str,
    *,
    d: Any,
    n_actions: Any,
    log_size: Any,
    m: Any = 1,
    setting: str = "transductive",
    antichain: bool = True,
    complexity: Any = None,
) -> Sizes:
    """The sizes of a problem, or an error that names the bad one."""
    check_setting(owner, setting)
    d = check_integer(owner, "d", d, 1)
    K = check_integer(owner, "n_actions", n_actions, 1)
    m = check_integer(owner, "m", m, 1)
    if m > K:
        raise refuse(owner, "m", f"an integer from 1 to n_actions={K}", m)
    if complexity is not None:
        value = complexity.upper if isinstance(complexity, Complexity) else complexity
        complexity = check_positive(owner, "complexity", value)
    elif log_size is None:
        raise refuse(owner, "log_size", "log N, or complexity= must be given", log_size)
    if log_size is not None:
        log_size = check_log_size(owner, log_size)
    return Sizes(owner, d, K, m, setting, bool(antichain), log_size, complexity)


def check_log_size(owner: str, log_size: Any) -> float:
    """The theorems need two policies at least."""
    if isinstance(log_size, bool) or not isinstance(log_size, Real) or float(log_size) == math.inf:
        raise refuse(owner, "log_size", "a finite number, log N", log_size)
    if not float(log_size) >= math.log(2) - 1e-12:
        raise ParameterError(
            f"{owner} needs N >= 2 distinct policies on the context set; got log_size = log N = "
            f"{float(log_size):g}. With one policy there is nothing to learn."
        )
    return float(log_size)


def check_losses(
    sizes: Sizes, loss_bound: Any, loss_range: Any, nonnegative: bool
) -> tuple[float, float]:
    r"""The norm :math:`\max_a |f(a)|` and the spread of an action's loss.

    The spread is what goes with κ: it bounds :math:`\max f - \min f`, and for non-negative losses
    of several elements the loss itself.
    """
    owner, m = sizes.owner, sizes.m
    if loss_range is None:
        high = check_positive(owner, "loss_bound", loss_bound)
        low = 0.0 if nonnegative else -high
    else:
        low, high = check_loss_range(owner, loss_range)
    if nonnegative and low < 0.0 and sizes.setting == "transductive":
        raise ParameterError(
            f"{owner}: this claim needs losses that are never negative; got "
            f"loss_range={(low, high)}. Add a constant to each element's loss, or use the claim "
            "for any losses with nonnegative=False."
        )
    spread = high - low if m == 1 else m * (max(high, 0.0) - min(low, 0.0))
    return m * max(abs(low), abs(high)), spread


def check_semi_bandit_losses(owner: str, loss_bound: Any, loss_range: Any) -> float:
    """The largest loss of an element; none may be negative."""
    if loss_range is None:
        return check_positive(owner, "loss_bound", loss_bound)
    low, high = check_loss_range(owner, loss_range)
    if low < 0.0:
        raise ParameterError(
            f"{owner} needs losses that are never negative (Theorem 3); got "
            f"loss_range={(low, high)}. Add a constant to each element's loss."
        )
    return high


def check_second_moment(owner: str, value: Any) -> float:
    """Between 1, for exact weights, and 2, for one success."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 1.0 <= float(value) <= 2.0:
        raise refuse(owner, "second_moment", "a number from 1 (exact weights) to 2", value)
    return float(value)


def check_total(owner: str, name: str, value: Any) -> float:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) < math.inf:
        raise refuse(owner, name, "a finite number >= 0", value)
    return float(value)
