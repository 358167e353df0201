"""A yes/no policy for every label."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import InputTypeError, Objective, Oracle, ParameterError, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.state import Array, Part, State
from hannan.core.validation import FloatArray, check_integer
from hannan.kernels.noise import laplace_cells
from hannan.oracles._totals import Solved
from hannan.oracles.all_policies import AllPolicies, TableNoise
from hannan.perturbation import LaplaceNoise

Labels = NDArray[np.intp]


class MultiLabel(Oracle):
    r"""Subsets of L labels: a policy of a yes/no class for each of them.

    With B a class of policies with two actions, 1 for yes and 0 for no, a policy is
    :math:`(b_1, …, b_L) \in B^L` and chooses the labels :math:`\{j : b_j(x) = 1\}`, none of them
    perhaps. A loss vector has one entry for each label: choosing j costs :math:`\ell(j)`, which may
    be negative, and leaving it out costs nothing. So labels decouple: the leader's :math:`b_j` is
    the base's leader for the losses :math:`(0, \ell_s(j))`, and coordinate j of each fake outcome
    perturbs only :math:`b_j`. Ties go to the smallest policy of the base, separately per label.

    With nonnegative losses the empty set is best: subtract the cost of missing a label from the
    loss of choosing it. A draw costs O(dL) additions; with `AllPolicies` as the base O(L), and the
    probability of every label is known exactly.

    Parameters
    ----------
    base
        Class of policies with two actions. Its contexts are the contexts of `MultiLabel`.
    n_labels
        Number L of labels, at least two. For one label use the base itself.

    Examples
    --------
    >>> import hannan as hn
    >>> tags = hn.oracles.MultiLabel(hn.oracles.AllPolicies(2, 2), n_labels=3)
    >>> total = tags.objective()
    >>> total.add(0, np.array([-1.0, 0.5, -0.2]))
    >>> total.leader()(0), total.leader()(1)
    (array([0, 2]), array([], dtype=int64))
    """

    antichain = False

    def __init__(self, base: Oracle, n_labels: int) -> None:
        if not isinstance(base, Oracle):
            raise InputTypeError(f"MultiLabel needs an oracle as its base; got {base!r}.")
        if base.n_actions != 2 or base.max_chosen != 1:
            raise ParameterError(
                "MultiLabel needs a base with two actions, 0 for no and 1 for yes; "
                f"{base!r} has n_actions={base.n_actions} and max_chosen={base.max_chosen}."
            )
        self.base = base
        self.n_labels = check_integer(self, "n_labels", n_labels, 2)
        self.n_actions: int = self.n_labels
        self.max_chosen = self.n_labels
        self.exact = base.exact  # type: ignore[misc]
        self.counts_rounds = base.counts_rounds  # type: ignore[misc]
        self.takes_new_contexts = base.takes_new_contexts  # type: ignore[misc]

    @property
    def contexts(self) -> Sequence[Hashable] | None:
        return self.base.contexts

    def check_context(self, context: Any) -> Any:
        return self.base.check_context(context)

    def check_contexts(self, contexts: Any) -> list[Any]:
        return self.base.check_contexts(contexts)

    def key(self, context: Any) -> Hashable:
        return self.base.key(context)

    def objective(self) -> Objective:
        if isinstance(self.base, AllPolicies):
            return LabelTable(self, np.zeros((self.base.n_contexts, self.n_labels)))
        return LabelObjective(self, [self.base.objective() for _ in range(self.n_labels)])

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        if isinstance(self.base, AllPolicies):
            return LabelTableNoise(self.base.n_contexts, contexts, self.n_labels, key, stream)
        return LaplaceNoise(contexts, self.n_labels, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float | None:
        size = self.base.log_size(contexts)
        return None if size is None else self.n_labels * size

    def complexity(self, contexts: Sequence[Any]) -> float | None:
        r"""Return :math:`dL\,E\max(0, \zeta)` if every subset is possible on every context."""
        if isinstance(self.base, AllPolicies):
            return 0.5 * len(contexts) * self.n_labels
        if self.base.exact:
            return None
        # A reduction may know G only for noise on both actions, with twice the variance.
        two = self.base.complexity(contexts)
        return None if two is None else self.n_labels * two / math.sqrt(2.0)

    @property
    def complexity_pairs(self) -> int:
        """Number of pairs of draws for an estimate of G: each draw has L independent labels."""
        return max(8, 64 // self.n_labels)

    def separates(self, contexts: Sequence[Any]) -> bool | None:
        return self.base.separates(contexts)


class LabelPolicy(Policy):
    """Policy that chooses the labels for which their policies play 1 (yes)."""

    def __init__(self, parts: Sequence[Policy]) -> None:
        self.parts = parts

    def __call__(self, context: Any = None) -> Labels:
        return np.flatnonzero([int(part(context)) for part in self.parts])

    def __repr__(self) -> str:
        return f"<policy on {len(self.parts)} labels>"


class LabelObjective(Objective):
    """Total of the base for every label."""

    oracle: MultiLabel

    stored = State(_parts=Part())

    def __init__(self, oracle: MultiLabel, parts: list[Objective]) -> None:
        self.oracle = oracle
        self._parts = parts

    def copy(self) -> LabelObjective:
        return LabelObjective(self.oracle, [part.copy() for part in self._parts])

    def add(self, context: Any, losses: FloatArray) -> None:
        for part, pair in zip(self._parts, _pairs(losses), strict=True):
            part.add(context, pair)

    def settle(
        self, context: Any, losses: FloatArray, draw: Draw, available: Available = None
    ) -> Labels:
        """Find the leader first and add afterwards, so a failure changes nothing."""
        after = self.copy()
        after.add(context, losses)
        labels = after.action(context, draw)
        self._parts = after._parts
        return labels

    def action(
        self, context: Any, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Labels:
        parts = self._perturbed(draw)
        more = [None] * len(parts) if plus is None else _pairs(plus)
        asked = zip(parts, more, strict=True)
        return np.flatnonzero(
            [int(part.action(context, WITHOUT_NOISE, pair)) for part, pair in asked]  # type: ignore[arg-type]
        )

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        perturbed = (self._perturbed(draw.later(i)) for i in range(count))
        return [LabelPolicy([part.leader() for part in parts]) for parts in perturbed]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        perturbed = (self._perturbed(draw.later(i)) for i in range(count))
        return np.array([sum(float(part.minima()[0]) for part in parts) for parts in perturbed])

    def _perturbed(self, draw: Draw) -> list[Objective]:
        # The noise of the base has two coordinates for each context, but only one is noisy here.
        # So fake outcomes are added as rounds.
        noise, number, scale = draw
        if noise is None or scale == 0.0:
            return self._parts
        parts = [part.copy() for part in self._parts]
        fakes = scale * noise.unit(number)
        for j, part in enumerate(parts):
            for context, pair in zip(noise.contexts, _pairs(fakes[:, j]), strict=True):
                part.add(context, pair)
        return parts


class LabelTableNoise(TableNoise):
    """Fake outcomes addressed by context, with one coordinate for each label."""

    def row(self, draw: int, context: int) -> FloatArray:
        """Return one context's fake losses; zero for a context without noise."""
        cells = np.zeros(self.n_actions, np.float32)
        place = int(self.places[context])
        if place >= 0:
            laplace_cells(self.key, self.stream, draw, place * self.n_actions, cells)
        return cells.astype(np.float64)


