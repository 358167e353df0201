"""Replay a data frame with hn.replay.

Each row is a parcel: its weight and distance, the price of three carriers in euros, and the booked
carrier. `hn.replay` compares the bookings (your current rule) with learners, fitted rules and
single carriers, with a confidence interval of the difference. The best rule then decides on two new
parcels.
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

replay = hn.replay(parcels, losses=CARRIERS, current="booked", unit="€")
print(replay.answer)
print(replay.table[["name", "kind", "mean", "difference"]].round(2).to_string(index=False))
for parcel in ({"weight": 2.0, "distance": 100.0}, {"weight": 9.0, "distance": 800.0}):
    print(parcel, "goes by", replay.rule.decide(parcel))
