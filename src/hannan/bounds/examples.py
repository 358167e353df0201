"""The paper's examples: their sizes put into the theorems, and the rates it states for them."""

import inspect
import math
from collections.abc import Callable

from hannan.bounds.bound import Bound
from hannan.bounds.sizes import FEEDBACKS, Sizes
from hannan.bounds.theorems import complete_information, semi_bandit
from hannan.core.errors import ParameterError
from hannan.core.validation import check_choice, check_integer, check_positive, refuse


def shortest_path(
    horizon: int,
    *,
    n_edges: int,
    longest_path: int,
    log_size: float | None = None,
    loss_bound: float = 1.0,
    feedback: str = "full",
    form: str = "printed",
) -> Bound:
    r"""Bound regret to paths in a directed acyclic graph, without contexts (d = 1). [takimoto2003]

    Edge losses lie in [0, B]. The paper sets both K and m to the number of edges. In fact m is the
    length of the longest path, at most :math:`|V| - 1`, and the sharp form uses this length.

    Parameters
    ----------
    horizon, n_edges, longest_path, loss_bound
        T, K, the most edges on a path from source to target, and B.
    log_size
        log of the number of paths; by default its bound :math:`m \log(eK/m)`.
    feedback, form
        "full" (Theorem 2) or "semi-bandit" (Theorem 3); "printed" or "sharp".

    Examples
    --------
    >>> for form in ("printed", "sharp"):
    ...     bound = shortest_path(1000, n_edges=76, longest_path=10, log_size=8.0, form=form)
    ...     print(form, round(bound.value))
    printed 126938
    sharp 2879
    """
    K = check_integer("shortest_path", "n_edges", n_edges, 1)
    m = check_integer("shortest_path", "longest_path", longest_path, 1)
    if m > K:
        raise refuse("shortest_path", "longest_path", f"at most n_edges={K}", longest_path)
    if log_size is None:
        log_size = m * math.log(math.e * K / m)
    m = K if form == "printed" else m
    sizes: Sizes = {"d": 1, "n_actions": K, "log_size": log_size, "m": m}
    return _solved("shortest_path", horizon, feedback, form, loss_bound, sizes)


def submodular(
    horizon: int, *, n_elements: int, loss_bound: float = 1.0, form: str = "printed"
) -> Bound:
    r"""Bound regret of submodular minimisation: all :math:`2^K` sets, losses in [-H, H].

    The first claim of Theorem 2 gives :math:`K^{5/4} H \sqrt T` as printed, not the stated
    :math:`KH\sqrt{T \log K}`. Half of the noise is worth taking, so G = K/2 exactly, and the sharp
    form is :math:`2\sqrt2\, KH\sqrt T`, as the paper says of a refined analysis.

    Parameters
    ----------
    horizon, n_elements, loss_bound
        T, K and H.
    form
        "printed" or "sharp".

    Examples
    --------
    >>> [round(submodular(1000, n_elements=16, form=f).value) for f in ("printed", "sharp")]
    [10657, 1431]
    """
    K = check_integer("submodular", "n_elements", n_elements, 1)
    H = check_positive("submodular", "loss_bound", loss_bound)
    sizes: Sizes = {"d": 1, "n_actions": K, "m": K, "antichain": False, "complexity": 0.5 * K}
    sizes["log_size"] = K * math.log(2.0)
    each = H / K  # the loss of a set, not of an element, is bounded by H
    return complete_information(horizon, form=form, loss_bound=each, nonnegative=False, **sizes)


def disjunctions(
    horizon: int,
    *,
    n_variables: int,
    monotone: bool = True,
    loss_bound: float = 1.0,
    feedback: str = "full",
    form: str = "printed",
) -> Bound:
    r"""Bound regret to disjunctions (or conjunctions) of n variables, separated by n unit vectors.

    d = n, K = 2, N = :math:`2^n`. The third claim of Theorem 2 gives
    :math:`(\log N)^{5/4}\sqrt T` as printed, not the stated :math:`\sqrt T \log N`, which is the
    rate of the sharp form: all maps occur on the separator, so G = 3n/4 exactly.

    Parameters
    ----------
    horizon, n_variables
        T and n.
    monotone
        Whether formulas have no negations. With negations the unit vectors no longer separate.
    loss_bound
        Losses lie between 0 and this.
    feedback, form
        "full" (Theorem 2), "bandit" or "semi-bandit" (Theorem 3); "printed" or "sharp".

    Examples
    --------
    >>> for form in ("printed", "sharp"):
    ...     bound = disjunctions(4000, n_variables=6, feedback="bandit", form=form)
    ...     print(form, round(bound.value))
    printed 70945
    sharp 1347
    """
    n = check_integer("disjunctions", "n_variables", n_variables, 1)
    if not monotone:
        raise ParameterError(
            "disjunctions needs monotone=True: with negations the unit vectors do not separate the "
            "class (not x1 or not x2, and not x1 or not x3, agree on all of them)."
        )
    size = n * math.log(2.0)
    sizes: Sizes = {"d": n, "n_actions": 2, "log_size": size, "setting": "separator"}
    return _solved("disjunctions", horizon, feedback, form, loss_bound, sizes)


