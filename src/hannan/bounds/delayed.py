"""Feedback that comes late."""

from typing import Any

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.sizes import check_sizes
from hannan.bounds.variance import check_limit, check_variance


def delayed(
    horizon: int,
    *,
    total_delay: float,
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
    feedback: str = "semi-bandit",
    second_moment: float = 2.0,
    max_resamples: int | None = None,
    reacting: bool = False,
    epsilon: float | None = None,
) -> Bound:
    r"""The price of delay, with ε tuned to the horizon and the total delay.

    :math:`\Delta = \sum_t |O_t|`, with :math:`O_t` the earlier rounds whose feedback was not yet
    there when round t was played. The shift lemma is chained over them:
    full information pays :math:`\epsilon\kappa B^2 (T + \Delta) + G/\epsilon`, semi-bandit feedback
    :math:`\epsilon\kappa (cmKT + m^2 \Delta) + G/\epsilon + \frac{KT}{eL}` for losses up to 1.

    Parameters
    ----------
    horizon, d, n_actions, log_size, m, loss_bound, loss_range, setting, nonnegative, antichain
        As in `complete_information`.
    complexity, epsilon
        As in `complete_information`, sharp form.
    total_delay
        Δ, or an upper bound on it.
    feedback
        "full", "semi-bandit" or, with m = 1, "bandit".
    second_moment, max_resamples
        c and L, as in `semi_bandit`.
    reacting
        Whether losses, contexts or delays may react to actions whose feedback is pending; mKΔ
        then takes the place of m²Δ.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> for delay in (0, 200_000):
    ...     print(round(delayed(20_000, total_delay=delay, **sizes).value))
    5656
    7950
    """
    sizes = check_sizes(
        "delayed",
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
    loss, L = variance.truncation(check_limit(sizes, max_resamples), growing=False)
    others = {} if L is None else {"truncation": loss}
    return tuned("delayed", epsilon, variance.W, sizes.G, L, **others)
