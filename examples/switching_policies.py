"""Policies that go out of date: compete with the best sequence of them, not with the best one.

Four times in 2,000 rounds another of 50 policies is the good one. Which contexts will come is known
(say, a calendar); what they cost is not.
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
world = hn.environments.FromArrays(calendar, losses)

switching = hn.oracles.Switching(policies, switches=3, sequence=calendar)
learners = {
    "plain": hn.ContextFTPL(policies, seed=0),
    "switching": hn.ContextFTPL(switching, seed=0),
    "switching, noise on the future": hn.PlayoutFTPL(switching, seed=0),
}
for name, learner in learners.items():
    trace = hn.play(learner, world)
    print(f"loss of the learner, {name:31} {trace.losses.sum():6.0f}")
print(f"loss of the best policy {trace.losses.sum() - trace.regret(switches=0):33.0f}")
print(f"loss of the best sequence {trace.losses.sum() - trace.regret():31.0f}")
print("which switches in rounds", *trace.best_policy.switches)
