"""Policy classes on binned features: choice of the bins, and the statistic."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property, partial
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import ParameterError, Policy
from hannan.core.oracle import Noise
from hannan.core.state import Array, Count, Object, OneOf, Part, State
from hannan.core.validation import FloatArray, check_integer
from hannan.kernels import histograms, trees
from hannan.oracles._binning import NO_FEATURES, Grid, check_length, given_grid, learn_grid, stack
from hannan.oracles._blockwise import BlockObjective, Codes
from hannan.oracles._features import FeatureOracle
from hannan.oracles._totals import FeatureRows, twin
from hannan.perturbation import Blocks, LaplaceNoise

_MOST_ROWS = 4096  # distinct contexts with separate totals
_MOST_NUMBERS = 2**27  # largest size of a statistic


class BinnedOracle(FeatureOracle):
    """A class on binned features: its cuts are given, or taken from a set of contexts."""

    pairs = False
    """Whether the statistic has totals for pairs of cuts."""

    def __init__(self, n_actions: int, n_bins: int, edges: Any) -> None:
        self.n_actions: int = check_integer(self, "n_actions", n_actions, 1)
        self.n_bins = check_integer(self, "n_bins", n_bins, 2)
        self.edges = edges
        self.grid: Grid | None = None if edges is None else given_grid(self, edges)
        """The cuts, if they were given."""

    @abstractmethod
    def decode(self, code: NDArray[np.int64], grid: Grid) -> Policy:
        """Make the policy from the numbers that kernels return."""

    def check_context(self, context: Any) -> FloatArray:
        row = super().check_context(context)
        if self.grid is not None:
            check_length(row, self.grid.n_features)
        return row

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Return fake outcomes projected on the totals below every cut."""
        return BinnedNoise(self, contexts, key, stream, memory)

    def cuts_on(self, contexts: Sequence[Any]) -> Grid:
        """Return the cuts of the class if these contexts are perturbed."""
        return self.grid or learn_grid(stack(contexts), self.n_bins)

    def partitions(self, contexts: Sequence[Any]) -> set[bytes]:
        """Return the distinct splits of these contexts by cuts, up to exchanging the sides."""
        splits = self.cuts_on(contexts).splits(stack(contexts))
        splits ^= splits[:, :1]
        return {row.tobytes() for row in splits if row.any()}


class BinnedObjective(BlockObjective):
    """Totals on both sides of every cut, or of every pair of cuts; see `Stumps`.

    Totals are stored for each distinct context, so that cuts can change. From 4096 distinct
    contexts on, the cuts are fixed.
    """

    oracle: BinnedOracle

    stored = State(
        _met=OneOf("before") | None,
        _grid=Object(Grid).where(
            lambda self, grid: self.oracle.grid is None or self.oracle.grid.key == grid.key
        ),
        _rows=Part().where(lambda self, rows: rows is None or fits(self._grid, rows)) | None,
        _renew=Count(),
        _stat=Array(lambda self: statistic_size(self.oracle, self._grid)),
    )

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "_met": None if self._met is None else "before"}

    def _restored(self) -> None:
        self._shape = self._grid.shape(self.n_actions)

    def __init__(self, oracle: BinnedOracle) -> None:
        self.oracle = oracle
        self._code_width = 10 if oracle.pairs else 4
        self._met: object | None = None  # the noise or contexts that fixed the cuts
        self._rows = FeatureRows(self.n_actions) if oracle.grid is None else None
        self._renew = 1  # number of contexts at which cuts are recomputed
        self._rebin(oracle.grid or NO_FEATURES)

    @property
    def _kernel(self) -> ModuleType:
        return trees if self.oracle.pairs else histograms

    @property
    def _statistic(self) -> tuple[FloatArray, tuple[int, int, int, int]]:
        return self._stat, self._shape

    def prepare(self, contexts: Sequence[Any]) -> None:
        """Use the cuts of these contexts, so that the class is fixed from the first round on."""
        if self._rows is not None:
            self._met = contexts
            self._rebin(self.oracle.cuts_on(contexts))

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        counts = self._grid.counts(context)
        rows = self._rows
        if rows is not None:
            new = rows.add(context, losses)
            if new and self._met is None and not self._grid.knows(context):
                self._renew = 0
        self._kernel.add(self._stat, self._shape, counts, losses)
        if rows is not None and len(rows) > _MOST_ROWS:
            if self._met is None:
                self._learn(rows)
            self._rows = None

    def _after(self, context: FloatArray, plus: FloatArray, noise: Noise | None) -> Self:
        """Return the statistic with one more round; contexts are not copied."""
        if self._rows is not None and self._met is None:  # the cuts may move
            return super()._after(context, plus, noise)
        self._blocks(noise)  # sets the cuts of the noise
        made = twin(self, "_stat")
        made._rows = None
        made._kernel.add(made._stat, made._shape, made._grid.counts(context), plus)
        return made

    def _blocks(self, noise: Noise | None) -> Blocks | None:
        if self._rows is not None:
            self._agree(noise, self._rows)
        return noise.onto(self._grid) if isinstance(noise, BinnedNoise) else None

    def _agree(self, noise: Noise | None, rows: FeatureRows) -> None:
        """Use the cuts of a new noise; before the first noise, use the cuts of the rows."""
        if isinstance(noise, BinnedNoise):
            if noise is not self._met:
                self._met = noise
                if noise.grid.key != self._grid.key:
                    self._rebin(noise.grid)
        elif self._met is None and len(rows) >= self._renew and len(rows):
            self._learn(rows)

    def _learn(self, rows: FeatureRows) -> None:
        self._rebin(learn_grid(rows.contexts, self.oracle.n_bins))
        self._renew = 2 * len(rows)

    def _rebin(self, grid: Grid) -> None:
        self._grid = grid
        self._shape = grid.shape(self.n_actions)
        self._stat = np.zeros(statistic_size(self.oracle, grid))
        if self._rows is not None and len(self._rows):
            counts = grid.padded_counts(self._rows.contexts)
            for own, losses in zip(counts, self._rows.totals, strict=True):
                self._kernel.add(self._stat, self._shape, own, losses)

    def _place(self, context: FloatArray) -> FloatArray:
        return self._grid.counts(context)

    def _plays(self, codes: Codes, place: FloatArray) -> NDArray[np.int64]:
        return np.array([self._kernel.plays(code, place) for code in codes])

    def _policy(self, code: NDArray[np.int64]) -> Policy:
        return self.oracle.decode(code, self._grid)


