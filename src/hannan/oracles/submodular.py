"""All subsets, under submodular losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, LossError, LossFunction, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Plus
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray, check_integer
from hannan.kernels.cuts import smallest_minimiser
from hannan.losses._terms import CutArcs, Terms
from hannan.losses.custom import require_submodular
from hannan.oracles._combinatorial import Elements, SetNoise, SetOracle, SetPolicy
from hannan.oracles._minimum_norm import MinimumNorm
from hannan.oracles._totals import Total

Mask = NDArray[np.bool_]
Network = tuple[CutArcs, FloatArray, FloatArray]
"""Arcs, their capacities, and additions to the weights of the nodes."""


class Submodular(SetOracle):
    r"""All subsets of n elements, the empty one included, under submodular losses.

    A loss is submodular if :math:`f(A) + f(B) \ge f(A \cup B) + f(A \cap B)`. `update` takes a
    function of `hannan.losses`, any `LossFunction`, or a vector of losses of the elements, which is
    linear. The minimiser of the total and the noise is found exactly:

    - For linear totals: the elements of negative total.
    - For a function of the number of elements plus a linear one: one sort.
    - For sums of cut functions, coverage, capped and cardinality functions: one maximum flow.
    - For other functions: the minimum-norm-point algorithm of Fujishige and Wolfe, which ends when
      a lower bound meets the value (to about 1e-10 of the size of the function).

    Ties go to the smallest set, which exists because all minimisers contain it.

    Parameters
    ----------
    n
        Number K of elements.
    checks
        Number of random pairs of sets on which a function not known to be submodular is tested
        when it first occurs. A function that fails raises `LossError`; a function that passes need
        not be submodular. Default: 32.

    Notes
    -----
    Distinct coverage, concave-of-modular and user-defined functions are stored separately; for
    other functions the memory does not grow. Losses that are not linear need full information.

    Examples
    --------
    Two shops share a warehouse: opening it costs 0.5, and each shop that opens earns 0.4.

    >>> import hannan as hn
    >>> learner = hn.ContextFTPL(hn.oracles.Submodular(3), seed=0, loss_range=(-1, 1))
    >>> loss = hn.losses.Cut([0, 1], [2, 2], 1.0, n=3, modular=[-0.4, -0.4, 0.5])
    >>> for t in range(100):
    ...     chosen = learner.act()
    ...     learner.update(0.25 * loss)
    >>> learner.best_policy()(None)
    array([0, 1, 2])

    References
    ----------
    [syrgkanis2016] [fujishige2011]
    """

    takes_functions = True
    closes = False

    def __init__(self, n: int, checks: int = 32) -> None:
        self.n = check_integer(self, "n", n, 1)
        self.checks = check_integer(self, "checks", checks, 0)
        self._set_size(self.n, self.n, antichain=False)

    def objective(self) -> SubmodularObjective:  # type: ignore[override]
        return SubmodularObjective(self)

    def log_size(self, contexts: Sequence[Any]) -> float:
        return self.n * math.log(2.0)

    def complexity(self, contexts: Sequence[Any]) -> float:
        """Return n/2, the expected sum of the positive variates."""
        return 0.5 * self.n

    def _solve(self, costs: FloatArray) -> Elements:
        return np.flatnonzero(costs < 0.0)


class SubmodularObjective(Total):
    """Sum of the losses, with like terms combined."""

    oracle: Submodular

    stored = State(total=Part())

    def __init__(self, oracle: Submodular) -> None:
        self.oracle = oracle
        self.total = Terms(oracle.n)
        self._network: Network | None = None

    def add(self, context: None, losses: FloatArray | LossFunction) -> None:
        if isinstance(losses, LossFunction):
            terms = Terms.of(losses)
            self._check(terms)
            self.total.add(terms)
            self._network = None
        else:
            self.total.modular += losses

    def settle(
        self,
        context: None,
        losses: FloatArray | LossFunction,
        draw: Draw,
        available: Available = None,
    ) -> Action:
        """Solve first and add afterwards, so a failure of the user's function changes nothing."""
        after = self.copy()
        after.add(context, losses)
        action = after.action(context, draw)
        self.total, self._network = after.total, after._network
        return action

    def action(
        self, context: None, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if plus is not None or available is not None:
            return super().action(context, draw, plus, available)
        return np.flatnonzero(self._best(self._fakes(draw)))

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        chosen = self.chosen(None, draw, count)
        return [SetPolicy(self.oracle, np.flatnonzero(inside)) for inside in chosen]

    def minima(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> FloatArray:
        values = np.empty(count)
        for i in range(count):
            fakes = self._fakes(draw.later(i))
            inside = self._best(fakes)
            values[i] = self.total.value(inside) + fakes[inside].sum()
        return values

    def chosen(
        self, context: None, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> Mask:
        if plus is not None or available is not None:
            return super().chosen(context, draw, count, plus, available)
        if draw.scale == 0.0:
            return np.repeat(self._best(self._fakes(draw))[None, :], count, axis=0)
        return np.array([self._best(self._fakes(draw.later(i))) for i in range(count)])

    def _check(self, terms: Terms) -> None:
        if terms.n != self.oracle.n:
            raise LossError(
                f"The loss function must have {self.oracle.n} elements, as Submodular has; got a "
                f"function of {terms.n}."
            )
        for key, (function, _) in terms.others.items():
            if key not in self.total.others:
                require_submodular(function, self.oracle.checks)

    def _fakes(self, draw: Draw) -> FloatArray:
        noise, number, scale = draw
        if scale == 0.0:
            return np.zeros(self.oracle.n)
        assert isinstance(noise, SetNoise)
        return scale * noise.row(number).astype(np.float64)

    def _best(self, fakes: FloatArray) -> Mask:
        """Return the smallest minimiser of the total plus these losses of the elements."""
        total, n = self.total, self.oracle.n
        costs = total.modular + fakes
        if not total.is_cut:
            return minimise_by_values(total, fakes)
        if total.arcs is None and not total.bends:
            return _by_size(costs, total.levels)
        if self._network is None:
            self._network = _network(total)
        arcs, capacities, extra = self._network
        weights = extra.copy()
        weights[:n] += costs
        inside = np.empty(n, dtype=bool)
        smallest_minimiser(arcs.start, arcs.heads, arcs.mates, capacities, weights, inside)
        return inside


def minimise_by_values(total: Terms, fakes: FloatArray) -> Mask:
    """Find the smallest minimiser from values alone."""

    def chain(order: Elements) -> FloatArray:
        values = total.chain(order)
        values[1:] += np.cumsum(fakes[order])
        return values

    return MinimumNorm(chain, total.n).solve()


def _by_size(costs: FloatArray, levels: FloatArray | None) -> Mask:
    """Find the smallest minimiser of a concave function of the size plus linear losses."""
    if levels is None:
        return costs < 0.0
    order = np.argsort(costs, kind="stable")
    values = levels.copy()
    values[1:] += np.cumsum(costs[order])
    inside = np.zeros(len(costs), dtype=bool)
    inside[order[: values.argmin()]] = True
    return inside


def _network(total: Terms) -> Network:
    """Make a graph whose cuts, minimised over the additional nodes, are the total.

    The term p min(w(A), c) takes one additional node y of weight p c, with arcs of capacity p w(j)
    from every j to y. Either all arcs from A are cut, or y is inside and costs p c.
    """
    caps = [(bend.weights, bend.cap, count) for bend, count in total.bends.values()]
    if total.levels is None:
        slope = 0.0
    else:
        # h(k) = h(0) + k (h(n) - h(n-1)) + Σ_c d_c min(k, c), -d_c its second differences.
        slope = float(total.levels[-1] - total.levels[-2])
        bends = -np.diff(total.levels, 2)
        every = np.ones(total.n)
        caps += [(every, float(c), bends[c - 1]) for c in range(1, total.n) if bends[c - 1] > 0.0]
    extra = np.full(total.n, slope)
    if not caps:
        assert total.arcs is not None
        return total.arcs, total.capacities, extra
    extra = np.append(extra, [count * cap for _, cap, count in caps])
    weights = np.array([count * weights for weights, _, count in caps])
    nodes, tails = np.nonzero(weights)
    arcs = [tails, total.n + nodes, weights[nodes, tails]]
    if total.arcs is not None:
        known = (total.arcs.tails, total.arcs.heads, total.capacities)
        arcs = [np.concatenate(pair) for pair in zip(known, arcs, strict=True)]
    return (*CutArcs.gather(len(extra), *arcs), extra)
