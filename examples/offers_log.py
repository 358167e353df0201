"""Simulate the data file offers.csv of the package.

The script prints the true mean of each rule in euros. Given a file name, it also writes the log.
"""

import csv
import sys
from random import Random

PROPENSITIES = {"none": 0.2, "discount": 0.6, "delivery": 0.2}
MARGINS = {"none": 24.0, "discount": 18.0, "delivery": 20.0}  # mean per sale


def visitors(count, rng):
    for _ in range(count):
        yield rng.choice(("web", "web", "app", "phone")), rng.randint(18, 75), rng.choice(range(6))


def sale(offer, channel, age, orders):  # its probability and its mean margin
    more = {"discount": 0.4 * (orders < 2), "delivery": 0.3 if channel == "app" else 0.02}
    return 0.3 + 0.08 * orders + more.get(offer, 0.0), MARGINS[offer]


def log(rng):
    yield "age", "channel", "orders", "offer", "margin", "propensity", "current"
    for channel, age, orders in visitors(800, Random(3)):
        offer = rng.choices(list(PROPENSITIES), PROPENSITIES.values())[0]
        chance, mean = sale(offer, channel, age, orders)
        margin = round(rng.gauss(mean, 3.0), 2) if rng.random() < chance else 0.0
        age = "" if rng.random() < 0.1 else age
        yield age, channel, orders, offer, margin, PROPENSITIES[offer], "discount"


if path := sys.argv[1:]:
    with open(path[0], "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(log(Random(3)))
table = [{o: p * m for o in MARGINS for p, m in [sale(o, *v)]} for v in visitors(50_000, Random(0))]
for name in (*PROPENSITIES, "best"):
    mean = sum(row.get(name, max(row.values())) for row in table) / len(table)
    print(f"{name:8} {mean:5.2f} € per visitor")
