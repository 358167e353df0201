"""Our learners beside those of other libraries, on streams and against adversaries, in one run.

All contenders of a world and a seed take turns of a few hundred rounds within one process, so
that rounds a second compare even while the machine's load changes. Time is counted in the learner
alone: `act` and `update`, with the conversions its library needs.
"""

from __future__ import annotations

import copy
import warnings
from itertools import islice

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from threadpoolctl import threadpool_limits

from benchmarks.measure import Line, Matrix
from benchmarks.peers_contenders import CONTENDERS, FEW, MANY
from benchmarks.peers_worlds import DUEL_ROUNDS, KINDS, LISTED, STREAM_ROUNDS, Kind, World
from hannan.experiments.game import Game

TURN = 500
CONFIDENCE = 0.95
VW = "Vowpal Wabbit"

Runs = dict[tuple[str, str], list[tuple[float, float]]]


def run() -> list[Line | Matrix]:
    """Two matrices, contenders by worlds: mean loss, and rounds a second."""
    kinds = [kind for kind in KINDS if kind.present]
    found = play_all(kinds)
    missing = [
        Line(f"{kind.name}: no {kind.file.name} in shared/data, left out", np.nan, "-")
        for kind in KINDS
        if kind.file is not None and not kind.present
    ]
    absent = sorted({x.package for x in CONTENDERS.values() if not x.installed and x.package})
    missing += [
        Line(f"{package}: left out, install it with `pip install {package}`", np.nan, "-")
        for package in absent
    ]
    return [*missing, *_targets(found), *_matrices(kinds, found)]


def play_all(kinds: list[Kind]) -> Runs:
    """(mean loss, rounds a second) for each contender and world, seed by seed."""
    cells = [(kind, seed, _who_plays(kind, seed)) for seed in range(MANY) for kind in kinds]
    cells = [cell for cell in cells if cell[2]]
    played = Parallel(n_jobs=2)(delayed(one_cell)(kind.name, *rest) for kind, *rest in cells)
    found: Runs = {}
    for (kind, _, names), results in zip(cells, played, strict=True):
        for name in names:
            found.setdefault((name, kind.name), []).append(results[name])
    return found


def one_cell(world_name: str, seed: int, names: list[str]) -> dict[str, tuple[float, float]]:
    """All the contenders named, in the same world, in turns."""
    warnings.simplefilter("ignore")  # Those of other libraries.
    world = next(kind for kind in KINDS if kind.name == world_name).make(seed)
    with threadpool_limits(1):
        for name in names:
            sum(1 for _ in _game(name, world, seed, 50))  # compile first
        games = {name: _game(name, world, seed, world.horizon) for name in names}
        rounds = {name: iter(game) for name, game in games.items()}
        losses = dict.fromkeys(names, 0.0)
        for _ in range(0, world.horizon, TURN):
            for name in names:
                losses[name] += sum(played.loss for played in islice(rounds[name], TURN))
    T = world.horizon
    return {name: (losses[name] / T, T / games[name].seconds) for name in names}


def _game(name: str, world: World, seed: int, horizon: int) -> Game:
    learner = CONTENDERS[name].make(world, seed)
    # An adversary may note whom it meets, so each game has its own.
    environment = copy.copy(world.environment)
    return Game(learner, environment, horizon, np.random.default_rng([seed, 11]))


def _who_plays(kind: Kind, seed: int) -> list[str]:
    return [name for name, contender in CONTENDERS.items() if seed < contender.runs(kind)]


def _matrices(kinds: list[Kind], found: Runs) -> list[Matrix]:
    columns = tuple(kind.name for kind in kinds)
    loss: dict[str, tuple[str, ...]] = {}
    rate: dict[str, tuple[str, ...]] = {}
    for name in CONTENDERS:
        runs = [found.get((name, world), []) for world in columns]
        if any(runs):
            loss[name] = tuple(interval([loss for loss, _ in cell]) for cell in runs)
            rate[name] = tuple(_rate([rate for _, rate in cell]) for cell in runs)
    best = [_best(world, found, VW) for world in columns]
    if all(best):
        cells = tuple(f"{mean:.3f}" for mean, _ in best)
        loss[f"{VW}, the best of its rows in hindsight"] = cells
    return [
        Matrix(
            f"Mean loss a round, bandit feedback, ± half a {CONFIDENCE:.0%} t-interval",
            columns,
            loss,
            _notes(columns, found),
        ),
        Matrix("Rounds a second, contenders taking turns", columns, rate),
    ]


def interval(values: list[float]) -> str:
    """Mean and half-width of the t-interval, which needs two runs."""
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.3f}"
    n = len(values)
    spread = float(np.std(values, ddof=1)) / np.sqrt(n)
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2.0, n - 1)) * spread
    return f"{np.mean(values):.3f} ± {half:.3f}"


def _rate(values: list[float]) -> str:
    return f"{np.median(values):,.0f}" if values else "–"


def _best(world: str, found: Runs, prefix: str = "") -> tuple[float, str] | None:
    """The lowest mean loss among those who see only what they play."""
    means = [
        (float(np.mean([loss for loss, _ in runs])), name)
        for (name, where), runs in found.items()
        if where == world and name.startswith(prefix) and not CONTENDERS[name].sees_all
    ]
    return min(means, default=None)


def _targets(found: Runs) -> list[Line]:
    lines = []
    for name, world, most in (
        ("Hannan", "digits", 0.040),
        ("Hannan", "permuted digits", 0.070),
        *((name, "CopyPunisher", 0.6) for name in CONTENDERS if name.startswith("Hannan")),
    ):
        losses = [loss for loss, _ in found[name, world]]
        mean = float(np.mean(losses))
        what = f"{world}, {name}: mean loss"
        lines.append(Line(what, mean, interval(losses), most, at_least=False))
    return lines


def _notes(worlds: tuple[str, ...], found: Runs) -> tuple[str, ...]:
    winners = []
    for world in worlds:
        best = _best(world, found)
        assert best is not None
        winners.append(f"{world}: {best[1]} ({best[0]:.3f})")
    return (
        f"Lowest mean loss under bandit feedback: {'; '.join(winners)}.",
        f"Streams have {STREAM_ROUNDS:,} rounds or as many as there are, permuted digits twice as "
        f"many, adversaries {DUEL_ROUNDS:,}. Every library learns after every round.",
        f"Seeds: {MANY}, for other libraries {FEW}; mabwiser is left out (–) where a run takes "
        "too long. Stored streams are the same for every seed: intervals are over the learner's "
        "coins alone, and a learner without coins has one run.",
        "Rows that name no library are baselines of Hannan's. Other libraries are told rewards, "
        "1 - loss, and keep their defaults but for what a row says.",
        f"The list holds {LISTED:,} random linear policies on streams, and the class that the "
        "adversary plays with elsewhere; features there are indicators of the context.",
        f"{VW} in hindsight: the best row for each column, picked after the fact.",
        "Chosen in sample: Hannan's constants and α 0.1 with digits, permuted digits and "
        f"adversaries like these in view; {VW}'s two explorers, of eight, by the first 4,000 "
        "rounds of the streams.",
    )
