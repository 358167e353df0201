"""Compete with the best sequence of policies.

The best of 50 policies changes three times in 2,000 rounds. The contexts are known in advance, such
as the days of a calendar; the losses are not. Compare the loss of a learner over sequences with
that of a plain learner, of the best policy and of the best sequence.
"""

import numpy as np

import hannan as hn

T, K, N, KINDS = 2000, 4, 50, 10
rng = np.random.default_rng(0)
table = rng.integers(K, size=(N, KINDS))
policies = hn.oracles.FinitePolicies(table, n_actions=K)
calendar = rng.integers(KINDS, size=T).tolist()
good = table[np.arange(T) * 4 // T, calendar]
losses = (rng.random((T, K)) < np.where(np.arange(K) == good[:, None], 0.1, 0.6)).astype(float)
environment = hn.environments.FromArrays(calendar, losses)

switching = hn.oracles.Switching(policies, switches=3, sequence=calendar)
learners = {
    "plain": hn.ContextFTPL(policies, seed=0),
    "switching": hn.ContextFTPL(switching, seed=0),
    "switching, PlayoutFTPL": hn.PlayoutFTPL(switching, seed=0),
}
for name, learner in learners.items():
    trace = hn.play(learner, environment)
    print(f"loss of the learner, {name:23} {trace.losses.sum():6.0f}")
print(f"loss of the best policy {trace.losses.sum() - trace.regret(switches=0):25.0f}")
print(f"loss of the best sequence {trace.losses.sum() - trace.regret():23.0f}")
print("the best sequence switches in rounds", *trace.best_policy.switches)
