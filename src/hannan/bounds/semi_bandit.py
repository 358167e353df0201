"""Theorem 3: regret with semi-bandit feedback."""

import math

from hannan.bounds.complete_information import Bound, check_log_size
from hannan.bounds.laplace_complexity import printed_complexity
from hannan.core.validation import check_choice, check_integer, check_positive


def semi_bandit(
    horizon: int,
    *,
    d: int,
    n_actions: int,
    log_size: float,
    m: int = 1,
    loss_bound: float = 1.0,
    max_resamples: int | None = None,
    setting: str = "transductive",
) -> Bound:
    r"""Both claims of Theorem 3 as printed, minimised over ε.

    Transductive: :math:`2\epsilon mKT + \frac{10}\epsilon\sqrt{dm}\log N + \frac{KT}{eL}`; small
    separator: :math:`8\epsilon K^2 d L m T` in place of the first term. Losses lie in [0, B];
    the bound is B times that for losses in [0, 1], at ε/B.

    Parameters
    ----------
    horizon
        T.
    d, n_actions, m
        Number of perturbed contexts, of elements K, and of elements chosen at most.
    log_size
        log N, N ≥ 2 the number of distinct policies.
    loss_bound
        B.
    max_resamples
        L; by default :math:`\lceil\sqrt{KT}\rceil` (transductive) or
        :math:`\lceil T^{1/3}\rceil` (separator).
    setting
        "transductive" or "separator".

    Examples
    --------
    >>> bound = semi_bandit(20_000, d=50, n_actions=5, log_size=math.log(1000))
    >>> round(bound.epsilon, 4), round(bound.value)
    (0.0494, 19884)
    """
    T = check_integer("semi_bandit", "horizon", horizon, 1)
    d = check_integer("semi_bandit", "d", d, 1)
    K = check_integer("semi_bandit", "n_actions", n_actions, 1)
    m = check_integer("semi_bandit", "m", m, 1)
    B = check_positive("semi_bandit", "loss_bound", loss_bound)
    check_choice("semi_bandit", "setting", setting, ("transductive", "separator"))
    check_log_size(log_size)
    if max_resamples is None:
        root = math.sqrt(K * T) if setting == "transductive" else T ** (1 / 3)
        L = math.ceil(root)
    else:
        L = check_integer("semi_bandit", "max_resamples", max_resamples, 1)
    slope = 2.0 * m * K * T if setting == "transductive" else 8.0 * K**2 * d * L * m * T
    error = printed_complexity(log_size, d, m)
    epsilon = math.sqrt(error / slope)
    terms = {
        "stability": B * epsilon * slope,
        "error": B * error / epsilon,
        "truncation": B * K * T / (math.e * L),
    }
    return Bound(sum(terms.values()), epsilon / B, terms)
