"""Where learners of many libraries meet: real streams, and adversaries that fight back.

Contexts are numbers of rows of a table of features, so that each learner can be given what it
takes: the row, or, where it weighs a list of policies, the number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hannan as hn
from benchmarks.drift import permuted
from benchmarks.streams import DATA, digits, from_file

STREAM_ROUNDS = 10_000
DUEL_ROUNDS = 5000
LISTED = 1000


@dataclass(frozen=True)
class World:
    """One game to be played by many: its rounds, the features of its contexts, a listed class."""

    environment: hn.Environment
    horizon: int
    rows: np.ndarray
    listed: hn.oracles.FinitePolicies
    finite: bool

    @property
    def n_actions(self) -> int:
        """K."""
        return self.environment.n_actions


@dataclass(frozen=True)
class Kind:
    """How a world is made for a seed."""

    name: str
    make: Callable[[int], World]
    file: Path | None = None

    @property
    def stored(self) -> bool:
        """Whether the rounds are the same for every seed."""
        return self.file is not None

    @property
    def present(self) -> bool:
        """Whether its data are there."""
        return self.file is None or self.file.exists()


def _stored(name: str, file: str) -> Kind:
    path = DATA / f"{file}.npz"

    def make(seed: int) -> World:
        rows, labels = from_file(path)
        return _stream(rows[:STREAM_ROUNDS], labels[:STREAM_ROUNDS])

    return Kind(name, make, path)


def _stream(rows: np.ndarray, labels: np.ndarray) -> World:
    """Bandit feedback on labels; the listed class are random linear policies."""
    distinct, contexts = np.unique(rows, axis=0, return_inverse=True)
    K = int(labels.max()) + 1
    losses = 1.0 - np.eye(K)[labels]
    environment = hn.environments.FromArrays(contexts.ravel(), losses)
    table = np.empty((LISTED, len(distinct)), dtype=np.int64)
    rng = np.random.default_rng(0)
    for policy in table:
        weights, offset = rng.standard_normal((rows.shape[1], K)), rng.standard_normal(K)
        policy[:] = (distinct @ weights + offset).argmin(axis=1)
    listed = hn.oracles.FinitePolicies(table, n_actions=K)
    return World(environment, len(labels), distinct, listed, finite=False)


def _duel(adversary: Any, N: int, d: int, K: int) -> Kind:
    """An adversary around a random finite class; features name the context."""

    def make(seed: int) -> World:
        table = np.random.default_rng([seed, 7]).integers(K, size=(N, d))
        oracle = hn.oracles.FinitePolicies(table, n_actions=K)
        return World(adversary(oracle), DUEL_ROUNDS, np.eye(d), oracle, finite=True)

    return Kind(adversary.__name__, make)


KINDS = (
    Kind("digits", lambda seed: _stream(*digits(seed, STREAM_ROUNDS))),
    Kind("permuted digits", lambda seed: _stream(*permuted(seed))),
    _stored("pendigits", "multiclass/pendigits"),
    _stored("satimage", "multiclass/satimage"),
    _stored("ne_weather", "drift/ne_weather"),
    _stored("covtype", "drift/covtype_every4th"),
    _duel(hn.environments.CopyPunisher, 50, 20, 3),
    _duel(hn.environments.FrequencyPunisher, 50, 20, 3),
    _duel(hn.environments.Bait, 50, 20, 3),
    _duel(hn.environments.LeaderPunisher, 1000, 50, 5),
)
