"""Learners of ours in an experiment of coba, beside coba's own.

Visitors come with two features, from which it can be told which of three offers they like. The
rule changes twice: what was liked by some is liked by others. coba plays all learners in the same
rounds, and its table of results says what each of them took in.
"""

import coba as cb

import hannan as hn

ROUNDS, NAMES = 1500, ["book", "film", "game"]
OFFERS = [cb.Categorical(name, NAMES) for name in NAMES]


def reward(i, visitor, offer, rng):
    """The right offer is taken nine times out of ten, another one once."""
    likes = [visitor[0], visitor[1], -visitor[0] - visitor[1]]
    shown = (offer.as_int + i // (ROUNDS // 3)) % 3
    return float(rng.random() < (0.9 if likes[shown] == max(likes) else 0.1))


world = cb.Environments.from_lambda(
    ROUNDS,
    lambda i, rng: (rng.random() - 0.5, rng.random() - 0.5),
    lambda i, visitor, rng: OFFERS,
    reward,
    5,
)
rules = hn.oracles.LinearPolicies(n_actions=3)
bandit = hn.ContextSemiBanditFTPL(rules, predictor=hn.predictors.Ridge(), seed=0)
ours = [hn.adapters.CobaLearner(one) for one in (bandit, hn.Restarting(bandit))]
result = cb.Experiment(world, [*ours, cb.LinUCBLearner(), cb.RandomLearner()]).run(quiet=True)
for learner in result.learners.to_dicts():
    played = result.interactions.where(learner_id=learner["learner_id"])
    print(f"{learner['family']:22} took in {sum(played['reward']) / ROUNDS:.3f} a visitor")
