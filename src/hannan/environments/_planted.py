"""Shared parts of environments that are built around policies of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Environment, Oracle, ParameterError
from hannan.core.arrays import Contexts, as_rows
from hannan.core.oracle import Draw
from hannan.core.validation import FloatArray, check_probability
from hannan.perturbation import seed_key


class DrawnContexts(Environment):
    """Contexts drawn uniformly from a set."""

    _contexts: list[Any]

    @property
    def contexts(self) -> list[Any]:
        return self._contexts

    def _draws(self, horizon: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
        """For each round the number of a context and a uniform variate for each element."""
        block = 1024
        for start in range(0, horizon, block):
            size = min(block, horizon - start)
            indices = rng.integers(len(self._contexts), size=size).tolist()
            uniforms = rng.random((size, self.n_actions))
            yield from zip(indices, uniforms, strict=True)


class PlantedWorld(DrawnContexts):
    """Losses of 0 or 1 whose probabilities are determined by some policies."""

    oracle: Oracle

    def __init__(self, oracle: Oracle, contexts: Contexts | None) -> None:
        known = oracle.contexts if contexts is None else as_rows(contexts)
        who = type(self).__name__
        if known is None or len(known) == 0:
            raise ParameterError(
                f"{who} needs contexts= for {type(oracle).__name__}: the contexts that may arrive."
            )
        if oracle.n_actions is None:
            raise ParameterError(f"{who} needs an oracle that knows n_actions.")
        self.oracle = oracle
        self.n_actions = oracle.n_actions
        self._contexts = list(known)

    def _plant(self, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """What randomly drawn policies choose, [count, d, K]: leaders under noise alone."""
        known = self.oracle.check_contexts(self._contexts)
        noise = self.oracle.noise(known, seed_key(int(rng.integers(2**63))), 0, 2**26)
        policies = self.oracle.objective().leaders(Draw(noise, 0, 1.0), count)
        tables = np.zeros((count, len(self._contexts), self.n_actions), dtype=bool)
        for table, policy in zip(tables, policies, strict=True):
            for row, context in zip(table, self._contexts, strict=True):
                row[policy(context)] = True
        return tables


class GoodAndBad(PlantedWorld):
    """A planted world with one probability of a loss on good elements and one on the others."""

    def __init__(self, oracle: Oracle, contexts: Contexts | None, good: float, bad: float) -> None:
        super().__init__(oracle, contexts)
        self.good = check_probability(self, "good", good)
        self.bad = check_probability(self, "bad", bad)

    def _losses(self, good: NDArray[np.bool_], u: FloatArray) -> FloatArray:
        return (u < np.where(good, self.good, self.bad)).astype(np.float64)
