"""The switching corollary: regret against sequences of policies."""

import math

from hannan.bounds.bound import Bound
from hannan.bounds.complete_information import complete_information
from hannan.bounds.laplace_complexity import Complexity
from hannan.bounds.playout import playout
from hannan.bounds.sizes import check_log_size
from hannan.core.validation import check_choice, check_integer


def switching(
    horizon: int,
    *,
    switches: int,
    n_actions: int,
    log_size: float,
    m: int = 1,
    loss_bound: float = 1.0,
    loss_range: tuple[float, float] | None = None,
    nonnegative: bool = True,
    antichain: bool = True,
    fixed_size: bool = True,
    complexity: Complexity | float | None = None,
    form: str = "printed",
) -> Bound:
    r"""Regret against the best sequence of policies with at most k switches, full information.

    Theorem 2 for the class of such sequences on the contexts (t, x_t), known in advance: d = T.
    The printed form counts :math:`T^k N^{k+1}` sequences (the paper has :math:`N^k`, but k switches
    make k + 1 intervals), the others as `switching_log_size` does. Noise on all T contexts, past
    ones included, costs a factor of about :math:`T^{1/4}`: "playout" puts it on future ones only
    and has :math:`\sqrt{2\pi T \log \tilde N}` for single actions.

    Parameters
    ----------
    horizon, switches
        T and k.
    log_size
        log N of the *base* class, N ≥ 2.
    n_actions, m, loss_bound, loss_range, nonnegative, antichain
        As in `complete_information`.
    fixed_size
        Whether all actions choose the same number of elements, for "playout".
    complexity
        G of the class of sequences, where known.
    form
        "printed", "sharp" or "playout".

    Examples
    --------
    >>> for form in ("printed", "sharp", "playout"):
    ...     bound = switching(2000, switches=3, n_actions=5, log_size=math.log(50), form=form)
    ...     print(form, round(bound.value))
    printed 11729
    sharp 2085
    playout 678

    References
    ----------
    [syrgkanis2016]
    """
    check_choice("switching", "form", form, ("printed", "sharp", "playout"))
    size = switching_log_size(horizon, switches, log_size)
    if form == "printed":
        size = switches * math.log(horizon) + (switches + 1) * log_size
    if form == "playout":
        if loss_range is None:
            loss_range = (0.0 if nonnegative else -loss_bound, loss_bound)
        return playout(horizon, log_size=size, m=m, loss_range=loss_range, fixed_size=fixed_size)
    return complete_information(
        horizon,
        d=horizon,
        n_actions=n_actions,
        log_size=size,
        m=m,
        loss_bound=loss_bound,
        loss_range=loss_range,
        nonnegative=nonnegative,
        antichain=antichain,
        complexity=complexity,
        form=form,
    )


def switching_log_size(horizon: int, switches: int, log_size: float) -> float:
    r"""log of the number of sequences of T policies, out of N, with at most k switches.

    .. math:: \tilde N = \sum_{i \le k} \binom{T-1}{i} N (N-1)^i
              \le \sum_{i \le k} \binom{T-1}{i} N^{i+1} \le T^k N^{k+1}

    Parameters
    ----------
    horizon, switches
        T and k.
    log_size
        log N of the base class, N ≥ 2.

    Examples
    --------
    >>> round(math.exp(switching_log_size(3, 1, math.log(2))))
    6
    """
    owner = "switching"
    T = check_integer(owner, "horizon", horizon, 1)
    k = min(check_integer(owner, "switches", switches, 0), T - 1)
    log_N = check_log_size(owner, log_size)
    log_others = log_N + math.log1p(-math.exp(-log_N))
    logs = [0.0]
    for i in range(1, k + 1):
        logs.append(logs[-1] + math.log((T - i) / i) + log_others)
    top = max(logs)
    return log_N + top + math.log(sum(math.exp(value - top) for value in logs))
