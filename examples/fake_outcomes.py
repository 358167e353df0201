"""Algorithm 1 with a distribution of your own: fake rounds drawn from a model of the world.

Noise need not be Laplace. Here every round imagines a random number of customers and what they
would cost, puts them before the real ones, and follows the best policy for both together.
"""

import numpy as np

import hannan as hn

D, K = 6, 3
oracle = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, K, size=(40, D)))


def imagined_customers(rng):
    """A Poisson number of customers, each on a random context with losses between -3 and 3."""
    count = rng.poisson(20)
    return zip(rng.integers(D, size=count).tolist(), rng.uniform(-3, 3, (count, K)), strict=True)


world = hn.environments.LeaderPunisher(oracle)
follower = hn.play(hn.baselines.FollowTheLeader(oracle), world, horizon=2000, seed=0)
learner = hn.FTPL(oracle, imagined_customers, seed=0)
trace = hn.play(learner, world, horizon=2000, seed=0)

print(f"regret of following the leader      {follower.regret():6.0f}")
print(f"regret with imagined customers      {trace.regret():6.0f}")
print(learner.certificate())
