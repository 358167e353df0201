"""How often 95 % intervals from logs of our own learners hold the truth."""

from __future__ import annotations

import numpy as np

import hannan as hn
from benchmarks.measure import Matrix

FAILING = np.array([[0.2, 0.6, 0.8], [0.7, 0.3, 0.5], [0.5, 0.9, 0.1]])
LOGS, ROUNDS = 200, 250
ESTIMATORS = ("ips", "snips", "dr")


def run() -> list[Matrix]:
    """The world of docs/off-policy.md; the value of always playing the second action."""
    truth = float(FAILING[:, 1].mean())
    rows = {}
    for name, options in (("self-tuned", {}), ("epsilon=0.005", {"epsilon": 0.005})):
        held = dict.fromkeys(ESTIMATORS, 0)
        worth, noted = [], 0
        for seed in range(LOGS):
            log = _log(seed, options)
            for estimator in ESTIMATORS:
                found = hn.off_policy.evaluate(log, lambda kind: 1, estimator)
                low, high = found.interval
                held[estimator] += low <= truth <= high
            worth.append(found.effective)
            noted += bool(found.notes)
        shares = [f"{hits / LOGS:.0%}" for hits in held.values()]
        rows[name] = (*shares, f"{np.median(worth):.0f}", f"{noted} of {LOGS}")
    columns = (*ESTIMATORS, "rounds worth, median", "with a note")
    notes = (f"{LOGS} logs of {ROUNDS} rounds, normal intervals",)
    return [Matrix("95 % intervals that hold the truth", columns, rows, notes)]


def _log(seed: int, options: dict[str, float]) -> hn.off_policy.Log:
    rng = np.random.default_rng([17, seed])
    learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(3, 3), **options, seed=seed)
    recorder = hn.off_policy.Recorder(learner)
    for _ in range(ROUNDS):
        kind = int(rng.integers(3))
        decision = recorder.decide(kind)
        recorder.update(float(rng.random() < FAILING[kind, decision.action]), decision=decision)
    return recorder.log()
