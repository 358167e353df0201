"""Sums of submodular functions, with like terms combined."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import LossError, LossFunction
from hannan.core.state import Anything, Array, Count, DictOf, Key, Number, Object, State, TupleOf
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray

Mask = NDArray[np.bool_]
Order = NDArray[np.intp]
Indices = NDArray[np.int64]

NAMED: dict[str, Callable[[Any], Any]] = {"sqrt": np.sqrt, "log1p": np.log1p}


@dataclass(frozen=True, eq=False)
class CutArcs(Stored):
    """Arcs sorted by tail and head, without repetition; the reverse of each arc is listed, too.

    Heads and tails never change, so sums on the same arcs share them. Capacities are replaced,
    never modified in place.
    """

    n: int
    keys: Indices
    """Keys of the arcs: tail times n plus head."""

    stored = State(
        n=Count(2**31),
        keys=Array(None, dtype=np.int64, low=0, below=lambda self: self.n**2, rising=True).where(
            lambda self, keys: self._is_symmetric()
        ),
    )

    def _is_symmetric(self) -> bool:
        back = self.heads * self.n + self.tails
        return np.array_equal(np.sort(back), self.keys) and bool((back != self.keys).all())

    @classmethod
    def gather(
        cls, n: int, tails: Indices, heads: Indices, capacities: FloatArray
    ) -> tuple[CutArcs, FloatArray]:
        """Return arcs from any order, with repetitions added; arcs from u to u are dropped."""
        keep = (tails != heads) & (capacities != 0.0)
        tails, heads, capacities = tails[keep], heads[keep], capacities[keep]
        there, back = tails * n + heads, heads * n + tails
        keys, place = np.unique(np.concatenate([there, back]), return_inverse=True)
        total = np.bincount(place[: len(there)], capacities, len(keys)).astype(np.float64)
        return cls(n, keys), total

    @cached_property
    def tails(self) -> Indices:
        """Tail of each arc."""
        return self.keys // self.n

    @cached_property
    def heads(self) -> Indices:
        """Head of each arc."""
        return self.keys % self.n

    @cached_property
    def start(self) -> Indices:
        """Positions of the first arcs: the arcs from u are start[u] .. start[u + 1] - 1."""
        return np.searchsorted(self.tails, np.arange(self.n + 1)).astype(np.int64)

    @cached_property
    def mates(self) -> Indices:
        """Index of the reverse of each arc."""
        return np.searchsorted(self.keys, self.heads * self.n + self.tails).astype(np.int64)

    def same(self, other: CutArcs) -> bool:
        """Return whether these are the same arcs."""
        return self is other or np.array_equal(self.keys, other.keys)

    def spread(self, wider: CutArcs, capacities: FloatArray) -> FloatArray:
        """Return the capacities in a graph that contains all these arcs and perhaps more."""
        total = np.zeros(len(wider.keys))
        total[np.searchsorted(wider.keys, self.keys)] = capacities
        return total

    def union(self, other: CutArcs) -> CutArcs:
        """Return the arcs of either graph."""
        return CutArcs(self.n, np.union1d(self.keys, other.keys))


@dataclass(frozen=True, slots=True)
class Bend(Stored):
    """A ↦ g(w(A)): a concave function of a sum of non-negative weights."""

    weights: FloatArray
    g: str | Callable[[float], float]
    """Concave function: a name, "cap" for min(·, cap), or a user-defined function."""
    cap: float = 0.0

    stored = State(
        weights=Array(None, low=0.0),
        g=Anything().where(lambda self, g: callable(g) or g in ("cap", *NAMED)),
        cap=Number(),
    )

    @property
    def n_actions(self) -> int:
        """K, the number of elements."""
        return len(self.weights)

    @property
    def key(self) -> Hashable:
        """Key that is equal for equal functions, as far as equality is known."""
        return (self.weights.tobytes(), self.g if isinstance(self.g, str) else id(self.g), self.cap)


def bent(g: str | Callable[[float], float], caps: FloatArray, sums: FloatArray) -> FloatArray:
    """Return g of every number, one row per cap."""
    if isinstance(g, str):
        return np.minimum(sums, caps[:, None]) if g == "cap" else NAMED[g](sums)
    values = np.array([float(g(float(x))) for x in sums.ravel()])
    if not np.isfinite(values).all():
        x = sums.ravel()[~np.isfinite(values)][0]
        raise LossError(f"g must be finite; g({x:g}) is {g(float(x))}.")
    return values.reshape(sums.shape)


def _fits(terms: Any, term: Any) -> bool:
    """Return whether a term is a function of the same elements."""
    return bool(term.n_actions == terms.n)


class Terms(Stored):
    r"""A function of subsets A of n elements, as a sum of terms of a few kinds:

    .. math:: c + w(A) + \sum_{u \in A, v \notin A} c_{uv} + h(|A|) + \sum_i p_i\, g_i(w_i(A))
              + \sum_k p_k f_k(A) .

    The first four kinds are added coefficient by coefficient, so a sum of any length takes the
    memory of one function. For the last two kinds, distinct terms are listed with their counts.
    """

    stored = State(
        offset=Number(),
        modular=Array(),
        arcs=Object(CutArcs).where(lambda self, arcs: arcs.n == self.n) | None,
        capacities=Array(lambda self: 0 if self.arcs is None else len(self.arcs.keys), low=0.0),
        levels=Array(lambda self: self.n + 1) | None,
        bends=DictOf(Key(), TupleOf(Object(Bend).where(_fits), Number())),
        others=DictOf(Key(), TupleOf(Object(LossFunction).where(_fits), Number())),
    )

    def __init__(self, n: int) -> None:
        self.n = n
        self.offset = 0.0
        self.modular: FloatArray = np.zeros(n)
        self.arcs: CutArcs | None = None
        self.capacities: FloatArray = np.zeros(0)
        self.levels: FloatArray | None = None
        """Values h(0) .. h(n)."""
        self.bends: dict[Hashable, tuple[Bend, float]] = {}
        self.others: dict[int, tuple[LossFunction, float]] = {}
        self._groups: list[tuple[Any, FloatArray, FloatArray, FloatArray]] | None = None

    @classmethod
    def of(cls, function: LossFunction) -> Terms:
        """Return the terms of a loss function; a user-defined function is one term."""
        terms = getattr(function, "terms", None)
        if isinstance(terms, Terms):
            return terms
        own = cls(function.n_actions)
        own.others[id(function)] = (function, 1.0)
        return own

    def copy(self) -> Terms:
        """Return an independent copy."""
        twin = Terms(self.n)
        twin.add(self)
        twin._groups = self._groups
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._restored()

    def _restored(self) -> None:
        # Loaded objects have other addresses, so the index is rebuilt.
        self.bends = {bend.key: (bend, count) for bend, count in self.bends.values()}
        self.others = {id(f): (f, count) for f, count in self.others.values()}

    def add(self, other: Terms, scale: float = 1.0) -> None:
        """Add `scale` times another sum."""
        if scale == 0.0:
            return
        self.offset += scale * other.offset
        self.modular += scale * other.modular
        if other.arcs is not None:
            self._add_arcs(other.arcs, scale * other.capacities)
        if other.levels is not None:
            levels = scale * other.levels
            self.levels = levels if self.levels is None else self.levels + levels
        for key, (bend, count) in other.bends.items():
            self.add_bend(key, bend, scale * count)
        for name, (function, count) in other.others.items():
            self.others[name] = (function, self.others.get(name, (None, 0.0))[1] + scale * count)

    def add_bend(self, key: Hashable, bend: Bend, count: float) -> None:
        """Add a concave term with this key `count` times."""
        known, before = self.bends.get(key, (bend, 0.0))
        self.bends[key] = (known, before + count)
        self._groups = None

    def _add_arcs(self, arcs: CutArcs, capacities: FloatArray) -> None:
        if self.arcs is None:
            self.arcs, self.capacities = arcs, capacities
        elif self.arcs.same(arcs):
            self.capacities = self.capacities + capacities
        else:
            both = self.arcs.union(arcs)
            if both.same(self.arcs):
                both = self.arcs
            mine = self.arcs.spread(both, self.capacities)
            self.arcs, self.capacities = both, mine + arcs.spread(both, capacities)

    def modular_extremes(self) -> tuple[float, float]:
        """Return the smallest and the largest value of the offset plus the modular term."""
        low, high = np.minimum(self.modular, 0.0).sum(), np.maximum(self.modular, 0.0).sum()
        return self.offset + float(low), self.offset + float(high)

    def value(self, inside: Mask) -> float:
        """Return the value for one set."""
        total = self.offset + float(self.modular[inside].sum())
        if self.arcs is not None:
            leaves = inside[self.arcs.tails] & ~inside[self.arcs.heads]
            total += float(self.capacities[leaves].sum())
        if self.levels is not None:
            total += float(self.levels[int(inside.sum())])
        for g, weights, caps, counts in self.groups:
            sums = weights[:, inside].sum(axis=1)
            total += float(counts @ bent(g, caps, sums[:, None])[:, 0])
        if self.others:
            chosen = np.flatnonzero(inside)
            total += sum(count * function(chosen) for function, count in self.others.values())
        return total

    def chain(self, order: Order) -> FloatArray:
        """Return the values for the first 0, 1, .., n elements of an order."""
        n = self.n
        values = np.full(n + 1, self.offset)
        values[1:] += np.cumsum(self.modular[order])
        if self.arcs is not None:
            rank = np.empty(n, np.int64)
            rank[order] = np.arange(n)
            tails, heads = rank[self.arcs.tails], rank[self.arcs.heads]
            ahead = tails < heads  # cut from after the tail until the head is included
            capacities = self.capacities[ahead]
            steps = np.bincount(tails[ahead] + 1, capacities, n + 2)
            steps -= np.bincount(heads[ahead] + 1, capacities, n + 2)
            values += np.cumsum(steps)[: n + 1]
        if self.levels is not None:
            values += self.levels
        for g, weights, caps, counts in self.groups:
            sums = np.zeros((len(weights), n + 1))
            np.cumsum(weights[:, order], axis=1, out=sums[:, 1:])
            values += counts @ bent(g, caps, sums)
        for function, count in self.others.values():
            found = [function(np.sort(order[:size])) for size in range(n + 1)]
            values += count * np.array(found)
        return values

    @property
    def groups(self) -> list[tuple[Any, FloatArray, FloatArray, FloatArray]]:
        """Concave terms of each g in one table: g, weights [B, n], caps [B], counts [B]."""
        if self._groups is None:
            by_g: dict[Any, list[tuple[Bend, float]]] = {}
            for bend, count in self.bends.values():
                by_g.setdefault(bend.g, []).append((bend, count))
            self._groups = [
                (
                    g,
                    np.array([bend.weights for bend, _ in group]),
                    np.array([bend.cap for bend, _ in group]),
                    np.array([count for _, count in group]),
                )
                for g, group in by_g.items()
            ]
        return self._groups

    @property
    def is_cut(self) -> bool:
        """Whether this is a cut function on a graph with a few more nodes."""
        return not self.others and all(bend.g == "cap" for bend, _ in self.bends.values())
