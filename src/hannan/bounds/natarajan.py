"""The Natarajan corollary: infinite classes of finite dimension [natarajan1989]."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.bounds.bound import Bound, tuned
from hannan.bounds.laplace_complexity import Complexity
from hannan.bounds.sizes import Sizes
from hannan.bounds.theorems import complete_information
from hannan.core import InputTypeError, ParameterError
from hannan.core.validation import check_choice, check_integer


def natarajan(
    horizon: int,
    *,
    dimension: int,
    d: int,
    n_actions: int,
    loss_bound: float = 1.0,
    setting: str = "transductive",
    complexity: Complexity | float | None = None,
    form: str = "printed",
) -> Bound:
    r"""Bound regret to a class of Natarajan dimension ν, with single actions and full information.

    On d contexts such a class has :math:`\log N \le \Lambda = \min(\nu \log\frac{de(K+1)^2}{2\nu},
    d \log K)`. In place of the error of Theorem 2 the corollary is *printed* with
    :math:`\frac{10}\epsilon\sqrt{d\nu \log K \log\frac{de(K+1)^2}{2\nu}}`. That does not follow
    from the theorem, which gives :math:`\frac{10}\epsilon\sqrt d\,\Lambda` (*corrected*). It does
    follow from the *sharp* error :math:`\frac1\epsilon(2\sqrt{d\Lambda} + \Lambda)`, which is
    smaller.

    Parameters
    ----------
    horizon, dimension
        T and ν; see `natarajan_dimension`.
    d, n_actions
        Number of perturbed contexts and of actions K.
    loss_bound, complexity
        As in `complete_information`; losses are never negative.
    setting
        "transductive", or "separator" for the corrected and sharp forms. No other setting has
        such a bound: see `non_transductive`.
    form
        "printed", "corrected" or "sharp".

    Examples
    --------
    >>> for form in ("printed", "corrected", "sharp"):
    ...     bound = natarajan(10_000, dimension=2, d=1000, n_actions=3, form=form)
    ...     print(form, round(bound.value))
    printed 7560
    corrected 15334
    sharp 3153
    """
    owner = "natarajan"
    check_choice(owner, "form", form, ("printed", "corrected", "sharp"))
    check_integer(owner, "horizon", horizon, 1)
    check_integer(owner, "dimension", dimension, 1)
    K = check_integer(owner, "n_actions", n_actions, 2)
    d = check_integer(owner, "d", d, 1)
    nu = min(dimension, d)
    printed_log = math.log(d * math.e * (K + 1) ** 2 / (2 * nu))
    size = min(nu * printed_log, d * math.log(K))
    if form == "sharp":
        size = natarajan_log_size(nu, d, K)
    sizes: Sizes = {"d": d, "n_actions": K, "log_size": size, "complexity": complexity}
    sizes["setting"] = setting
    which = "sharp" if form == "sharp" else "printed"
    bound = complete_information(horizon, form=which, loss_bound=loss_bound, **sizes)
    if form != "printed":
        return bound
    if setting != "transductive":
        raise ParameterError(
            "natarajan: the printed corollary covers only the transductive setting; use "
            "form='corrected' or 'sharp' with a separator."
        )
    slope = bound.terms["stability"] / bound.epsilon
    error = 10.0 * math.sqrt(d * nu * math.log(K) * printed_log)
    return tuned(owner, None, slope, error)


def natarajan_dimension(table: ArrayLike) -> int:
    r"""Find the largest number of contexts that a finite class shatters, by trying all.

    Contexts S are shattered if there are two actions :math:`f(x) \ne g(x)` for each of them such
    that for every :math:`B \subseteq S` some policy plays f on B and g on the rest. With two
    actions this is the Vapnik–Chervonenkis dimension. For small tables: the time grows like
    :math:`\binom{d}{\nu} \binom{K}{2}^\nu N`, for sets all of whose subsets are shattered.

    Parameters
    ----------
    table
        Integers [N, d]: policy n plays `table[n, i]` on context i.

    Examples
    --------
    >>> natarajan_dimension([[0, 0], [0, 1], [1, 0], [1, 1]])
    2
    >>> natarajan_dimension([[0, 0], [1, 1], [2, 2]])
    1
    """
    rows = np.asarray(table)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ParameterError(
            "natarajan_dimension needs a table [N, d] with at least one policy and one context; "
            f"got an array of shape {rows.shape}."
        )
    if not np.issubdtype(rows.dtype, np.integer):
        raise InputTypeError(
            f"natarajan_dimension needs a table of integers; got one of type {rows.dtype}."
        )
    rows = np.unique(rows, axis=0)
    shattered: set[tuple[int, ...]] = {()}
    dimension = 0
    while 2 ** (dimension + 1) <= rows.shape[0]:
        larger = {
            columns for columns in _extensions(shattered, rows.shape[1]) if _shatters(rows, columns)
        }
        if not larger:
            break
        shattered = larger
        dimension += 1
    return dimension


def natarajan_log_size(dimension: int, d: int, n_actions: int) -> float:
    r"""Bound the log of the number of policies of Natarajan dimension ν on d contexts.

    .. math:: N \le \min\Bigl(K^d, \sum_{i \le \nu} \binom{d}{i} \binom{K}{2}^i\Bigr)

    which for two actions is Sauer's lemma, and is at most :math:`(d e K^2 / 2\nu)^\nu`.
    [haussler1995]

    Parameters
    ----------
    dimension, d, n_actions
        ν, the number of contexts, and K.

    Examples
    --------
    >>> round(math.exp(natarajan_log_size(1, d=10, n_actions=2)))
    11
    """
    check_integer("natarajan_log_size", "dimension", dimension, 0)
    check_integer("natarajan_log_size", "d", d, 1)
    check_integer("natarajan_log_size", "n_actions", n_actions, 1)
    pairs = math.comb(n_actions, 2)
    total = sum(math.comb(d, i) * pairs**i for i in range(min(dimension, d) + 1))
    return min(math.log(total), d * math.log(n_actions))


def _extensions(shattered: set[tuple[int, ...]], d: int) -> Iterator[tuple[int, ...]]:
    """Yield sets with one more context whose subsets are all shattered."""
    for columns in sorted(shattered):
        for x in range(columns[-1] + 1 if columns else 0, d):
            longer = (*columns, x)
            subsets = itertools.combinations(longer, len(columns))
            if all(subset in shattered for subset in subsets):
                yield longer


def _shatters(rows: NDArray[np.integer], columns: tuple[int, ...]) -> bool:
    """Return whether some pair of actions for each column occurs in all combinations."""

    def search(left: NDArray[np.integer], depth: int) -> bool:
        if depth == len(columns):
            return bool(np.unique(left, axis=0).shape[0] == 2**depth)
        actions = np.unique(left[:, depth])
        for f, g in itertools.combinations(actions, 2):
            kept = left[(left[:, depth] == f) | (left[:, depth] == g)]
            if kept.shape[0] >= 2 ** len(columns) and search(kept, depth + 1):
                return True
        return False

    return search(np.unique(rows[:, columns], axis=0), 0)
