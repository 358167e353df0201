"""Monitor a learner of routes against your current route with Watch.

A learner chooses a route through a grid every day, and sees the minutes of each link that it used,
sometimes without a link whose sensor failed. In a tenth of the days, it drives the current route.
`Watched` reports each day to a `Watch`, which compares the learner with the current route and with
another one. The loop looks every 100 days, and ends as soon as the verdict on the current route is
clear. The last line states the true difference.
"""

from itertools import pairwise

import numpy as np

import hannan as hn

SIDE = 4
links = [(i, i + 1) for i in range(SIDE**2) if (i + 1) % SIDE]
links += [(i, i + SIDE) for i in range(SIDE**2 - SIDE)]
rng = np.random.default_rng(3)
usual = rng.uniform(2.0, 8.0, len(links))  # minutes, not observed


def route(*nodes):
    """Return the links of a route, in rising order."""
    return sorted(links.index(link) for link in pairwise(nodes))


rules = {"current": route(0, 1, 2, 3, 7, 11, 15), "other way": route(0, 4, 8, 12, 13, 14, 15)}
learner = hn.bandit(
    policies=hn.oracles.Paths(links, 0, SIDE**2 - 1),
    loss_range=(0, 10),
    exploration=0.1,
    current_rule=rules["current"],
    seed=0,
)
watch = hn.off_policy.Watch(
    rules, len(links), (0, 10), max_chosen=2 * SIDE - 2, floors={"current": 0.1}
)
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
