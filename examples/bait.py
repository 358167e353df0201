"""A policy that looks bad for a fifth of the game, and is by far the best afterwards.

Only the loss of what was played is seen. Whoever gives an action up by what was seen early learns
late, or never, that it has changed; and filling in unseen losses by the mean of seen ones
(trust="baseline") is giving up in disguise. The default, trust="earned", measures what following
such means costs, and goes on trying what looks bad.
"""

import numpy as np

import hannan as hn

ROUNDS, SEEDS = 2000, 8
policies = hn.oracles.FinitePolicies.random(n_policies=50, n_contexts=20, n_actions=3, seed=0)
world = hn.environments.Bait(policies, early=0.9, late=0.1, other=0.5, part=0.2)
mean = hn.predictors.Mean()

players = {
    "LinUCB": hn.baselines.LinUCB(3),
    "trust='baseline'": hn.ContextSemiBanditFTPL(
        policies, predictor=mean, trust="baseline", seed=0
    ),
    "trust='earned'": hn.ContextSemiBanditFTPL(policies, predictor=mean, seed=0),
    "no predictor": hn.ContextSemiBanditFTPL(policies, seed=0),
}
print("mean loss          all   first fifth   last fifth")
for name, player in players.items():
    games = [hn.play(player.clone(), world, ROUNDS, seed=s).losses for s in range(SEEDS)]
    fifths = np.mean(games, axis=0).reshape(5, -1).mean(axis=1)
    print(f"{name:16}  {fifths.mean():.2f}  {fifths[0]:11.2f}  {fifths[-1]:11.2f}")
print("the bait itself   0.26         0.90         0.10")
