"""Theorems 1, 2, 3 and 5, and regret that grows with the best policy's loss."""

import math
from typing import Unpack

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.sizes import FORMS, Checked, Sizes, SizesAndLosses, check_second_moment
from hannan.core.validation import (
    check_choice,
    check_integer,
    check_not_negative,
    check_positive,
    refuse,
)


def complete_information(
    horizon: int,
    *,
    epsilon: float | None = None,
    form: str = "printed",
    **sizes: Unpack[SizesAndLosses],
) -> Bound:
    r"""Return the bounds of the three claims of Theorem 2, minimised over ε.

    Transductive, linear non-negative losses:
    :math:`\epsilon \sum_t E\langle\pi_t(x_t),\ell_t\rangle^2 + \frac{10}\epsilon\sqrt{dm}\log N`.
    Transductive, any losses: :math:`4\epsilon K \sum_t \|f_t\|_*^2` in place of the first term.
    Small separator: :math:`4\epsilon K d \sum_t \|f_t\|_*^2`.

    Sharp: :math:`\epsilon\kappa V + G/\epsilon`. The comparator does not depend on the noise, so
    be-the-leader pays for one side of it only, and :math:`G \le 2\sqrt{dm\log N} + \log N`; the
    shift lemma (see `kappa`) bounds the rest, with V = T times the squared spread of losses.

    Parameters
    ----------
    horizon, epsilon, form
        T, ε to evaluate the bound at in place of the best one, and "printed" or "sharp".
    d, n_actions
        Number of perturbed contexts, and of elements K. Required.
    m
        Largest number of elements in an action. Default: 1.
    log_size
        log N, N ≥ 2 the number of distinct policies on these contexts. The sharp form does not need
        it if `complexity` is given.
    complexity
        G, a number or a result of `laplace_complexity` (then with three standard errors). Default:
        the best bound that follows from the sizes.
    setting
        "transductive" or "separator". Default: "transductive".
    antichain
        Whether no action contains another one, as with experts, m-sets, paths and bases: by
        default True.
    loss_bound
        Largest absolute loss of an element; the loss of an action is at most m times this bound.
        Default: 1.
    loss_range
        Smallest and largest loss of an element, instead of `loss_bound`.
    nonnegative
        Whether losses are linear and never negative. Default: True.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> print(complete_information(20_000, **sizes))
    regret <= 6251.09 = 3126 (stability) + 3126 (error), at epsilon = 0.1563
    >>> print(complete_information(20_000, form="sharp", **sizes))
    regret <= 1752.31 = 876.2 (stability) + 876.2 (error), at epsilon = 0.04381
    """
    owner = "complete_information"
    known = Checked(owner, sizes)
    T = check_integer(owner, "horizon", horizon, 1)
    check_choice(owner, "form", form, FORMS)
    return tuned(owner, epsilon, T * known.instability(form), known.error(form))


def stability_plus_error(
    epsilon: float, horizon: int, *, form: str = "printed", **sizes: Unpack[SizesAndLosses]
) -> Bound:
    r"""Return the two terms of Theorem 1 for Laplace noise of a given ε. [kalai2005]

    .. math:: \mathrm{Regret} \le
              \underbrace{\sum_t E[\ell(\pi_t, y_t) - \ell(\pi_{t+1}, y_t)]}_{\text{stability}}
              + \underbrace{E\max_\pi z(\pi) - E\min_\pi z(\pi)}_{\text{error}}

    The error is 2G/ε exactly, by symmetry; the paper bounds it by
    :math:`\frac{10}\epsilon\sqrt{dm}\log N`. The sharp form pays G/ε: a comparator that
    does not depend on the noise has z(π*) = 0 on average. Stability is bounded as in
    `complete_information`.

    Parameters
    ----------
    epsilon, horizon, form
        ε, T, and "printed" or "sharp".
    d, n_actions, log_size, m, setting, antichain, loss_bound, loss_range, nonnegative
        As in `complete_information`.
    complexity
        G, if known. Then the printed error is 2G/ε.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> print(stability_plus_error(0.1, 20_000, **sizes))
    regret <= 6879.04 = 2000 (stability) + 4879 (error), at epsilon = 0.1
    >>> print(stability_plus_error(0.1, 20_000, complexity=28.7, form="sharp", **sizes))
    regret <= 2287 = 2000 (stability) + 287 (error), at epsilon = 0.1
    """
    owner = "stability_plus_error"
    known = Checked(owner, sizes)
    epsilon = check_positive(owner, "epsilon", epsilon)
    T = check_integer(owner, "horizon", horizon, 1)
    check_choice(owner, "form", form, FORMS)
    G = known.complexity if form == "printed" else None
    error = known.error(form) if G is None else 2.0 * G
    return tuned(owner, epsilon, T * known.instability(form), error)


