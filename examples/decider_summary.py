"""Plot the summary of a Decider.

The plot shows your current rule and each offer after 400 and after 3,000 visitors. The thick
intervals hold if you look once, the thin ones at any time. Both shrink with more outcomes. `python
examples/decider_summary.py picture.png` draws the plot (needs matplotlib).
"""

import sys
from importlib.util import find_spec

import numpy as np

import hannan as hn

rng = np.random.default_rng(0)
offers = ["discount", "free shipping", "nothing"]
shop = hn.Decider(offers, rewards=(0, 120), baseline="nothing", exploration=0.03, seed=0)


def serve(visitors):
    """Make an offer to each visitor and report the euros: new visitors like free shipping."""
    for new in rng.integers(2, size=visitors):
        decision = shop.decide({"new": bool(new)})
        mean = {"discount": 40.0, "free shipping": 80.0 if new else 20.0, "nothing": 35.0}
        euros = np.clip(rng.normal(mean[decision.action], 10.0), 0.0, 120.0)
        shop.report(decision, reward=float(euros))


serve(400)
early = shop.summary()
serve(2600)
for summary in early, shop.summary():
    print(f"after {summary.decisions:,} visitors: {summary.baseline}")
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    _, (above, below) = pyplot.subplots(2, sharex=True, figsize=(7.2, 6.4), layout="constrained")
    early.plot(above).set_ylabel("after 400 visitors")
    shop.plot(below).set_ylabel("after 3,000 visitors")
    pyplot.savefig(sys.argv[1])
