"""Theorem 1: regret is at most stability plus error."""

from typing import Any

from hannan.bounds.bound import Bound, at_epsilon
from hannan.bounds.complete_information import instability
from hannan.bounds.sizes import FORMS, check_sizes
from hannan.core.validation import check_choice, check_integer, check_positive


def stability_plus_error(
    epsilon: float,
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
    form: str = "printed",
) -> Bound:
    r"""The two terms of Theorem 1 for Laplace noise of a given ε, full information.

    .. math:: \mathrm{Regret} \le
              \underbrace{\sum_t E[\ell(\pi_t, y_t) - \ell(\pi_{t+1}, y_t)]}_{\text{stability}}
              + \underbrace{E\max_\pi z(\pi) - E\min_\pi z(\pi)}_{\text{error}}

    The error is 2G/ε exactly, by symmetry; the paper bounds it by
    :math:`\frac{10}\epsilon\sqrt{dm}\log N`. The sharp form pays G/ε: a comparator that
    does not depend on the noise has z(π*) = 0 on average. Stability is bounded as in
    `complete_information`.

    Parameters
    ----------
    epsilon
        ε.
    horizon, d, n_actions, log_size, m, loss_bound, loss_range, setting, nonnegative, antichain
        As in `complete_information`.
    complexity
        G, where known. Then the printed error is 2G/ε.
    form
        "printed" or "sharp".

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> print(stability_plus_error(0.1, 20_000, **sizes))
    regret <= 6879.04 = 2000 (stability) + 4879 (error), at epsilon = 0.1
    >>> print(stability_plus_error(0.1, 20_000, complexity=28.7, form="sharp", **sizes))
    regret <= 2287 = 2000 (stability) + 287 (error), at epsilon = 0.1

    References
    ----------
    [syrgkanis2016], [kalai2005]
    """
    owner = "stability_plus_error"
    epsilon = check_positive(owner, "epsilon", epsilon)
    T = check_integer(owner, "horizon", horizon, 1)
    check_choice(owner, "form", form, FORMS)
    sizes = check_sizes(
        owner,
        d=d,
        n_actions=n_actions,
        log_size=log_size,
        m=m,
        setting=setting,
        antichain=antichain,
        complexity=complexity,
    )
    slope = T * instability(sizes, loss_bound, loss_range, nonnegative, form)
    if form == "sharp":
        error = sizes.G
    else:
        error = sizes.C if sizes.complexity is None else 2.0 * sizes.complexity
    return at_epsilon(epsilon, slope, error)
