"""What learners say about their regret when losses come late, beside what it is."""

from __future__ import annotations

from typing import Any

import numpy as np

import hannan as hn
from benchmarks.measure import Line, Matrix

ROUNDS, SEEDS = 5000, 5
DELAYS = (0, 1, 50)
TABLE = hn.oracles.AllPolicies(5, 3)
WORLDS: dict[str, Any] = {
    "clear": hn.environments.PlantedPolicy(TABLE, good=0.1, bad=0.6),
    "close": hn.environments.PlantedPolicy(TABLE, good=0.3, bad=0.5),
}
LEARNERS: dict[str, Any] = {
    "self-tuned": lambda seed: hn.ContextSemiBanditFTPL(TABLE, seed=seed),
    "anytime": lambda seed: hn.ContextSemiBanditFTPL(TABLE, epsilon="anytime", seed=seed),
    "Tsallis-INF": lambda seed: hn.TsallisINF(TABLE, seed=seed),
    "hn.bandit": lambda seed: hn.bandit(3, n_contexts=5, seed=seed),
}


def run() -> list[Line | Matrix]:
    """A table of five contexts and three actions, bandit feedback, fixed delays."""
    lines: list[Line | Matrix] = []
    for name, world in WORLDS.items():
        rows, means = {}, {}
        for who, make in LEARNERS.items():
            for delay in DELAYS:
                found = np.array([_played(make, world, delay, seed) for seed in range(SEEDS)])
                loss, regret, stated, bound = found.mean(axis=0)
                means[who, delay] = loss
                said = [f"{x:,.0f}" if np.isfinite(x) else "nothing" for x in (stated, bound)]
                rows[f"{who}, delay {delay}"] = (f"{loss / ROUNDS:.4f}", f"{regret:,.0f}", *said)
                if delay and who == "self-tuned":
                    what = f"{name} world, delay {delay}: certificate of the self-tuned learner"
                    lines += [
                        Line(
                            f"{what} over its regret",
                            stated / regret,
                            f"{stated / regret:.2f}",
                            1.0,
                        ),
                        Line(
                            f"{what} over the rounds",
                            stated / ROUNDS,
                            f"{stated / ROUNDS:.3f}",
                            1.0,
                            at_least=False,
                        ),
                    ]
        price = means["self-tuned", 50] / means["self-tuned", 0]
        lines.append(
            Line(f"{name} world: loss at delay 50 over that at once", price, f"{price:.3f}")
        )
        title = f"Late losses, {name} world, {ROUNDS:,} rounds"
        columns = ("mean loss", "regret", "certificate", "regret_bound()")
        lines.append(Matrix(title, columns, rows, (f"means of {SEEDS} seeds",)))
    return lines


def _played(make: Any, world: Any, delay: int, seed: int) -> tuple[float, ...]:
    """Total loss, regret, certificate and bound."""
    learner = make(seed)
    late = hn.environments.Delayed(world, delay) if delay else world
    trace = hn.play(learner, late, ROUNDS, seed=seed, feedback="bandit")
    said, bound = float(learner.certificate()), learner.regret_bound()
    regret = trace.regret()
    return float(np.sum(trace.losses)), float(regret), said, np.nan if bound is None else bound
