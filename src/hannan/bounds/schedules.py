"""Schedules without a known horizon, delayed feedback, and hints with a budget.

Self-tuning is ε = G/D with D the instability cost so far.
"""

import math
from typing import Any, Unpack

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.sizes import (
    FEEDBACKS,
    Checked,
    Sizes,
    SizesAndLosses,
    check_second_moment,
)
from hannan.bounds.theorems import default_limit
from hannan.core.errors import ParameterError
from hannan.core.validation import (
    check_choice,
    check_integer,
    check_not_negative,
    check_positive,
    refuse,
)


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
    r"""Bound regret of :math:`\epsilon_t = \sqrt{G / 2 W_t}`, where W_t bounds instability costs.

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
    r"""Bound the regret under delay, with ε tuned to the horizon and the total delay.

    :math:`\Delta = \sum_t |O_t|`, with :math:`O_t` the earlier rounds whose feedback had not yet
    arrived when round t was played. The shift lemma is chained over them:
    full information pays :math:`\epsilon\kappa B^2 (T + \Delta) + G/\epsilon`, semi-bandit feedback
    :math:`\epsilon\kappa (cmKT + m^2 \Delta) + G/\epsilon + \frac{KT}{eL}` for losses up to 1.

    Parameters
    ----------
    horizon, total_delay
        T, and Δ or an upper bound on it.
    feedback
        "full", "semi-bandit" or, with m = 1, "bandit".
    second_moment, max_resamples
        c and L, as in `semi_bandit`.
    reacting
        Whether losses or contexts may depend on actions of open rounds; mKΔ then takes the place of
        m²Δ. Delays may not depend on these actions, unless they are limited: if for all actions at
        most o rounds are decided while a round is open, Δ = oT(K + m)/K covers this case, too.
    epsilon
        ε at which to evaluate the bound. Default: the best ε.
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


def self_tuned(
    horizon: int,
    *,
    feedback: str = "full",
    second_moment: float = 2.0,
    max_resamples: int | None = None,
    squares: float | None = None,
    start: float = 0.0,
    restarts: int = 0,
    total_delay: float = 0,
    out_of_order: bool = True,
    reacting: bool = False,
    without_feedback: int = 0,
    **sizes: Unpack[SizesAndLosses],
) -> Bound:
    r"""Bound the worst case of a learner that measures its own instability D and plays ε = G/D.

    Full information: :math:`\mathrm{Regret} \le 2E[D_T] \le 2\sqrt{2\kappa G V} + 2R`, with
    :math:`V = \sum_t E v_t^2` and R the largest range of a round. Semi-bandit, losses up to 1:
    :math:`2\sqrt{(2\kappa G + 1)\, c mKT} + \sum_t \frac{K}{eL_t}`, pseudo-regret. At most r
    restarts multiply the roots by :math:`\sqrt{r+1}` and R by r + 1.

    If feedback is delayed, with Δ the number of pairs of rounds that were open together, the root
    becomes :math:`\sqrt{2\kappa G (V + R^2 \Delta) + 2(1 + C) R^2 \Delta}`. With semi-bandit
    feedback :math:`2\kappa G m^2 \Delta + 2 (1 + C) m^2 \Delta` is added under the root. C is
    `out_of_order_factor`, or 0 if losses arrive in the order of decisions. Each round without
    feedback costs the largest loss of a round.

    The learner needs to know only G; on easy data D stays far below its worst case. [derooij2014]

    Parameters
    ----------
    horizon, restarts
        T and r.
    feedback, second_moment, max_resamples
        As in `delayed`, with L fixed if `max_resamples` is given.
    squares
        V, if known, with full information: with predictions, the sum of the squared ranges of
        f - Q.
    start
        Initial value of D; it counts once in each game.
    total_delay, reacting
        Δ, and whether losses or contexts may depend on actions of open rounds, as in `delayed`.
    out_of_order
        Whether a loss may arrive before the loss of an earlier decision.
    without_feedback
        Number of open and abandoned rounds, whose loss has not arrived.
    d, n_actions, log_size, m, setting, antichain, complexity, loss_bound, loss_range, nonnegative
        As in `complete_information`, sharp form.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> print(self_tuned(20_000, **sizes))
    regret <= 2479.41 = 2477 (instability) + 2 (range), at epsilon = 0.03094
    >>> round(self_tuned(20_000, feedback="bandit", **sizes).value)
    8118
    >>> round(self_tuned(20_000, total_delay=20_000, out_of_order=False, **sizes).value)
    3528
    """
    owner = "self_tuned"
    known = Checked(owner, sizes)
    options = (feedback, second_moment, max_resamples)
    W, loss, L = variance(known, horizon, *options, growing=True)
    late = variance(known, horizon, *options, total_delay, reacting, growing=True)[0] - W
    games = 1 + check_integer(owner, "restarts", restarts, 0)
    G, kappa = known.G, known.kappa()
    B = known.check_losses()[1] if L is None else known.m * known.check_semi_bandit_losses()
    steps = 2.0 * (1.0 + out_of_order * known.out_of_order_factor()) * B**2 * float(total_delay)
    if L is None:
        if squares is not None:
            W = min(W, kappa * check_not_negative(owner, "squares", squares))
        root = math.sqrt(games * (2.0 * G * (W + late) + steps))
        terms = {"instability": 2.0 * root, "range": 2.0 * games * B}
    else:
        if max_resamples is None:
            loss *= math.sqrt(games)
        root = math.sqrt(games * ((2.0 * G + 1.0 / kappa) * W + 2.0 * G * late + steps))
        terms = {"instability": 2.0 * root, "truncation": loss}
    D = 0.5 * (terms["instability"] + terms.get("range", 0.0))
    if (begin := check_not_negative(owner, "start", start)) > 0.0:
        terms["start"] = games * begin
    if check_integer(owner, "without_feedback", without_feedback, 0):
        terms["without_feedback"] = B * without_feedback
    return Bound(sum(terms.values()), G / (D + games * begin), terms, L)


