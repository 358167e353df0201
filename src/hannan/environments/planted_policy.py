"""Losses drawn independently, low on one policy's actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Environment, Oracle, ParameterError, Policy, Round
from hannan.core.validation import FloatArray, check_probability
from hannan.perturbation import seed_key


class PlantedPolicy(Environment):
    """A stochastic world: a policy of the class, chosen at random, is best.

    Contexts are drawn uniformly from a set. Each element's loss is 1 with probability `good` if
    the planted policy chooses it and with probability `bad` otherwise, else 0.

    Parameters
    ----------
    oracle
        The policy class.
    contexts
        The contexts that may arrive; by default the oracle's own.
    good, bad
        Probabilities of a loss.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(5, 3))
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=500, seed=0)
    >>> bool(trace.losses.mean() < 0.5)
    True
    """

    oracle: Oracle

    def __init__(
        self,
        oracle: Oracle,
        contexts: Sequence[Any] | None = None,
        *,
        good: float = 0.3,
        bad: float = 0.5,
    ) -> None:
        self.oracle = oracle
        self.n_actions, self._contexts = world_of(self, oracle, contexts)
        self.good = check_probability(self, "good", good)
        self.bad = check_probability(self, "bad", bad)

    @property
    def contexts(self) -> list[Any]:
        """The contexts that may arrive."""
        return self._contexts

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        """Independent rounds around one policy."""
        table = chosen_elements(self, random_policies(self, 1, rng)[0])
        for i, u in draws(self, horizon, rng):
            losses = (u < np.where(table[i], self.good, self.bad)).astype(np.float64)
            yield Round(self._contexts[i], losses)


World = Any  # an environment with `oracle`, `n_actions` and `contexts`


def world_of(
    owner: Environment, oracle: Oracle, contexts: Sequence[Any] | None
) -> tuple[int, list[Any]]:
    """K and the contexts of a world built on a policy class."""
    known = oracle.contexts if contexts is None else contexts
    if known is None or len(known) == 0:
        raise ParameterError(
            f"{type(owner).__name__} needs contexts= for {type(oracle).__name__}: the contexts "
            "that may arrive."
        )
    if oracle.n_actions is None:
        raise ParameterError(f"{type(owner).__name__} needs an oracle that knows n_actions.")
    return oracle.n_actions, list(known)


def random_policies(world: World, count: int, rng: np.random.Generator) -> list[Policy]:
    """Leaders of pure noise: policies of the class, none preferred."""
    noise = world.oracle.noise(world.contexts, seed_key(int(rng.integers(2**63))), 0, 2**26)
    return list(world.oracle.objective().leaders(noise, 0, count, 1.0))


def chosen_elements(world: World, policy: Policy) -> NDArray[np.bool_]:
    """Whether the policy chooses element j on context i, as [d, K]."""
    table = np.zeros((len(world.contexts), world.n_actions), dtype=bool)
    for i, context in enumerate(world.contexts):
        table[i, policy(context)] = True
    return table


def draws(world: World, horizon: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
    """For each round the number of a context and a uniform variate for each element."""
    block = 1024
    for start in range(0, horizon, block):
        size = min(block, horizon - start)
        indices = rng.integers(len(world.contexts), size=size).tolist()
        uniforms = rng.random((size, world.n_actions))
        yield from zip(indices, uniforms, strict=True)