def predictable(
    errors: float,
    *,
    squared_ranges: float | None = None,
    epsilon: float | None = None,
    form: str = "printed",
    **sizes: Unpack[Sizes],
) -> Bound:
    r"""Apply Theorem 5: regret in terms of the errors of the predictions.

    Printed: :math:`4\epsilon K S + \frac{10}\epsilon\sqrt{dm}\log N` with
    :math:`S = \sum_t E\|f_t - Q_t\|_*^2`; separator: 4εKdS in place of the first term. Sharp:
    :math:`\epsilon \kappa \sum_t \mathrm{range}(f_t - Q_t)^2 + G/\epsilon`, without any K for
    single actions.

    Parameters
    ----------
    errors
        S. With perfect predictions, S = 0, the bound is 0 at ε = ∞, that is, without noise.
    squared_ranges
        :math:`\sum_t E(\max_a (f_t-Q_t)(a) - \min_a (f_t-Q_t)(a))^2`, if known, for the sharp
        form; it is at most 4S.
    d, n_actions, log_size, m, setting, antichain, complexity, epsilon, form
        As in `complete_information`.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> [round(predictable(100.0, form=form, **sizes).value) for form in ("printed", "sharp")]
    [1977, 248]
    """
    owner = "predictable"
    known = Checked(owner, sizes, nonnegative=False)
    check_choice(owner, "form", form, FORMS)
    S = check_not_negative(owner, "errors", errors)
    V = 4.0 * S
    if squared_ranges is not None:
        V = min(V, check_not_negative(owner, "squared_ranges", squared_ranges))
    slope = known.kappa(form) * (S if form == "printed" else V)
    return tuned(owner, epsilon, slope, known.error(form))


def first_order(
    best_loss: float, *, loss_bound: float = 1.0, self_tuned: bool = False, **sizes: Unpack[Sizes]
) -> Bound:
    r"""Bound regret for non-negative losses by the best policy's loss L*, not the horizon.

    A squared loss is at most B times the loss, B = m · loss_bound, so
    :math:`L_T \le L^* + \epsilon\kappa B L_T + G/\epsilon`, and with a = κB

    .. math:: \mathrm{Regret} \le \frac{\epsilon a L^* + G/\epsilon}{1 - \epsilon a}
              = 2aG + 2\sqrt{a^2 G^2 + a L^* G}
              \quad\text{at}\quad \epsilon = \frac{G}{aG + \sqrt{a^2 G^2 + a L^* G}} .

    The self-tuned learner knows neither L* nor a: :math:`r \le 2\sqrt{2aG(L^* + r)} + 2B` solved
    for r.

    Parameters
    ----------
    best_loss
        L*, or an upper bound on it.
    self_tuned
        Whether ε = G/D is tuned during the game, not fixed in advance.
    d, n_actions, log_size, m, setting, antichain, complexity, loss_bound
        As in `complete_information`, sharp form.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> [round(first_order(best, **sizes).value) for best in (0, 100, 10_000)]
    [154, 223, 1318]
    """
    known = Checked("first_order", sizes, loss_bound=loss_bound)
    best = check_not_negative("first_order", "best_loss", best_loss)
    B, _ = known.check_losses()
    a, G = known.kappa() * B, known.G
    if self_tuned:
        half = 4.0 * a * G
        value = 2.0 * B + half + math.sqrt(half * half + 2.0 * half * (best + 2.0 * B))
        terms = {"instability": value - 2.0 * B, "range": 2.0 * B}
        return Bound(value, 2.0 * G / value, terms)
    epsilon = G / (a * G + math.sqrt(a * G * (a * G + best)))
    rest = 1.0 - epsilon * a
    terms = {"stability": epsilon * a * best / rest, "error": G / (epsilon * rest)}
    return Bound(sum(terms.values()), epsilon, terms)


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
    r"""Return the bounds of both claims of Theorem 3, minimised over ε. [neu2016]

    Transductive: :math:`2\epsilon mKT + \frac{10}\epsilon\sqrt{dm}\log N + \frac{KT}{eL}`; small
    separator: :math:`8\epsilon K^2 d L m T` in place of the first term. The bounds hold for the
    pseudo-regret. Losses lie in [0, B];
    the bound is B times that for losses in [0, 1], at ε/B.

    Sharp: :math:`\epsilon c \kappa mKT + G/\epsilon + \frac{KT}{eL}` in both settings. The
    shift lemma meets the estimated losses weighted by the probability of paying them, so L does
    not enter its term, and a separator too has regret of order :math:`\sqrt T`.

    Parameters
    ----------
    horizon, loss_bound
        T and B.
    loss_range
        Smallest and largest loss of an element, instead of `loss_bound`. If the smallest loss is
        negative, B is the difference, as for rewards up to R, (-R, 0).
    max_resamples
        L. Default: :math:`\lceil\sqrt{KT}\rceil`, in the printed separator bound
        :math:`\lceil T^{1/3}\rceil`. There "best" chooses L together with ε, which gives
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
    r"""Return :math:`L = \lceil\sqrt{KT}\rceil`."""
    return math.ceil(math.sqrt(K * T))


def _best_limit(bias: float, slope: float, error: float, epsilon: float | None) -> Bound:
    """Find the integer L that minimises slope·ε·L + error/ε + bias/L, at the best or given ε."""
    if epsilon is None:
        limit = (bias / math.sqrt(slope * error)) ** (2 / 3)
    else:
        limit = math.sqrt(bias / (check_positive("semi_bandit", "epsilon", epsilon) * slope))
    limits = {max(1, math.floor(limit)), math.ceil(limit)}
    found = [
        tuned("semi_bandit", epsilon, slope * L, error, L, truncation=bias / L) for L in limits
    ]
    return min(found, key=float)
