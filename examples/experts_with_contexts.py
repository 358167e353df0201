"""A thousand experts who see a context, and a world that keeps changing its mind.

Each expert is a row of a table: what it would do in each of twelve situations. The best expert
changes four times; no expert is good throughout, and the learner is told nothing about it.
"""

import numpy as np

import hannan as hn

rng = np.random.default_rng(0)
experts = rng.integers(0, 4, size=(1000, 12))
oracle = hn.oracles.FinitePolicies(experts)
world = hn.environments.Switching(oracle, switches=4, good=0.1, bad=0.6)

learner = hn.ContextFTPL(oracle, seed=0)
trace = hn.play(learner, world, horizon=10_000, seed=0)

uniform = hn.play(hn.baselines.UniformRandom(4, seed=0), world, 10_000, seed=0)
best = trace.losses.sum() - trace.regret()
print(f"loss of uniform play       {uniform.losses.sum():8,.0f}")
print(f"loss of the best expert    {best:8,.0f}")
print(f"loss of the learner        {trace.losses.sum():8,.0f}")
print(f"regret to the best expert  {trace.regret():8,.0f}")
print(f"best expert in hindsight   {trace.best_policy}")
