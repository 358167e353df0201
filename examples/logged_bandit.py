"""Estimate a learner's loss from another system's log.

A system showed one of three ads to six kinds of visitors, mostly its favourite, and logged the ad,
its propensity and its failure. `FromLog` replays the log with rejection or importance weights, so
you can test a learner before you deploy it. Compare each estimate with the true mean, which is
known because the log is simulated.
"""

import tempfile
from pathlib import Path

import numpy as np

import hannan as hn

ROWS, KINDS, ADS = 10_000, 6, 3
rng = np.random.default_rng(0)
kinds, row = rng.integers(KINDS, size=ROWS), np.arange(ROWS)
favourite, other = kinds % ADS, rng.integers(ADS, size=ROWS)
ads = np.where(rng.random(ROWS) < 0.4, favourite, other)
p = np.where(ads == favourite, 0.4 + 0.6 / ADS, 0.6 / ADS)
failing = rng.uniform(0.2, 0.9, size=(KINDS, ADS))[kinds]  # known because the log is simulated
failed = rng.random(ROWS) < failing[row, ads]
print(f"mean loss: system {failed.mean():.3f}, best rule {failing.min(axis=1).mean():.3f}")

rules = hn.oracles.AllPolicies(KINDS, ADS)
bandit = hn.ContextSemiBanditFTPL(rules, seed=0)
full = hn.ContextFTPL(rules, loss_range=None, seed=0)  # estimated losses leave [0, 1]
columns = {"context": "kind", "action": "ad", "loss": "failed", "propensity": "p"}
with tempfile.TemporaryDirectory() as folder:
    path, table = Path(folder) / "log.csv", np.column_stack([kinds, ads, failed, p])
    np.savetxt(path, table, "%g", ",", header="kind,ad,failed,p", comments="")
    for method, learner in {"rejection": bandit, "importance": full}.items():
        log = hn.environments.FromLog(path, method=method, **columns)
        trace = hn.play(learner, log, seed=0)
        truth = failing[row, trace.actions].mean()
        print(f"by {method:10} {trace.mean_loss:.3f}", end=", ")
        print(f"effective sample size {trace.effective:,.0f}; true mean {truth:.3f}")
