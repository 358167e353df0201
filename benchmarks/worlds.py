"""Bandit worlds, noisy, real and adversarial, for the recommended learner beside its peers.

Worlds with known means count regret a round, all others the mean loss. Features of real streams are
standardised on the first 500 rows, clipped at 5 and divided by the root of their number, the same
for every learner.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import hannan as hn
from benchmarks.streams import DATA


@dataclass(frozen=True)
class Rounds:
    """All losses of a game, fixed in advance."""

    contexts: Any
    losses: np.ndarray
    means: np.ndarray | None = None
    delay: int = 0


@dataclass(frozen=True)
class World:
    """A kind of game: `make(seed)` gives its rounds, or an environment that reacts."""

    name: str
    kind: str  # "rows", "arms" or "finite"
    make: Callable[[int], Any]
    n_actions: int
    horizon: int = 10_000


def scaled(X: np.ndarray) -> np.ndarray:
    """Standardised on the first 500 rows, clipped, of length about 1."""
    head = X[:500].astype(float)
    spread = head.std(axis=0)
    spread[spread == 0.0] = 1.0
    found = np.clip((X - head.mean(axis=0)) / spread, -5.0, 5.0) / math.sqrt(X.shape[1])
    return np.ascontiguousarray(found)


def _wrong(labels: np.ndarray, K: int) -> np.ndarray:
    return 1.0 - np.eye(K)[labels]


def digits(seed: int, T: int = 10_000, delay: int = 0) -> Rounds:
    """Scikit-learn's digits, reshuffled in each pass."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng([seed, 11])
    order = np.concatenate([rng.permutation(len(y)) for _ in range(T // len(y) + 1)])[:T]
    return Rounds(np.ascontiguousarray(X[order] / 16.0), _wrong(y[order], 10), None, delay)


def permuted(seed: int) -> Rounds:
    """Digits with new labels at each quarter of 20,000 rounds."""
    found = digits(seed, 20_000)
    labels = found.losses.argmin(axis=1)
    rng = np.random.default_rng([seed, 12])
    for quarter in range(1, 4):
        labels[quarter * 5000 :] = rng.permutation(10)[labels[quarter * 5000 :]]
    return Rounds(found.contexts, _wrong(labels, 10))


def planted(seed: int) -> Rounds:
    """S3b: three of 1,000 policies are good, and the leader of all losses so far is punished."""
    rng = np.random.default_rng([seed, 13])
    vectors = rng.standard_normal((50, 20)) / math.sqrt(20)
    table = rng.integers(5, size=(1000, 50))
    for j in (1, 2):
        table[j] = (table[0] + j) % 5
    contexts = rng.integers(50, size=10_000)
    losses = np.full((10_000, 5), 0.9)
    totals = np.zeros(1000)
    for t, x in enumerate(contexts):
        losses[t, table[:3, x]] = rng.random(3) < 0.05
        losses[t, table[totals.argmin(), x]] = 1.0
        totals += losses[t, table[:, x]]
    return Rounds(vectors[contexts], losses)


def stored(file: str, K: int, block: tuple[int, int] | None = None) -> Callable[[int], Rounds]:
    """A data set in random order; with a block, stretches of a stream in its own order."""

    def make(seed: int) -> Rounds:
        with np.load(DATA / f"{file}.npz") as found:
            X, y = found["X"].astype(float), found["y"]
        if block is None:
            order = np.random.default_rng([seed, 14]).permutation(len(y))[:10_000]
        else:
            length, step = block
            order = np.arange(step * (seed % 5), min(len(y), step * (seed % 5) + length))
        return Rounds(scaled(X[order]), _wrong(y[order], K))

    return make


def emotions(seed: int) -> Rounds:
    """One of six labels of a piece of music, which holds or does not; five passes."""
    with np.load(DATA / "multilabel/music_emotions.npz") as found:
        X, Y = found["X"].astype(float), found["Y"]
    rng = np.random.default_rng([seed, 15])
    order = np.concatenate([rng.permutation(len(Y)) for _ in range(5)])
    return Rounds(scaled(X[order]), 1.0 - Y[order])


def arms(K: int, gap: float, delay: int = 0) -> Callable[[int], Rounds]:
    """Bernoulli losses, all means 0.5 but one."""

    def make(seed: int) -> Rounds:
        rng = np.random.default_rng([seed, 16, K])
        means = np.full(K, 0.5)
        means[rng.integers(K)] -= gap
        losses = (rng.random((10_000, K)) < means).astype(float)
        return Rounds([None] * 10_000, losses, np.broadcast_to(means, losses.shape), delay)

    return make


def sparse_arms(seed: int) -> Rounds:
    """Ten arms with few clicks."""
    rng = np.random.default_rng([seed, 17])
    clicks = rng.uniform(0.01, 0.03, 10)
    clicks[rng.integers(10)] = 0.05
    losses = 1.0 - (rng.random((10_000, 10)) < clicks)
    return Rounds([None] * 10_000, losses, np.broadcast_to(1.0 - clicks, losses.shape))


def linear(seed: int, delay: int = 0, level: float = 0.5) -> Rounds:
    """Ten actions, losses linear in ten features with Gaussian noise."""
    rng = np.random.default_rng([seed, 18])
    X = rng.standard_normal((10_000, 10)) / math.sqrt(10)
    means = np.clip(level + 0.15 * X @ rng.standard_normal((10, 10)), 0.0, 1.0)
    losses = np.clip(means + 0.2 * rng.standard_normal(means.shape), 0.0, 1.0)
    return Rounds(X, losses, means, delay)


def clicks(seed: int) -> Rounds:
    """The same with click probabilities of 1 to 5 per cent."""
    rng = np.random.default_rng([seed, 19])
    X = rng.standard_normal((20_000, 10)) / math.sqrt(10)
    rates = 0.03 + 0.02 * np.tanh(X @ rng.standard_normal((10, 10)))
    losses = 1.0 - (rng.random(rates.shape) < rates)
    return Rounds(X, losses, 1.0 - rates)


def xor(seed: int) -> Rounds:
    """Four classes that no linear policy can tell apart."""
    rng = np.random.default_rng([seed, 20])
    X = rng.standard_normal((10_000, 6)) / math.sqrt(6)
    labels = (X[:, 0] * X[:, 1] > 0) + 2 * (X[:, 2] * X[:, 3] > 0)
    random = rng.random(10_000) < 0.1
    labels[random] = rng.integers(4, size=int(random.sum()))
    return Rounds(X, _wrong(labels, 4))


def duel(adversary: Any, N: int, d: int, K: int) -> Callable[[int], Any]:
    """An adversary around a random finite class."""

    def make(seed: int) -> Any:
        table = np.random.default_rng([seed, 7]).integers(K, size=(N, d))
        return adversary(hn.oracles.FinitePolicies(table, n_actions=K))

    return make


def copy_rows(seed: int) -> Any:
    """CopyPunisher with features."""
    return hn.environments.CopyPunisher(n_actions=3, n_contexts=20, features=10)


ENV = hn.environments
WORLDS = {
    world.name: world
    for world in (
        World("digits", "rows", digits, 10),
        World("permuted", "rows", permuted, 10, 20_000),
        World("S3b", "rows", planted, 5),
        World("pendigits", "rows", stored("multiclass/pendigits", 10), 10),
        World("satimage", "rows", stored("multiclass/satimage", 6), 6),
        World("shuttle", "rows", stored("multiclass/shuttle", 7), 7),
        World("covtype", "rows", stored("drift/covtype_every4th", 7, (10_000, 25_000)), 7),
        World("weather", "rows", stored("drift/ne_weather", 2, (9_000, 2_000)), 2),
        World("emotions", "rows", emotions, 6),
        World("xor", "rows", xor, 4),
        World("linear", "rows", linear, 10),
        World("clicks", "rows", clicks, 10, 20_000),
        World("digits, delay 100", "rows", lambda seed: digits(seed, delay=100), 10),
        World("linear, delay 100", "rows", lambda seed: linear(seed, 100), 10),
        World("CopyPunisher, rows", "rows", copy_rows, 3, 5000),
        World("CopyPunisher", "finite", duel(ENV.CopyPunisher, 50, 20, 3), 3, 5000),
        World("Bait", "finite", duel(ENV.Bait, 50, 20, 3), 3, 5000),
        World("LeaderPunisher", "finite", duel(ENV.LeaderPunisher, 1000, 50, 5), 5, 5000),
        World("arms2/0.05", "arms", arms(2, 0.05), 2),
        World("arms2/0.2", "arms", arms(2, 0.2), 2),
        World("arms10/0.05", "arms", arms(10, 0.05), 10),
        World("arms10/0.2", "arms", arms(10, 0.2), 10),
        World("arms50/0.2", "arms", arms(50, 0.2), 50),
        World("sparse arms", "arms", sparse_arms, 10),
        World("arms10/0.2, delay 100", "arms", arms(10, 0.2, 100), 10),
    )
}


def play(learner: Any, game: Rounds) -> float:
    """Mean loss, or regret a round where means are known."""
    T = len(game.losses)
    actions = np.empty(T, dtype=np.intp)
    if not game.delay:
        for t in range(T):
            action = actions[t] = learner.act(game.contexts[t])
            learner.update(float(game.losses[t, action]))
    else:
        waiting: deque[tuple[int, Any]] = deque()
        for t in range(T):
            if len(waiting) >= game.delay:
                made, decision = waiting.popleft()
                learner.update(float(game.losses[made, decision.action]), decision=decision)
            decision = learner.decide(game.contexts[t])
            actions[t] = decision.action
            waiting.append((t, decision))
    rows = np.arange(T)
    if game.means is not None:
        return float((game.means[rows, actions] - game.means.min(axis=1)).mean())
    return float(game.losses[rows, actions].mean())


def score(world: World, learner: Any, seed: int) -> float:
    """How a learner fares in one game."""
    game = world.make(seed)
    if isinstance(game, Rounds):
        return play(learner, game)
    return float(hn.play(learner, game, world.horizon, seed=seed).losses.mean())
