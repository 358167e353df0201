"""Frames and graphs as they are: no arrays to make by hand.

A courier service chooses a way across town each morning. The streets are a graph of networkx; the
weather of the day, known by breakfast, is a row of a polars frame; the minutes that every street
took are told in the evening, as a row of a pandas frame. Rain slows the river road down.
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
ways = hn.oracles.Paths(streets, "depot", "market")

rng = np.random.default_rng(0)
weather = pl.DataFrame({"sky": rng.choice(["dry", "rain"], DAYS, p=[0.7, 0.3])})
minutes = pd.DataFrame(
    [
        [streets.edges[street]["wet" if sky == "rain" else "minutes"] for street in ways.edges]
        for sky in weather["sky"]
    ],
    columns=[f"{u}-{v}" for u, v in ways.edges],
)
minutes += rng.integers(0, 3, size=minutes.shape)
oracle = hn.oracles.PerContext(ways, weather["sky"])
learner = hn.ContextFTPL(oracle, loss_range=(0, 30), seed=0)
world = hn.environments.FromArrays(weather["sky"], minutes)
trace = hn.play(learner, world, oracle=oracle)
print(f"the learner   {trace.mean_loss:5.2f} minutes a day")
print(f"the best rule {trace.mean_loss - trace.regret() / DAYS:5.2f}")
for sky in ("dry", "rain"):
    print(f"{sky}:", *(" to ".join(ways.edges[j]) for j in learner.best_policy()(sky)), sep="  ")
