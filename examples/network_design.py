"""Spanning trees: rent cables at changing prices.

Each day the rented cables must link thirty towns; you observe only the prices of these cables. Give
a file name to draw the cables, wider if they were rented more often (needs matplotlib).
"""

import sys
from importlib.util import find_spec

import numpy as np

import hannan as hn

TOWNS, DAYS = 30, 2000
rng = np.random.default_rng(3)
place = rng.random((TOWNS, 2))
length = np.linalg.norm(place[:, None] - place[None, :], axis=2)
near = np.argsort(length, axis=1)[:, 1:6]
cables = sorted({tuple(sorted((a, int(b)))) for a in range(TOWNS) for b in near[a]})
trees = hn.oracles.SpanningTrees(cables)
base = np.array([length[a, b] for a, b in cables])
price = base * rng.uniform(0.3, 1.7, len(cables))  # mean price per day
losses = np.clip(price * rng.uniform(0.5, 1.5, (DAYS, len(cables))), 0.0, 1.0)
learner = hn.ContextSemiBanditFTPL(trees, seed=0)
trace = hn.play(learner, hn.environments.FromArrays(None, losses))
mean, shortest = losses.mean(axis=0), trees.objective()
shortest.add(None, base)
print(f"{len(cables)} cables, 10^{trees.log_size([None]) / np.log(10):.0f} trees; cost per day:")
print(f"shortest tree      {mean[shortest.leader()(None)].sum():.3f}")
print(f"best tree          {mean[trace.best_policy(None)].sum():.3f}")
for part, cost in enumerate(trace.losses.reshape(4, -1).mean(axis=1)):
    print(f"learner, quarter {part + 1} {cost:.3f}")
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    used = np.bincount(np.concatenate(trace.actions), minlength=len(cables)) / DAYS
    for (a, b), share in zip(cables, used, strict=True):
        pyplot.plot(*place[[a, b]].T, color="tab:blue", linewidth=0.2 + 4 * share)
    pyplot.title("Width: share of days on which a cable was rented")
    pyplot.savefig(sys.argv[1])
