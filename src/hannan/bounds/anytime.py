"""Schedules that know no horizon, and feedback that arrives late."""

import math
from typing import Any, Unpack

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.semi_bandit import default_limit
from hannan.bounds.sizes import (
    FEEDBACKS,
    Checked,
    SizesAndLosses,
    check_second_moment,
)
from hannan.core.errors import ParameterError
from hannan.core.validation import check_choice, check_integer, check_not_negative, refuse


def anytime(
    horizon: int,
    *,
    feedback: str = "full",
    second_moment: float = 2.0,
    max_resamples: int | None = None,
    total_delay: float = 0,
    reacting: bool = False,
    **sizes: Unpack[SizesAndLosses],
) -> Bound:
    r"""Regret of :math:`\epsilon_t = \sqrt{G / 2 W_t}`, with W_t what instability may have cost.

    .. math:: \mathrm{Regret} \le 2\sqrt{2 G W_T} + \sum_t \frac{K}{eL_t}

    With full information :math:`W_t = \kappa B^2 t`, with semi-bandit feedback
    :math:`W_t = c\kappa mK t` for losses up to 1 and :math:`L_t = \lceil\sqrt{Kt}\rceil`, so that
    the last sum is at most :math:`2\sqrt{KT}/e`. That is √2 times the bound for a known horizon.

    Parameters
    ----------
    horizon
        T; the schedule itself does not use it.
    feedback, second_moment, max_resamples, total_delay, reacting
        As in `delayed`, with L fixed if `max_resamples` is given.
    d, n_actions, log_size, m, setting, antichain, complexity, loss_bound, loss_range, nonnegative
        As in `complete_information`, sharp form.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> print(anytime(20_000, **sizes))
    regret <= 2477.41 = 1239 (stability) + 1239 (error), at epsilon = 0.03097
    """
    known = Checked("anytime", sizes)
    options = (feedback, second_moment, max_resamples, total_delay, reacting)
    W, loss, L = variance(known, horizon, *options, growing=True)
    half = math.sqrt(2.0 * known.G * W)
    terms = {"stability": half, "error": half}
    if L is not None:
        terms["truncation"] = loss
    return Bound(sum(terms.values()), math.sqrt(known.G / (2.0 * W)), terms, L)


def delayed(
    horizon: int,
    *,
    total_delay: float,
    feedback: str = "semi-bandit",
    second_moment: float = 2.0,
    max_resamples: int | None = None,
    reacting: bool = False,
    epsilon: float | None = None,
    **sizes: Unpack[SizesAndLosses],
) -> Bound:
    r"""The price of delay, with ε tuned to the horizon and the total delay.

    :math:`\Delta = \sum_t |O_t|`, with :math:`O_t` the earlier rounds whose feedback had not yet
    arrived when round t was played. The shift lemma is chained over them:
    full information pays :math:`\epsilon\kappa B^2 (T + \Delta) + G/\epsilon`, semi-bandit feedback
    :math:`\epsilon\kappa (cmKT + m^2 \Delta) + G/\epsilon + \frac{KT}{eL}` for losses up to 1.

    Parameters
    ----------
    horizon
        T.
    total_delay
        Δ, or an upper bound on it.
    feedback
        "full", "semi-bandit" or, with m = 1, "bandit".
    second_moment, max_resamples
        c and L, as in `semi_bandit`.
    reacting
        Whether losses or contexts may react to actions whose feedback is pending; mKΔ then takes
        the place of m²Δ. Delays may not, unless there is a limit on them: if at most o rounds are
        decided while one waits, whatever was played, Δ = oT(K + m)/K covers that too.
    epsilon
        ε to evaluate the bound at, in place of the best one.
    d, n_actions, log_size, m, setting, antichain, complexity, loss_bound, loss_range, nonnegative
        As in `complete_information`, sharp form.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> for delay in (0, 200_000):
    ...     print(round(delayed(20_000, total_delay=delay, **sizes).value))
    5656
    7950
    """
    known = Checked("delayed", sizes)
    options = (feedback, second_moment, max_resamples, total_delay, reacting)
    W, loss, L = variance(known, horizon, *options, growing=False)
    others = {} if L is None else {"truncation": loss}
    return tuned("delayed", epsilon, W, known.G, L, **others)


def variance(
    sizes: Checked,
    horizon: Any,
    feedback: str,
    second_moment: Any,
    max_resamples: Any,
    total_delay: Any = 0,
    reacting: bool = False,
    *,
    growing: bool,
) -> tuple[float, float, int | None]:
    """W, the cost of truncation Σ K/(eL_t), and L, which is None with full information.

    With a fixed ε regret is at most εW + G/ε plus the cost of truncation. Where T is not known in
    advance, L_t = ⌈√(Kt)⌉ is growing with t.
    """
    owner, m, K = sizes.owner, sizes.m, sizes.K
    T = check_integer(owner, "horizon", horizon, 1)
    delay = check_not_negative(owner, "total_delay", total_delay)
    if delay > T * (T - 1) / 2:
        most = f"at most T(T-1)/2 = {T * (T - 1) // 2}"
        raise refuse(owner, "total_delay", f"a number of pending rounds, {most}", total_delay)
    check_choice(owner, "feedback", feedback, FEEDBACKS)
    L = None
    if max_resamples is not None:
        L = check_integer(owner, "max_resamples", max_resamples, 1)
    if feedback == "full":
        return sizes.instability("sharp") * (T + delay), 0.0, None
    if not sizes.nonnegative:
        raise ParameterError(
            f"{owner}: with semi-bandit feedback losses are counted from the lowest; got "
            "nonnegative=False. Say with loss_range=(low, high) which that is."
        )
    if sizes.low < 0.0 and m > 1 and delay > 0.0:
        raise ParameterError(
            f"{owner}: of late losses below zero nothing is proved for sets that differ in size; "
            f"got loss_range={(sizes.low, sizes.high)} and total_delay={total_delay}. Where all "
            "sets have the same size add a constant to each loss."
        )
    if feedback == "bandit" and m > 1:
        raise refuse(owner, "feedback", "'full' or 'semi-bandit' for sets of elements", feedback)
    B = sizes.check_semi_bandit_losses()
    c = check_second_moment(owner, second_moment)
    pending = m * (K if reacting else m)
    W = sizes.kappa() * B**2 * (c * m * K * T + pending * delay)
    if L is not None:
        return W, B * K * T / (math.e * L), L
    L = default_limit(K, T)
    each = 2.0 * math.sqrt(K * T) if growing else K * T / L
    return W, B * each / math.e, L
