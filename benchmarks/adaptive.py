"""Worlds that change: strongly adaptive and discounted learners beside Fixed Share.

First a planted policy that is replaced three times, then real forecasters of electricity prices.
The forecasts are looked for in a folder named `shared/data` beside the repository and left out
where it is missing. Whatever was "tuned in hindsight" saw the data it is measured on; all others
are at their defaults unless the line says otherwise. Forecasters' errors are much alike from one
hour to the next, so that by the hour nothing beats following the last winner, which is what the
steepest rates and discounts come to; by the day this is over.
"""

from __future__ import annotations

import csv
import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line
from benchmarks.streams import DATA

N, D, K, HORIZON, SWITCHES, SEEDS = 50, 20, 3, 2000, 3, 20
SHARES = (0.0001, 0.001, 0.01, 0.05)
RATES = (0.1, 0.3, 1.0, 3.0, 10.0)
DISCOUNTS = (0.999, 0.99, 0.9)

FORECASTS = ("epf_de", "epf_np")
EXPERTS = ("dnn_1", "dnn_2", "dnn_3", "dnn_4", "lear_56", "lear_84", "lear_1092", "lear_1456")
REPEATS = 3
STEEP_RATES = (1.0, 10.0, 100.0, 1000.0, 10_000.0)
STEEP_DISCOUNTS = (0.999, 0.99, 0.9, 0.5, 0.1)

SWITCHERS = ("Switching", "Switching without reluctance", "Switching with playout noise")

Maker = Callable[[hn.oracles.FinitePolicies, int], hn.Learner]


def run() -> list[Line]:
    """Both studies."""
    return [*planted(), *forecasters()]


def contenders() -> dict[str, Maker]:
    """Learners that need not be told anything."""
    return {
        "ContextFTPL": lambda oracle, seed: hn.ContextFTPL(oracle, seed=seed),
        "ContextFTPL, previous loss predicted": lambda oracle, seed: hn.ContextFTPL(
            oracle, predictor=hn.predictors.Last(), seed=seed
        ),
        "StronglyAdaptive": lambda oracle, seed: hn.StronglyAdaptive(
            hn.ContextFTPL(oracle, seed=seed), seed=seed
        ),
        "Hedge": lambda oracle, seed: hn.baselines.Hedge(oracle, seed=seed),
        "AdaNormalHedge": lambda oracle, seed: hn.baselines.AdaNormalHedge(oracle, seed=seed),
        "FixedShare": lambda oracle, seed: hn.baselines.FixedShare(oracle, seed=seed),
    }


def discounts(values: tuple[float, ...]) -> dict[str, Maker]:
    """ContextFTPL that forgets."""

    def maker(value: float) -> Maker:
        return lambda oracle, seed: hn.Discounted(hn.ContextFTPL(oracle, seed=seed), value)

    return {f"Discounted, {value:g}": maker(value) for value in values}


def shares(rates: tuple[float, ...]) -> dict[str, Maker]:
    """Fixed Share at every point of a grid."""

    def maker(share: float, rate: float) -> Maker:
        return lambda oracle, seed: hn.baselines.FixedShare(
            oracle, share=share, learning_rate=rate, seed=seed
        )

    grid = itertools.product(SHARES, rates)
    return {f"FixedShare, share {a:g}, rate {eta:g}": maker(a, eta) for a, eta in grid}


def planted() -> list[Line]:
    """Regret to the best sequence of policies with three switches."""
    found = Parallel(n_jobs=2)(delayed(one_world)(seed) for seed in range(SEEDS))
    regrets = {name: np.array([each[name] for each in found]) for name in found[0]}
    tuned = min(shares(RATES), key=lambda name: float(regrets[name].mean()))
    plain = float(regrets["ContextFTPL"].mean())
    lines = switching_lines(regrets, plain, float(regrets[tuned].mean()))
    for name in (*contenders(), *discounts(DISCOUNTS), tuned):
        target = plain if name == "StronglyAdaptive" else None
        what = f"planted, {SWITCHES} switches: regret of {name}"
        what += " (tuned in hindsight)" if name == tuned else ""
        mean = float(regrets[name].mean())
        lines.append(Line(what, mean, _with_error(regrets[name]), target, at_least=False))
    return lines


def switching_lines(regrets: dict[str, np.ndarray], plain: float, tuned: float) -> list[Line]:
    """The learner that is told the contexts and the number of switches."""
    lines = []
    for name in SWITCHERS:
        ours = float(regrets[name].mean())
        wanted = (0.5, 2.0) if name == "Switching" else (None, None)
        for rival, value, target in (
            ("plain ContextFTPL", plain, wanted[0]),
            ("FixedShare tuned in hindsight", tuned, wanted[1]),
        ):
            lines.append(
                Line(
                    f"planted, {SWITCHES} switches: regret of {name} over that of {rival}",
                    ours / value,
                    f"{ours / value:.2f} ({_with_error(regrets[name])} : {value:.1f})",
                    target,
                    at_least=False,
                )
            )
    return lines


