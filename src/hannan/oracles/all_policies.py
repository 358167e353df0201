"""All maps from contexts to actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Policy
from hannan.core.oracle import Available, Draw, FullTable, Lesson, Noise, Plus, Trials, positions
from hannan.core.state import Array, State
from hannan.core.validation import FloatArray, check_integer
from hannan.kernels import tabular as kernel
from hannan.oracles._tables import argmin_distribution_of, check_table_context, exact_lesson
from hannan.oracles._totals import Solved
from hannan.perturbation import LaplaceNoise
from hannan.perturbation.laplace import mean_of_maximum

_NO_KEY = np.uint64(0)


class AllPolicies(FullTable):
    r"""All maps from d contexts to K actions.

    There are :math:`K^d` policies. Contexts decouple: on context x every leader plays
    :math:`\arg\min_k \sum_{s : x_s = x} \ell_s(k)`, and only the noise on x matters. So a round
    costs O(K) for every d. With d = 1 this is the problem of K experts (or arms). Ties go to the
    smallest action.

    Parameters
    ----------
    n_contexts
        Number d of contexts, at least 1. Contexts are the integers 0..d-1 (or None if d = 1).
    n_actions
        Number K of actions, at least 1.

    Examples
    --------
    >>> import hannan as hn
    >>> total = hn.oracles.AllPolicies(n_contexts=2, n_actions=3).objective()
    >>> total.add(1, np.array([0.5, 0.0, 1.0]))
    >>> total.leader()(0), total.leader()(1)
    (0, 1)
    """

    def __init__(self, n_contexts: int, n_actions: int) -> None:
        self.n_contexts = check_integer(self, "n_contexts", n_contexts, 1)
        self.n_actions: int = check_integer(self, "n_actions", n_actions, 1)

    @property
    def contexts(self) -> range:
        return range(self.n_contexts)

    def check_context(self, context: Any) -> int:
        if type(context) is int and 0 <= context < self.n_contexts:
            return context
        if context is None and self.n_contexts == 1:
            return 0
        return check_table_context(self, context, self.n_contexts)

    def objective(self) -> TableObjective:
        return TableObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        """Return fake outcomes, computed only where they are used."""
        return TableNoise(self.n_contexts, contexts, self.n_actions, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float:
        return len(contexts) * float(np.log(self.n_actions))

    def complexity(self, contexts: Sequence[Any]) -> float:
        r"""Return :math:`d \cdot E \max_k \zeta_k`, exactly."""
        return len(contexts) * mean_of_maximum(self.n_actions)

    def separates(self, contexts: Sequence[Any]) -> bool:
        """Return True only for the set of all contexts (for any set, if there is one action)."""
        return self.n_actions == 1 or len(set(contexts)) == self.n_contexts


class TablePolicy(Policy):
    """Table of one action for each context."""

    def __init__(self, oracle: AllPolicies, actions: NDArray[np.intp]) -> None:
        self.oracle = oracle
        self.actions = actions

    def __call__(self, context: Any = None) -> int:
        return int(self.actions[self.oracle.check_context(context)])

    def __repr__(self) -> str:
        return f"<policy on {len(self.actions)} contexts>"


class TableNoise(LaplaceNoise):
    """Fake outcomes addressed by context, without storage."""

    def __init__(
        self, n_contexts: int, contexts: Sequence[Any], n_actions: int, key: np.uint64, stream: int
    ) -> None:
        super().__init__(contexts, n_actions, key, stream)
        self.places = positions(contexts, n_contexts)


class TableObjective(Solved):
    """Total loss of every action on every context."""

    oracle: AllPolicies
    scored = True

    stored = State(totals=Array())

    def __init__(self, oracle: AllPolicies) -> None:
        self.oracle = oracle
        self.totals = np.zeros((oracle.n_contexts, oracle.n_actions))

    def extended(self, oracle: Any) -> TableObjective:
        """Extend the totals: on each context a new action gets the smallest total."""
        twin = TableObjective(oracle)
        twin.totals[:] = self.totals.min(axis=1, keepdims=True)
        twin.totals[:, : self.totals.shape[1]] = self.totals
        return twin

    def add(self, context: int, losses: FloatArray) -> None:
        row = self.totals[context]
        row += losses

    def action(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> int:
        noise, number, scale = draw
        key, stream, place = _address(noise, context)
        if plus is not None or available is not None:
            row = self._row(context, plus, available)
            return int(kernel.act(row, 0, key, stream, number, place, scale))
        return int(kernel.act(self.totals, context, key, stream, number, place, scale))

    def settle(
        self, context: int, losses: FloatArray, draw: Draw, available: Available = None
    ) -> int:
        """Add the losses and find the leader in one compiled call."""
        if available is not None:
            return int(super().settle(context, losses, draw, available))  # type: ignore[arg-type]
        noise, number, scale = draw
        key, stream, place = _address(noise, context)
        return int(kernel.settle(self.totals, context, key, stream, number, place, scale, losses))

    def chosen(
        self, context: int, draw: Draw, count: int, plus: Plus = None, available: Available = None
    ) -> NDArray[np.bool_]:
        noise, first, scale = draw
        key, stream, place = _address(noise, context)
        row, actions = self._row(context, plus, available), np.empty(count, np.intp)
        kernel.count_choices(row, 0, key, stream, first, count, place, scale, actions)
        return np.asarray(actions[:, None] == np.arange(self.n_actions))

    def weights(
        self,
        context: int,
        elements: NDArray[np.intp],
        draw: Draw,
        limit: int,
        successes: int,
        plus: Plus = None,
        available: Available = None,
    ) -> tuple[FloatArray, int]:
        """Process the draws of one row inside one compiled call."""
        if len(elements) != 1:
            return super().weights(context, elements, draw, limit, successes, plus, available)
        noise, first, scale = draw
        key, stream, place = _address(noise, context)
        row = self._row(context, plus, available)
        hits, used = kernel.resample(
            row, 0, key, stream, first, limit - 1, place, scale, elements[0], successes
        )
        weight = used / successes if hits == successes else limit / (hits + 1.0)
        return np.array([weight]), int(used)

    def distribution(
        self, context: int, draw: Draw, plus: Plus = None, available: Available = None
    ) -> FloatArray:
        """Compute the distribution as a one-dimensional integral, because contexts decouple."""
        noisy = _address(draw.noise, context)[2] >= 0
        row = self._row(context, plus, available)[0]
        return argmin_distribution_of(row, draw.scale if noisy else 0.0)

    def lesson(
        self, context: int, action: int, loss: float, draw: Draw, trials: Trials, plus: Plus = None
    ) -> Lesson | None:
        """Compute the weight from the distribution, if `trials` asks for it and there is noise."""
        noise, _, scale = draw
        noisy = isinstance(noise, TableNoise) and noise.places.item(context) >= 0
        if not (trials.exact and noisy and scale):
            return None
        row = self.totals[context] if plus is None else self.totals[context] + plus
        return exact_lesson(row, scale, action, loss, trials)

    def _row(self, context: int, plus: Plus = None, available: Available = None) -> FloatArray:
        """Return the totals of one context, [1, K]; infinite for unavailable actions."""
        row = self.totals[context : context + 1]
        if plus is not None:
            row = row + plus
        if available is None:
            return row
        return np.where(available == np.arange(len(available)), row, np.inf)

    def _solve(self, draw: Draw) -> tuple[TablePolicy, float]:
        noise, number, scale = draw
        actions = np.empty(self.oracle.n_contexts, np.intp)
        if isinstance(noise, TableNoise):
            key, stream, places = noise.key, noise.stream, noise.places
        else:
            key, stream, places, scale = _NO_KEY, _NO_KEY, actions, 0.0
        value = kernel.policy(self.totals, key, stream, number, places, scale, actions)
        return TablePolicy(self.oracle, actions), float(value)


def _address(noise: Noise | None, context: int) -> tuple[np.uint64, np.uint64, int]:
    if isinstance(noise, TableNoise):
        return noise.key, noise.stream, noise.places.item(context)
    return _NO_KEY, _NO_KEY, -1
