"""A data frame replayed row by row: what would a learner have paid, not knowing the future?

Each row is a parcel: its weight and distance, what each of three carriers would have charged, and
who was booked. Columns become contexts and losses; any frame of pandas, polars or pyarrow will do.
Prices are in euros: the learner is told their range, and nothing else about them.
"""

import numpy as np
import pandas as pd

import hannan as hn

PARCELS, CARRIERS = 3000, ["van", "train", "plane"]
rng = np.random.default_rng(0)
weight, distance = rng.gamma(2.0, 2.0, PARCELS), rng.uniform(10.0, 900.0, PARCELS)
parcels = pd.DataFrame({"weight": weight.round(1), "distance": distance.round()})
prices = [5 + 0.05 * distance, 18 + 1.5 * weight, 27 + 0.005 * distance]
for carrier, price in zip(CARRIERS, prices, strict=True):
    parcels[carrier] = (price + rng.normal(scale=3.0, size=PARCELS)).clip(0.0, 60.0)
parcels["booked"] = np.where(parcels["weight"] > 5.0, "plane", "van")

world = hn.environments.FromFrame(
    parcels, context=["weight", "distance"], losses=CARRIERS, current="booked", scale=None
)
rules = hn.oracles.Trees(n_actions=3, depth=2)
learner = hn.ContextFTPL(rules, contexts=world.contexts, loss_range=(0.0, 60.0), seed=0)
trace = hn.play(learner, world)

always = parcels[CARRIERS].mean()
print(f"as it was booked   {trace.current_mean_loss:6.2f} a parcel")
print(f"always the {always.idxmin():7} {always.min():6.2f}")
print(f"the learner        {trace.mean_loss:6.2f}")
print(f"the best rule      {trace.mean_loss - trace.regret() / PARCELS:6.2f}, which is")
print(trace.best_policy)
print("with x = weight, distance, and carriers", *enumerate(world.actions))