class BinnedNoise(LaplaceNoise):
    """Fake outcomes projected on the totals on both sides of every cut."""

    def __init__(
        self,
        oracle: BinnedOracle,
        contexts: Sequence[Any],
        key: np.uint64,
        stream: int,
        memory: int,
    ) -> None:
        super().__init__(contexts, oracle.n_actions, key, stream)
        self.oracle = oracle
        self.rows = stack(contexts)
        self._memory = memory
        self._projected: tuple[Grid, Blocks] | None = None

    @cached_property
    def grid(self) -> Grid:
        """Cuts of these contexts."""
        return self.oracle.grid or learn_grid(self.rows, self.oracle.n_bins)

    def onto(self, grid: Grid) -> Blocks:
        """Project the draws on the statistic of these cuts."""
        held = self._projected
        if held is None or (held[0] is not grid and held[0].key != grid.key):
            bins = grid.count_rows(self.rows)
            falling = np.iinfo(np.uint16).max - bins
            order = np.argsort(falling, axis=1, kind="stable").astype(np.int64)
            heavy = np.array([np.bincount(row).argmax() for row in bins], np.int64)
            fill = partial(self._fill, (bins, order, heavy, grid.shape(self.n_actions)))
            blocks = Blocks(fill, statistic_size(self.oracle, grid), self._memory)
            held = self._projected = grid, blocks
        return held[1]

    def _fill(self, plan: tuple[Any, ...], first: int, block: NDArray[np.float32]) -> None:
        trees.fill(self.key, self.stream, first, *plan, self.oracle.pairs, block)


def fits(grid: Grid, rows: FeatureRows) -> bool:
    """Return whether a grid has as many features as these rows."""
    return rows.n_features is None or grid.n_features in (0, rows.n_features)


def statistic_size(oracle: BinnedOracle, grid: Grid) -> int:
    """Return the size of the statistic of a class; raise `ParameterError` if it is too large."""
    shape = grid.shape(oracle.n_actions)
    tables = 1 + shape[1] * shape[3] if oracle.pairs else 1
    size = tables * int(histograms.width(shape))
    if size > _MOST_NUMBERS:
        raise ParameterError(
            f"{type(oracle).__name__} would store {size:,} numbers for {shape[3]} features with "
            f"{shape[1]} cuts and {shape[2]} actions; the limit is {_MOST_NUMBERS:,}. Use a "
            "smaller n_bins, or fewer features."
        )
    return size
