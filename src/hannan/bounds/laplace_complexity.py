r"""The Laplace complexity :math:`G = E \max_\pi \sum_{x \in X} \langle \pi(x), \zeta_x \rangle`.

G is what the noise itself costs: every regret bound here has the form stability + G/ε.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Oracle, ParameterError
from hannan.core.validation import check_integer
from hannan.perturbation import seed_key

_STREAM = 1  # not the stream that learners play from


@dataclass(frozen=True, slots=True)
class Complexity:
    """A value of G with the standard error of its estimate (zero where it is exact)."""

    value: float
    standard_error: float
    method: str
    oracle_calls: int = 0

    @property
    def upper(self) -> float:
        """Three standard errors above the value."""
        return self.value + 3.0 * self.standard_error


def laplace_complexity(
    oracle: Oracle,
    contexts: Sequence[Any] | None = None,
    *,
    pairs: int | None = None,
    seed: int | None = 0,
    memory: int = 2**26,
) -> Complexity:
    r"""G of a policy class on a context set: in closed form, or estimated through the oracle.

    The estimate averages :math:`-\frac12(\min_\pi \zeta(\pi) + \min_\pi -\zeta(\pi))` over
    independent draws ζ. That has mean G, is positive for every class of two or more policies,
    and costs two oracle calls a draw; its standard error is at most
    :math:`\sqrt{2dm/\mathrm{pairs}}`.

    Parameters
    ----------
    oracle
        The policy class.
    contexts
        X; by default the oracle's own contexts.
    pairs
        Number of draws, each used with both signs; by default what the oracle asks for.
    seed
        Of the draws.
    memory
        Bytes of noise held at a time.

    Examples
    --------
    >>> import hannan as hn
    >>> hn.bounds.laplace_complexity(hn.oracles.AllPolicies(10, 2)).value
    7.5
    """
    pairs = oracle.complexity_pairs if pairs is None else pairs
    check_integer("laplace_complexity", "pairs", pairs, 2)
    known = oracle.contexts if contexts is None else contexts
    if known is None:
        raise ParameterError(f"laplace_complexity needs contexts= for {type(oracle).__name__}.")
    known = oracle.check_contexts(known)
    exact = oracle.complexity(known)
    if exact is not None:
        return Complexity(exact, 0.0, "closed form")
    empty = oracle.objective()
    noise = oracle.noise(known, seed_key(seed), _STREAM, memory)
    low = empty.minima(noise, 0, pairs, 1.0)
    high = empty.minima(noise, 0, pairs, -1.0)
    draws = -0.5 * (low + high)
    error = float(draws.std(ddof=1) / math.sqrt(pairs))
    method = f"Monte Carlo, {pairs} pairs of oracle calls"
    return Complexity(float(draws.mean()), error, method, 2 * pairs)


def chernoff_complexity(log_size: float, d: int, m: int = 1) -> float:
    r""":math:`G \le \inf_{0<u<1} (\log N - dm \log(1-u^2))/u`.

    >>> round(chernoff_complexity(math.log(1000), d=50), 1)
    38.4
    """
    if log_size == 0.0:
        return 0.0
    u = np.linspace(0.0, 1.0, 4097)[1:-1]
    return float(((log_size - d * m * np.log1p(-u * u)) / u).min())


def closed_complexity(log_size: float, d: int, m: int = 1) -> float:
    r""":math:`G \le 2\sqrt{dm \log N} + \log N`."""
    return 2.0 * math.sqrt(d * m * log_size) + log_size


def printed_complexity(log_size: float, d: int, m: int = 1) -> float:
    r"""The paper's error constant :math:`10\sqrt{dm}\log N`, valid for N ≥ 2."""
    return 10.0 * math.sqrt(d * m) * log_size
