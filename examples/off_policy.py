"""What would other rules have cost? From the log of a learner, beside the truth.

A learner showed one of four offers to five kinds of visitors and wrote down what it chose, how
likely that was, and whether the visitor left. Another team has rules to compare, and only the log.
"""

import numpy as np

import hannan as hn

KINDS, OFFERS, VISITORS = 5, 4, 4000
rng = np.random.default_rng(0)
leaving = rng.uniform(0.2, 0.9, size=(KINDS, OFFERS))  # known to us, who made the world

tables = rng.integers(OFFERS, size=(200, KINDS))
learner = hn.ContextSemiBanditFTPL(
    hn.oracles.FinitePolicies(tables, n_actions=OFFERS), epsilon=0.003, seed=0
)
recorder = hn.off_policy.Recorder(learner, draws=300)
for kind in rng.integers(KINDS, size=VISITORS):
    decision = recorder.decide(int(kind))
    left = rng.random() < leaving[kind, decision.action]
    recorder.update(float(left), decision=decision)
log = recorder.log()
print(f"the learner {log.losses.mean():.3f} with propensities from {log.draws} draws each")

rules = {
    "always offer 0": lambda kind: 0,
    "by turns": lambda kind: kind % OFFERS,
    "best so far": learner.best_policy(),
}
for name, rule in rules.items():
    truth = np.mean([leaving[kind, rule(kind)] for kind in range(KINDS)])
    for estimator in ("ips", "snips", "dr"):
        found = hn.off_policy.evaluate(log, rule, estimator, level=0.99)
        low, high = found.interval
        print(f"{name:15} {estimator:5} {found.value:.3f} in [{low:.3f}, {high:.3f}]", end="")
        print(f" worth {found.effective:,.0f} visitors; in truth {truth:.3f}")
