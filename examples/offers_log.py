"""Simulate the shop of `hannan/data/offers.csv`: print what each rule earns, and write the log."""

import csv
import random
import sys

PROPENSITIES = {"none": 0.2, "discount": 0.6, "delivery": 0.2}
MARGINS = {"none": 24.0, "discount": 18.0, "delivery": 20.0}  # mean, of a sale


def visitors(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        channel = rng.choice(("web", "web", "app", "phone"))
        yield rng.randint(18, 75), channel, rng.choice(range(6))


def sale(offer, age, channel, orders):  # its probability, and its mean margin
    more = {"discount": 0.4 * (orders < 2), "delivery": 0.3 if channel == "app" else 0.02}
    return 0.3 + 0.08 * orders + more.get(offer, 0.0), MARGINS[offer]


def log(count=800, seed=3):
    rng = random.Random(seed)
    yield "age", "channel", "orders", "offer", "margin", "propensity", "current"
    for visitor in visitors(count, seed):
        offer = rng.choices(list(PROPENSITIES), PROPENSITIES.values())[0]
        chance, mean = sale(offer, *visitor)
        margin = round(rng.gauss(mean, 3.0), 2) if rng.random() < chance else 0.0
        age = "" if rng.random() < 0.1 else visitor[0]
        yield age, *visitor[1:], offer, margin, PROPENSITIES[offer], "discount"


if path := sys.argv[1:]:
    with open(path[0], "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(log())
table = [{o: p * m for o in MARGINS for p, m in [sale(o, *v)]} for v in visitors(50_000, 0)]
for name in (*PROPENSITIES, "best"):
    mean = sum(row.get(name, max(row.values())) for row in table) / len(table)
    print(f"{name:8} {mean:5.2f} € per visitor")
