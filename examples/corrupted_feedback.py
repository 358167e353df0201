"""Corrupted feedback: forged reviews of restaurants.

Some reviews state the opposite of the true outcome; the table lists the regret in true losses. A
forged review adds at most 2 to the regret of a learner with a guarantee, because its regret in the
observed losses is low. LinUCB has no guarantee: after a few hundred forged reviews at the start, it
avoids the best restaurant for the rest of the run.
"""

import numpy as np

import hannan as hn

OCCASIONS, PLACES, VISITS, SEEDS = 5, 3, 3000, 2
rules = hn.oracles.AllPolicies(OCCASIONS, PLACES)
town = hn.environments.PlantedPolicy(rules, good=0.1, bad=0.4)
forged = {
    "none": town,
    "the first 300": hn.environments.Corrupted(town, rate=1.0, budget=300),
    "300 at random": hn.environments.Corrupted(town, rate=0.2, budget=300),
    "20 % missing": hn.environments.Corrupted(town, rate=0.2, kind="missing"),
}


def regret(learner: hn.Learner, reviews: hn.Environment) -> float:
    """Return the mean regret of a few runs."""
    runs = (hn.play(learner.clone(), reviews, VISITS, s, oracle=rules) for s in range(SEEDS))
    return float(np.mean([run.regret() for run in runs]))


print("forged reviews  full information  bandit feedback  LinUCB   (regret)")
for name, reviews in forged.items():
    full = regret(hn.ContextFTPL(rules, seed=0), reviews)
    bandit = regret(hn.ContextSemiBanditFTPL(rules, seed=0), reviews)
    print(f"{name:14}  {full:16.0f}  {bandit:15.0f}  ", end="")
    print(f"{regret(hn.baselines.LinUCB(PLACES), reviews):6.0f}")
