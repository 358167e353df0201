"""Off-policy evaluation: compare rules on a learner's log.

A learner showed one of four offers to five kinds of visitors, and `Recorder` logged each choice,
its propensity and whether the visitor left. `evaluate` estimates the mean loss of other rules from
this log alone. Compare the 99 % confidence intervals of three estimators with the true mean, which
is known because the visitors are simulated.
"""

import numpy as np

import hannan as hn

KINDS, OFFERS, VISITORS = 5, 4, 4000
rng = np.random.default_rng(0)
leaving = rng.uniform(0.2, 0.9, size=(KINDS, OFFERS))  # known because it is simulated

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
print(f"mean loss of the learner {log.losses.mean():.3f}; {log.draws} noise draws per propensity")

rules = {
    "always offer 0": lambda kind: 0,
    "kind modulo 4": lambda kind: kind % OFFERS,
    "best so far": learner.best_policy(),
}
for name, rule in rules.items():
    truth = np.mean([leaving[kind, rule(kind)] for kind in range(KINDS)])
    for estimator in ("ips", "snips", "dr"):
        found = hn.off_policy.evaluate(log, rule, estimator, level=0.99)
        low, high = found.interval
        print(f"{name:15} {estimator:5} {found.value:.3f} in [{low:.3f}, {high:.3f}]", end="")
        print(f", effective sample size {found.effective:,.0f}; true mean {truth:.3f}")
