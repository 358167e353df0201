"""Assign crews to lines when some crews are ill.

Pairs of an ill crew are unavailable, so some lines are not served. A line that is served on time
earns 1, and you observe the rewards of the assigned pairs only (semi-bandit feedback). The output
is the share of healthy crews that were on time, early and late in the run.
"""

import numpy as np

import hannan as hn

CREWS, DAYS = 8, 2000
rng = np.random.default_rng(0)
delay = rng.uniform(0.2, 0.8, (CREWS, CREWS))
delay[np.arange(CREWS), rng.permutation(CREWS)] = 0.1
pairs = hn.oracles.Matchings(CREWS, CREWS, everyone=False)
learner = hn.ContextSemiBanditFTPL(pairs, loss_range=(-1.0, 0.0), seed=0)

on_time = []
for _ in range(DAYS):
    healthy = rng.random(CREWS) < 0.9
    assigned = learner.act(available=np.repeat(healthy, CREWS))  # pairs are sorted by crew
    earned = rng.random(len(assigned)) >= delay.ravel()[assigned]
    learner.update(-earned.astype(float))
    on_time.append(earned.sum() / healthy.sum())

first, last = np.mean(on_time[:500]), np.mean(on_time[-500:])
print(f"healthy crews on time: {first:.0%} in the first 500 days, {last:.0%} in the last")
print("best assignment (crew, line) if all are healthy:", *pairs.pairs(learner.best_policy()(None)))
