"""`hn.Decider` beside LinUCB, ε-greedy and Vowpal Wabbit that are given the same features.

Six kinds of worlds, 5 seeds, one setting of everything for all of them. The peers have the rows as
`hannan.features` encodes them, and rewards as losses in [0, 1]; the best of them is chosen in
hindsight, world by world. What a contender loses is its regret: what the best action of each row
earns on average, minus what the one that was taken does.
"""

from __future__ import annotations

import math
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import hannan as hn
from benchmarks.measure import Line, Matrix
from benchmarks.worlds_contenders import CONTENDERS, PEERS
from hannan.features import Features

SEEDS = 5
ROUNDS = 10_000
OURS = "hn.Decider"
WORST = 1.1  # times the regret of the best peer
LEAST = 0.9  # of what the best peer earns
WORDS = ("late", "early", "broken", "fine", "good", "bad", "slow", "quick", "again", "never")

Rows = list[Any]


@dataclass(frozen=True)
class Game:
    """All rewards of a game, fixed in advance."""

    rows: Rows
    rewards: np.ndarray
    means: np.ndarray
    bounds: tuple[float, float]

    @property
    def losses(self) -> np.ndarray:
        """Rewards as peers are told them."""
        low, high = self.bounds
        return (high - self.rewards) / (high - low)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def _coins(means: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(means.shape) < means).astype(float)


def clicks(seed: int, T: int) -> Game:
    """Five banners, of which one visitor in twenty to a hundred clicks."""
    rng = np.random.default_rng([1, seed])
    age, hour = rng.uniform(18, 70, T), rng.integers(0, 24, T)
    device = rng.choice(["phone", "desktop", "tablet"], T, p=[0.6, 0.3, 0.1])
    effects = rng.normal(0.0, 0.5, (3, 5)), rng.normal(0.0, 0.5, 5), rng.normal(0.0, 0.4, 5)
    kind = np.array([["phone", "desktop", "tablet"].index(each) for each in device])
    score = effects[0][kind] + np.outer((age - 44) / 15, effects[1])
    score += np.outer(np.sin(2 * np.pi * hour / 24), effects[2])
    means = np.clip(_sigmoid(score - 3.6), 0.01, 0.05)
    rows = [{"age": a, "hour": int(h), "device": str(d)}
            for a, h, d in zip(age.tolist(), hour, device, strict=True)]  # fmt: skip
    return Game(rows, _coins(means, rng), means, (0.0, 1.0))


CITIES = ("Rome", "Oslo", "Lima", "Kyiv")
PRICES = np.array([49.0, 79.0, 99.0, 129.0, 159.0, 199.0])


def prices(seed: int, T: int) -> Game:
    """Six prices up to 200; who values the thing at less does not buy."""
    rng = np.random.default_rng([2, seed])
    income, loyal = rng.lognormal(0.0, 0.5, T), rng.random(T) < 0.3
    city = rng.choice(CITIES, T)
    worth = dict(zip(CITIES, rng.uniform(-40, 40, 4), strict=True))
    centre = 60 + 40 * income + 25 * loyal + np.array([worth[str(each)] for each in city])
    means = PRICES * _sigmoid((centre[:, None] - PRICES) / 12.0)
    valued = centre + 12.0 * rng.logistic(size=T)
    rewards = PRICES * (valued[:, None] > PRICES)
    rows = [{"income": a, "loyal": bool(b), "city": str(c)}
            for a, b, c in zip(income.tolist(), loyal, city, strict=True)]  # fmt: skip
    return Game(rows, rewards, means, (0.0, 200.0))


def linear(seed: int, T: int) -> Game:
    """Rewards that are linear in eight numbers, with much noise."""
    rng = np.random.default_rng([3, seed])
    X, W = rng.normal(size=(T, 8)), rng.normal(size=(8, 5))
    means = np.clip(0.5 + 0.05 * X @ W, 0.0, 1.0)
    rewards = np.clip(means + rng.normal(0.0, 0.2, means.shape), 0.0, 1.0)
    return Game([row.tolist() for row in X], rewards, means, (0.0, 1.0))


def arms(seed: int, T: int) -> Game:
    """Six actions, nothing to tell decisions apart by."""
    rng = np.random.default_rng([4, seed])
    means = np.tile(rng.permutation([0.3, 0.35, 0.4, 0.4, 0.45, 0.5]), (T, 1))
    return Game([None] * T, _coins(means, rng), means, (0.0, 1.0))


