"""Delayed feedback: loans that fail months later.

An applicant belongs to one of eight groups and gets one of four offers. `hn.play` leaves decisions
open until the environment reports their losses, in any order. The table lists the regret and its
bound per mean delay. The self-tuned learner sets its noise by the measured instability cost; its
certificate (measured) counts open decisions with the largest possible loss. A bound above the
number of rounds is useless.
"""

import numpy as np

import hannan as hn

GROUPS, OFFERS, LOANS = 8, 4, 4000
rng = np.random.default_rng(0)
failing = rng.uniform(0.3, 0.7, size=(GROUPS, OFFERS))
failing[np.arange(GROUPS), rng.integers(OFFERS, size=GROUPS)] = 0.1
groups = rng.integers(GROUPS, size=LOANS)
losses = (rng.random((LOANS, OFFERS)) < failing[groups]).astype(float)
bank = hn.environments.FromArrays(groups, losses)
rules = hn.oracles.AllPolicies(GROUPS, OFFERS)

print("mean delay  open at end   scheduled     bound      self-tuned     bound  measured")
for delay in (0, 1, 10, 100, 1000):
    delayed, cells = hn.environments.Delayed(bank, delay, distribution="geometric"), []
    for epsilon in ("anytime", "adaptive"):
        learner = hn.ContextSemiBanditFTPL(rules, epsilon=epsilon, seed=0)
        regret, bound = hn.play(learner, delayed, seed=1).regret(), learner.regret_bound()
        last = "" if epsilon == "anytime" else f"  {learner.certificate().stability_estimate:8.0f}"
        cells.append(f"{regret:10.0f}  {bound:8.0f}{last}")
    print(f"{delay:10d}  {len(learner.open_decisions):11d}  {'     '.join(cells)}")
chance = losses.sum() / OFFERS - losses[range(LOANS), failing.argmin(axis=1)[groups]].sum()
print(f"regret of random offers: {chance:.0f}")
