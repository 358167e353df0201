"""Forged reviews: what does a lie cost?

Three restaurants, five occasions, and reviews of which some say the opposite of what happened. The
losses that count are the true ones. A forged review adds at most 2 to the regret of a learner with
a guarantee, for it has no regret on what it was told. One that stops looking has no such limit: a
few hundred lies at the start, and LinUCB avoids the best place for good.
"""

import numpy as np

import hannan as hn

OCCASIONS, PLACES, VISITS, SEEDS = 5, 3, 3000, 2
rules = hn.oracles.AllPolicies(OCCASIONS, PLACES)
town = hn.environments.PlantedPolicy(rules, good=0.1, bad=0.4)
forged = {
    "none": town,
    "the first 300": hn.environments.Corrupted(town, rate=1.0, budget=300),
    "300 here and there": hn.environments.Corrupted(town, rate=0.2, budget=300),
    "a fifth is missing": hn.environments.Corrupted(town, rate=0.2, kind="missing"),
}


def regret(learner: hn.Learner, reviews: hn.Environment) -> float:
    """The mean over a few games."""
    games = (hn.play(learner.clone(), reviews, VISITS, s, oracle=rules) for s in range(SEEDS))
    return float(np.mean([game.regret() for game in games]))


print("forged reviews        all told  own visit told  LinUCB   (regret)")
for name, reviews in forged.items():
    told = regret(hn.ContextFTPL(rules, seed=0), reviews)
    bandit = regret(hn.ContextSemiBanditFTPL(rules, seed=0), reviews)
    print(f"{name:20}  {told:8.0f}  {bandit:14.0f}  ", end="")
    print(f"{regret(hn.baselines.LinUCB(PLACES), reviews):6.0f}")
