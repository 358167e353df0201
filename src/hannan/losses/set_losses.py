"""Submodular losses of whole sets of elements, and sums of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hannan.core import Action, InputTypeError, LossError, LossFunction, ParameterError
from hannan.core.arrays import Contexts, as_array, as_floats, as_list
from hannan.core.validation import FloatArray, check_positive, refuse
from hannan.losses._terms import NAMED, Bend, Mask, Terms

_GRID = 33  # points at which a user-defined g is checked


class SetLoss(LossFunction):
    """A submodular loss of sets: f(A) + f(B) ≥ f(A ∪ B) + f(A ∩ B) for all A and B.

    Losses add (`f + g`) and may be multiplied by a number ≥ 0 (`0.5 * f`).
    """

    terms: Terms
    """Terms of the function, in the form that sums use."""

    def __call__(self, action: Action) -> float:
        return self.terms.value(as_mask(action, self.n_actions))

    def __add__(self, other: LossFunction) -> Sum:
        return Sum([self, other]) if isinstance(other, LossFunction) else NotImplemented

    def __mul__(self, factor: float) -> Sum:
        return Sum([self], [factor])

    __rmul__ = __mul__


class Sum(SetLoss):
    r"""The function :math:`f(A) = \sum_i s_i f_i(A)`, also written `f + g` and `0.5 * f`.

    Like terms are combined, so a sum of a thousand cut functions is one cut function.

    Parameters
    ----------
    parts
        Loss functions of the same number of elements.
    scales
        Factors s ≥ 0, one per part. Default None: 1.

    Examples
    --------
    >>> import hannan as hn
    >>> rent = hn.losses.Coverage([[0], [0, 1], [1]])
    >>> f = 0.25 * rent + hn.losses.Linear([-0.25, -0.125, 0.0])
    >>> f([0, 1]), f([0]), f.extremes()
    (0.125, 0.0, (-0.375, 0.5))
    """

    def __init__(self, parts: Sequence[LossFunction], scales: Any = None) -> None:
        self.parts = list(parts)
        wrong = [part for part in self.parts if not isinstance(part, LossFunction)]
        if wrong or not self.parts:
            raise InputTypeError(
                f"Sum needs one or more loss functions; got {wrong[0] if wrong else parts!r}."
            )
        self.n_actions = self.parts[0].n_actions
        for part in self.parts:
            if part.n_actions != self.n_actions:
                raise LossError(
                    f"Functions of {self.n_actions} and of {part.n_actions} elements cannot be "
                    "added. Pass functions of the same number of elements."
                )
        self.scales = None if scales is None else check_numbers(self, "scales", scales)
        if self.scales is not None:
            if len(self.scales) != len(self.parts):
                raise refuse(self, "scales", f"{len(self.parts)} numbers, one per part", scales)
            if self.scales.min() < 0.0:
                raise refuse(self, "scales", "numbers >= 0: -f is not submodular", scales)
        self.terms = Terms(self.n_actions)
        for part, scale in self._pairs():
            self.terms.add(Terms.of(part), scale)

    def extremes(self) -> tuple[float, float]:
        bounds = [(part.extremes(), scale) for part, scale in self._pairs()]
        low = sum(scale * bound[0] for bound, scale in bounds)
        return low, sum(scale * bound[1] for bound, scale in bounds)

    def _pairs(self) -> list[tuple[LossFunction, float]]:
        scales = [1.0] * len(self.parts) if self.scales is None else self.scales.tolist()
        return list(zip(self.parts, scales, strict=True))


class Linear(SetLoss):
    r"""The modular function :math:`f(A) = c + \sum_{j \in A} w_j`.

    A loss vector is equivalent and faster; this class is for sums.

    Parameters
    ----------
    weights
        Weights w of the elements, of any sign; K = len(weights).
    offset
        Constant c, the loss of the empty set. Default 0.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.Linear([0.5, -0.2, 0.1])
    >>> f([0, 2]), f([]), f.extremes()
    (0.6, 0.0, (-0.2, 0.6))
    """

    def __init__(self, weights: Any, offset: float = 0.0) -> None:
        self.weights = check_numbers(self, "weights", weights)
        if self.weights.size == 0:
            raise refuse(self, "weights", "at least one number", weights)
        self.offset = float(check_numbers(self, "offset", [offset])[0])
        self.n_actions = len(self.weights)
        self.terms = Terms(self.n_actions)
        self.terms.modular += self.weights
        self.terms.offset = self.offset

    def extremes(self) -> tuple[float, float]:
        """Return the sums of the negative and of the positive weights; both are attained."""
        return self.terms.modular_extremes()


class ConcaveOfCardinality(SetLoss):
    r"""The function :math:`f(A) = h(|A|)` of the number of chosen elements, with concave h.

    Parameters
    ----------
    values
        Values h(0), …, h(K) of a concave function.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.ConcaveOfCardinality([0.0, 0.5, 0.75, 0.8])
    >>> f([]), f([2]), f([0, 1]), f.extremes()
    (0.0, 0.5, 0.75, (0.0, 0.8))
    """

    def __init__(self, values: Any) -> None:
        self.values = check_numbers(self, "values", values)
        if self.values.size < 2:
            raise refuse(self, "values", "h(0), .., h(K) for one or more elements", values)
        bend = np.diff(self.values, 2)
        if bend.size and bend.max() > 1e-9 * (1.0 + np.abs(self.values).max()):
            k = 1 + int(bend.argmax())
            raise LossError(
                f"values must be concave, or the loss is not submodular: from {k} to {k + 1} "
                f"elements they rise by {self.values[k + 1] - self.values[k]:g}, but from {k - 1} "
                f"to {k} only by {self.values[k] - self.values[k - 1]:g}."
            )
        self.n_actions = len(self.values) - 1
        self.terms = Terms(self.n_actions)
        self.terms.levels = self.values.copy()

    def extremes(self) -> tuple[float, float]:
        """Return the smallest and the largest value; both are attained."""
        return float(self.values.min()), float(self.values.max())


class ConcaveOfModular(SetLoss):
    r"""The function :math:`f(A) = g\bigl(\sum_{j \in A} w_j\bigr)`, w ≥ 0 and g concave.

    Parameters
    ----------
    weights
        Weights w ≥ 0 of the elements; K = len(weights).
    g
        Name of a function: "sqrt" (the default), "log1p", or "cap" for min(·, cap). Or a function
        of one number, concave between 0 and the sum of all weights (checked at 33 points).
    cap
        Positive cap for g="cap". Otherwise None, the default.

    Notes
    -----
    With g="cap", sums are cut functions on a larger graph, which are minimised quickly. Other
    functions need the general algorithm, in time proportional to the number of distinct functions.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.ConcaveOfModular([0.04, 0.12, 0.09], "sqrt")
    >>> round(f([0, 1]), 6), f.extremes()
    (0.4, (0.0, 0.5))
    >>> hn.losses.ConcaveOfModular([1, 1, 1], lambda x: x * (3 - x))([0, 2])
    2.0
    """

    def __init__(
        self,
        weights: Any,
        g: str | Callable[[float], float] = "sqrt",
        cap: float | None = None,
    ) -> None:
        self.weights = check_numbers(self, "weights", weights, nonnegative=True)
        if self.weights.size == 0:
            raise refuse(self, "weights", "at least one number", weights)
        if not (callable(g) or g in ("cap", *NAMED)):
            raise refuse(self, "g", "'sqrt', 'log1p', 'cap' or a function", g)
        if (g == "cap") != (cap is not None):
            raise refuse(self, "cap", "a positive number with g='cap', and None otherwise", cap)
        self.g = g
        self.cap = None if cap is None else check_positive(self, "cap", cap)
        self.n_actions = len(self.weights)
        self._whole = float(self.weights.sum())
        self._samples = self._look() if callable(g) else None
        self.terms = Terms(self.n_actions)
        bend = Bend(self.weights, g, self.cap or 0.0)
        if g == "cap" and bend.cap >= self._whole:
            self.terms.modular += self.weights
        else:
            self.terms.add_bend(bend.key, bend, 1.0)

    def extremes(self) -> tuple[float, float]:
        """Return bounds: a concave g is smallest at an end; its largest value is bounded above."""
        if self._samples is None:
            return 0.0, self(np.arange(self.n_actions))
        values = self._samples
        return float(min(values[0], values[-1])), _largest(values)

    def _look(self) -> FloatArray:
        assert callable(self.g)
        values = np.array([float(self.g(float(x))) for x in np.linspace(0, self._whole, _GRID)])
        if not np.isfinite(values).all():
            raise LossError(
                f"g must be finite from 0 to {self._whole:g}, the sum of the weights; got "
                f"{values[~np.isfinite(values)][0]}."
            )
        sag = np.diff(values, 2)
        if sag.max() > 1e-9 * (1.0 + np.abs(values).max()):
            x = self._whole * (1 + int(sag.argmax())) / (_GRID - 1)
            raise LossError(
                f"g must be concave, or the loss is not submodular; g is convex near {x:g}."
            )
        return values


class Coverage(SetLoss):
    r"""The weight of all covered items, :math:`f(A) = \sum_{i \in \bigcup_{j \in A} S_j} w_i`.

    Each item counts once. Less the gains of the elements, `Coverage(...) + Linear(-gains)`, this is
    a cost shared by elements that need the same items.

    Parameters
    ----------
    covers
        Items :math:`S_j` that each element j covers, integers ≥ 0; K = len(covers).
    weights
        Weights w ≥ 0, one per item. Default None: 1.

    Examples
    --------
    >>> import hannan as hn
    >>> f = hn.losses.Coverage([[0, 1], [1, 2], [2]], weights=[0.25, 0.5, 0.125])
    >>> f([0]), f([0, 1]), f([1, 2]), f.extremes()
    (0.75, 0.875, 0.625, (0.0, 0.875))
    """

    def __init__(self, covers: Contexts, weights: Any = None) -> None:
        try:
            lists = [as_array(items) for items in as_list(covers)]
        except TypeError:
            raise InputTypeError(
                f"Coverage needs one list of items per element; got {covers!r}."
            ) from None
        if not lists:
            raise refuse(self, "covers", "a list of items for each of one or more elements", covers)
        self.covers = covers
        self.weights = (
            None if weights is None else check_numbers(self, "weights", weights, nonnegative=True)
        )
        most = 2**62 if self.weights is None else len(self.weights)
        sets = [check_indices(self, "covers", items, most) for items in lists]
        n_items = 1 + max((int(items.max()) for items in sets if items.size), default=-1)
        self.n_actions = len(sets)
        table = np.zeros((n_items, self.n_actions), dtype=bool)
        for j, items in enumerate(sets):
            table[items, j] = True
        self.terms = Terms(self.n_actions)
        each = np.ones(n_items) if self.weights is None else self.weights[:n_items]
        for row, weight in zip(table, each, strict=True):
            if row.sum() == 1:
                self.terms.modular[row] += weight
            elif weight > 0.0 and row.any():
                bend = Bend(row.astype(np.float64), "cap", 1.0)
                self.terms.add_bend(bend.key, bend, float(weight))
        self._covered = float(each[table.any(axis=1)].sum())

    def extremes(self) -> tuple[float, float]:
        """Return zero and the weight of all items that can be covered; both are attained."""
        return 0.0, self._covered


def as_mask(action: Any, n: int) -> Mask:
    """Return which of n elements an action chooses."""
    chosen = np.atleast_1d(np.asarray(action))
    if chosen.size == 0:
        return np.zeros(n, dtype=bool)
    if not np.issubdtype(chosen.dtype, np.integer) or chosen.min() < 0 or chosen.max() >= n:
        raise ParameterError(f"An action is a set of integers from 0 to {n - 1}; got {action!r}.")
    inside = np.zeros(n, dtype=bool)
    inside[chosen] = True
    return inside


def check_numbers(
    owner: object, name: str, values: Any, length: int | None = None, nonnegative: bool = False
) -> FloatArray:
    """Return a one-dimensional array of finite numbers."""
    try:
        numbers = as_floats(values).copy()
    except (TypeError, ValueError):
        raise InputTypeError(
            f"The {name!r} parameter of {type(owner).__name__} must be numbers; got {values!r}."
        ) from None
    if numbers.ndim != 1 or (length is not None and numbers.shape[0] != length):
        wanted = "a one-dimensional array" if length is None else f"an array of {length} numbers"
        raise refuse(owner, name, wanted, values)
    if not np.isfinite(numbers).all():
        position = np.flatnonzero(~np.isfinite(numbers))[0]
        raise LossError(
            f"The {name!r} parameter of {type(owner).__name__} must be finite; got "
            f"{numbers[position]} at position {position}."
        )
    if nonnegative and numbers.size and numbers.min() < 0.0:
        raise refuse(owner, name, "numbers >= 0, or the function is not submodular", numbers)
    numbers.flags.writeable = False
    return numbers


def check_indices(owner: object, name: str, values: Any, n: int) -> Any:
    """Return a one-dimensional array of integers below n."""
    indices = as_array(values)
    if indices.size == 0:
        indices = indices.astype(np.int64).reshape(0)
    integers = indices.ndim == 1 and np.issubdtype(indices.dtype, np.integer)
    if not integers or (indices.size and (indices.min() < 0 or indices.max() >= n)):
        raise refuse(owner, name, f"a sequence of integers from 0 to {n - 1}", values)
    indices = indices.astype(np.int64)  # a copy
    indices.flags.writeable = False
    return indices


def _largest(values: FloatArray) -> float:
    """Return an upper bound on a concave function with known values at equal distances.

    Between two points, the function lies below the lines through the two points before and after.
    """
    step = np.diff(values)
    most = np.full(len(step), np.inf)
    # A line is highest at one of the ends of the interval.
    before, after = step[:-1], step[1:]
    most[1:] = values[1:-1] + np.maximum(before, 0.0)
    most[:-1] = np.minimum(most[:-1], values[1:-1] + np.maximum(-after, 0.0))
    return float(max(most.max(), values.max()))
