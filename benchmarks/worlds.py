"""Bandit worlds, noisy, real and adversarial, for the recommended learner beside its peers.

Worlds with known means count regret a round, all others the mean loss. Features of real streams are
standardised on the first 500 rows, clipped at 5 and divided by the root of their number, the same
for every learner.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import hannan as hn
from benchmarks.measure import Line, Matrix
from benchmarks.streams import DATA
from benchmarks.worlds_contenders import CONTENDERS, LIN_UCB, OURS, PEERS, PLAIN

SEEDS = 5
COVTYPE, WEATHER, EMOTIONS = (
    "drift/covtype_every4th",
    "drift/ne_weather",
    "multilabel/music_emotions",
)


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
    file: str | None = None

    @property
    def path(self) -> Path | None:
        """Where its data are, if it needs any."""
        return None if self.file is None else DATA / f"{self.file}.npz"


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
    with np.load(DATA / f"{EMOTIONS}.npz") as found:
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


def linear3(seed: int, level: float = 0.5) -> Rounds:
    """Three actions, losses linear in three features; the noise has deviation 0.1.

    All losses stay in [0, 1] for levels from 0.35 to 0.65, so that the level is a constant added.
    """
    rng = np.random.default_rng([seed, 21])
    X, W = rng.uniform(-1.0, 1.0, (6000, 3)), rng.standard_normal((3, 3))
    means = level + 0.1 * X @ (W / np.linalg.norm(W, axis=0))
    half = 0.1 * math.sqrt(3.0)
    return Rounds(X, means + rng.uniform(-half, half, means.shape), means)


def logistic(seed: int) -> Rounds:
    """Four advertisements, five features, click probabilities by a logistic model."""
    rng = np.random.default_rng([seed, 22])
    X = rng.standard_normal((8000, 5))
    rates = 1.0 / (1.0 + np.exp(2.0 - X @ rng.standard_normal((5, 4)) / math.sqrt(5)))
    losses = 1.0 - (rng.random(rates.shape) < rates)
    return Rounds(X, losses, 1.0 - rates)


def five_arms(best: float, rest: float, noise: float | None) -> Callable[[int], Rounds]:
    """One arm is better; Bernoulli losses, or means with Gaussian noise."""

    def make(seed: int) -> Rounds:
        rng = np.random.default_rng([seed, 23])
        means = np.full(5, rest)
        means[rng.integers(5)] = best
        if noise is None:
            losses = (rng.random((5000, 5)) < means).astype(float)
        else:
            losses = np.clip(means + noise * rng.standard_normal((5000, 5)), 0.0, 1.0)
        return Rounds([None] * 5000, losses, np.broadcast_to(means, losses.shape))

    return make


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
        World(
            "pendigits", "rows", stored("multiclass/pendigits", 10), 10, file="multiclass/pendigits"
        ),
        World("satimage", "rows", stored("multiclass/satimage", 6), 6, file="multiclass/satimage"),
        World("shuttle", "rows", stored("multiclass/shuttle", 7), 7, file="multiclass/shuttle"),
        World("covtype", "rows", stored(COVTYPE, 7, (10_000, 25_000)), 7, file=COVTYPE),
        World("weather", "rows", stored(WEATHER, 2, (9_000, 2_000)), 2, file=WEATHER),
        World("emotions", "rows", emotions, 6, file=EMOTIONS),
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
        World("3 linear losses", "rows", linear3, 3),
        World("3 linear losses, lower", "rows", lambda seed: linear3(seed, 0.35), 3),
        World("3 linear losses, higher", "rows", lambda seed: linear3(seed, 0.65), 3),
        World("logistic clicks", "rows", logistic, 4),
        World("5 arms, 0/1, 0.4 and 0.5", "arms", five_arms(0.4, 0.5, None), 5),
        World("5 arms, 0/1, 0.1 and 0.5", "arms", five_arms(0.1, 0.5, None), 5),
        World("5 arms, Gaussian, 0.45 and 0.5", "arms", five_arms(0.45, 0.5, 0.1), 5),
        World("5 arms, constant, 0.3 and 0.5", "arms", five_arms(0.3, 0.5, 0.0), 5),
    )
}
ORDINARY = (
    "3 linear losses",
    "logistic clicks",
    *(name for name in WORLDS if name.startswith("5 arms")),
)
MOST = {  # mean loss, or regret a round, of the recommended learner
    "digits": 0.040,
    "permuted": 0.070,
    "pendigits": 0.045,
    "satimage": 0.15,
    "shuttle": 0.02,
    "covtype": 0.18,
    "weather": 0.20,
    "emotions": 0.18,
    "xor": 0.40,
    "CopyPunisher": 0.51,
    "CopyPunisher, rows": 0.52,
    "Bait": 0.30,
    "S3b": 0.39,
    "digits, delay 100": 0.08,
    "arms10/0.2": 0.020,
    "arms10/0.05": 0.028,
    "arms2/0.05": 0.005,
}
BESIDE = {"LeaderPunisher": 1.08, "linear": 1.1, "clicks": 1.12}  # times the best peer
LATE, SLACK = 1.15, 0.005  # times LinUCB's excess in the last fifth, and so much more a round


@dataclass(frozen=True)
class Score:
    """What is kept of one game.

    `mean` is the mean loss, or regret a round where means are known; `late` the mean excess over
    the cheapest action of each round in the last fifth, None against adversaries.
    """

    mean: float
    late: float | None = None


def run() -> list[Line | Matrix]:
    """All contenders in all worlds."""
    worlds = [world for world in WORLDS.values() if world.path is None or world.path.exists()]
    found = play_all(worlds, SEEDS)
    lines = [
        Line(f"{world.name}: no {world.path.name} in shared/data, left out", math.nan, "-")
        for world in WORLDS.values()
        if world.path is not None and not world.path.exists()
    ]
    return [*lines, *targets(found), matrix(found)]


Found = dict[tuple[str, str], list[Score]]


def play_all(worlds: list[World], seeds: int, horizon: int | None = None) -> Found:
    """The scores of each world and contender, seed by seed."""
    cells = [(world.name, name) for world in worlds for name in CONTENDERS]
    tasks = [(*cell, seed, horizon) for cell in cells for seed in range(seeds)]
    scores = Parallel(n_jobs=2)(delayed(one_game)(*task) for task in tasks)
    return {cell: scores[i * seeds : (i + 1) * seeds] for i, cell in enumerate(cells)}


def one_game(world_name: str, contender: str, seed: int, horizon: int | None = None) -> Score:
    """One contender in one world; `horizon` cuts it short."""
    warnings.simplefilter("ignore")  # those of other libraries
    world = WORLDS[world_name]
    with threadpool_limits(1):
        game = world.make(seed)
        oracle = getattr(game, "oracle", None)
        learner = CONTENDERS[contender](world.kind, world.n_actions, oracle, seed)
        if isinstance(game, Rounds):
            return fixed(learner, game, horizon)
        return Score(
            float(hn.play(learner, game, horizon or world.horizon, seed=seed).losses.mean())
        )


def score(world: World, learner: Any, seed: int) -> float:
    """How a learner fares in one game."""
    game = world.make(seed)
    if isinstance(game, Rounds):
        return play(learner, game)
    return float(hn.play(learner, game, world.horizon, seed=seed).losses.mean())


def play(learner: Any, game: Rounds) -> float:
    """Mean loss, or regret a round where means are known."""
    return fixed(learner, game).mean


def fixed(learner: Any, game: Rounds, horizon: int | None = None) -> Score:
    """A game whose losses are fixed in advance."""
    T = min(horizon or len(game.losses), len(game.losses))
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
    rows, losses = np.arange(T), game.losses[:T]
    cost = losses[rows, actions]
    late = float((cost - losses.min(axis=1))[-max(1, T // 5) :].mean())
    if game.means is not None:
        means = game.means[:T]
        return Score(float((means[rows, actions] - means.min(axis=1)).mean()), late)
    return Score(float(cost.mean()), late)


def targets(found: Found) -> list[Line]:
    """What is asked of the recommended learner in the worlds that were played."""
    lines = []
    for name, most in MOST.items():
        if (name, OURS) in found:
            ours = _means(found, name, OURS)
            what = f"{name}: {_measure(name)}"
            lines.append(Line(what, ours.mean(), _shown(ours), most, at_least=False))
    for name, factor in BESIDE.items():
        if (name, OURS) in found:
            best = min(PEERS, key=lambda peer, name=name: _means(found, name, peer).mean())
            lines.append(_ratio(f"{name}: {_measure(name)}", found, name, best, factor))
    for name in {name: None for name, _ in found}:
        if WORLDS[name].kind == "arms" or name in ORDINARY:
            lines.append(_difference(f"{name}: regret a round", found, (name, OURS), (name, PLAIN)))
    for name in ORDINARY:
        if (name, OURS) in found:
            lines.append(_late(found, name))
    low, high = ("3 linear losses, lower", OURS), ("3 linear losses, higher", OURS)
    if low in found and high in found:
        lines.append(_difference("A constant of 0.3 added: regret a round", found, high, low))
    return lines


def _means(found: Found, world: str, contender: str) -> np.ndarray:
    return np.array([one.mean for one in found[world, contender]])


def _measure(world: str) -> str:
    known = WORLDS[world].kind == "arms" or world.startswith(("linear", "clicks", *ORDINARY))
    return "regret a round" if known else "mean loss"


def _ratio(what: str, found: Found, world: str, peer: str, factor: float) -> Line:
    ours, theirs = _means(found, world, OURS), _means(found, world, peer)
    value = float(ours.mean() / theirs.mean())
    shown = f"{value:.3f} ({_shown(ours)}; {_shown(theirs)})"
    return Line(f"{what}, times that of {peer}, the best peer", value, shown, factor, False)


def _difference(what: str, found: Found, one: tuple[str, str], other: tuple[str, str]) -> Line:
    """Not above another one, but for two standard errors of the difference, seed by seed."""
    gap = _means(found, *one) - _means(found, *other)
    beside = f"that of {other[1]}" if one[0] == other[0] else "without it"
    shown = f"{gap.mean():+.4f} ± {_error(gap):.4f}"
    return Line(f"{what}, less {beside}", gap.mean(), shown, 2.0 * _error(gap), False)


def _late(found: Found, world: str) -> Line:
    """The excess at the end; a slack, for LinUCB's may be 0."""
    ours, theirs = (np.array([one.late for one in found[world, who]]) for who in (OURS, LIN_UCB))
    shown = f"{_shown(ours)} ({_shown(theirs)})"
    what = f"{world}: excess a round in the last fifth ({LATE} × {LIN_UCB} + {SLACK})"
    return Line(what, ours.mean(), shown, LATE * theirs.mean() + SLACK, at_least=False)


def matrix(found: Found) -> Matrix:
    """Contenders by worlds."""
    worlds = tuple({name: None for name, _ in found})
    return Matrix(
        "Mean loss, or regret a round where means are known, ± a standard error",
        worlds,
        {
            name: tuple(_shown(_means(found, world, name)) for world in worlds)
            for name in CONTENDERS
        },
        (f"{SEEDS} seeds: the order of rows or another block of the stream, and the play.",),
    )


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _shown(values: np.ndarray) -> str:
    return f"{values.mean():.4f} ± {_error(values):.4f}"
