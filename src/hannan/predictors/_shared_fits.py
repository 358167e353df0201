"""Regressions of `Hybrid`."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

from hannan.core import Menu
from hannan.core.crossing import Crossing
from hannan.core.params import Parametrised
from hannan.core.state import Array, Key, ListOf, Part, State
from hannan.core.validation import FloatArray
from hannan.kernels import hybrid as kernel
from hannan.kernels.blend import deviation
from hannan.predictors._fits import BANDWIDTHS, LAST, Standardiser, diagonal
from hannan.predictors._items import ItemTerms

FORGETTING = 0.9995  # discount of squared errors: rare clicks separate the parts slowly
_ONE = np.zeros(1, np.intp)


class SharedFits(Parametrised):
    """Regressions on the p features of the context and the q of the action: `kernels.hybrid`."""

    stored = State(
        _scaling=Part(),
        _names=ListOf(Key(), most=LAST - 1),
        _weights=Array(),
        _inverse=Array(),
        _factor=Array().where(lambda self, factor: (factor > 0.0).all()),
        _level=Array().where(lambda self, level: level[1] >= 1.0),
        _tally=Array(low=0.0),
        _turn=Array(low=0),
        _items=Part(),
    )
    room_for = ("p", "q", "capacity", "width width")

    def __init__(
        self,
        p: int,
        q: int,
        blocks: tuple[str, ...],
        width: int,
        cosines: int,
        ridge: float,
        window: float,
        capacity: int,
        memory: int,
        seed: int,
    ) -> None:
        self.p, self.q, self.blocks, self.width = p, q, blocks, width
        self.cosines, self.ridge, self.window = cosines, ridge, window
        self.capacity, self.memory, self.seed = capacity, memory, seed
        self._crossing = Crossing(blocks, width)
        size, self._plan = self._crossing.plan(p, q)
        alone = 1 + p * ("context" in blocks) + q * ("action" in blocks)
        self._single = min(alone, size)
        rng = np.random.default_rng(seed)
        each = cosines // len(BANDWIDTHS)
        m = each * len(BANDWIDTHS)
        waves = [g * rng.standard_normal((p + q, each)) for g in BANDWIDTHS]
        self._waves: FloatArray = np.concatenate(waves, axis=1)
        self._phases: FloatArray = rng.uniform(0.0, 2.0 * math.pi, m)
        self._height = math.sqrt(2.0 / each) if each else 0.0
        self._fade = 1.0 - 1.0 / window
        self._scaling = Standardiser(1, p + q, memory)
        self._names: list[Hashable] = []  # items of the stored observations
        self._cache: tuple[Menu, FloatArray] | None = None
        self._forget()

    def _forget(self) -> None:
        """Reset all regressions, in the current scaling."""
        m, size = len(self._phases), self._plan_size
        begin, end = kernel.bounds(m, self._single, size)
        parts = [diagonal(n, 1.0 / self.ridge) for n in (end - begin).tolist()]
        self._inverse: FloatArray = np.concatenate(parts)
        self._weights: FloatArray = np.zeros((kernel.PARTS, m + size))
        self._factor: FloatArray = np.ones(kernel.PARTS)
        self._level: FloatArray = np.array([0.5, 1.0])
        self._tally: FloatArray = np.zeros(kernel.PARTS + 2)
        self._turn = np.zeros(1, np.int64)
        self._items = ItemTerms(self.capacity)
        self._cache = None
        self._restored()

    def _restored(self) -> None:
        """Collect the arguments that all kernels take."""
        fit = kernel.Shared(
            single=self._single,
            cosines=len(self._phases),
            weights=self._weights,
            inverse=self._inverse,
            factor=self._factor,
            level=self._level,
            tally=self._tally,
            turn=self._turn,
            ridge=self.ridge,
            fade=self._fade,
        )
        self._numbers = tuple(fit)

    @property
    def _plan_size(self) -> int:
        return self._crossing.size(self.p, self.q)

    @property
    def shares(self) -> FloatArray:
        """Weight of each part in the mixture."""
        found = np.empty(kernel.PARTS)
        kernel.shares(self._tally, len(self._phases) > 0, found)
        return found

    @property
    def deviation(self) -> float:
        """Size σ of an error."""
        return float(deviation(self._tally))

    def look(self, menu: Menu, widths: bool) -> tuple[FloatArray, FloatArray] | None:
        """Return the means and widths of all actions; None for unusable features."""
        V = self._expanded(menu)
        if V is None:
            return None
        n = len(V)
        known = self._items.look(menu.ids, n, self.deviation)
        found = np.empty(n), np.empty(n if widths else 0)
        kernel.look(V, *known, self._numbers, *found)
        return found

    def learn(self, menu: Menu, action: int, loss: float) -> bool:
        """Learn from an observation; return False for unusable features."""
        V = self._expanded(menu)
        if V is None:
            return False
        name = None if menu.ids is None else menu.ids[action]
        self._learn(V[action], name, loss)
        if not self._scaling.settled:
            self._keep(np.append(_context(menu), menu.rows[action]), name, loss)
        return True

    def _learn(self, v: FloatArray, name: Hashable, loss: float) -> None:
        offset = 0.0
        if name is not None:
            offset = float(self._items.look((name,), 1, self.deviation)[0][0])
        residual = kernel.learn(v, loss, offset, FORGETTING, self._numbers)
        if name is not None:
            self._items.learn(name, residual)

    def _keep(self, row: FloatArray, name: Hashable, loss: float) -> None:
        """Store an observation while the scaling may change; after a change learn all again."""
        scaling = self._scaling
        self._names.append(name)
        if not scaling.keep(row, _ONE, np.array([loss])):
            return
        self._forget()
        for (old, _, shown), whose in zip(list(scaling.kept()), self._names, strict=True):
            menu = Menu(old[: self.p], old[None, self.p :])
            V = self._expanded(menu)
            assert V is not None
            self._learn(V[0], whose, float(shown[0]))
        if scaling.settled:
            self._names = []

    def _expanded(self, menu: Menu) -> FloatArray | None:
        """Return the vector v of each action; cached, because a round needs it several times."""
        if self._cache is None or self._cache[0] is not menu:
            V = np.empty((len(menu), self._weights.shape[1]))
            good = kernel.expand(
                _context(menu), menu.rows, self._scaling.center, self._scaling.scale,
                self._plan, self._waves, self._phases, self._height, V,
            )  # fmt: skip
            if not good:
                return None
            self._cache = menu, V
        return self._cache[1]


def _context(menu: Menu) -> FloatArray:
    found: FloatArray = np.empty(0) if menu.context is None else menu.context
    return found
