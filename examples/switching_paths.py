"""Compete with the best sequence of routes.

The travel times change twice in 300 days. There are 64 routes and about 10^10 sequences of routes
with two changes. `Switching` finds the best sequence for each noise draw from the shortest paths on
all 45,150 intervals of days. Compare the hours per day of both learners.
"""

from itertools import pairwise

import numpy as np

import hannan as hn

DAYS, LAYERS, WIDTH = 300, 3, 4
rng = np.random.default_rng(0)
layers = [["home"], *([(i, j) for j in range(WIDTH)] for i in range(LAYERS)), ["work"]]
roads = [(a, b) for near, far in pairwise(layers) for a in near for b in far]
paths = hn.oracles.Paths(roads, "home", "work")
hours = rng.uniform(0.2, 0.9, size=(3, len(roads)))
season = np.arange(DAYS) * 3 // DAYS
losses = np.clip(hours[season] + rng.normal(scale=0.1, size=(DAYS, len(roads))), 0.0, 1.0)
environment = hn.environments.FromArrays(None, losses)

oracle = hn.oracles.Switching(paths, switches=2, sequence=DAYS)
print(f"about 10^{oracle.log_size(oracle.contexts) / np.log(10):.0f} sequences of routes")
for name, learner in (
    ("one route", hn.ContextFTPL(paths, seed=0)),
    ("sequences", hn.ContextFTPL(oracle, seed=0)),
):
    trace = hn.play(learner, environment)
    print(f"learner of {name:16} {trace.losses.sum() / DAYS:.2f} hours per day")
    print(f"best of {name:19} {(trace.losses.sum() - trace.regret()) / DAYS:.2f} hours per day")
for start, path in trace.best_policy.pieces:
    print(f"from day {start:3}:", *path.nodes)
