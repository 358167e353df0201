"""Nodes of a graph taken out one after another, as `kernels.bottlenecks` needs it."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Elimination(NamedTuple):
    """Which pair of nodes an edge connects, and the steps, one target after another."""

    pair: NDArray[np.int32]
    targets: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ways: NDArray[np.uint32]
    n_pairs: int


def elimination(tail: NDArray[np.intp], head: NDArray[np.intp], n_nodes: int) -> Elimination:
    """Take out a node with the fewest neighbours, connect these, and so on; then the way back.

    Examples
    --------
    A triangle, from which node 0 is taken first:

    >>> found = elimination(np.array([0, 1, 0]), np.array([1, 2, 2]), 3)
    >>> found.pair, found.targets.tolist(), found.ways.tolist()
    (array([0, 1, 2], dtype=int32), [1, 2, 0], [[0, 2], [0, 1], [2, 1]])
    """
    number: dict[tuple[int, int], int] = {}

    def pair(a: int, b: int) -> int:
        return number.setdefault((min(a, b), max(a, b)), len(number))

    near: dict[int, set[int]] = {v: set() for v in range(n_nodes)}
    pairs = np.full(len(tail), -1, np.int32)
    for e, (u, v) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        if u != v:
            pairs[e] = pair(u, v)
            near[u].add(v)
            near[v].add(u)
    through: dict[int, list[tuple[int, int]]] = {}  # of each pair, by nodes that are out
    there: list[tuple[int, list[tuple[int, int]]]] = []
    back: list[tuple[int, list[tuple[int, int]]]] = []
    while near:
        v = min(near, key=lambda u: (len(near[u]), u))
        around = sorted(near.pop(v))
        for a in around:
            there.append((pair(v, a), through.pop(pair(v, a), [])))
            back.append((pair(v, a), [(pair(v, b), pair(a, b)) for b in around if b != a]))
        for a, b in combinations(around, 2):
            through.setdefault(pair(a, b), []).append((pair(v, a), pair(v, b)))
        for u in around:
            near[u].discard(v)
            near[u].update(w for w in around if w != u)
    listed = [(i, ways) for i, ways in [*there, *reversed(back)] if ways]
    starts = np.cumsum([0, *(len(ways) for _, ways in listed)]).astype(np.uint32)
    ways = np.array([way for _, ways in listed for way in ways], np.uint32).reshape(-1, 2)
    targets = np.array([i for i, _ in listed], np.uint32)
    return Elimination(pairs, targets, starts, ways, max(1, len(number)))