def _mixed_rows(rng: np.random.Generator, T: int) -> tuple[Rows, np.ndarray]:
    """Sixteen columns of all kinds, and the scores of four actions."""
    numbers = rng.normal(size=(T, 6))
    levels = [rng.integers(0, n, T) for n in (3, 4, 5, 3, 12)]
    flags = rng.random((T, 2)) < 0.3
    days, hours = rng.integers(1, 28, T), rng.integers(0, 24, T)
    words = rng.integers(0, len(WORDS), (T, 5))
    holes = rng.random((T, 3)) < 0.1
    score = numbers @ rng.normal(0.0, 0.25, (6, 4))
    for found, n in zip(levels, (3, 4, 5, 3, 12), strict=True):
        score += rng.normal(0.0, 0.4, (n, 4))[found]
    score += flags @ rng.normal(0.0, 0.4, (2, 4))
    score += np.outer(np.cos(2 * np.pi * hours / 24), rng.normal(0.0, 0.3, 4))
    score += rng.normal(0.0, 0.2, (len(WORDS), 4))[words].sum(axis=1)
    rows = []
    for t in range(T):
        row: dict[str, Any] = {f"number {i}": float(numbers[t, i]) for i in range(6)}
        row |= {f"level {i}": f"kind {levels[i][t]}" for i in range(5)}
        row |= {"new": bool(flags[t, 0]), "vip": bool(flags[t, 1])}
        row["when"] = f"2024-03-{days[t]:02d}T{hours[t]:02d}:00"
        row["note"] = " ".join(WORDS[i] for i in words[t])
        row["region"] = "north" if t % 2 else "south"
        for hole, name in zip(holes[t], ("number 0", "level 1", "when"), strict=True):
            if hole:
                row[name] = None
        rows.append(row)
    return rows, score


def mixed(seed: int, T: int) -> Game:
    """Sixteen columns of all kinds, some values missing; one action in two succeeds."""
    rng = np.random.default_rng([5, seed])
    rows, score = _mixed_rows(rng, T)
    means = _sigmoid(score)
    return Game(rows, _coins(means, rng), means, (0.0, 1.0))


