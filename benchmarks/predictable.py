"""Losses that can be guessed, full information: what a predictor gains, and what it costs.

Travel times come from the speeds in `shared/data/traffic` beside the repository; they are left out
where it is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.worlds import MeasuredSpeeds
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line
from benchmarks.streams import DATA

N, D, K, HORIZON, SEEDS = 50, 10, 5, 2000, 20
TRIPS = 12

Found = dict[str, float]


class Perfect(hn.Predictor):
    """Knows the losses beforehand."""

    def __init__(self, losses: np.ndarray) -> None:
        self.losses = losses
        self._round = 0

    def predict(self, context: Any) -> np.ndarray:
        """The losses themselves."""
        return np.asarray(self.losses[self._round])

    def learn(self, context: Any, action: Any, loss: Any) -> None:
        """Turn the page."""
        self._round += 1


def run() -> list[Line]:
    """Regret with and without a predictor, on losses of three kinds and on real roads."""
    found = Parallel(n_jobs=2)(delayed(one_seed)(seed) for seed in range(SEEDS))
    values = {name: np.array([f[name] for f in found]) for name in found[0]}
    lines = []
    for kind, what, most in (
        ("slow", "losses that move slowly", 0.5),
        ("i.i.d.", "i.i.d. losses of equal means", 1.2),
        ("i.i.d., gaps", "i.i.d. losses, means 0.3 to 0.7", 1.2),
    ):
        plain, told = values[f"{kind}, none"], values[f"{kind}, last"]
        lines.append(
            Line(
                f"{what}: regret with the previous loss as a guess over that without",
                float(told.mean() / plain.mean()),
                f"{told.mean() / plain.mean():.2f} ({_shown(told)} : {_shown(plain)})",
                most,
                at_least=False,
            )
        )
    gaps, always = values["i.i.d., gaps, none"], values["i.i.d., gaps, always"]
    lines.append(
        Line(
            'the last with trust="always"',
            float(always.mean() / gaps.mean()),
            f"{always.mean() / gaps.mean():.2f} ({_shown(always)})",
        )
    )
    perfect = np.concatenate([values[f"{kind}, perfect"] for kind in ("slow", "i.i.d.")])
    lines.append(
        Line(
            "a perfect guess: largest regret of all runs",
            float(perfect.max()),
            f"{perfect.max():.2g}",
            1e-6,
            at_least=False,
        )
    )
    return lines + on_the_road()


def one_seed(seed: int) -> Found:
    """Regrets of one seed; all learners meet the same losses."""
    rng = np.random.default_rng(seed)
    oracle = hn.oracles.FinitePolicies(rng.integers(K, size=(N, D)), n_actions=K)
    contexts = rng.integers(D, size=HORIZON)
    phase, turns = rng.random(K), rng.uniform(2, 6, K)
    when = np.arange(HORIZON)[:, None] / HORIZON
    worlds = {
        "slow": 0.5 + 0.5 * np.sin(2 * np.pi * (phase + when * turns)),
        "i.i.d.": rng.random((HORIZON, K)),
        "i.i.d., gaps": (rng.random((HORIZON, K)) < np.linspace(0.3, 0.7, K)).astype(float),
    }
    last = hn.predictors.Last(by_context=False)
    found: Found = {}
    for kind, losses in worlds.items():
        world = hn.environments.FromArrays(contexts, losses)
        for name, guess, trust in (
            ("none", None, "earned"),
            ("last", last, "earned"),
            ("always", last, "always"),
            ("perfect", Perfect(losses), "earned"),
        ):
            learner = hn.ContextFTPL(oracle, predictor=guess, trust=trust, seed=seed)
            found[f"{kind}, {name}"] = hn.play(learner, world).regret()
    return found


def on_the_road() -> list[Line]:
    """Four days of Los Angeles speeds, routes between random pairs of sensors."""
    folder = DATA / "traffic"
    if not folder.exists():
        return [Line("traffic: not found, left out", float("nan"), "-")]
    import pandas as pd

    speeds = pd.read_csv(folder / "metr_la_speed_days1_4.csv.gz", index_col="t").to_numpy()
    edges = pd.read_csv(folder / "metr_la_edges.csv.gz")
    tail, head, length = (edges[name].to_numpy() for name in ("tail", "head", "great_circle_m"))
    roads = hn.networks.RoadNetwork(tail, head, length)
    rng = np.random.default_rng(0)
    plain, told = [], []
    while len(plain) < TRIPS:
        source, target = (int(i) for i in rng.choice(speeds.shape[1], 2, replace=False))
        try:
            routes = hn.oracles.Paths.towards(roads, source, target)
        except hn.HannanError:
            continue  # a sensor off the network
        ends = np.column_stack([tail, head])
        world = MeasuredSpeeds(speeds, length, routes, sensors=ends)
        for guess, results in ((None, plain), (hn.predictors.Last(), told)):
            learner = hn.ContextFTPL(routes, predictor=guess, seed=0)
            results.append(hn.play(learner, world).regret() * world.unit)
    with_, without = np.array(told), np.array(plain)
    better = int((with_ <= without).sum())
    return [
        Line(
            f"routes through Los Angeles, {TRIPS} trips: excess over the best fixed route with the "
            "previous times as a guess over that without",
            float(with_.sum() / without.sum()),
            f"{with_.sum() / without.sum():.2f} (no worse on {better} of {TRIPS} trips)",
            1.0,
            at_least=False,
        )
    ]


def _shown(values: np.ndarray) -> str:
    return f"{values.mean():,.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
