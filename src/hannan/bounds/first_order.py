"""Small losses: regret that grows with the best policy's loss, not with time."""

import math
from typing import Any

from hannan.bounds.bound import Bound
from hannan.bounds.sizes import check_losses, check_sizes, check_total


def first_order(
    best_loss: float,
    *,
    d: int,
    n_actions: int,
    log_size: float | None = None,
    m: int = 1,
    loss_bound: float = 1.0,
    setting: str = "transductive",
    antichain: bool = True,
    complexity: Any = None,
    self_tuned: bool = False,
) -> Bound:
    r"""Full information and non-negative losses, in terms of the best policy's loss L*.

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
    d, n_actions, log_size, m, loss_bound, setting, antichain, complexity
        As in `complete_information`.
    self_tuned
        Whether ε = G/D is tuned on the way, not fixed in advance.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": math.log(1000)}
    >>> [round(first_order(best, **sizes).value) for best in (0, 100, 10_000)]
    [154, 223, 1318]
    """
    owner = "first_order"
    best = check_total(owner, "best_loss", best_loss)
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
    B, _ = check_losses(sizes, loss_bound, None, nonnegative=True)
    a, G = sizes.kappa() * B, sizes.G
    if self_tuned:
        half = 4.0 * a * G
        value = 2.0 * B + half + math.sqrt(half * half + 2.0 * half * (best + 2.0 * B))
        terms = {"instability": value - 2.0 * B, "range": 2.0 * B}
        return Bound(value, 2.0 * G / value, terms)
    epsilon = G / (a * G + math.sqrt(a * G * (a * G + best)))
    rest = 1.0 - epsilon * a
    terms = {"stability": epsilon * a * best / rest, "error": G / (epsilon * rest)}
    return Bound(sum(terms.values()), epsilon, terms)