def switchers(
    oracle: hn.oracles.FinitePolicies, sequence: list[int], seed: int
) -> list[hn.Learner]:
    """ContextFTPL on sequences of policies: as it comes, without reluctance, with playout noise."""
    sequences = hn.oracles.Switching(oracle, SWITCHES, sequence=sequence)
    return [
        hn.ContextFTPL(sequences, seed=seed),
        hn.ContextFTPL(sequences.clone(reluctance=0.0), seed=seed),
        hn.PlayoutFTPL(sequences, seed=seed),
    ]


def one_world(seed: int) -> dict[str, float]:
    """Every learner on the same policies and the same losses."""
    table = np.random.default_rng(seed).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    world = hn.environments.Switching(oracle, switches=SWITCHES)
    best = None
    regrets = {}
    makers = {**contenders(), **discounts(DISCOUNTS), **shares(RATES)}
    learners = {name: make(oracle, seed) for name, make in makers.items()}
    sequence = [each.context for each in world.rounds(HORIZON, np.random.default_rng(seed))]
    learners |= dict(zip(SWITCHERS, switchers(oracle, sequence, seed), strict=True))
    for name, learner in learners.items():
        trace = hn.play(learner, world, HORIZON, seed=seed, oracle=oracle)
        loss = float(trace.losses.sum())
        if best is None:
            best = loss - trace.regret(switches=SWITCHES)
        regrets[name] = loss - best
    return regrets


def forecasters() -> list[Line]:
    """Mean absolute error of following one of eight forecasters, hour by hour and day by day."""
    lines = []
    for name in FORECASTS:
        path = DATA / "experts" / f"{name}.csv.gz"
        if not path.exists():
            lines.append(Line(f"{name}: not found, left out", float("nan"), "-"))
            continue
        errors = read_errors(path)
        lines += compare(f"{name}, hours", errors)
        # Prices of a day are published at once, so that in truth feedback comes by the day.
        lines += compare(f"{name}, days", errors.reshape(-1, 24, len(EXPERTS)).mean(axis=1))
    return lines


def compare(what: str, errors: np.ndarray) -> list[Line]:
    """All learners on one table of errors; the one that is to be no worse than Fixed Share."""
    everyone = {**contenders(), **discounts(STEEP_DISCOUNTS), **shares(STEEP_RATES)}
    tasks = [(name, seed) for name in everyone for seed in range(REPEATS)]
    found = Parallel(n_jobs=2)(delayed(follow)(name, seed, errors) for name, seed in tasks)
    means = dict.fromkeys(everyone, 0.0)
    for (name, _), value in zip(tasks, found, strict=True):
        means[name] += value / REPEATS
    tuned = min(shares(STEEP_RATES), key=means.__getitem__)
    best = float(errors.mean(axis=0).min())
    lines = [Line(f"{what}: best forecaster in hindsight", best, f"{best:.3f}")]
    for name in (*contenders(), *discounts(STEEP_DISCOUNTS), tuned):
        label = f"{what}: mean error of {name}"
        label += " (tuned in hindsight)" if name == tuned else ""
        ours = name in ("ContextFTPL", "StronglyAdaptive")
        target = means["FixedShare"] if ours else None
        lines.append(Line(label, means[name], f"{means[name]:.3f}", target, at_least=False))
    return lines


def follow(name: str, seed: int, errors: np.ndarray) -> float:
    """Mean error of a learner, in the units of the price; losses are scaled to [0, 1]."""
    # The largest errors are cut off: the range of the losses is what Fixed Share is slowed by.
    scale = float(np.quantile(errors, 0.999))
    oracle = hn.oracles.FinitePolicies([[i] for i in range(errors.shape[1])])
    everyone = {**contenders(), **discounts(STEEP_DISCOUNTS), **shares(STEEP_RATES)}
    world = hn.environments.FromArrays([0] * len(errors), np.minimum(errors / scale, 1.0))
    actions = hn.play(everyone[name](oracle, seed), world).actions
    return float(errors[np.arange(len(errors)), actions].mean())


def read_errors(path: Path) -> np.ndarray:
    """Absolute errors of the forecasters, one row for each hour."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    truth = np.array([float(row["truth_price"]) for row in rows])
    forecasts = np.array([[float(row[name]) for name in EXPERTS] for row in rows])
    return np.abs(forecasts - truth[:, None])


def _with_error(values: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{values.mean():,.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
