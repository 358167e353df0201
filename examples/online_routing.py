"""Choose routes with semi-bandit feedback.

Each day you drive across a town and observe the times of the streets on your route only. Give a
file name to draw the streets, wider if they were used more often (needs matplotlib).
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
environment = hn.environments.Congestion(roads, oracle, swing=0.6, period=500)
learner = hn.bandit(policies=oracle, seed=0)
trace = hn.play(learner, environment, DAYS, seed=0)
used = np.bincount(np.concatenate(trace.actions), minlength=len(streets)) / DAYS

tenths = trace.losses.reshape(10, -1).mean(axis=1) * environment.unit
best = trace.outcomes.mean(axis=0)[trace.best_policy(None)].sum() * environment.unit
routes = round(np.exp(oracle.log_size([None])))
print(f"{routes} routes; the best one in hindsight takes {best:.2f} minutes per day")
print("learner, tenth by tenth:", *(f"{minutes:.2f}" for minutes in tenths))
for e in np.argsort(-used)[:5]:
    print(f"street {oracle.edges[e][0]} to {oracle.edges[e][1]} used on {used[e]:.0%} of days")
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    for ((x, y), (u, v)), share in zip(oracle.edges, used, strict=True):
        pyplot.plot([x, u], [y, v], color="tab:blue", linewidth=0.3 + 10 * share)
    pyplot.title("Width: share of days on which a street was used")
    pyplot.savefig(sys.argv[1])
