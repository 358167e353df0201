"""Drift: choose routes with StronglyAdaptive.

The delays of the streets change three times without notice, and you observe all of them each day
(full information). `ContextFTPL` adapts slowly because it adds up the delays of all days.
`StronglyAdaptive` has low regret on each interval of days: compare it with the best route.
"""

import itertools

import numpy as np

import hannan as hn

N, DAYS = 5, 2000
corners = [(x, y) for x in range(N) for y in range(N)]
streets = [((x, y), (x + 1, y)) for x, y in corners if x + 1 < N]
streets += [((x, y), (x, y + 1)) for x, y in corners if y + 1 < N]
routes = hn.oracles.Paths(streets, (0, 0), (N - 1, N - 1))

rng = np.random.default_rng(1)
changes = [0, 700, 1100, 1700, DAYS]
usual = np.concatenate(
    [
        np.tile(rng.choice([0.2, 0.7], size=len(streets)), (end - start, 1))
        for start, end in itertools.pairwise(changes)
    ]
)
delays = np.clip(usual + rng.normal(scale=0.2, size=usual.shape), 0.0, 1.0)
environment = hn.environments.FromArrays(None, delays)

plain = hn.ContextFTPL(routes, seed=0)
adaptive = hn.StronglyAdaptive(plain, seed=0)
print("days          plain  adaptive  best route")
runs = [hn.play(learner, environment).losses for learner in (plain, adaptive)]
for start, end in itertools.pairwise(changes):
    interval = hn.environments.FromArrays(None, delays[start:end])
    leader = hn.play(hn.baselines.FollowTheLeader(routes), interval)
    best = leader.losses.mean() - leader.regret() / (end - start)
    one, other = (losses[start:end].mean() for losses in runs)
    print(f"{start:4d} to {end:4d}  {one:5.2f}  {other:8.2f}  {best:10.2f}")
