"""Features φ(context, action): those of the context and the action, and their products."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.menu import Menu
from hannan.core.params import Parametrised
from hannan.core.state import State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.kernels import described as kernel

BLOCKS = ("context", "action", "context*action", "action*action", "context*context")
_NOTHING = np.empty(0)


class Crossing(Parametrised):
    r"""The map φ from a context x and an action a to numbers, for scores linear in them.

    φ consists of a constant and of the chosen `blocks`: "context" for x, "action" for a,
    "context*action" for all products :math:`x_i a_j`, "action*action" and "context*context" for the
    products within one of the two. If φ has more than `width` numbers, products share the places
    that single features leave: a hash of each product selects its place and its sign.

    >>> import hannan as hn
    >>> menu = hn.Menu(np.array([2.0]), [[1.0, 3.0], [0.0, 5.0]])
    >>> Crossing(("action", "context*action"), 100).rows(menu)
    array([[ 1.,  1.,  3.,  2.,  6.],
           [ 1.,  0.,  5.,  0., 10.]])
    """

    stored = State()

    def __init__(self, blocks: tuple[str, ...], width: int) -> None:
        known = isinstance(blocks, list | tuple) and len(set(map(str, blocks))) == len(blocks)
        if not known or not blocks or any(each not in BLOCKS for each in blocks):
            accepted = "some of " + ", ".join(map(repr, BLOCKS)) + ", each once"
            raise refuse(self, "blocks", accepted, blocks)
        self.blocks = blocks
        self.width = check_integer(self, "width", width, 2, 2**16)

    def rows(self, menu: Menu) -> FloatArray:
        """Return φ of each item, [n, P]."""
        context = _NOTHING if menu.context is None else menu.context
        size, plan = self.plan(len(context), menu.rows.shape[1])
        out = np.empty((len(menu.rows), size))
        kernel.cross(context, menu.rows, *plan, out)
        return out

    def size(self, p: int, q: int) -> int:
        """Return P, the length of φ for p features of a context and q features of an action."""
        return self.plan(p, q)[0]

    def plan(self, p: int, q: int) -> tuple[int, Any]:
        """Return P, and for each product its two factors, its place and its sign."""
        return _planned(tuple(self.blocks), self.width, p, q)


@lru_cache(maxsize=8)
def _planned(blocks: tuple[str, ...], width: int, p: int, q: int) -> tuple[int, Any]:
    x, a = np.arange(1, 1 + p), np.arange(1 + p, 1 + p + q)
    single = [np.zeros(1, np.intp)]
    single += [x] if "context" in blocks else []
    single += [a] if "action" in blocks else []
    pairs = [(np.repeat(x, q), np.tile(a, p))] if "context*action" in blocks else []
    for name, part in (("action*action", a), ("context*context", x)):
        if name in blocks:
            first, second = np.triu_indices(len(part))
            pairs.append((part[first], part[second]))
    alone = np.concatenate(single)
    left = np.concatenate([np.zeros(len(alone), np.intp), *(each for each, _ in pairs)])
    right = np.concatenate([alone, *(each for _, each in pairs)])
    n = len(left)
    if n <= width:
        return n, (left, right, np.arange(n), np.ones(n))
    kept = len(alone) if 2 * len(alone) <= width else 1
    hashed = _hashed(np.arange(n - kept, dtype=np.uint64))
    slot = np.arange(n)
    slot[kept:] = kept + (hashed >> np.uint64(1)) % np.uint64(width - kept)
    sign = np.ones(n)
    sign[kept:] = 1.0 - 2.0 * (hashed & np.uint64(1))
    return width, (left, right, slot, sign)


def _hashed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finaliser of splitmix64; it must never change, because files depend on it."""
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))