def hinted(
    horizon: int,
    *,
    loss_bound: float = 1.0,
    loss_range: tuple[float, float] | None = None,
    budget: float = 3.0,
    share: float = 0.95,
    known_distribution: bool = False,
    max_resamples: int | None = None,
    start: float = 0.0,
    restarts: int = 0,
    total_delay: float = 0,
    out_of_order: bool = True,
    reacting: bool = False,
    without_feedback: int = 0,
    **sizes: Unpack[Sizes],
) -> Bound:
    r"""Bound regret with bandit feedback, self-tuned, and hints by their measured advantage.

    Hints are played while their measured cost S cannot exceed :math:`c\sqrt{Gt}`, and so that
    :math:`W = \sum_t 1/\beta_t \le T/(1-s)`, β the share of the base learner. For arbitrarily bad
    hints and losses in [0, 1],

    .. math:: \mathrm{Regret} \le c\sqrt{GT} + 2\sqrt{2K(2\kappa G + 1) W} + D_0
              + \sum_t \frac{K}{eL_t} ;

    if the distribution of the leader's choice is known, so that baselines can be covered,
    :math:`2\sqrt{(2.6\kappa GK + 1)W}` and :math:`2\sqrt T` more. For sets of up to m > 1 elements
    the second root is :math:`2\sqrt{c\,mK(2\kappa G + 1)W}`, c = 1 for exact weights and else 2;
    truncation costs :math:`\sum_t (K + 2m)/(eL_t)`. At most r restarts multiply the roots by
    :math:`\sqrt{r+1}` and D₀ by r + 1. Delayed feedback adds
    :math:`2\kappa G \Delta + 2(1 + C)\Delta` under the second root, as in `self_tuned`; for sets no
    bound with delay is proved. Pseudo-regret.

    Parameters
    ----------
    horizon, budget, share
        T, and c and s as in `Trust`.
    known_distribution
        Whether weights are exact.
    max_resamples
        L, if it is fixed. Default: :math:`\lceil\sqrt{Kt}\rceil`.
    start, restarts
        :math:`D_0`, the initial value of D, and r.
    total_delay, out_of_order, reacting, without_feedback
        As in `self_tuned`.
    loss_bound, loss_range
        As in `semi_bandit`.
    d, n_actions, log_size, m, setting, antichain, complexity
        As in `complete_information`, sharp form.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> [round(hinted(20_000, share=s, **sizes).value) for s in (0.0, 0.5, 0.95)]
    [10745, 14012, 38124]
    """
    owner = "hinted"
    known = Checked(owner, sizes, loss_bound=loss_bound, loss_range=loss_range)
    T = check_integer(owner, "horizon", horizon, 1)
    B = known.check_semi_bandit_losses()
    D0 = check_not_negative(owner, "start", start)
    c = check_positive(owner, "budget", budget)
    if not 0.0 <= share < 1.0:
        raise refuse(owner, "share", "a number from 0 to less than 1", share)
    games = 1 + check_integer(owner, "restarts", restarts, 0)
    K, G, kappa, m = known.K, known.G, known.kappa(), known.m
    more, W = math.sqrt(games), T / (1.0 - share)
    unrest = (1.0 if known_distribution else 2.0) * m * K * (2.0 * kappa * G + 1.0)
    L = max(2, default_limit(K, T)) if max_resamples is None else max_resamples
    truncation = more * 2.0 * math.sqrt(K * T) / math.e
    if max_resamples is not None:
        truncation = K * T / (math.e * L)
    if m > 1:
        truncation *= 1.0 + 2.0 * m / K
    elif known_distribution:
        unrest = 2.6 * kappa * G * K + 1.0
        truncation += more * 2.0 * math.sqrt(T)
    Delta = check_not_negative(owner, "total_delay", total_delay)
    if m > 1 and Delta > 0.0:
        raise ParameterError(
            f"{owner}: no bound is proved for hints with delayed feedback and sets; got m={m} and "
            f"total_delay={total_delay}. Without a predictor, use self_tuned."
        )
    late = 2.0 * kappa * G * (K if reacting else 1) * Delta
    late += 2.0 * (1.0 + out_of_order * known.out_of_order_factor()) * Delta
    terms = {
        "hints": B * more * c * math.sqrt(G * T),
        "instability": B * more * 2.0 * math.sqrt(unrest * W + late),
        "truncation": B * truncation,
        "start": games * D0,
    }
    if check_integer(owner, "without_feedback", without_feedback, 0):
        terms["without_feedback"] = m * B * without_feedback
    value = sum(terms.values())
    return Bound(value, G / (0.5 * terms["instability"] + terms["start"]), terms, L)


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
    """Return W, the cost of truncation Σ K/(eL_t), and L (None for full information).

    With a fixed ε, the regret is at most εW + G/ε plus the cost of truncation. If T is not known in
    advance, L_t = ⌈√(Kt)⌉ grows with t.
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
            f"{owner}: with semi-bandit feedback losses are counted from the lowest loss; got "
            "nonnegative=False. Pass loss_range=(low, high)."
        )
    if sizes.low < 0.0 and m > 1 and delay > 0.0:
        raise ParameterError(
            f"{owner}: no bound is proved for delayed negative losses and sets of different sizes; "
            f"got loss_range={(sizes.low, sizes.high)} and total_delay={total_delay}. If all sets "
            "have the same size, add a constant to each loss."
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
