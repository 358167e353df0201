"""Losses that move slowly: the previous ones are a good guess of the next.

Five warehouses, ten kinds of orders, and delivery times that drift like the weather. The learner
counts the last times seen as one more round before it decides. If the guess were bad it would be
dropped: trust has to be earned.
"""

import numpy as np

import hannan as hn

ROUNDS, SITES, KINDS = 3000, 5, 10
rng = np.random.default_rng(0)
when = np.arange(ROUNDS)[:, None] / ROUNDS
phase, turns = rng.random(SITES), rng.uniform(3, 8, SITES)
times = 0.5 + 0.4 * np.sin(2 * np.pi * (phase + turns * when))
world = hn.environments.FromArrays(rng.integers(KINDS, size=ROUNDS), times)
plans = hn.oracles.FinitePolicies(rng.integers(SITES, size=(100, KINDS)))

for name, guess in (
    ("no guess", None),
    ("previous times", hn.predictors.Last(by_context=False)),
    ("their mean so far", hn.predictors.Mean(alpha=0.0, by_context=False)),
):
    learner = hn.ContextFTPL(plans, predictor=guess, seed=0)
    trace = hn.play(learner, world)
    error = learner.certificate().prediction_error
    print(f"{name:18} regret {trace.regret():7.1f}   squared errors {error or 0.0:8.1f}")
