"""Algorithms 1, 2 and 3 as printed in the paper, with the paper's letters.

Π is an array of listed policies: policy n plays `Π[n, x]` on context x, an action, or a row of m
elements. An outcome is a pair (x, ℓ) of a context and a loss vector. Each algorithm is a generator:
it takes the outcomes y of the adversary one by one and yields the action of each round.

The learners implement the same algorithms for every policy class, and faster. Because the n-th
noise draw is a function of the seed and n, `tests/test_paper.py` can compare the learners with
these functions action by action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.perturbation import LaplaceNoise, seed_key

__all__ = ["M", "context_ftpl", "context_semi_bandit_ftpl", "ftpl", "laplace"]

Outcome = tuple[int, Any]
Policies = NDArray[np.intp]


def M(Π: Policies, y: Iterable[Outcome]) -> NDArray[np.intp]:
    """Return the best policy for the outcomes y; ties go to the smallest n.

    Parameters
    ----------
    Π
        Listed policies, integers [N, d] or [N, d, m].
    y
        Outcomes (x, ℓ).

    Examples
    --------
    >>> M(np.array([[0, 0], [0, 1], [1, 1]]), [(0, np.array([0.2, 0.7])), (1, np.array([1.0, 0]))])
    array([0, 1])
    """
    L = np.zeros(len(Π))  # L(π, y), the total loss of each policy
    for x, ℓ in y:
        L += np.asarray(ℓ)[Π[:, x]].reshape(len(Π), -1).sum(axis=1)
    best: NDArray[np.intp] = Π[L.argmin()]
    return best


def laplace(X: Sequence[int], K: int, ε: float, seed: int) -> Iterator[list[Outcome]]:
    """Draw sequences {z} of fake outcomes: for each x of X, a loss vector of Laplace(ε) noise.

    Parameters
    ----------
    X
        The perturbed contexts.
    K
        Number of elements.
    ε
        Parameter of the noise, which has size 1/ε.
    seed
        Random seed.

    Examples
    --------
    >>> z = next(laplace([0, 1], 3, 0.5, seed=0))
    >>> [(x, ℓ.round(1)) for x, ℓ in z]
    [(0, array([ 4.2, -1.2,  1.2])), (1, array([ 0.3, -0.2, -1. ]))]
    """
    ζ = LaplaceNoise(X, K, seed_key(seed))  # with parameter 1
    return (list(zip(X, ζ.unit(n) / ε, strict=True)) for n in count())


def ftpl(
    Π: Policies,
    D: Callable[[np.random.Generator], Iterable[Outcome]],
    y: Iterable[Outcome],
    seed: int,
) -> Iterator[Any]:
    """Run Algorithm 1, `hannan.FTPL`: follow the leader of fake and real outcomes.

    Parameters
    ----------
    Π
        Listed policies, integers [N, d] or [N, d, m].
    D
        `D(rng)` draws a sequence of fake outcomes.
    y
        Outcomes (x, ℓ).
    seed
        Random seed.

    Examples
    --------
    >>> def D(rng):
    ...     return [(0, rng.laplace(size=2))]
    >>> y = [(0, np.array([1.0, 0.0]))] * 6
    >>> [int(a) for a in ftpl(np.array([[0], [1]]), D, y, seed=0)]
    [0, 1, 1, 1, 1, 1]
    """
    past: list[Outcome] = []
    for t, (x, ℓ) in enumerate(y):
        rng = np.random.Philox(key=int(seed_key(seed)), counter=[0, 0, 0, t])
        z = D(np.random.Generator(rng))
        π = M(Π, [*z, *past])
        yield π[x]
        past.append((x, ℓ))


def context_ftpl(
    Π: Policies, X: Sequence[int], ε: float, y: Iterable[Outcome], seed: int
) -> Iterator[Any]:
    """Run Algorithm 2, `hannan.ContextFTPL`: fake outcomes are Laplace(ε) noise on contexts X.

    Parameters
    ----------
    Π, y, seed
        As in `ftpl`.
    X, ε
        As in `laplace`.

    Examples
    --------
    >>> y = [(0, np.array([1.0, 0.0])), (1, np.array([0.0, 1.0]))] * 3
    >>> [int(a) for a in context_ftpl(np.array([[0, 0], [1, 0], [1, 1]]), [0, 1], 1.0, y, seed=0)]
    [1, 0, 0, 0, 1, 0]
    """
    D, past = laplace(X, Π.max() + 1, ε, seed), list[Outcome]()
    for x, ℓ in y:
        z = next(D)
        π = M(Π, z + past)
        yield π[x]
        past.append((x, ℓ))


def context_semi_bandit_ftpl(
    Π: Policies, X: Sequence[int], ε: float, L: int, y: Iterable[Outcome], seed: int
) -> Iterator[Any]:
    """Run Algorithm 3, `hannan.ContextSemiBanditFTPL`: it reads ℓ only on the chosen elements.

    Three savings do not change the distribution of each J(j). One sequence of noise draws serves
    all elements. An element with loss 0 needs no J. The L-th draw is omitted, because J = L whether
    or not the L-th draw chooses j.

    Parameters
    ----------
    Π, y, seed
        As in `ftpl`.
    X, ε
        As in `laplace`.
    L
        Maximum number of draws of the geometric sampling.

    Examples
    --------
    >>> y = [(0, np.array([1.0, 0.0]))] * 6
    >>> [int(a) for a in context_semi_bandit_ftpl(np.array([[0], [1]]), [0], 1.0, 5, y, seed=0)]
    [1, 0, 1, 1, 0, 1]
    """
    D, past = laplace(X, Π.max() + 1, ε, seed), list[Outcome]()
    for x, ℓ in y:
        z = next(D)
        π = M(Π, z + past)
        yield π[x]
        J = {j: L for j in np.atleast_1d(π[x]) if ℓ[j] != 0.0}
        left = set(J)
        for i in range(1, L):
            if not left:
                break
            π_i = M(Π, next(D) + past)
            again = left.intersection(np.atleast_1d(π_i[x]))
            J |= dict.fromkeys(again, i)
            left -= again
        ℓ_hat = np.zeros(Π.max() + 1)
        for j in J:
            ℓ_hat[j] = J[j] * ℓ[j]
        past.append((x, ℓ_hat))
