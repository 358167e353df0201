"""Use data frames and graphs as input.

A courier chooses a route each morning. The streets are a graph of networkx. The contexts (the
weather) are a column of a polars frame, the minutes per street are a pandas frame. Rain slows the
river road, so the best route depends on the weather: the last lines show both.
"""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl

import hannan as hn

DAYS = 600
streets = nx.DiGraph()
streets.add_edge("depot", "river", minutes=6, wet=20)
streets.add_edge("depot", "hill", minutes=9, wet=10)
streets.add_edge("river", "market", minutes=7, wet=8)
streets.add_edge("hill", "market", minutes=9, wet=10)
routes = hn.oracles.Paths(streets, "depot", "market")

rng = np.random.default_rng(0)
weather = pl.DataFrame({"sky": rng.choice(["dry", "rain"], DAYS, p=[0.7, 0.3])})
minutes = pd.DataFrame(
    [
        [streets.edges[street]["wet" if sky == "rain" else "minutes"] for street in routes.edges]
        for sky in weather["sky"]
    ],
    columns=[f"{u}-{v}" for u, v in routes.edges],
)
minutes += rng.integers(0, 3, size=minutes.shape)
oracle = hn.oracles.PerContext(routes, weather["sky"])
learner = hn.ContextFTPL(oracle, loss_range=(0, 30), seed=0)
environment = hn.environments.FromArrays(weather["sky"], minutes)
trace = hn.play(learner, environment, oracle=oracle)
print(f"the learner   {trace.mean_loss:5.2f} minutes per day")
print(f"the best rule {trace.mean_loss - trace.regret() / DAYS:5.2f}")
for sky in ("dry", "rain"):
    print(f"{sky}:", *(" to ".join(routes.edges[j]) for j in learner.best_policy()(sky)), sep="  ")
