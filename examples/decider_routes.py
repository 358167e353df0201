"""Choose routes with hn.Decider: late reports and closed roads.

Each day a driver reports the minutes of each link, some days late, and a few reports never arrive.
A tenth of the days follows the current route, for comparison. The output shows the comparison, the
links driven most often, and the latest route in the log.
"""

import numpy as np

import hannan as hn

rng = np.random.default_rng(1)
minutes = {
    ("home", "bridge"): 12.0, ("home", "ring"): 9.0, ("home", "park"): 15.0,
    ("bridge", "centre"): 14.0, ("ring", "centre"): 20.0, ("ring", "station"): 16.0,
    ("park", "station"): 6.0, ("centre", "work"): 7.0, ("station", "work"): 8.0,
}  # fmt: skip
links = ["-".join(link) for link in minutes]
usual = dict(zip(links, minutes.values(), strict=True))
driver = hn.Decider(
    policies=hn.oracles.Paths(list(minutes), "home", "work"),
    losses=(0, 60),
    clip=True,
    baseline=["home-ring", "ring-centre", "centre-work"],
    holdout=0.1,
    seed=0,
)
for day in range(2000):
    closed = {"park-station"} if day % 10 == 0 else set()
    driver.decide(id=day, available=[link for link in links if link not in closed])
    if day >= 5 and rng.random() < 0.95:  # the report of five days ago
        route = driver.decision(day - 5).action
        driver.report(day - 5, losses={link: rng.gamma(4.0, usual[link] / 4.0) for link in route})
driver.expire(older_than=0)  # the learner does not learn from these

print(driver.summary())
print("latest route with a report:", *driver.log()["action"].iloc[-1])
