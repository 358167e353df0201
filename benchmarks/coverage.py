"""How often 95 % intervals from logs of our own learners hold the truth."""

from __future__ import annotations

import numpy as np

import hannan as hn
from benchmarks.measure import Matrix

FAILING = np.array([[0.2, 0.6, 0.8], [0.7, 0.3, 0.5], [0.5, 0.9, 0.1]])
LENGTHS = {250: 200, 2000: 100}  # rounds of a log, and how many logs
SETTINGS: dict[str, dict[str, float]] = {
    "self-tuned": {},
    "exploration=0.02": {"exploration": 0.02},
    "exploration=0.05": {"exploration": 0.05},
    "epsilon=0.005": {"epsilon": 0.005},
}
ESTIMATORS = ("ips", "snips", "dr")


def run() -> list[Matrix]:
    """Cover the mean loss of the second action in the environment of the guide to evaluation."""
    return [_study(*size) for size in LENGTHS.items()]


def _study(rounds: int, logs: int) -> Matrix:
    truth = float(FAILING[:, 1].mean())
    rows = {}
    for name, options in SETTINGS.items():
        held = dict.fromkeys(ESTIMATORS, 0)
        worth, noted, paid = [], 0, []
        for seed in range(logs):
            log = _log(seed, rounds, options)
            for estimator in ESTIMATORS:
                found = hn.off_policy.evaluate(log, lambda kind: 1, estimator)
                low, high = found.interval
                held[estimator] += low <= truth <= high
            worth.append(found.effective)
            paid.append(float(np.mean(log.losses)))
            noted += bool(found.notes)
        shares = [f"{hits / logs:.0%}" for hits in held.values()]
        loss = f"{np.mean(paid):.3f}"
        rows[name] = (*shares, f"{np.median(worth):.0f}", f"{noted} of {logs}", loss)
    columns = (*ESTIMATORS, "rounds worth, median", "with a note", "mean loss paid")
    notes = (f"{logs} logs of {rounds} rounds, normal intervals",)
    return Matrix(
        f"95 % intervals that hold the truth, logs of {rounds} rounds", columns, rows, notes
    )


def _log(seed: int, rounds: int, options: dict[str, float]) -> hn.off_policy.Log:
    rng = np.random.default_rng([17, seed])
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(3, 3), **options, seed=seed)
    recorder = hn.off_policy.Recorder(learner)
    for _ in range(rounds):
        kind = int(rng.integers(3))
        decision = recorder.decide(kind)
        recorder.update(float(rng.random() < FAILING[kind, decision.action]), decision=decision)
    return recorder.log()
