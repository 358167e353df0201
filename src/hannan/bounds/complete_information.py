"""Theorem 2: regret with full information."""

import math
from dataclasses import dataclass, field

from hannan.bounds.laplace_complexity import printed_complexity
from hannan.core.errors import ParameterError
from hannan.core.validation import check_choice, check_integer, check_positive


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound a·ε + b/ε at its best ε, with its two terms."""

    value: float
    epsilon: float
    terms: dict[str, float] = field(compare=False)


def complete_information(
    horizon: int,
    *,
    d: int,
    n_actions: int,
    log_size: float,
    m: int = 1,
    loss_bound: float = 1.0,
    setting: str = "transductive",
    nonnegative: bool = True,
) -> Bound:
    r"""The three claims of Theorem 2 as printed, minimised over ε.

    Transductive, linear non-negative losses:
    :math:`\epsilon \sum_t E\langle\pi_t(x_t),\ell_t\rangle^2 + \frac{10}\epsilon\sqrt{dm}\log N`;
    transductive, any losses, :math:`4\epsilon K \sum_t \|f_t\|_*^2` in place of the first term;
    small separator, :math:`4\epsilon K d \sum_t \|f_t\|_*^2`.

    Parameters
    ----------
    horizon
        T.
    d, n_actions, m
        Number of perturbed contexts, of elements K, and of elements chosen at most.
    log_size
        log N, N ≥ 2 the number of distinct policies.
    loss_bound
        Largest absolute loss of an element; an action then loses at most m times it.
    setting
        "transductive" or "separator".
    nonnegative
        Whether losses are never negative (and linear).

    Examples
    --------
    >>> bound = complete_information(20_000, d=50, n_actions=5, log_size=math.log(1000))
    >>> round(bound.epsilon, 3), round(bound.value)
    (0.156, 6251)
    """
    T = check_integer("complete_information", "horizon", horizon, 1)
    d = check_integer("complete_information", "d", d, 1)
    K = check_integer("complete_information", "n_actions", n_actions, 1)
    m = check_integer("complete_information", "m", m, 1)
    check_choice("complete_information", "setting", setting, ("transductive", "separator"))
    norm = m * check_positive("complete_information", "loss_bound", loss_bound)
    check_log_size(log_size)
    if setting == "separator":
        slope = 4.0 * K * d * T * norm**2
    elif nonnegative:
        slope = T * norm**2
    else:
        slope = 4.0 * K * T * norm**2
    error = printed_complexity(log_size, d, m)
    epsilon = math.sqrt(error / slope)
    terms = {"stability": epsilon * slope, "error": error / epsilon}
    return Bound(sum(terms.values()), epsilon, terms)


def check_log_size(log_size: float) -> None:
    """The theorems need two policies at least."""
    if not log_size >= math.log(2) - 1e-12:
        raise ParameterError(
            f"The theorem needs N >= 2 distinct policies on the context set; got log N = "
            f"{log_size:g}. With one policy there is nothing to learn."
        )