def linear_classifiers(
    horizon: int,
    *,
    n_axes: int,
    tau: float,
    loss_bound: float = 1.0,
    feedback: str = "full",
    form: str = "printed",
) -> Bound:
    r"""Bound regret to half-spaces with intercepts that are multiples of τ; n/τ points separate.

    d = n/τ, K = 2, :math:`N = (1 + 1/\tau)^n` counting "no intercept". The third claim of Theorem 2
    gives :math:`n^{5/4}\tau^{-3/4}\sqrt{T \log(1/\tau)}` as printed; the stated
    :math:`n\tau^{-3/4}\sqrt T \log^{1/4}(1/\tau)` is the rate of the sharp form. It needs a
    point beyond the largest intercept on each axis, which the printed separator lacks: see
    `separators.intercept_classifiers`.

    Parameters
    ----------
    horizon, n_axes, tau
        T, n, and τ, one over an integer.
    loss_bound, feedback, form
        As in `disjunctions`.

    Examples
    --------
    >>> for form in ("printed", "sharp"):
    ...     print(form, round(linear_classifiers(4000, n_axes=3, tau=0.1, form=form).value))
    printed 38897
    sharp 3286
    """
    owner = "linear_classifiers"
    n = check_integer(owner, "n_axes", n_axes, 1)
    steps = round(1.0 / check_positive(owner, "tau", tau))
    if steps < 1 or abs(steps * tau - 1.0) > 1e-9:
        raise refuse(owner, "tau", "1/m for a positive integer m", tau)
    size = n * math.log(steps + 1.0)
    sizes: Sizes = {"d": n * steps, "n_actions": 2, "log_size": size, "setting": "separator"}
    return _solved(owner, horizon, feedback, form, loss_bound, sizes)


_CLAIMED: dict[str, Callable[..., float]] = {
    "experts": lambda T, d, N: d**0.25 * math.sqrt(T * math.log(N)),
    "experts, separator": lambda T, d, K, N: d**0.75 * math.sqrt(K * T * math.log(N)),
    "bandit": lambda T, d, K, N: d**0.25 * math.sqrt(K * T * math.log(N)),
    "bandit, separator": lambda T, d, K, N: d**0.75 * K * T ** (2 / 3) * math.sqrt(math.log(N)),
    "submodular": lambda T, K, H: K * H * math.sqrt(T * math.log(K)),
    "disjunctions": lambda T, n: math.sqrt(T) * n * math.log(2.0),
    "linear classifiers": lambda T, n, tau: n * math.sqrt(T) * (-math.log(tau) / tau**3) ** 0.25,
    "natarajan": lambda T, d, K, nu: (T**2 * d * nu * math.log(K) * math.log(d * K / nu)) ** 0.25,
    "switching": lambda T, k, N, m: math.sqrt(k * math.log(T * N)) * m**1.25 * T**0.75,
}


def claimed_rate(result: str, horizon: int, **sizes: float) -> float:
    """Return a rate of the paper with constant one, to compare growth; it is not a bound.

    Parameters
    ----------
    result, horizon
        "experts", "bandit" (both also with ", separator"), "submodular", "disjunctions", "linear
        classifiers", "natarajan" or "switching"; and T.
    sizes
        Numbers in the rate, by their letters in the paper: d, K, N, m, k, n, H, tau, nu.

    Examples
    --------
    >>> round(claimed_rate("disjunctions", 4000, n=6))
    263
    """
    check_choice("claimed_rate", "result", result, _CLAIMED)
    T = check_integer("claimed_rate", "horizon", horizon, 1)
    rate = _CLAIMED[result]
    _, *wanted = inspect.signature(rate).parameters
    if set(wanted) != set(sizes):
        raise ParameterError(
            f"The rate of {result!r} is a function of horizon, {', '.join(wanted)}; got "
            f"{', '.join(sizes) or 'none of them'}."
        )
    return rate(T, **{name: check_positive("claimed_rate", name, sizes[name]) for name in wanted})


def _solved(
    owner: str, horizon: int, feedback: str, form: str, loss_bound: float, sizes: Sizes
) -> Bound:
    """Apply Theorem 2 or Theorem 3, by the feedback."""
    check_choice(owner, "feedback", feedback, FEEDBACKS)
    theorem = complete_information if feedback == "full" else semi_bandit
    return theorem(horizon, form=form, loss_bound=loss_bound, **sizes)
