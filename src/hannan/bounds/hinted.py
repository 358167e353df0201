"""Hints with a budget: bold play that stays safe."""

import math
from typing import Any

from hannan.bounds.bound import Bound
from hannan.bounds.semi_bandit import default_limit
from hannan.bounds.sizes import check_semi_bandit_losses, check_sizes, check_total
from hannan.core.validation import check_integer, refuse


def hinted(
    horizon: int,
    *,
    d: int,
    n_actions: int,
    log_size: float | None = None,
    loss_bound: float = 1.0,
    loss_range: tuple[float, float] | None = None,
    setting: str = "transductive",
    complexity: Any = None,
    unhinted: float | None = None,
    start: float = 0.0,
    restarts: int = 0,
) -> Bound:
    r"""Bandit feedback, self-tuned, hints followed while they cost less than their budget.

    A hint is taken while what hints have cost, :math:`\max(S, 0) + 2 D_{over}`, is below
    :math:`\sqrt{2KGt}`. However bad the hints, for losses in [0, 1]

    .. math:: \mathrm{Regret} \le \sqrt{2KGT} + 2L_T + 2\sqrt{2K(2\kappa G + 1) T_0} + D_0
              + \sum_t \frac{K}{eL_t}, \qquad L_t = \lceil\sqrt{Kt}\rceil .

    At most r restarts multiply the roots (:math:`2\sqrt{KT}` for 2L included) by
    :math:`\sqrt{r+1}` and cost :math:`(r+1)(D_0 + 2)`. Pseudo-regret, single actions.

    Parameters
    ----------
    horizon, d, n_actions, log_size, setting
        As in `complete_information`.
    loss_bound, loss_range
        As in `semi_bandit`.
    complexity
        As in `complete_information`, sharp form.
    unhinted
        :math:`T_0`, the expected number of rounds without a hint; by default all of them.
    start
        :math:`D_0`, what D begins with.
    restarts
        r.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> [round(hinted(20_000, unhinted=T0, **sizes).value) for T0 in (0, 20_000)]
    [3636, 11522]
    """
    owner = "hinted"
    T = check_integer(owner, "horizon", horizon, 1)
    sizes = check_sizes(
        owner,
        d=d,
        n_actions=n_actions,
        log_size=log_size,
        setting=setting,
        complexity=complexity,
    )
    B = check_semi_bandit_losses(owner, loss_bound, loss_range)
    D0 = check_total(owner, "start", start)
    T0 = check_total(owner, "unhinted", T if unhinted is None else unhinted)
    if T0 > T:
        raise refuse(owner, "unhinted", f"at most horizon={T}", unhinted)
    games = 1 + check_integer(owner, "restarts", restarts, 0)
    K, G, kappa = sizes.K, sizes.G, sizes.kappa()
    more = math.sqrt(games)
    L = max(2, default_limit(K, T))
    step = 2.0 * L if games == 1 else 2.0 * more * math.sqrt(K * T) + 2.0 * games
    terms = {
        "hints": B * (more * math.sqrt(2.0 * K * G * T) + step),
        "instability": B * more * 2.0 * math.sqrt(2.0 * K * (2.0 * kappa * G + 1.0) * T0),
        "truncation": B * more * 2.0 * math.sqrt(K * T) / math.e,
        "start": games * D0,
    }
    value = sum(terms.values())
    D = 0.5 * (terms["hints"] + terms["instability"]) + terms["start"]
    return Bound(value, G / D, terms, L)
