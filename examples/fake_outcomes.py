"""Use your own distribution of fake outcomes.

Algorithm 1 of the paper (`FTPL`) does not need Laplace noise. Here it draws a random number of
imagined customers with random losses in each round, adds them to the history and follows the best
policy for both. Compare its regret with that of following the leader without noise.
"""

import numpy as np

import hannan as hn

D, K = 6, 3
oracle = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, K, size=(40, D)))


def imagined_customers(rng):
    """Return a Poisson number of customers: random contexts, losses between -3 and 3."""
    count = rng.poisson(20)
    return zip(rng.integers(D, size=count).tolist(), rng.uniform(-3, 3, (count, K)), strict=True)


environment = hn.environments.LeaderPunisher(oracle)
follower = hn.play(hn.baselines.FollowTheLeader(oracle), environment, horizon=2000, seed=0)
learner = hn.FTPL(oracle, imagined_customers, seed=0)
trace = hn.play(learner, environment, horizon=2000, seed=0)

print(f"regret of following the leader      {follower.regret():6.0f}")
print(f"regret with imagined customers      {trace.regret():6.0f}")
print(learner.certificate())
