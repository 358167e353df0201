"""Self-tuning: ε = G/D, with D what instability has cost so far."""

import math
from typing import Any

from hannan.bounds.bound import Bound
from hannan.bounds.sizes import check_sizes, check_total
from hannan.bounds.variance import check_limit, check_spread, check_variance
from hannan.core.validation import check_integer


def self_tuned(
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
    feedback: str = "full",
    second_moment: float = 2.0,
    max_resamples: int | None = None,
    squares: float | None = None,
    start: float = 0.0,
    restarts: int = 0,
) -> Bound:
    r"""The worst case of a learner that measures its own instability D and plays ε = G/D.

    Full information: :math:`\mathrm{Regret} \le 2E[D_T] \le 2\sqrt{2\kappa G V} + 2R`, with
    :math:`V = \sum_t E v_t^2` and R the largest range of a round. Semi-bandit, losses up to 1:
    :math:`2\sqrt{(2\kappa G + 1)\, c mKT} + \sum_t \frac{K}{eL_t}`, pseudo-regret. At most r
    restarts multiply the roots by :math:`\sqrt{r+1}` and R by r + 1.

    The learner needs none of this but G; on easy data D stays far below its worst case.

    Parameters
    ----------
    horizon, d, n_actions, log_size, m, loss_bound, loss_range, setting, nonnegative, antichain
        As in `complete_information`.
    complexity
        As in `complete_information`, sharp form.
    feedback
        "full", "semi-bandit" or, with m = 1, "bandit".
    second_moment, max_resamples
        c and a fixed L, as in `semi_bandit`.
    squares
        V, where known, with full information: with predictions, the sum of the squared ranges of
        f - Q.
    start
        What D begins with; it is paid once in each game.
    restarts
        r.

    Examples
    --------
    >>> sizes = {"d": 50, "n_actions": 5, "log_size": 6.9}
    >>> print(self_tuned(20_000, **sizes))
    regret <= 2479.41 = 2477 (instability) + 2 (range), at epsilon = 0.03094
    >>> round(self_tuned(20_000, feedback="bandit", **sizes).value)
    8118

    References
    ----------
    [derooij2014]
    """
    owner = "self_tuned"
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
    variance = check_variance(
        sizes, horizon, feedback, loss_bound, loss_range, nonnegative, second_moment
    )
    games = 1 + check_integer(owner, "restarts", restarts, 0)
    loss, L = variance.truncation(check_limit(sizes, max_resamples), growing=True)
    G, W, kappa = sizes.G, variance.W, sizes.kappa(nonnegative)
    if L is None:
        if squares is not None:
            W = min(W, kappa * check_total(owner, "squares", squares))
        R = check_spread(sizes, loss_bound, loss_range, nonnegative)
        terms = {"instability": 2.0 * math.sqrt(2.0 * games * G * W), "range": 2.0 * games * R}
    else:
        if max_resamples is None:
            loss *= math.sqrt(games)
        instability = 2.0 * math.sqrt(games * (2.0 * G + 1.0 / kappa) * W)
        terms = {"instability": instability, "truncation": loss}
    D = 0.5 * (terms["instability"] + terms.get("range", 0.0))
    if (begin := check_total(owner, "start", start)) > 0.0:
        terms["start"] = games * begin
    return Bound(sum(terms.values()), G / (D + games * begin), terms, L)
