"""Predictors with full information: slowly changing losses.

Orders of ten kinds go to five warehouses, whose delivery times change slowly. The learner counts
the predicted losses as one more round before it decides. Compare the regrets: the previous times
are a good prediction, and a bad one does little harm because it must earn trust.
"""

import numpy as np

import hannan as hn

ROUNDS, SITES, KINDS = 3000, 5, 10
rng = np.random.default_rng(0)
when = np.arange(ROUNDS)[:, None] / ROUNDS
phase, turns = rng.random(SITES), rng.uniform(3, 8, SITES)
times = 0.5 + 0.4 * np.sin(2 * np.pi * (phase + turns * when))
environment = hn.environments.FromArrays(rng.integers(KINDS, size=ROUNDS), times)
plans = hn.oracles.FinitePolicies(rng.integers(SITES, size=(100, KINDS)))

for name, predictor in (
    ("no predictor", None),
    ("previous times", hn.predictors.Last(by_context=False)),
    ("mean times so far", hn.predictors.Mean(alpha=0.0, by_context=False)),
):
    learner = hn.ContextFTPL(plans, predictor=predictor, seed=0)
    trace = hn.play(learner, environment)
    error = learner.certificate().prediction_error
    print(f"{name:18} regret {trace.regret():7.1f}   squared errors {error or 0.0:8.1f}")
