"""Shortest paths when the short way changes: roads are closed twice in 300 days.

There are 64 routes and about 10^10 sequences of them with two changes. Under every draw of the
noise the best one is found, from the shortest paths of all 45,150 intervals of days.
"""

from itertools import pairwise

import numpy as np

import hannan as hn

DAYS, LAYERS, WIDTH = 300, 3, 4
rng = np.random.default_rng(0)
layers = [["home"], *([(i, j) for j in range(WIDTH)] for i in range(LAYERS)), ["work"]]
roads = [(a, b) for here, there in pairwise(layers) for a in here for b in there]
paths = hn.oracles.Paths(roads, "home", "work")
hours_of = rng.uniform(0.2, 0.9, size=(3, len(roads)))
season = np.arange(DAYS) * 3 // DAYS
losses = np.clip(hours_of[season] + rng.normal(scale=0.1, size=(DAYS, len(roads))), 0.0, 1.0)
world = hn.environments.FromArrays(None, losses)

oracle = hn.oracles.Switching(paths, switches=2, sequence=DAYS)
print(f"about 10^{oracle.log_size(oracle.contexts) / np.log(10):.0f} sequences of routes")
for name, learner in (
    ("one route", hn.ContextFTPL(paths, seed=0)),
    ("sequences", hn.ContextFTPL(oracle, seed=0)),
):
    trace = hn.play(learner, world)
    print(f"learner of {name:16} {trace.losses.sum() / DAYS:.2f} hours a day")
    print(f"best of {name:19} {(trace.losses.sum() - trace.regret()) / DAYS:.2f} hours a day")
for start, path in trace.best_policy.pieces:
    print(f"from day {start:3}:", *path.nodes)