class LabelTablePolicy(Policy):
    """Table of yes and no, one row for each context."""

    def __init__(self, oracle: MultiLabel, chosen: NDArray[np.bool_]) -> None:
        self.oracle = oracle
        self.chosen = chosen

    def __call__(self, context: Any = None) -> Labels:
        return np.flatnonzero(self.chosen[self.oracle.check_context(context)])

    def __repr__(self) -> str:
        return f"<policy on {len(self.chosen)} contexts and {self.oracle.n_labels} labels>"


class LabelTable(Solved):
    """Total loss of every label on every context; the leader chooses the negative totals."""

    oracle: MultiLabel

    stored = State(totals=Array())

    def __init__(self, oracle: MultiLabel, totals: FloatArray) -> None:
        self.oracle = oracle
        self.totals = totals

    def add(self, context: int, losses: FloatArray) -> None:
        self.totals[context] += losses

    def action(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Labels:
        return np.flatnonzero(self.chosen(context, draw, 1, plus)[0])

    def chosen(
        self, context: int, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        noise, first, scale = draw
        rows = np.tile(self.totals[context] + (0.0 if plus is None else plus), (count, 1))
        if isinstance(noise, LabelTableNoise) and scale != 0.0:
            for i in range(count):
                rows[i] += scale * noise.row(first + i, context)
        return rows < 0.0

    def distribution(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray:
        r"""Return :math:`P(\phi_j + s\zeta_j < 0)` from the Laplace distribution."""
        noise, _, scale = draw
        row = self.totals[context] + (0.0 if plus is None else plus)
        noisy = isinstance(noise, LabelTableNoise) and noise.places[context] >= 0
        if not noisy or scale == 0.0:
            return np.asarray(row < 0.0, dtype=np.float64)
        tail = 0.5 * np.exp(-np.abs(row) / scale)
        return np.asarray(np.where(row < 0.0, 1.0 - tail, tail))

    def _solve(self, draw: Draw) -> tuple[LabelTablePolicy, float]:
        noise, number, scale = draw
        table = self.totals.copy()
        if noise is not None and scale != 0.0:
            table[np.asarray(noise.contexts, dtype=np.intp)] += scale * noise.unit(number)
        return LabelTablePolicy(self.oracle, table < 0.0), np.minimum(table, 0.0).sum()


def _pairs(losses: FloatArray) -> FloatArray:
    """Return the losses of no and yes, a row for each entry."""
    pairs = np.zeros((len(losses), 2))
    pairs[:, 1] = losses
    return pairs
