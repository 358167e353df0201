"""Known contexts: exact propensities with PlayoutBandit.

A hotline sends each call to one of four teams. The sequence of contexts (kinds of calls) is known
in advance, and you observe only whether the chosen team failed. `PlayoutBandit` then needs one
oracle call per round and knows each propensity exactly, so its log can evaluate any other plan.
Compare the estimate for the best plan with the expected number.
"""

import numpy as np

import hannan as hn

KINDS, TEAMS, CALLS = 12, 4, 6000
rng = np.random.default_rng(0)
rota = rng.integers(KINDS, size=CALLS).tolist()
plans = rng.integers(TEAMS, size=(200, KINDS))  # the policy class
failing = rng.uniform(0.2, 0.7, size=(KINDS, TEAMS))

learner = hn.PlayoutBandit(hn.oracles.FinitePolicies(plans), contexts=rota, seed=0)
loss, estimates = 0.0, np.zeros(len(plans))
for kind in rota:
    decision = learner.decide(kind)
    failed = float(rng.random() < failing[kind, decision.action])
    learner.update(failed, decision=decision)
    loss += failed
    estimates += (plans[:, kind] == decision.action) * decision.weights[0] * failed

totals = failing[rota, plans[:, rota]].sum(axis=1)
best = int(totals.argmin())
print(f"calls that failed               {loss:7,.0f}")
print(f"expected for the best plan      {totals[best]:7,.0f}")
print(f"its estimate from the log       {estimates[best]:7,.0f}")
print(f"oracle calls per round          {learner.oracle_calls / CALLS:7.2f}")
