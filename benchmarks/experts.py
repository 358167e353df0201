"""`hn.experts`, nothing tuned: real forecasters, planted changes, adversaries, and its speed.

The forecasters of electricity prices are those of the study `adaptive`, whose learners it is meant
to stand beside; they are left out where the data is missing. Where nothing changes it pays for
asking how fast the world does: its regret is compared with that of the plain learner.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks import adaptive
from benchmarks.measure import Line
from benchmarks.streams import DATA

SEEDS = 20
MOST = {
    ("epf_de", "hours"): 2.65,
    ("epf_np", "hours"): 1.22,
    ("epf_de", "days"): 3.66,
    ("epf_np", "days"): 1.76,
}
FIXED_WORLDS = {
    "PlantedPolicy": hn.environments.PlantedPolicy,
    "LeaderPunisher": hn.environments.LeaderPunisher,
}

Maker = Callable[[hn.Oracle, int], hn.Learner]


def run() -> list[Line]:
    """All of it."""
    return [*forecasters(), *switches(), *fixed(), *speeds()]


def recommended(oracle: hn.Oracle, seed: int) -> hn.Learner:
    """The learner of this study."""
    return hn.experts(oracle, seed=seed)


def plain(oracle: hn.Oracle, seed: int) -> hn.Learner:
    """What it is compared with where nothing changes."""
    return hn.ContextFTPL(oracle, seed=seed)


def forecasters() -> list[Line]:
    """Mean absolute error of following one of eight forecasters, hour by hour and day by day."""
    lines = []
    for (name, by), most in MOST.items():
        path = DATA / "experts" / f"{name}.csv.gz"
        if not path.exists():
            lines.append(Line(f"{name}: not found, left out", float("nan"), "-"))
            continue
        errors = adaptive.read_errors(path)
        if by == "days":
            errors = errors.reshape(-1, 24, errors.shape[1]).mean(axis=1)
        found = Parallel(n_jobs=2)(delayed(follow)(errors, seed) for seed in range(SEEDS))
        values = np.array(found)
        shown = f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(SEEDS):.3f}"
        best = float(errors.mean(axis=0).min())
        what = f"{name}, {by}: mean error of experts (best forecaster in hindsight: {best:.3f})"
        lines.append(Line(what, float(values.mean()), shown, most, at_least=False))
    return lines


def follow(errors: np.ndarray, seed: int) -> float:
    """Mean error in the units of the price; losses are scaled to [0, 1] as in `adaptive`."""
    scale = float(np.quantile(errors, 0.999))
    learner = hn.experts(errors.shape[1], seed=seed)
    world = hn.environments.FromArrays([0] * len(errors), np.minimum(errors / scale, 1.0))
    actions = hn.play(learner, world).actions
    return float(errors[np.arange(len(errors)), actions].mean())


def switches() -> list[Line]:
    """Regret to the best sequence of policies with three switches."""
    found = Parallel(n_jobs=2)(delayed(one_switching)(seed) for seed in range(SEEDS))
    ours, rival = np.array(found).T
    what = f"planted, {adaptive.SWITCHES} switches: regret of"
    return [
        Line(f"{what} experts", float(ours.mean()), _with_error(ours), 95.0, at_least=False),
        Line(f"{what} ContextFTPL", float(rival.mean()), _with_error(rival)),
    ]


def one_switching(seed: int) -> list[float]:
    """Both learners in one world of the study `adaptive`."""
    oracle = _policies(seed)
    world = hn.environments.Switching(oracle, switches=adaptive.SWITCHES)
    return [
        hn.play(make(oracle, seed), world, adaptive.HORIZON, seed=seed, oracle=oracle).regret(
            switches=adaptive.SWITCHES
        )
        for make in (recommended, plain)
    ]


def fixed() -> list[Line]:
    """What forgetting costs where one policy is best all along, or the leader is punished."""
    lines = []
    for name in FIXED_WORLDS:
        found = Parallel(n_jobs=2)(delayed(one_fixed)(name, seed) for seed in range(SEEDS))
        ours, rival = np.array(found).T
        most = 1.15 * float(rival.mean()) + 15.0
        what = f"{name}: regret of experts beside that of ContextFTPL"
        shown = f"{_with_error(ours)} : {_with_error(rival)}"
        lines.append(Line(what, float(ours.mean()), shown, most, at_least=False))
    return lines


def one_fixed(name: str, seed: int) -> list[float]:
    """Both learners in one world in which nothing changes."""
    oracle = _policies(seed)
    world = FIXED_WORLDS[name](oracle)
    return [
        hn.play(make(oracle, seed), world, adaptive.HORIZON, seed=seed, oracle=oracle).regret()
        for make in (recommended, plain)
    ]


def speeds() -> list[Line]:
    """Rounds a second with a thousand listed policies."""
    oracle = hn.oracles.FinitePolicies.random(1000, 16, 5)
    rng = np.random.default_rng(0)
    rounds = [(int(x), rng.random(5)) for x in rng.integers(16, size=20_000)]
    found = {}
    for name, make in (("experts", recommended), ("ContextFTPL", plain)):
        timed(make(oracle, 0), rounds[:500])  # compile first
        found[name] = max(timed(make(oracle, 0), rounds) for _ in range(3))
    what = "1000 policies, 16 contexts, 5 actions: rounds a second of"
    targets = {"experts": 8000.0}
    return [Line(f"{what} {name}", v, f"{v:,.0f}", targets.get(name)) for name, v in found.items()]


def timed(learner: hn.Learner, rounds: list[tuple[int, np.ndarray]]) -> float:
    """Rounds a second."""
    started = time.perf_counter()
    for context, losses in rounds:
        learner.act(context)
        learner.update(losses)
    return len(rounds) / (time.perf_counter() - started)


def _policies(seed: int) -> hn.oracles.FinitePolicies:
    table = np.random.default_rng(seed).integers(adaptive.K, size=(adaptive.N, adaptive.D))
    return hn.oracles.FinitePolicies(table, n_actions=adaptive.K)


def _with_error(values: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{values.mean():,.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"
