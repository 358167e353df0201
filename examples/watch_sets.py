"""Monitor a learner of routes against your current route with Watch.

Each day a learner drives a route and observes the minutes of its links, except for failed sensors.
In a tenth of the days it drives the current route. A `Watch` compares the two at any time.
"""

from itertools import pairwise

import numpy as np

import hannan as hn

SIDE, E = 4, 0.1
links = [(i, i + 1) for i in range(SIDE**2) if (i + 1) % SIDE]
links += [(i, i + SIDE) for i in range(SIDE**2 - SIDE)]
rng = np.random.default_rng(3)
usual = rng.uniform(2.0, 8.0, len(links))  # minutes, not observed
nodes = {"current": (0, 1, 2, 3, 7, 11, 15), "other way": (0, 4, 8, 12, 13, 14, 15)}
rules = {name: sorted(map(links.index, pairwise(way))) for name, way in nodes.items()}

routes = hn.oracles.Paths(links, 0, SIDE**2 - 1)
learner = hn.bandit(
    policies=routes, loss_range=(0, 10), exploration=E, current_rule=rules["current"], seed=0
)
watch = hn.off_policy.Watch(rules, len(links), (0, 10), max_chosen=6, floors={"current": E})
watched = hn.off_policy.Watched(learner, watch, draws=50)
ours, current = 0.0, 0.0
for day in range(1, 3001):
    minutes = np.clip(usual + rng.normal(0.0, 1.0, len(links)), 0.0, 10.0)
    driven = watched.act()
    failed = rng.random(len(driven)) < 0.01
    watched.update(np.where(failed, np.nan, minutes[driven]))
    ours, current = ours + minutes[driven].sum(), current + minutes[rules["current"]].sum()
    if day % 100 == 0 and watch.intervals()["current"].verdict != "not known":
        break
print(watch)
print(f"true difference, learner minus current route: {ours - current:+,.0f} minutes")