def drift(seed: int, T: int) -> Game:
    """What is best changes twice, at a third and at two thirds of the game."""
    rng = np.random.default_rng([6, seed])
    X = rng.normal(size=(T, 4))
    plan = rng.integers(0, 3, T)
    means = np.empty((T, 4))
    for third in range(3):
        now = slice(third * T // 3, (third + 1) * T // 3)
        score = 0.6 * X[now] @ rng.normal(size=(4, 4)) + rng.normal(0.0, 0.8, (3, 4))[plan[now]]
        means[now] = _sigmoid(score)
    names = ("free", "pro", "team")
    rows = [{"a": a, "b": b, "c": c, "d": d, "plan": names[k]}
            for (a, b, c, d), k in zip(X.tolist(), plan, strict=True)]  # fmt: skip
    return Game(rows, _coins(means, rng), means, (0.0, 1.0))


WORLDS: dict[str, Callable[[int, int], Game]] = {
    "clicks, 1 to 5 %": clicks,
    "prices, 0 to 200": prices,
    "noisy linear": linear,
    "plain arms": arms,
    "mixed features": mixed,
    "drift": drift,
}


def run() -> list[Line | Matrix]:
    """All contenders in all worlds, then speed and memory."""
    found = play_all(tuple(WORLDS), (OURS, *PEERS), SEEDS)
    return [*targets(found), *speed(), matrix(found)]


Found = dict[tuple[str, str], np.ndarray]


def play_all(worlds: tuple[str, ...], names: tuple[str, ...], seeds: int) -> Found:
    """Regret a decision of each contender in each world, seed by seed, in units of the world."""
    cells = [(world, name) for world in worlds for name in names]
    tasks = [(*cell, seed) for cell in cells for seed in range(seeds)]
    scores = Parallel(n_jobs=2)(delayed(one_game)(*task) for task in tasks)
    return {cell: np.array(scores[i * seeds : (i + 1) * seeds]) for i, cell in enumerate(cells)}


def one_game(world: str, contender: str, seed: int, rounds: int = ROUNDS) -> float:
    """Regret a decision, in units of the world."""
    warnings.simplefilter("ignore")  # those of other libraries
    with threadpool_limits(1):
        game = WORLDS[world](seed, rounds)
        play = by_decider if contender == OURS else by_peer(contender)
        actions = play(game, seed)
    means = game.means
    return float((means.max(axis=1) - means[np.arange(len(actions)), actions]).mean())


def by_decider(game: Game, seed: int) -> np.ndarray:
    """What the front door decides, all by default."""
    K = game.rewards.shape[1]
    decider = hn.Decider(actions=list(range(K)), rewards=game.bounds, seed=seed)
    actions = np.empty(len(game.rows), dtype=np.intp)
    for t, row in enumerate(game.rows):
        decision = decider.decide(row)
        actions[t] = decision.action
        decider.report(decision, reward=float(game.rewards[t, decision.action]))
    return actions


def by_peer(name: str) -> Callable[[Game, int], np.ndarray]:
    """What another learner plays on the same features."""

    def play(game: Game, seed: int) -> np.ndarray:
        kind = "arms" if game.rows[0] is None else "rows"
        learner = CONTENDERS[name](kind, game.rewards.shape[1], None, seed)
        features, losses = Features(), game.losses
        actions = np.empty(len(game.rows), dtype=np.intp)
        for t, row in enumerate(game.rows):
            x = None
            if row is not None:
                x = features.encode(row)
                features.see(row)
            action = actions[t] = learner.act(x)
            learner.update(float(losses[t, action]))
        return actions

    return play


def targets(found: Found) -> list[Line]:
    """Regret, and what is earned, over that of the best peer, world by world."""
    lines = []
    for world in {world: None for world, _ in found}:
        best = min(PEERS, key=lambda peer, world=world: found[world, peer].mean())
        ours, theirs = found[world, OURS], found[world, best]
        ratio = ours.mean() / theirs.mean()
        shown = f"{ratio:.3f} ({ours.mean():.4g} : {theirs.mean():.4g})"
        lines.append(Line(f"{world}: regret over {best}'s", ratio, shown, WORST, at_least=False))
        top = np.mean(
            [WORLDS[world](seed, ROUNDS).means.max(axis=1).mean() for seed in range(SEEDS)]
        )
        earned = (top - ours.mean()) / (top - theirs.mean())
        lines.append(Line(f"{world}: rewards over {best}'s", earned, f"{earned:.3f}", LEAST))
    return lines


def matrix(found: Found) -> Matrix:
    """Regret a decision with its standard error."""
    worlds = tuple({world: None for world, _ in found})
    names = {name: None for _, name in found}
    rows = {name: tuple(_shown(found[world, name]) for world in worlds) for name in names}
    return Matrix(f"Regret a decision, {SEEDS} seeds", worlds, rows)


def _shown(values: np.ndarray) -> str:
    error = values.std(ddof=1) / math.sqrt(len(values))
    return f"{values.mean():.4g} ± {error:.2g}"


# Speed and memory ---------------------------------------------------------------------------------


def speed(count: int = 100_000, part: int = 10_000) -> list[Line]:
    """100,000 decisions with 16 mixed features, one in ten never answered and expired."""
    game = mixed(0, part)
    decider = hn.Decider(actions=["a", "b", "c", "d"], rewards=(0, 1), seed=0)
    spent, sizes, waits = [], [], []
    for _ in range(count // part):
        started = time.process_time()
        for t, row in enumerate(game.rows):
            decision = decider.decide(row)
            if t % 10:
                place = "abcd".index(decision.action)
                decider.report(decision, reward=float(game.rewards[t, place]))
            elif t % 1000 == 0:
                decider.expire(older_than=0.0)
        spent.append(time.process_time() - started)
        waits.append(len(decider.open_decisions))
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    rate = part / float(np.median(spent[1:]))
    grown = sizes[-1] - sizes[1]
    return [
        Line("16 mixed features: decide and report a second", rate, f"{rate:,.0f}", 5000),
        Line(f"memory grown over the last {count - 2 * part:,} decisions, MB",
             grown, f"{grown:.1f} (of {sizes[-1]:.0f}; at most {max(waits)} open)", 5.0, False),
    ]  # fmt: skip
