"""Full information: 1,000 experts that see a context.

Each expert is a table with an action for each of twelve contexts, and the best expert changes four
times (drift). Compare the learner's loss with that of a uniform choice and of the best expert in
hindsight.
"""

import numpy as np

import hannan as hn

rng = np.random.default_rng(0)
experts = rng.integers(0, 4, size=(1000, 12))
oracle = hn.oracles.FinitePolicies(experts)
environment = hn.environments.Switching(oracle, switches=4, good=0.1, bad=0.6)

learner = hn.ContextFTPL(oracle, seed=0)
trace = hn.play(learner, environment, horizon=10_000, seed=0)

uniform = hn.play(hn.baselines.UniformRandom(4, seed=0), environment, 10_000, seed=0)
best = trace.losses.sum() - trace.regret()
print(f"loss of a uniform choice         {uniform.losses.sum():8,.0f}")
print(f"loss of the best expert          {best:8,.0f}")
print(f"loss of the learner              {trace.losses.sum():8,.0f}")
print(f"regret against the best expert   {trace.regret():8,.0f}")
print(f"best expert in hindsight         {trace.best_policy}")
