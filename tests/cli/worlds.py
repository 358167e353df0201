"""Files as they come to data scientists, of worlds whose answer is known."""

from __future__ import annotations

import csv
from datetime import date, timedelta

import numpy as np

SLOPES = np.array([2.5, -2.0, 1.5, 1.2, -1.41])
SLOPES *= 4.011341 / np.linalg.norm(SLOPES)
OFFSET = -8.377541
OPTIMUM_OF_FRAUD = 0.259
"""To pass a fraud costs 50, to block a good payment 2; by integration over the score below."""


def optimum_of_fraud():
    """What the best threshold on the true score costs: the least of both actions at each score."""
    z = np.linspace(-9.0, 9.0, 100_001)
    density = np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi)
    p = 1.0 / (1.0 + np.exp(-(OFFSET + np.linalg.norm(SLOPES) * z)))
    return float((density * np.minimum(50.0 * p, 2.0 * (1.0 - p))).sum() * (z[1] - z[0]))


def write(path, header, rows, encoding="utf-8", delimiter=","):
    with open(path, "w", newline="", encoding=encoding) as stream:
        csv.writer(stream, delimiter=delimiter).writerows([header, *rows])
    return str(path)


def fraud(path, n=30_000, seed=0, labels=False):
    """A logistic model that is exactly linear; 2.9 % frauds. Returns the path and what is best."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    p = 1.0 / (1.0 + np.exp(-(OFFSET + X @ SLOPES)))
    y = rng.random(n) < p
    blocks = X[:, 0] > 2.5
    rows = []
    for x, is_fraud, blocked in zip(X.round(5).tolist(), y.tolist(), blocks.tolist(), strict=True):
        if labels:
            rows.append([*x, "yes" if is_fraud else "no", "yes" if blocked else "no"])
        else:
            did = "cost_block" if blocked else "cost_pass"
            rows.append([*x, 50 * is_fraud, 2 * (not is_fraud), did])
    names = [f"x{i}" for i in range(5)]
    outcome = ["fraud", "did"] if labels else ["cost_pass", "cost_block", "did"]
    now = np.where(blocks, 2.0 * ~y, 50.0 * y).mean()
    best = np.where(50.0 * p > 2.0 * (1.0 - p), 2.0 * ~y, 50.0 * y).mean()
    return write(path, [*names, *outcome], rows), float(now), float(best)


def churn(path, n=4000, seed=0, german=False):
    """Who leaves: those of the free plan under forty, but for one in ten.

    Ages and plans are missing here and there, there are a customer number, a date, a city and an
    amount. Returns the path, what is done now and what the rule itself costs on this file.
    """
    rng = np.random.default_rng(seed)
    plans, cities = ("free", "basic", "pro", "team"), ("Köln", "Zürich", "Örebro", "Rome")
    rows, now, best = [], 0.0, 0.0
    for i in range(n):
        plan, age = plans[rng.integers(4)], int(rng.integers(18, 80))
        leaves = plan == "free" and age < 40
        left = leaves != (rng.random() < 0.1)
        best += left != leaves
        offered = plan == "free"
        now += left != offered
        day = date(2022, 1, 1) + timedelta(days=int(rng.integers(0, 700)))
        paid = round(float(rng.gamma(2.0, 20.0)), 2)
        shown = "" if rng.random() < 0.05 else ("NA" if rng.random() < 0.01 else age)
        words = ("ja", "nein") if german else ("yes", "no")
        rows.append([
            100_000 + 7 * i,
            day.strftime("%d.%m.%Y") if german else day.isoformat(),
            shown,
            "" if rng.random() < 0.02 else plan,
            cities[rng.integers(4)],
            f"{paid:.2f}".replace(".", ",") if german else paid,
            words[not left],
            words[not offered],
        ])  # fmt: skip
    header = ["customer id", "signup date", "age", "plan", "city", "paid", "churned", "we offered"]
    how = {"encoding": "latin-1", "delimiter": ";"} if german else {}
    return write(path, header, rows, **how), now / n, best / n


def weekends(path, n=3000, seed=0):
    """Two days of the week are busy, but for one in twenty."""
    rng = np.random.default_rng(seed)
    rows, best = [], 0
    for i in range(n):
        day = date(2020, 1, 1) + timedelta(days=i)
        busy = day.weekday() >= 5
        was = busy != (rng.random() < 0.05)
        best += was != busy
        rows.append([i, day.isoformat(), "busy" if was else "calm"])
    return write(path, ["", "day", "it was"], rows), best / n


def suppliers(path, n=3000, seed=0):
    """Costs in euros of three suppliers; which one is cheapest depends on the size of an order."""
    rng = np.random.default_rng(seed)
    size = rng.gamma(2.0, 50.0, n)
    costs = np.stack([40.0 + 0.2 * size, 20.0 + 0.45 * size, 60.0 + 0.12 * size], axis=1)
    seen = costs + rng.normal(0.0, 3.0, size=(n, 3))
    rows = [[f"{a:.2f}", *(f"{c:.2f}" for c in row), "alpha"]
            for a, row in zip(size.tolist(), seen.tolist(), strict=True)]  # fmt: skip
    best = seen[np.arange(n), costs.argmin(axis=1)].mean()
    names = ["alpha", "beta", "gamma"]
    return write(path, ["size", *names, "took"], rows), float(seen[:, 0].mean()), float(best)


def revenue(path, n=4000, seed=0):
    """A log of prices shown at random; revenue in euros. The highest is best for companies."""
    rng = np.random.default_rng(seed)
    rows, best = [], 0.0
    for _ in range(n):
        company, price = rng.random() < 0.5, int(rng.integers(3))
        means = (60.0, 90.0, 143.0) if company else (60.0, 40.0, 20.0)
        best += max(means)
        earned = max(0.0, means[price] + 10.0 * rng.normal())
        kind = "company" if company else "person"
        rows.append([kind, ("low", "middle", "high")[price], f"{earned:.2f}", round(1 / 3, 6)])
    return write(path, ["kind", "price", "revenue", "p"], rows), best / n
