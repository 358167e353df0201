"""Evaluate rules on a Vowpal Wabbit log (dsjson).

A shop showed one of three ads to visitors of different age and logged the cost of each: -1 for a
click, else 0. The script estimates the clicks of two rules, replays a learner on the log, and
writes the log as text for Vowpal Wabbit. The estimates are intervals, in clicks per 100 visits.
"""

import json
import tempfile
from pathlib import Path

import numpy as np

import hannan as hn

VISITS, P = 3000, (0.6, 0.2, 0.2)
ads = [{"ad": {"colour": name}} for name in ("red", "green", "blue")]
rng = np.random.default_rng(7)


def visits():
    for age in rng.uniform(18, 80, size=VISITS):
        ad = int(rng.choice(3, p=P))
        clicked = rng.random() < (0.5 if ad == 1 + (age > 40) else 0.1)
        label = {"_label_cost": -int(clicked), "_label_probability": P[ad], "_labelIndex": ad}
        yield json.dumps({**label, "c": {"user": {"age": age}, "_multi": ads}})


with tempfile.TemporaryDirectory() as folder:
    path, text = Path(folder) / "shop.dsjson", Path(folder) / "shop.vw"
    path.write_text("\n".join(visits()))
    log = hn.adapters.log_from_vw(hn.adapters.read_dsjson(path), cost_range=(-1, 0))
    print(f"the shop: {100 * (1 - log.losses.mean()):.0f} clicks per 100 visits")
    for name, rule in {"always red": lambda x: 0, "by age": lambda x: 1 + (x[0] > 40)}.items():
        low, high = hn.off_policy.evaluate(log, rule, "ips").interval
        print(f"{name}: between {100 * (1 - high):.0f} and {100 * (1 - low):.0f}")
    learner = hn.ContextSemiBanditFTPL(hn.oracles.Stumps(3), contexts=log.contexts, seed=0)
    run = hn.play(learner, log.environment(), seed=0)
    print(f"learner: {100 * (1 - run.mean_loss):.0f}, effective sample size {run.effective:.0f}")
    print(hn.adapters.write_vw(hn.adapters.read_dsjson(path), text, "cb_adf"), "rounds written")
