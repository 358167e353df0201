"""Drive across a town every day, seeing only the times of the streets that were taken.

`python examples/online_routing.py picture.png` also draws the streets, the wider the more often
they were used (if matplotlib is installed).
"""

import sys
from importlib.util import find_spec

import numpy as np

import hannan as hn

N, DAYS = 6, 5000
corners = [(x, y) for x in range(N) for y in range(N)]
streets = [((x, y), (x + 1, y)) for x, y in corners if x + 1 < N]
streets += [((x, y), (x, y + 1)) for x, y in corners if y + 1 < N]
times = np.random.default_rng(7).uniform(1.0, 3.0, size=len(streets))
roads = hn.networks.RoadNetwork(*zip(*streets, strict=True), times, capacity=100.0)

oracle = hn.oracles.Paths.towards(roads, (0, 0), (N - 1, N - 1))
world = hn.environments.Congestion(roads, oracle, swing=0.6, period=500)
learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
trace = hn.play(learner, world, DAYS, seed=0)
used = np.bincount(np.concatenate(trace.actions), minlength=len(streets)) / DAYS

tenths = trace.losses.reshape(10, -1).mean(axis=1) * world.unit
best = trace.outcomes.mean(axis=0)[trace.best_policy(None)].sum() * world.unit
routes = round(np.exp(oracle.log_size([None])))
print(f"{routes} routes; the best one in hindsight takes {best:.2f} minutes a day")
print("learner, tenth by tenth:", *(f"{minutes:.2f}" for minutes in tenths))
for e in np.argsort(-used)[:5]:
    print(f"street {oracle.edges[e][0]} to {oracle.edges[e][1]} used on {used[e]:.0%} of days")
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    for ((x, y), (u, v)), share in zip(oracle.edges, used, strict=True):
        pyplot.plot([x, u], [y, v], color="tab:blue", linewidth=0.3 + 10 * share)
    pyplot.title("Streets, as wide as they were used")
    pyplot.savefig(sys.argv[1])
