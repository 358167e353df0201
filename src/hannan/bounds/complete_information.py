"""Theorem 2: regret with full information."""

from typing import Any

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.sizes import FORMS, Sizes, check_losses, check_sizes
from hannan.core.validation import check_choice, check_integer


def complete_information(
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
    epsilon: float | None = None,
    form: str = "printed",
) -> Bound:
    r"""The three claims of Theorem 2, minimised over ε.

    Transductive, linear non-negative losses:
    :math:`\epsilon \sum_t E\langle\pi_t(x_t),\ell_t\rangle^2 + \frac{10}\epsilon\sqrt{dm}\log N`;
    transductive, any losses, :math:`4\epsilon K \sum_t \|f_t\|_*^2` in place of the first term;
    small separator, :math:`4\epsilon K d \sum_t \|f_t\|_*^2`.

    Sharp: :math:`\epsilon\kappa V + G/\epsilon`. The comparator does not depend on the noise, so
    be-the-leader pays for one side of it only, and :math:`G \le 2\sqrt{dm\log N} + \log N`; the
    shift lemma (see `kappa`) bounds the rest, with V = T times the squared spread of losses.

    Parameters
    ----------
    horizon
        T.
    d, n_actions, m
        Number of perturbed contexts, of elements K, and of elements chosen at most.
    log_size
        log N, N ≥ 2 the number of distinct policies on these contexts. May be left out of the
        sharp form if `complexity` is given.
    loss_bound
        Largest absolute loss of an element; an action then loses at most m times it.
    loss_range
        Smallest and largest loss of an element, in place of `loss_bound`.
    setting
        "transductive" or "separator".
    nonnegative
        Whether losses are never negative (and linear).
    antichain
        Whether no action contains another one.
    complexity
        G, a number or what `laplace_complexity` returned (then with three standard errors);
        by default the best bound that follows from the sizes.
    epsilon
        ε to evaluate the bound at, in place of the best one.
    form
        "printed" or "sharp".

    Examples
    --------
    >>> import math
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> print(complete_information(20_000, **sizes))
    regret <= 6251.09 = 3126 (stability) + 3126 (error), at epsilon = 0.1563
    >>> print(complete_information(20_000, form="sharp", **sizes))
    regret <= 1752.31 = 876.2 (stability) + 876.2 (error), at epsilon = 0.04381

    References
    ----------
    [syrgkanis2016]
    """
    owner = "complete_information"
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
    error = sizes.C if form == "printed" else sizes.G
    return tuned(owner, epsilon, slope, error)


def instability(
    sizes: Sizes, loss_bound: Any, loss_range: Any, nonnegative: bool, form: str
) -> float:
    """What a round's instability may cost, divided by ε."""
    norm, spread = check_losses(sizes, loss_bound, loss_range, nonnegative)
    if form == "printed":
        return printed_kappa(sizes, nonnegative) * norm**2
    return sizes.kappa(nonnegative) * spread**2


def printed_kappa(sizes: Sizes, nonnegative: bool) -> float:
    """What the printed stability lemmas have in place of κ."""
    if sizes.setting == "separator":
        return 4.0 * sizes.K * sizes.d
    return 1.0 if nonnegative else 4.0 * sizes.K
