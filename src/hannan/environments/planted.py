"""Environments whose losses are built around policies of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Environment, Oracle, ParameterError, Round
from hannan.core.arrays import Contexts, as_rows
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.validation import FloatArray, check_integer, check_probability
from hannan.perturbation import seed_key


class DrawnContexts(Environment):
    """Contexts drawn uniformly from a set."""

    _contexts: list[Any]

    @property
    def contexts(self) -> list[Any]:
        return self._contexts

    def _draws(self, horizon: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
        """Yield for each round the index of a context, and a uniform variate for each element."""
        block = 1024
        for start in range(0, horizon, block):
            size = min(block, horizon - start)
            indices = rng.integers(len(self._contexts), size=size).tolist()
            uniforms = rng.random((size, self.n_actions))
            yield from zip(indices, uniforms, strict=True)


class PlantedWorld(DrawnContexts):
    """Losses of 0 or 1 whose probabilities depend on a few policies."""

    oracle: Oracle

    def __init__(self, oracle: Oracle, contexts: Contexts | None) -> None:
        known = oracle.contexts if contexts is None else as_rows(contexts)
        who = type(self).__name__
        if known is None or len(known) == 0:
            raise ParameterError(
                f"{who} needs contexts= for {type(oracle).__name__}: the contexts that may arrive."
            )
        if oracle.n_actions is None:
            raise ParameterError(f"{who} needs an oracle with n_actions, not None.")
        self.oracle = oracle
        self.n_actions = oracle.n_actions
        self._contexts = list(known)

    def _plant(self, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return the choices of `count` random policies, [count, d, K]: leaders of noise only."""
        known = self.oracle.check_contexts(self._contexts)
        noise = self.oracle.noise(known, seed_key(int(rng.integers(2**63))), 0, 2**26)
        policies = self.oracle.objective().leaders(Draw(noise, 0, 1.0), count)
        tables = np.zeros((count, len(self._contexts), self.n_actions), dtype=bool)
        for table, policy in zip(tables, policies, strict=True):
            for row, context in zip(table, self._contexts, strict=True):
                row[policy(context)] = True
        return tables


class PlantedPolicy(PlantedWorld):
    """A stochastic environment in which a randomly chosen policy of the class is best.

    Contexts are drawn uniformly from a set. Each element's loss is 0 or 1. It is 1 with probability
    `good` if the planted policy chooses the element, and with probability `bad` otherwise.

    Parameters
    ----------
    oracle
        Policy class from which the planted policy is drawn.
    contexts
        Contexts that may arrive. Default: the contexts of the oracle.
    good, bad
        Probabilities of loss 1 for the elements that the planted policy chooses, and for all
        others. By default 0.3 and 0.5.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.PlantedPolicy(hn.oracles.AllPolicies(5, 3))
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=500, seed=0)
    >>> bool(trace.losses.mean() < 0.5)
    True
    """

    switches = 0
    """Number of times that the planted policy is replaced."""

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        good: float = 0.3,
        bad: float = 0.5,
    ) -> None:
        super().__init__(oracle, contexts)
        self.good = check_probability(self, "good", good)
        self.bad = check_probability(self, "bad", bad)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        tables = self._plant(self.switches + 1, rng)
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            table = tables[t * len(tables) // horizon]
            yield Round(self._contexts[i], self._losses(table[i], u))

    def _losses(self, good: NDArray[np.bool_], u: FloatArray) -> FloatArray:
        return (u < np.where(good, self.good, self.bad)).astype(np.float64)


class Switching(PlantedPolicy):
    """A stochastic environment whose best policy changes k times, at equal distances.

    Each part of the run is a `PlantedPolicy` with a new policy.

    Parameters
    ----------
    oracle, contexts, good, bad
        As in `PlantedPolicy`.
    switches
        Number of changes k. Default 3.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.Switching(hn.oracles.AllPolicies(5, 3), switches=2)
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=300, seed=0)
    >>> len(trace.losses)
    300
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        switches: int = 3,
        good: float = 0.3,
        bad: float = 0.5,
    ) -> None:
        super().__init__(oracle, contexts, good=good, bad=bad)
        self.switches = check_integer(self, "switches", switches, 0)


class LeaderPunisher(PlantedPolicy):
    """An adversary that gives loss 1 to the action of the best policy so far.

    A few random policies of the class are good: their elements cost 1 with probability `good`, all
    others with probability `bad`. The adversary then sets the loss of the leader's elements to 1.
    The leader is the best policy on all losses so far, without noise. So a learner that follows the
    leader loses in every round. The good policies take turns as leader, and each of them loses only
    in its share of the rounds. The losses do not depend on the learner's actions.

    Parameters
    ----------
    oracle, contexts, good, bad
        As in `PlantedPolicy`.
    planted
        Number of good policies. Default 3.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.LeaderPunisher(hn.oracles.AllPolicies(1, 4))
    >>> leader = hn.baselines.FollowTheLeader(world.oracle)
    >>> float(hn.play(leader, world, horizon=200, seed=0).losses.mean())
    1.0
    >>> float(hn.play(hn.ContextFTPL(world.oracle, seed=0), world, 200, seed=0).losses.mean()) < 0.7
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        planted: int = 3,
        good: float = 0.05,
        bad: float = 0.9,
    ) -> None:
        super().__init__(oracle, contexts, good=good, bad=bad)
        self.planted = check_integer(self, "planted", planted, 1)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        table = np.logical_or.reduce(self._plant(self.planted, rng))
        history = self.oracle.objective()
        for i, u in self._draws(horizon, rng):
            context = self.oracle.check_context(self._contexts[i])
            losses = self._losses(table[i], u)
            losses[history.action(context, WITHOUT_NOISE)] = 1.0
            yield Round(self._contexts[i], losses)
            history.add(context, losses)


class Bait(PlantedWorld):
    """An environment whose best policy has the largest losses in the first part of the run.

    A random policy of the class has elements with mean loss `early` during the first part of the
    rounds, and `late` during the rest. All other elements have mean loss `other` throughout. A
    learner that abandons the policy in the first part pays `other` until the end.

    Parameters
    ----------
    oracle, contexts
        As in `PlantedPolicy`.
    early, late, other
        Mean losses of the policy's elements in the two parts, and of all other elements. By default
        0.9, 0.1 and 0.5.
    part
        Length of the first part, as a share of the rounds. Default 0.2.
    noisy
        Whether losses are 0 or 1 with these means (default), or the means themselves.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.Bait(hn.oracles.AllPolicies(5, 3))
    >>> trace = hn.play(hn.ContextFTPL(world.oracle, seed=0), world, horizon=2000, seed=0)
    >>> bool(trace.losses[:400].mean() > 0.4 > 0.2 > trace.losses[-400:].mean())
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        contexts: Contexts | None = None,
        *,
        early: float = 0.9,
        late: float = 0.1,
        other: float = 0.5,
        part: float = 0.2,
        noisy: bool = True,
    ) -> None:
        super().__init__(oracle, contexts)
        self.early = check_probability(self, "early", early)
        self.late = check_probability(self, "late", late)
        self.other = check_probability(self, "other", other)
        self.part = check_probability(self, "part", part)
        self.noisy = noisy

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        table = self._plant(1, rng)[0]
        turn = round(self.part * horizon)
        for t, (i, u) in enumerate(self._draws(horizon, rng)):
            means = np.where(table[i], self.early if t < turn else self.late, self.other)
            yield Round(self._contexts[i], (u < means).astype(np.float64) if self.noisy else means)
