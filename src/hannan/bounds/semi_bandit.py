"""Theorem 3: regret with semi-bandit feedback."""

import math
from typing import Any

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.sizes import (
    FORMS,
    Sizes,
    check_second_moment,
    check_semi_bandit_losses,
    check_sizes,
)
from hannan.core.validation import check_choice, check_integer, check_positive, refuse


def semi_bandit(
    horizon: int,
    *,
    d: int,
    n_actions: int,
    log_size: float | None = None,
    m: int = 1,
    loss_bound: float = 1.0,
    loss_range: tuple[float, float] | None = None,
    max_resamples: int | str | None = None,
    setting: str = "transductive",
    antichain: bool = True,
    complexity: Any = None,
    second_moment: float = 2.0,
    epsilon: float | None = None,
    form: str = "printed",
) -> Bound:
    r"""Both claims of Theorem 3, minimised over ε. Pseudo-regret.

    Transductive: :math:`2\epsilon mKT + \frac{10}\epsilon\sqrt{dm}\log N + \frac{KT}{eL}`; small
    separator: :math:`8\epsilon K^2 d L m T` in place of the first term. Losses lie in [0, B];
    the bound is B times that for losses in [0, 1], at ε/B.

    Sharp: :math:`\epsilon c \kappa mKT + G/\epsilon + \frac{KT}{eL}` in both settings. The
    shift lemma meets the estimated losses weighted by the probability of paying them, so L does
    not enter its term, and a separator too has regret of order :math:`\sqrt T`.

    Parameters
    ----------
    horizon, d, n_actions, log_size, m, setting, antichain, complexity, epsilon, form
        As in `complete_information`.
    loss_bound
        B.
    loss_range
        Smallest and largest loss of an element, in place of `loss_bound`.
    max_resamples
        L; by default :math:`\lceil\sqrt{KT}\rceil`, in the printed separator bound
        :math:`\lceil T^{1/3}\rceil`. There "best" chooses it together with ε, which gives
        :math:`3(80/e)^{1/3} K\sqrt{dm}\,T^{2/3}(\log N)^{1/3}` for large T.
    second_moment
        c in the sharp form, a bound on q E[W²]/E[W]: 2 for geometric resampling, 1.51, 1.38 and
        1.34 for 2, 3 and more successes, 1 for exact weights.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> print(semi_bandit(20_000, **sizes))
    regret <= 19883.7 = 9884 (stability) + 9884 (error) + 116.1 (truncation),
    at epsilon = 0.04942, L = 317
    >>> print(semi_bandit(20_000, form="sharp", **sizes))
    regret <= 5657.35 = 2771 (stability) + 2771 (error) + 116.1 (truncation),
    at epsilon = 0.01385, L = 317

    References
    ----------
    [syrgkanis2016], [neu2016]
    """
    owner = "semi_bandit"
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
    B = check_semi_bandit_losses(owner, loss_bound, loss_range)
    c = check_second_moment(owner, second_moment)
    if form == "sharp":
        slope, error = c * sizes.kappa() * sizes.m * sizes.K * T * B**2, sizes.G
    else:
        slope, error = printed_slope(sizes, T) * B**2, sizes.C
    grows = form == "printed" and setting == "separator"
    if max_resamples == "best":
        if not grows:
            raise refuse(
                owner,
                "max_resamples",
                "an integer (the larger, the better: 'best' is for the printed separator bound)",
                max_resamples,
            )
        return _best_limit(sizes.K * T * B / math.e, slope, error, epsilon)
    if max_resamples is None:
        L = math.ceil(T ** (1 / 3)) if grows else default_limit(sizes.K, T)
    else:
        L = check_integer(owner, "max_resamples", max_resamples, 1)
    slope *= L if grows else 1
    return tuned(owner, epsilon, slope, error, L, truncation=B * sizes.K * T / (math.e * L))


def default_limit(K: int, T: int) -> int:
    r""":math:`L = \lceil\sqrt{KT}\rceil`."""
    return math.ceil(math.sqrt(K * T))


def printed_slope(sizes: Sizes, T: int) -> float:
    """The printed stability term for losses up to 1, divided by ε (and by L for a separator)."""
    if sizes.setting == "transductive":
        return 2.0 * sizes.m * sizes.K * T
    return 8.0 * sizes.K**2 * sizes.d * sizes.m * T


def _best_limit(bias: float, slope: float, error: float, epsilon: float | None) -> Bound:
    """The integer L that minimises slope·ε·L + error/ε + bias/L, at the best or a given ε."""
    if epsilon is None:
        limit = (bias / math.sqrt(slope * error)) ** (2 / 3)
    else:
        limit = math.sqrt(bias / (check_positive("semi_bandit", "epsilon", epsilon) * slope))
    limits = {max(1, math.floor(limit)), math.ceil(limit)}
    found = [
        tuned("semi_bandit", epsilon, slope * L, error, L, truncation=bias / L) for L in limits
    ]
    return min(found, key=float)
