"""Predictors under bandit feedback on two streams made to mislead them: "bait" and "adv"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import hannan as hn
from benchmarks.measure import Line

N, D, K, HORIZON, SEEDS = 50, 20, 3, 10_000, 10
MODES: dict[str, dict[str, Any]] = {
    "one success, no extra eagerness": {"resampling": 1, "epsilon": hn.SelfTuned(1.0)},
    "four successes, no extra eagerness": {"resampling": 4, "epsilon": hn.SelfTuned(1.0)},
    "four successes, eagerness 4": {"resampling": 4, "epsilon": hn.SelfTuned(4.0)},
    "default": {},
    "strict, hint strength 1": {"trust": hn.Trust(hint=1.0)},
    "strict": {},
    "balanced": {"trust": "balanced"},
}
# Mean loss and regret of an independent implementation (three seeds), where it was measured.
BEFORE = {
    ("adv", "one success, no extra eagerness"): (0.491, 422),
    ("adv", "four successes, no extra eagerness"): (0.491, 359),
    ("adv", "four successes, eagerness 4"): (0.503, 456),
    ("adv", "strict, hint strength 1"): (0.484, 272),
    ("adv", "strict"): (0.561, 1172),
    ("bait", "one success, no extra eagerness"): (0.287, 287),
    ("bait", "four successes, no extra eagerness"): (0.274, 160),
    ("bait", "four successes, eagerness 4"): (0.256, -22),
    ("bait", "strict, hint strength 1"): (0.278, 199),
    ("bait", "strict"): (0.270, 121),
}


class Bait(hn.Environment):
    """One policy costs 0.9 in the first fifth of the rounds and 0.1 afterwards; the rest 0.5."""

    oracle: hn.oracles.FinitePolicies

    def __init__(self, oracle: hn.oracles.FinitePolicies) -> None:
        self.oracle = oracle
        self.n_actions = oracle.n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        """Losses of 0 or 1 with these means."""
        planted = self.oracle.table[rng.integers(self.oracle.n_policies)]
        for t in range(horizon):
            x = int(rng.integers(len(planted)))
            mean = np.full(self.n_actions, 0.5)
            mean[planted[x]] = 0.9 if t < horizon / 5 else 0.1
            yield hn.Round(x, (rng.random(self.n_actions) < mean).astype(np.float64))


class MostLikely(hn.Environment):
    """Knows the learner: its most likely action costs 1, the others 0.2 on average."""

    oblivious = False

    def __init__(self, learner: hn.ContextSemiBanditFTPL) -> None:
        self.learner = learner
        self.oracle = learner.oracle
        self.n_actions = K

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        """Most likely by 15 draws of the learner's own law."""
        for _ in range(horizon):
            x = int(rng.integers(D))
            losses = (rng.random(K) < 0.2).astype(np.float64)
            losses[self.learner.propensities(x, draws=15).probabilities.argmax()] = 1.0
            yield hn.Round(x, losses)


def run() -> list[Line]:
    """Every mode on both streams."""
    cells = [(stream, mode) for stream in ("bait", "adv") for mode in MODES]
    tasks = [(stream, mode, seed) for stream, mode in cells for seed in range(SEEDS)]
    found = Parallel(n_jobs=2)(delayed(one_game)(*task) for task in tasks)
    lines = []
    for i, (stream, mode) in enumerate(cells):
        loss, regret = np.array(found[i * SEEDS : (i + 1) * SEEDS]).T
        shown = f"{loss.mean():.3f} a round, regret {_shown(regret)}"
        known = BEFORE.get((stream, mode))
        if known is not None:
            shown += f" (reference: {known[0]:.3f}, {known[1]})"
        # Mean loss within 0.02 of the reference, whose own three seeds spread about as much.
        lines.append(
            Line(
                f"{stream}: loss with {mode}" + ("" if known is None else ", less the reference"),
                loss.mean() if known is None else loss.mean() - known[0],
                shown,
                None if known is None else 0.02,
                at_least=False,
            )
        )
    return lines


def one_game(stream: str, mode: str, seed: int) -> tuple[float, float]:
    """Mean loss, and regret to the best policy on the realised losses."""
    table = np.random.default_rng([seed, 7]).integers(K, size=(N, D))
    oracle = hn.oracles.FinitePolicies(table, n_actions=K)
    options = dict(MODES[mode])
    if mode.startswith(("strict", "balanced")):
        options["predictor"] = hn.predictors.Mean(alpha=0.1)
        options["resampling"] = 1
    learner = hn.ContextSemiBanditFTPL(oracle, seed=seed, **options)
    world = Bait(oracle) if stream == "bait" else MostLikely(learner)
    trace = hn.play(learner, world, HORIZON, seed=seed)
    return float(trace.losses.mean()), trace.regret()


def _shown(values: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{values.mean():,.0f} ± {values.std(ddof=1) / np.sqrt(len(values)):.0f}"
