"""Policies listed one by one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import Action, InputTypeError, Oracle, ParameterError, Policy
from hannan.core.discounted_totals import Choices, DiscountedTotals, Draws
from hannan.core.oracle import Available, Draw, Lesson, Noise, Plus, Trials, paired_lesson, played
from hannan.core.rounds import IntArray
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, check_integer, check_seed
from hannan.kernels import finite as kernel
from hannan.kernels.lanes import WIDTH
from hannan.kernels.noise import LARGEST
from hannan.kernels.weights import SIZE, SUM
from hannan.oracles._blockwise import NO_NOISE, BlockObjective, Codes
from hannan.oracles._finite_tables import as_table, distinct_rows
from hannan.oracles._one_pass import OnePass
from hannan.oracles._projection import ProjectionPlan, make_plan
from hannan.oracles._tables import argmin_distribution_of, check_table_context, exact_lesson
from hannan.oracles._totals import Resample
from hannan.oracles.paths import Paths
from hannan.perturbation import Blocks, LaplaceNoise

_PIECE = 2**16  # number of policies from which two threads may share the noise


class FinitePolicies(Oracle):
    r"""A policy class given as a table: policy n plays `actions[n, i]` on context i.

    The leader for past losses :math:`\ell_1, …, \ell_t` is
    :math:`\arg\min_n \sum_s \langle \pi_n(x_s), \ell_s \rangle`. The objective stores this sum for
    every policy, so a round costs O(N) for every t. Ties go to the smallest n.

    Parameters
    ----------
    actions
        Table of N policies in one of three forms. Integers [N, d] in 0..K-1 are one element per
        context. Integers [N, d, m] are the m chosen elements. Booleans [N, d, K] say whether each
        element is chosen. A list of N integers is a class without contexts (d = 1).
    n_actions
        Number K of elements. Default: one more than the largest element in the table.

    Examples
    --------
    >>> import hannan as hn
    >>> oracle = hn.oracles.FinitePolicies([[0, 1], [1, 1], [1, 0]])
    >>> total = oracle.objective()
    >>> total.add(0, np.array([1.0, 0.0]))
    >>> best = total.leader()
    >>> best.index, best(0), best(1)
    (1, 1, 1)

    Two slates of two items, without contexts:

    >>> slates = hn.oracles.FinitePolicies([[[0, 2]], [[1, 2]]])
    >>> slates.policy(1)(None)
    array([1, 2])
    """

    def __init__(self, actions: ArrayLike, n_actions: int | None = None) -> None:
        self.actions = actions
        if n_actions is not None:
            check_integer(self, "n_actions", n_actions, 1)
        table, sets, width = as_table(actions, n_actions)
        self.n_actions: int = width
        self.table = table
        """Integers [N, d]: elements, or rows of `sets` where actions are sets."""
        self.sets = sets
        """Booleans [A, K]: the distinct sets of elements; None for single elements."""
        if sets is not None:
            sizes = sets.sum(axis=1)
            self.max_chosen = int(sizes.max())
            self.antichain = bool(sizes.min() == sizes.max())
            self._listed = [np.flatnonzero(row) for row in sets]
            self._matrix = sets.astype(np.float64)
        padded = -(-table.shape[0] // WIDTH) * WIDTH
        # Transposed, so that the actions of a context are contiguous; padding repeats policy 0.
        small = np.min_scalar_type(int(table.max()))
        self._columns = np.zeros((table.shape[1], padded), dtype=small)
        self._columns[:, : table.shape[0]] = table.T
        self._columns[:, table.shape[0] :] = table[0][:, None]
        self._views = Views(self._columns)
        self._plans: dict[tuple[int, ...], ProjectionPlan] = {}

    def _params_to_store(self) -> dict[str, Any]:
        params = super()._params_to_store()
        if self.sets is None:  # the same table in its smallest type
            params["actions"] = self._columns[:, : self.n_policies].T
        return params

    @classmethod
    def random(cls, n_policies: int, n_contexts: int, n_actions: int, seed: int = 0) -> Self:
        """Make policies with actions drawn uniformly at random.

        >>> import hannan as hn
        >>> hn.oracles.FinitePolicies.random(1000, 50, 5).n_policies
        1000
        """
        sizes = {"n_policies": n_policies, "n_contexts": n_contexts, "n_actions": n_actions}
        for name, value in sizes.items():
            check_integer("FinitePolicies.random", name, value, 1)
        rng = np.random.default_rng(check_seed("FinitePolicies.random", seed))
        return cls(rng.integers(0, n_actions, size=(n_policies, n_contexts)), n_actions)

    @classmethod
    def routes(cls, paths: Paths, limit: int = 100_000) -> Self:
        """List every path of a `Paths` as a policy; raise `ParameterError` for more than `limit`.

        Policies are in lexicographic order of their edges.

        >>> import hannan as hn
        >>> links = [(0, 1), (0, 2), (1, 3), (2, 3)]
        >>> hn.oracles.FinitePolicies.routes(hn.oracles.Paths(links, 0, 3)).policy(1)()
        array([1, 3])
        """
        if not isinstance(paths, Paths):
            raise InputTypeError(f"FinitePolicies.routes needs an oracles.Paths; got {paths!r}.")
        check_integer("FinitePolicies.routes", "limit", limit, 1)
        count = float(np.exp(paths.log_size([None])))
        if count > limit + 0.5:
            raise ParameterError(
                f"There are {count:.3g} paths, more than limit={limit}. Use Paths itself, which "
                "does not list paths, or a larger limit."
            )
        routes = paths._every_path()
        table = np.zeros((len(routes), 1, paths.n_actions), dtype=bool)
        for row, edges in zip(table, routes, strict=True):
            row[0, edges] = True
        return cls(table)

    @property
    def n_policies(self) -> int:
        """Number N of policies."""
        return int(self.table.shape[0])

    @property
    def contexts(self) -> range:
        return range(self.table.shape[1])

    def check_context(self, context: Any) -> int:
        if type(context) is int and 0 <= context < len(self._columns):
            return context
        return check_table_context(self, context, len(self._columns))

    def objective(self) -> FiniteObjective:
        return FiniteObjective(self)

    def discounted_totals(self, discounts: Sequence[float]) -> FinitePanel:
        """Return discounted totals that share one array of scores."""
        return FinitePanel(self, discounts)

    def policy(self, index: int) -> FinitePolicy:
        """Return policy number `index` of the table."""
        return FinitePolicy(self, index)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return FiniteNoise(self, contexts, key, stream, memory)

    def log_size(self, contexts: Sequence[Any]) -> float:
        return float(np.log(distinct_rows(self.table[:, list(contexts)])))

    def separates(self, contexts: Sequence[Any]) -> bool:
        return distinct_rows(self.table[:, list(contexts)]) == distinct_rows(self.table)

    def action(self, code: int) -> Action:
        """Return the action of an entry of `table`."""
        return int(code) if self.sets is None else self._listed[code].copy()

    def losses_by_code(self, losses: FloatArray) -> FloatArray:
        """Return the loss of each possible entry of `table`."""
        return losses if self.sets is None else self._matrix @ losses

    def _plan(self, contexts: tuple[int, ...]) -> ProjectionPlan:
        """Return the plan that projects noise on these contexts; the last plan is cached."""
        if contexts not in self._plans:
            members = None if self.sets is None else self._listed
            plan = make_plan(self._columns[list(contexts)], self.n_actions, members)
            self._plans = {contexts: plan}
        return self._plans[contexts]


class Views(list[NDArray[Any]]):
    """Views of the rows of an array, cached because making one takes as long as a short kernel."""

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(array)
        self._array = array

    def __reduce__(self) -> tuple[Any, ...]:
        return Views, (self._array,)  # do not store the rows again


class FinitePolicy(Policy):
    """Policy given by one row of a table."""

    def __init__(self, oracle: FinitePolicies, index: int) -> None:
        self.oracle = oracle
        self.index = index

    def __call__(self, context: Any = None) -> Action:
        return self.oracle.action(self.oracle.table[self.index, self.oracle.check_context(context)])

    def __repr__(self) -> str:
        return f"<policy {self.index} of {self.oracle.n_policies}>"


class FiniteObjective(BlockObjective):
    """Total loss of every policy."""

    oracle: FinitePolicies
    _kernel = kernel
    _code_width = 1

    stored = State(scores=Array())

    def __init__(self, oracle: FinitePolicies) -> None:
        self.oracle = oracle
        self._views = oracle._views
        scores = np.zeros(oracle._columns.shape[1])
        scores[oracle.n_policies :] = np.inf
        self.scores = scores
        self._state_of_weight = np.empty(SIZE)

    @property
    def scores(self) -> FloatArray:
        """Total loss of each policy; padding beyond the last policy is infinite."""
        return self._pass.scores

    @scores.setter
    def scores(self, scores: FloatArray) -> None:
        oracle = self.oracle
        codes = oracle.n_actions if oracle.sets is None else len(oracle.sets)
        self._pass = OnePass(scores, codes)

    def copy(self) -> Self:
        twin = type(self)(self.oracle)
        twin.scores[:] = self.scores
        return twin

    def add(self, context: int, losses: FloatArray) -> None:
        self._pass.add(self._views[context], self.oracle.losses_by_code(losses))

    def action(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        column = self._views[context]
        if plus is not None:
            code = self._pass.act_after(column, self.oracle.losses_by_code(plus), draw)
        elif draw.scale == 0.0 or draw.noise is None:
            code = int(kernel.act(self.scores, NO_NOISE, 0, 0.0, column))
        else:
            code = self._pass.act(column, draw)
        if available is not None:
            return int(available[code])
        return code if self.oracle.sets is None else self.oracle.action(code)

    def settle(
        self, context: int, losses: FloatArray, draw: Draw, available: Available = None
    ) -> Action:
        if draw.scale == 0.0 or draw.noise is None or available is not None:
            return super().settle(context, losses, draw, available)
        oracle, column = self.oracle, self._views[context]
        if oracle.sets is None:
            return self._pass.add_and_act(column, losses, draw)
        return oracle.action(self._pass.add_and_act(column, oracle.losses_by_code(losses), draw))

    def _resampler(
        self, context: Any, elements: IntArray, draw: Draw, plus: Plus, available: Available
    ) -> tuple[Resample, Blocks] | None:
        sets = self.oracle.sets
        substitutes = sets is None and available is not None
        if substitutes or not isinstance(draw.noise, FiniteNoise):
            return super()._resampler(context, elements, draw, plus, available)
        actions = np.eye(self.n_actions, dtype=bool) if sets is None else sets
        scores = self._scores_plus(context, plus)
        rest = self._views[context], actions[:, elements]

        def resample(block: Any, start: int, stop: int, *counts: Any) -> tuple[int, int]:
            given = block, start, stop, draw.scale, *rest
            return kernel.resample_many(scores, *given, *counts)  # type: ignore[no-any-return]

        return resample, draw.noise.blocks

    def lesson(
        self, context: int, action: int, loss: float, draw: Draw, trials: Trials, plus: Plus = None
    ) -> Lesson | None:
        """Find a weight from both signs of a draw in one pass, without one of its coordinates."""
        noise, number, scale = draw
        if trials.exact and plus is None:
            best = self._best_by_action(context, draw)
            if best is not None:
                return exact_lesson(best, scale, action, loss, trials)
        if trials.enough == 0.0 or self.oracle.sets is not None:
            return None
        if not isinstance(noise, FiniteNoise) or scale == 0.0:
            return paired_lesson(self, context, action, loss, draw, trials, plus)
        scores, column = self._scores_plus(context, plus), self._views[context]
        cell, state = noise.cell(context, action), self._state_of_weight
        address = noise.key, noise.stream
        weight, used, most = 1.0, 0, trials.limit - 1
        needed = most > 0
        while needed:
            start = noise.blocks.locate(number + used)
            block = noise.blocks.block
            rows, needed = kernel.weigh(
                scores, block, start, min(start + most - used, len(block)), scale, column, action,
                cell, *address, trials.stop_key, number + used, trials.share, most, trials.enough,
                used, state,
            )  # fmt: skip
            used += rows
            weight = state.item(SUM)
        if loss == 0.0:
            return Lesson(weight, used, 0.0)
        row = noise.blocks.locate(number + used)
        lost = kernel.unrest(
            scores, noise.blocks.block, row, scale, column, action, cell, *address, number + used,
            weight * loss,
        )  # fmt: skip
        return Lesson(weight, used, lost)

    def distribution(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray | None:
        """Return the distribution if it is known: single actions, noise only on this context."""
        best = self._best_by_action(context, draw)
        if best is None:
            return None
        return played(
            argmin_distribution_of(best if plus is None else best + plus, draw.scale), available
        )

    def _best_by_action(self, context: int, draw: Draw) -> FloatArray | None:
        """Return the best total of each action, if noise depends only on the action."""
        noise, _, scale = draw
        if noise is None or scale == 0.0:  # equivalent: a loaded learner makes its noise later
            return None
        perturbed = noise.contexts
        if len(perturbed) > 1 or self.oracle.sets is not None or perturbed[0] != context:
            return None
        best = np.empty(self.oracle.n_actions)
        kernel.best_by_action(self.scores, self._views[context], best)
        return best

    def _scores_plus(self, context: int, plus: Plus) -> FloatArray:
        if plus is None:
            return self.scores
        return self._pass.plus(self._views[context], self.oracle.losses_by_code(plus))

    def _after(self, context: int, plus: FloatArray, noise: Noise | None) -> Self:
        twin = type(self)(self.oracle)
        twin.scores = self._scores_plus(context, plus)
        return twin

    @property
    def _statistic(self) -> tuple[FloatArray]:
        return (self.scores,)

    def _blocks(self, noise: Noise | None) -> Blocks | None:
        return noise.blocks if isinstance(noise, FiniteNoise) else None

    def _place(self, context: int) -> NDArray[Any]:
        return self._views[context]

    def _policy(self, code: NDArray[np.int64]) -> Policy:
        return FinitePolicy(self.oracle, int(code[0]))

    def _plays(self, codes: Codes, place: NDArray[Any]) -> NDArray[Any]:
        return place[codes[:, 0]]

    def _inclusion(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        sets = self.oracle.sets
        return super()._inclusion(actions) if sets is None else np.asarray(sets[actions])


class FinitePanel(DiscountedTotals):
    """Discounted loss of every policy for each discount, [B, N], updated in one pass."""

    oracle: FinitePolicies
    scored = False

    stored = State(scores=Array(), _totals=None, _ages=None, _recent=None, _owed=None)

    def __init__(self, oracle: FinitePolicies, discounts: Sequence[float]) -> None:
        self.oracle = oracle
        self.discounts = tuple(discounts)
        self._views = oracle._views
        shape = len(self.discounts), oracle._columns.shape[1]
        self.scores = np.zeros(shape)
        self.scores[:, oracle.n_policies :] = np.inf
        self._discounts = np.array(self.discounts)
        self._still = np.zeros(shape, np.float32)  # no noise
        self._held: tuple[Any, int, NDArray[np.float32]] = (None, -1, self._still)

    def total(self, i: int) -> FiniteObjective:
        """Return total number i, which shares its scores with this object."""
        total = self.oracle.objective()
        total.scores = self.scores[i]
        return total

    def unit(self, i: int) -> float:
        """Return 1: old scores are discounted, and a new loss counts fully."""
        return 1.0

    def actions(
        self,
        context: int,
        draws: Draws,
        plays: IntArray | None = None,
        losses: FloatArray | None = None,
    ) -> Choices:
        """Find all leaders in one compiled call; with losses, use a copy of the scores."""
        if losses is not None:
            return self._settle(self.scores.copy(), context, draws, losses)
        codes = np.empty(len(draws.scales), np.intp)
        kernel.act_all(self.scores, self._rows(draws), draws.scales, self._views[context], codes)
        return self._choices(codes)

    def add(self, context: int, losses: FloatArray) -> None:
        """Add the losses, then discount all scores."""
        by_code = self.oracle.losses_by_code(losses)
        self.scores += by_code[self._views[context]]
        self.scores *= self._discounts[:, None]

    def settle(
        self, context: int, draws: Draws, plays: IntArray | None, losses: FloatArray
    ) -> Choices:
        """Add the losses and find the leaders in one compiled call."""
        return self._settle(self.scores, context, draws, losses)

    def _settle(
        self, scores: FloatArray, context: int, draws: Draws, losses: FloatArray
    ) -> Choices:
        codes = np.empty(len(draws.scales), np.intp)
        by_code = self.oracle.losses_by_code(losses)
        rows, column = self._rows(draws), self._views[context]
        kernel.settle_all(scores, rows, draws.scales, column, by_code, self._discounts, codes)
        return self._choices(codes)

    def _choices(self, codes: IntArray) -> Choices:
        oracle = self.oracle
        return codes if oracle.sets is None else [oracle._listed[c].copy() for c in codes]

    def _rows(self, draws: Draws) -> NDArray[np.float32]:
        """Return one draw for each total; the last result is cached.

        The draws may lie in two blocks, and the first block may be replaced before the settling."""
        noise, first, _ = draws
        if not isinstance(noise, FiniteNoise):
            return self._still
        held = self._held
        if held[0] is noise and held[1] == first:
            return held[2]
        blocks, count = noise.blocks, len(self.discounts)
        start = blocks.locate(first)
        rows = blocks.block[start : start + count]
        if len(rows) < count:
            rows = np.concatenate([b[i:j].copy() for b, i, j in blocks.spans(first, count)])
        self._held = noise, first, rows
        return rows


class FiniteNoise(LaplaceNoise):
    """Fake outcomes projected on every policy of a table."""

    def __init__(
        self, oracle: Any, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> None:
        super().__init__(contexts, oracle.n_actions, key, stream)
        self._oracle = oracle
        self.largest = LARGEST * len(contexts) * oracle.max_chosen
        """No projected draw holds a larger number."""
        self.blocks = Blocks(self._fill, oracle._columns.shape[1], memory, _PIECE)

    @cached_property
    def _plan(self) -> ProjectionPlan:
        plan: ProjectionPlan = self._oracle._plan(tuple(self.contexts))
        return plan

    @cached_property
    def _cells(self) -> dict[Hashable, int]:
        return {self._oracle.key(x): i * self.n_actions for i, x in enumerate(self.contexts)}

    def cell(self, context: Any, element: int) -> int:
        """Return the coordinate of an element on a context; -1 if the context has no noise."""
        first = self._cells.get(self._oracle.key(context))
        return -1 if first is None else first + element

    def _fill(self, first: int, block: NDArray[np.float32], start: int, stop: int) -> None:
        plan = self._plan
        past_caches = block.shape[1] >= _PIECE and block.ctypes.data % 64 == 0
        given = plan.steps, plan.n_rows, plan.codes, block, start, stop, past_caches
        kernel.fill_rows(self.key, self.stream, first, self.n_cells, *given)
