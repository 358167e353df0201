"""A rota that is known in advance: noise on the shifts to come, and exact propensities.

A hotline sends each call to one of four teams. Which kind of call comes when is on the rota for
the whole month; which team does well is not, and only the team that took a call is judged. Knowing
the sequence buys one oracle call a round and the exact probability of each decision, which an
auditor can use to judge any other plan on the same log.
"""

import numpy as np

import hannan as hn

KINDS, TEAMS, CALLS = 12, 4, 6000
rng = np.random.default_rng(0)
rota = rng.integers(KINDS, size=CALLS).tolist()
plans = rng.integers(TEAMS, size=(200, KINDS))  # plans the managers would consider
failing = rng.uniform(0.2, 0.7, size=(KINDS, TEAMS))

desk = hn.PlayoutBandit(hn.oracles.FinitePolicies(plans), contexts=rota, seed=0)
loss, worth = 0.0, np.zeros(len(plans))
for kind in rota:
    decision = desk.decide(kind)
    failed = float(rng.random() < failing[kind, decision.action])
    desk.update(failed, decision=decision)
    loss += failed
    worth += (plans[:, kind] == decision.action) * decision.weights[0] * failed

truth = failing[rota, plans[:, rota]].sum(axis=1)
best = int(truth.argmin())
print(f"calls that failed               {loss:7,.0f}")
print(f"of the best plan, on average    {truth[best]:7,.0f}")
print(f"the same from our log           {worth[best]:7,.0f}")
print(f"oracle calls a round            {desk.oracle_calls / CALLS:7.2f}")
