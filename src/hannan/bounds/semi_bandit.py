"""Theorem 3: regret with semi-bandit feedback."""

import math
from typing import Unpack

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.sizes import FORMS, Checked, Sizes, check_second_moment
from hannan.core.validation import check_choice, check_integer, check_positive, refuse


def semi_bandit(
    horizon: int,
    *,
    loss_bound: float = 1.0,
    loss_range: tuple[float, float] | None = None,
    max_resamples: int | str | None = None,
    second_moment: float = 2.0,
    epsilon: float | None = None,
    form: str = "printed",
    **sizes: Unpack[Sizes],
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
    horizon, loss_bound
        T and B.
    loss_range
        Smallest and largest loss of an element, in place of `loss_bound`: then B is the largest
        less the smallest where that is negative, as for rewards up to R, (-R, 0).
    max_resamples
        L; by default :math:`\lceil\sqrt{KT}\rceil`, in the printed separator bound
        :math:`\lceil T^{1/3}\rceil`. There "best" chooses it together with ε, which gives
        :math:`3(80/e)^{1/3} K\sqrt{dm}\,T^{2/3}(\log N)^{1/3}` for large T.
    second_moment
        c in the sharp form, a bound on q E[W²]/E[W]: 2 for geometric resampling, 1.51, 1.38 and
        1.34 for 2, 3 and more successes, 1 for exact weights.
    d, n_actions, log_size, m, setting, antichain, complexity, epsilon, form
        As in `complete_information`.

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
    known = Checked(owner, sizes, loss_bound=loss_bound, loss_range=loss_range)
    K, m, T = known.K, known.m, check_integer(owner, "horizon", horizon, 1)
    check_choice(owner, "form", form, FORMS)
    B = known.check_semi_bandit_losses()
    c = check_second_moment(owner, second_moment)
    grows = form == "printed" and known.setting == "separator"
    if form == "sharp":
        slope = c * known.kappa() * m * K * T * B**2
    elif grows:
        slope = 8.0 * K**2 * known.d * m * T * B**2  # to be multiplied by L
    else:
        slope = 2.0 * m * K * T * B**2
    error = known.error(form)
    if max_resamples == "best":
        if not grows:
            why = "the larger, the better: 'best' is for the printed separator bound"
            raise refuse(owner, "max_resamples", f"an integer ({why})", max_resamples)
        return _best_limit(K * T * B / math.e, slope, error, epsilon)
    if max_resamples is None:
        L = math.ceil(T ** (1 / 3)) if grows else default_limit(K, T)
    else:
        L = check_integer(owner, "max_resamples", max_resamples, 1)
    slope *= L if grows else 1
    return tuned(owner, epsilon, slope, error, L, truncation=B * K * T / (math.e * L))


def default_limit(K: int, T: int) -> int:
    r""":math:`L = \lceil\sqrt{KT}\rceil`."""
    return math.ceil(math.sqrt(K * T))


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
