"""Assign crews to lines on days on which some crews are ill, and lines are left out.

A line served in time earns 1. What was earned is seen only of the pairs that were assigned.
"""

import numpy as np

import hannan as hn

CREWS, DAYS = 8, 2000
rng = np.random.default_rng(0)
delay = rng.uniform(0.2, 0.8, (CREWS, CREWS))
delay[np.arange(CREWS), rng.permutation(CREWS)] = 0.1
pairs = hn.oracles.Matchings(CREWS, CREWS, everyone=False)
learner = hn.ContextSemiBanditFTPL(pairs, loss_range=(-1.0, 0.0), seed=0)

in_time = []
for _ in range(DAYS):
    well = rng.random(CREWS) < 0.9
    assigned = learner.act(available=np.repeat(well, CREWS))  # a crew's pairs stand side by side
    earned = rng.random(len(assigned)) >= delay.ravel()[assigned]
    learner.update(-earned.astype(float))
    in_time.append(earned.sum() / well.sum())

first, last = np.mean(in_time[:500]), np.mean(in_time[-500:])
print(f"crews that are well, in time: {first:.0%} in the first 500 days, {last:.0%} in the last")
print("crew and line if all were well:", *pairs.pairs(learner.best_policy()(None)))
