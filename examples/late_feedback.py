"""Feedback that comes late: loans, where it takes months to see whether the offer failed.

An applicant belongs to one of eight groups and gets one of four offers. The learner keeps
every decision (`decide`) open until its loss is known; feedback may come in any order;
`hn.play` does so wherever a round has a delay. The schedule pays for delay in advance; the
self-tuned learner hardly notices, and its certificate, which is measured on the way, counts rounds
without a loss with the most that they can cost. (A promise above the number of rounds is worth
nothing, but that is what can be said before the game.)
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

print("mean delay  never seen  scheduled, promised    self-tuned, promised, measured")
for delay in (0, 1, 10, 100, 1000):
    late, cells = hn.environments.Delayed(bank, delay, distribution="geometric"), []
    for epsilon in ("anytime", "adaptive"):
        learner = hn.ContextSemiBanditFTPL(rules, epsilon=epsilon, seed=0)
        regret, bound = hn.play(learner, late, seed=1).regret(), learner.regret_bound()
        said = "" if epsilon == "anytime" else f"  {learner.certificate().stability_estimate:8.0f}"
        cells.append(f"{regret:8.0f}  {bound:8.0f}{said}")
    print(f"{delay:10d}  {len(learner.open_decisions):10d}  {'     '.join(cells)}")
chance = losses.sum() / OFFERS - losses[range(LOANS), failing.argmin(axis=1)[groups]].sum()
print(f"offers at random: {chance:.0f}")
