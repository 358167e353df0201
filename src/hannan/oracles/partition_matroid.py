"""A limited number of items from each group."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, InputTypeError, ParameterError
from hannan.core.arrays import as_list, missing
from hannan.core.validation import FloatArray, refuse
from hannan.kernels.matroids import partition, partition_resample, partition_rows
from hannan.oracles._combinatorial import Elements, Resampling, SetOracle, check_flag, check_labels
from hannan.oracles.subsets import log_subsets, mean_of_largest


class PartitionMatroid(SetOracle):
    r"""A limited number of items from each group: slates with quotas, one option for each slot.

    The elements are divided into groups, and of group g at most :math:`c_g` may be chosen. The
    leader takes from each group the :math:`c_g` elements with the smallest totals
    :math:`\sum_s \ell_s(j)`; with `bases=False` those of them that are negative. Ties go to the
    smallest element.

    Parameters
    ----------
    groups
        Group of each of the K elements: integers 0, 1, … or any hashable names.
    capacities
        Largest number of chosen elements per group: one number for all groups, a mapping from
        groups to numbers, or, if groups are integers, a sequence. From a group smaller than its
        capacity all elements can be chosen.
    bases
        Whether every group is filled up to its capacity. If False, fewer elements may be chosen,
        perhaps none. Default: True.
    labels
        Name of each element, for `items` and the display of policies. Default: None.

    Examples
    --------
    >>> import hannan as hn
    >>> menu = hn.oracles.PartitionMatroid(["drink", "drink", "dish", "dish", "dish"],
    ...                                    {"drink": 1, "dish": 2})
    >>> total = menu.objective()
    >>> total.add(None, np.array([0.2, 0.1, 0.5, 0.9, 0.3]))
    >>> total.leader()(None)
    array([1, 2, 4])
    """

    _fuller = "bases=True"

    def __init__(
        self,
        groups: Sequence[Hashable] | NDArray[Any],
        capacities: int | Sequence[int] | Mapping[Any, int],
        bases: bool = True,
        *,
        labels: Any = None,
    ) -> None:
        self.groups = copy.copy(groups)  # a copy: the caller may change the original
        self.capacities = capacities
        self.bases = check_flag(self, "bases", bases)
        names, codes = _numbered(self, groups)
        sizes = np.bincount(codes)
        limits = np.minimum(_limits(self, capacities, names), sizes)
        if limits.sum() == 0:
            raise refuse(self, "capacities", "positive for at least one group", capacities)
        self.names = names
        """The groups, in order of their numbers or first appearance."""
        self.quotas = limits
        """How many of each of them may be chosen."""
        self.labels = labels
        self._names = check_labels(self, labels, len(codes))
        self._order = np.argsort(codes, kind="stable")
        self._codes = codes
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self._below = np.inf if self.bases else 0.0
        self._set_size(len(codes), int(limits.sum()), antichain=self.bases)

    def items(self, action: Action) -> list[Any]:
        """Return the names of the chosen elements."""
        return self.named(action)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Sum log binomial coefficients (or logs of sums of coefficients) over groups."""
        parts = zip(np.diff(self._starts), self.quotas, strict=True)
        return sum(log_subsets(int(size), int(c), self.bases) for size, c in parts)

    def complexity(self, contexts: Sequence[Any]) -> float:
        """Sum the expected sums of the largest Laplace variates over groups, exactly."""
        parts = zip(np.diff(self._starts), self.quotas, strict=True)
        return sum(mean_of_largest(int(size), int(c), self.bases) for size, c in parts)

    def _resampling(self, costs: FloatArray) -> Resampling:
        groups = self._order, self._starts, self._codes, self.quotas, self._below
        return partition_resample, groups

    def _solve(self, costs: FloatArray) -> Elements:
        return partition(costs, self._order, self._starts, self.quotas, self._below)  # type: ignore[no-any-return]

    def _solve_many(self, costs: FloatArray) -> NDArray[np.bool_]:
        inclusion = np.empty(costs.shape, dtype=bool)
        partition_rows(costs, self._order, self._starts, self.quotas, self._below, inclusion)
        return inclusion


def _numbered(owner: PartitionMatroid, groups: Any) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct groups, and the number of each element's group."""
    listed = as_list(groups)
    if not listed:
        raise refuse(owner, "groups", "a non-empty sequence, one group for each element", groups)
    try:
        found = list(dict.fromkeys(listed))
    except TypeError:
        raise InputTypeError(
            "PartitionMatroid takes one group for each element, an integer or a name; got "
            f"{listed[0]!r}. Pass the group of each element, not the elements of each group."
        ) from None
    if any(map(missing, found)):
        raise refuse(owner, "groups", "the name of a group for each element, none missing", groups)
    if all(isinstance(name, Integral) for name in found):
        found.sort()
    number = {name: i for i, name in enumerate(found)}
    return found, np.array([number[name] for name in listed], np.intp)


def _limits(owner: PartitionMatroid, capacities: Any, names: list[Any]) -> NDArray[np.intp]:
    """Return the capacity of each group."""
    if isinstance(capacities, Integral):
        listed = [capacities] * len(names)
    elif isinstance(capacities, Mapping):
        unknown = [name for name in capacities if name not in names]
        missing = [name for name in names if name not in capacities]
        if unknown or missing:
            what = f"group {unknown[0]!r} is empty" if unknown else f"group {missing[0]!r} has none"
            raise ParameterError(
                f"PartitionMatroid needs a capacity for each group that has elements; {what}."
            )
        listed = [capacities[name] for name in names]
    else:
        listed = as_list(capacities)
        if names != list(range(len(listed))):
            empty = [g for g in range(len(listed)) if g not in names]
            numbered = all(isinstance(name, Integral) for name in names)
            what = f"group {empty[0]} is empty" if empty and numbered else f"the groups are {names}"
            raise ParameterError(
                "PartitionMatroid takes a sequence of capacities for the groups 0, 1, …, each of "
                f"which needs an element; got {len(listed)} capacities, and {what}."
            )
    if any(isinstance(c, bool) or not isinstance(c, Integral) or c < 0 for c in listed):
        raise refuse(owner, "capacities", "integers >= 0", capacities)
    return np.array(listed, np.intp)
