r"""The Laplace complexity :math:`G = E \max_\pi \sum_{x \in X} \langle \pi(x), \zeta_x \rangle`.

G/ε is the regret due to the noise itself: every regret bound here has the form stability + G/ε.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Oracle, ParameterError
from hannan.core.arrays import Contexts
from hannan.core.oracle import Draw
from hannan.core.state import Count, Number, State, Text
from hannan.core.stored import Stored
from hannan.core.validation import check_integer
from hannan.perturbation import seed_key

_STREAM = 1  # not the stream of the learners
_PAIRS = 64  # pairs of oracle calls, unless the class has `complexity_pairs`


@dataclass(frozen=True, slots=True)
class Complexity(Stored):
    """A value of G with the standard error of its estimate (zero where it is exact)."""

    value: float
    standard_error: float
    method: str
    oracle_calls: int = 0

    stored = State(
        value=Number(low=0.0),
        standard_error=Number(low=0.0),
        method=Text(),
        oracle_calls=Count(),
    )

    @property
    def upper(self) -> float:
        """Three standard errors above the value."""
        return self.value + 3.0 * self.standard_error


def laplace_complexity(
    oracle: Oracle,
    contexts: Contexts | None = None,
    *,
    pairs: int | None = None,
    seed: int | None = 0,
    memory: int = 2**26,
) -> Complexity:
    r"""Compute G of a policy class on a context set, in closed form or with the oracle.

    The estimate averages :math:`-\frac12(\min_\pi \zeta(\pi) + \min_\pi -\zeta(\pi))` over
    independent draws ζ. It has mean G, is positive for every class of two or more policies, and
    costs two oracle calls per draw. Its standard error is at most
    :math:`\sqrt{2dm/\mathrm{pairs}}`.

    Parameters
    ----------
    oracle, contexts
        Policy class, and context set X. Default: the contexts of the oracle.
    pairs
        Number of draws, each used with both signs. Default: `complexity_pairs` of the oracle, or
        64.
    seed, memory
        Seed of the draws, and bytes of noise in memory at a time.

    Examples
    --------
    >>> import hannan as hn
    >>> hn.bounds.laplace_complexity(hn.oracles.AllPolicies(10, 2)).value
    7.5
    """
    if pairs is None:  # fewer if calls are expensive
        pairs = getattr(oracle, "complexity_pairs", _PAIRS)
    check_integer("laplace_complexity", "pairs", pairs, 2)
    known = known_contexts("laplace_complexity", oracle, contexts)
    exact = oracle.complexity(known)
    if exact is not None:
        return Complexity(exact, 0.0, "closed form")
    empty = oracle.objective()
    noise = oracle.noise(known, seed_key(seed), _STREAM, memory)
    low = empty.minima(Draw(noise, 0, 1.0), pairs)
    high = empty.minima(Draw(noise, 0, -1.0), pairs)
    draws = -0.5 * (low + high)
    error = float(draws.std(ddof=1) / math.sqrt(pairs))
    method = f"Monte Carlo, {pairs} pairs of oracle calls"
    return Complexity(float(draws.mean()), error, method, 2 * pairs)


def known_contexts(owner: str, oracle: Oracle, contexts: Contexts | None) -> list[Any]:
    """Check the given contexts or the oracle's own, and remove duplicates."""
    known = oracle.contexts if contexts is None else contexts
    if known is None:
        raise ParameterError(f"{owner} needs contexts= for {type(oracle).__name__}.")
    return oracle.check_contexts(known)


def chernoff_complexity(log_size: float, d: int, m: int = 1) -> float:
    r"""Bound :math:`G \le \inf_{0<u<1} (\log N - dm \log(1-u^2))/u`.

    With :math:`x = u^2/(1-u^2)` the infimum is where :math:`2x - \log(1+x) = \log N/(dm)`.

    Parameters
    ----------
    log_size, d, m
        log N or an upper bound on it, the number of contexts, and of elements chosen at most.

    Examples
    --------
    >>> round(chernoff_complexity(math.log(1000), d=50), 1)
    38.4
    """
    if log_size == 0.0:
        return 0.0
    ratio = log_size / (d * m)
    x = ratio  # from the right, where Newton's steps on a convex function never overshoot
    for _ in range(8):
        x -= (2.0 * x - math.log1p(x) - ratio) / (2.0 - 1.0 / (1.0 + x))
    return (log_size + d * m * math.log1p(x)) * math.sqrt((1.0 + x) / x)


def closed_complexity(log_size: float, d: int, m: int = 1) -> float:
    r"""Bound :math:`G \le 2\sqrt{dm \log N} + \log N`.

    Parameters
    ----------
    log_size, d, m
        log N or an upper bound on it, the number of contexts, and of elements chosen at most.

    Examples
    --------
    >>> round(closed_complexity(math.log(1000), d=50), 1)
    44.1
    """
    return 2.0 * math.sqrt(d * m * log_size) + log_size


def printed_complexity(log_size: float, d: int, m: int = 1) -> float:
    r"""Return the paper's error constant :math:`10\sqrt{dm}\log N`, valid for N ≥ 2.

    Parameters
    ----------
    log_size, d, m
        log N or an upper bound on it, the number of contexts, and of elements chosen at most.

    Examples
    --------
    >>> round(printed_complexity(math.log(1000), d=50), 1)
    488.5
    """
    return 10.0 * math.sqrt(d * m) * log_size


def tabular_complexity(d: int, n_actions: int, m: int = 1, antichain: bool = True) -> float:
    r"""Return G of all maps from contexts to actions, an upper limit for every class.

    :math:`d \cdot E\max_j \zeta_j = d\,(\sum_{i \le K} (1-2^{-i})/i - 2^{-K}/K)` for single
    actions; for sets of elements the value for *all* sets, :math:`dK/2`.

    Parameters
    ----------
    d, n_actions, m
        The number of contexts, of elements K, and of elements chosen at most.
    antichain
        Whether no action contains another one.

    Examples
    --------
    >>> tabular_complexity(6, 2), tabular_complexity(1, 10, m=3)
    (4.5, 5.0)
    """
    if m > 1 or not antichain:
        return 0.5 * d * n_actions
    i = np.arange(1.0, n_actions + 1.0)
    return d * float(((1.0 - 0.5**i) / i).sum() - 0.5**n_actions / n_actions)


def complexity_bound(
    log_size: float, d: int, m: int = 1, n_actions: int | None = None, antichain: bool = True
) -> float:
    """Return the smallest of the upper bounds on G that follow from sizes alone.

    Parameters
    ----------
    log_size, d, m
        log N or an upper bound on it, the number of contexts, and of elements chosen at most.
    n_actions, antichain
        K if it is known, and whether no action contains another one.

    Examples
    --------
    >>> round(complexity_bound(6 * math.log(2), d=6), 2)
    11.39
    >>> complexity_bound(6 * math.log(2), d=6, n_actions=2)
    4.5
    """
    bounds = [chernoff_complexity(log_size, d, m), closed_complexity(log_size, d, m)]
    if n_actions is not None and n_actions > 1:  # with one action there would be one policy
        bounds.append(tabular_complexity(d, n_actions, m, antichain))
    return min(bounds)
