"""Contexts known in advance: noise on future contexts, and sequences of policies."""

import math

from hannan.bounds.bound import Bound
from hannan.bounds.laplace_complexity import Complexity
from hannan.bounds.sizes import check_log_size
from hannan.bounds.theorems import complete_information
from hannan.core.validation import (
    check_choice,
    check_integer,
    check_loss_range,
    check_positive,
    refuse,
)


def playout(
    horizon: int,
    *,
    log_size: float,
    m: int = 1,
    loss_range: tuple[float, float] = (0.0, 1.0),
    fixed_size: bool = True,
) -> Bound:
    r"""Bound regret with full information: Gaussian noise on each element of *future* contexts.

    .. math:: \mathrm{Regret} \le \sigma \sqrt{2 T m \log N}

    The noise must be as large as the change of one round: with
    :math:`\sigma = B\sqrt{\pi m}` the mean maximum of two policies' noise at a context is at least
    the largest difference of their losses there. This needs actions of one size and losses of
    width B. If sizes differ, as for a path and another path that it contains,
    :math:`\sigma = B\sqrt{2\pi m}` with B = max(high⁺, low⁻, (high⁺ + low⁻)/√2).

    Holds against adversaries that adapt to the past, with the best policy in hindsight inside the
    expectation; contexts must not adapt. The ε reported is 1/σ.

    Parameters
    ----------
    horizon, log_size, m
        T, log N with N ≥ 2 the number of distinct policies, and the elements chosen at most.
    loss_range
        Smallest and largest loss of an element.
    fixed_size
        Whether all actions choose the same number of elements.

    Examples
    --------
    >>> bound = playout(2000, log_size=math.log(50))
    >>> round(bound.value, 1), round(bound.epsilon, 4)
    (221.7, 0.5642)
    """
    T = check_integer("playout", "horizon", horizon, 1)
    m = check_integer("playout", "m", m, 1)
    log_N = check_log_size("playout", log_size)
    low, high = check_loss_range("playout", loss_range)
    if not math.isfinite(high - low):
        raise refuse("playout", "loss_range", "a pair (low, high) of finite numbers", loss_range)
    if fixed_size or m == 1:
        sigma = (high - low) * math.sqrt(math.pi * m)
    else:
        up, down = max(high, 0.0), max(-low, 0.0)
        sigma = max(up, down, (up + down) / math.sqrt(2.0)) * math.sqrt(2.0 * math.pi * m)
    value = sigma * math.sqrt(2.0 * T * m * log_N)
    return Bound(value, 1.0 / sigma, {"noise": value})


def playout_bandit(
    horizon: int, *, n_actions: int, log_size: float, loss_bound: float = 1.0
) -> Bound:
    r"""Bound regret with bandit feedback: sparse noise ±M on single actions of future contexts.

    .. math:: \mathrm{Regret} \le \frac{TK}{M} + \sqrt{2 T M \log N} + \frac{M \log N}{3},
              \qquad M = \max\Bigl(K, \Bigl(\frac{2 K^2 T}{\log N}\Bigr)^{1/3}\Bigr)

    for losses in [0, 1]; in [0, B] it is B times that. Each action is explored with probability
    1/M, each future context carries noise with probability K/M. Pseudo-regret, single actions.
    The ε reported is one over the size of the noise, 1/(BM).

    Parameters
    ----------
    horizon, n_actions, log_size, loss_bound
        T, K, log N with N ≥ 2 the number of distinct policies, and B.

    Examples
    --------
    >>> bound = playout_bandit(5000, n_actions=3, log_size=math.log(60))
    >>> round(bound.value), round(1 / bound.epsilon, 1)
    (1645, 28.0)
    """
    T = check_integer("playout_bandit", "horizon", horizon, 1)
    K = check_integer("playout_bandit", "n_actions", n_actions, 1)
    B = check_positive("playout_bandit", "loss_bound", loss_bound)
    log_N = check_log_size("playout_bandit", log_size)
    M = max(float(K), (2.0 * K**2 * T / log_N) ** (1 / 3))
    terms = {
        "exploration": B * T * K / M,
        "noise": B * (math.sqrt(2.0 * T * M * log_N) + M * log_N / 3.0),
    }
    return Bound(sum(terms.values()), 1.0 / (B * M), terms)


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
    r"""Bound regret to the best sequence of policies with k switches, with full information.

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
        G of the class of sequences, if known.
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
    r"""Return the log of the number of sequences of T policies, out of N, with at most k switches.

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
