"""Replay a CSV file and compare with your current rule.

The command `hannan replay days.csv --label rain --current forecast --categorical sky` does this,
too. Each row holds features, the label and the decision of your current rule. `FromFile` reads the
file in batches, standardises numbers by the rows so far and turns text into indicators. Compare the
mistakes of the forecast (your current rule), the learner and the best linear rule in hindsight.
"""

import tempfile
from pathlib import Path

import numpy as np

import hannan as hn

DAYS = 3000
rng = np.random.default_rng(0)
pressure, wind = rng.normal(1013, 8, DAYS).round(1), rng.gamma(2.0, 3.0, DAYS).round(1)
sky = rng.choice(["blue", "grey", "red"], DAYS)
wet = (1013 - pressure) / 8 + 0.2 * (wind - 6) + (sky == "grey") + rng.normal(0, 0.5, DAYS) > 0.5
rain, forecast = np.where([wet, pressure < 1010], "yes", "no")
lines = [",".join(map(str, row)) for row in zip(pressure, wind, sky, rain, forecast, strict=True)]

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "days.csv"
    path.write_text("\n".join(["pressure,wind,sky,rain,forecast", *lines]))
    days = hn.environments.FromFile(
        path,
        context=["pressure", "wind", "sky"],
        categorical=["sky"],
        label="rain",
        current="forecast",
    )
    print(days.horizon, "days, contexts are", *days.features)
    trace = hn.play(hn.ContextFTPL(hn.oracles.LinearPolicies(n_actions=2), seed=0), days)

wrong = trace.mean_loss
print(f"the forecast was wrong on {trace.current_mean_loss:.1%} of the days")
print(f"the learner on {wrong:.1%}, in the last thousand days on {trace.losses[-1000:].mean():.1%}")
print(f"the best linear rule in hindsight on {wrong - trace.regret() / DAYS:.1%}")
