"""A schedule that does not know the horizon."""

import math
from typing import Any

from hannan.bounds.bound import Bound
from hannan.bounds.sizes import check_sizes
from hannan.bounds.variance import check_limit, check_variance


def anytime(
    horizon: int,
    *,
    d: int,
    n_actions: int,
    log_size: float | None = None,
    m: int = 1,
    loss_bound: float = 1.0,
    loss_range: tuple[float, float] | None = None,
    setting: str = "transductive",
    nonnegative: bool = True,
    antichain: bool = True,
    complexity: Any = None,
    feedback: str = "full",
    second_moment: float = 2.0,
    max_resamples: int | None = None,
    total_delay: float = 0,
    reacting: bool = False,
) -> Bound:
    r"""Regret of :math:`\epsilon_t = \sqrt{G / 2 W_t}`, with W_t what instability may have cost.

    .. math:: \mathrm{Regret} \le 2\sqrt{2 G W_T} + \sum_t \frac{K}{eL_t}

    With full information :math:`W_t = \kappa B^2 t`, with semi-bandit feedback
    :math:`W_t = c\kappa mK t` for losses up to 1 and :math:`L_t = \lceil\sqrt{Kt}\rceil`, so that
    the last sum is at most :math:`2\sqrt{KT}/e`. That is √2 times the bound for a known horizon.

    Parameters
    ----------
    horizon, d, n_actions, log_size, m, loss_bound, loss_range, setting, nonnegative, antichain
        As in `complete_information`; the schedule itself does not use the horizon.
    complexity
        As in `complete_information`, sharp form.
    feedback
        "full", "semi-bandit" or, with m = 1, "bandit".
    second_moment, max_resamples
        c and a fixed L, as in `semi_bandit`.
    total_delay, reacting
        As in `delayed`.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> print(anytime(20_000, **sizes))
    regret <= 2477.41 = 1239 (stability) + 1239 (error), at epsilon = 0.03097
    """
    sizes = check_sizes(
        "anytime",
        d=d,
        n_actions=n_actions,
        log_size=log_size,
        m=m,
        setting=setting,
        antichain=antichain,
        complexity=complexity,
    )
    variance = check_variance(
        sizes,
        horizon,
        feedback,
        loss_bound,
        loss_range,
        nonnegative,
        second_moment,
        total_delay,
        reacting,
    )
    loss, L = variance.truncation(check_limit(sizes, max_resamples), growing=True)
    half = math.sqrt(2.0 * sizes.G * variance.W)
    terms = {"stability": half, "error": half}
    if L is not None:
        terms["truncation"] = loss
    return Bound(sum(terms.values()), math.sqrt(sizes.G / (2.0 * variance.W)), terms, L)
