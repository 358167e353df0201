"""Run Hannan's learners in a coba experiment.

Use it to compare Hannan's learners with those of coba in the same rounds. A visitor has two
features, which determine the offer that the visitor likes; this rule changes twice (drift). The
output is the mean reward of each learner: restarts raise it.
"""

import coba as cb

import hannan as hn

ROUNDS, NAMES = 1500, ["book", "film", "game"]
OFFERS = [cb.Categorical(name, NAMES) for name in NAMES]


def reward(i, visitor, offer, rng):
    """Return 1 with probability 0.9 if the visitor likes the offer best, else with 0.1."""
    likes = [visitor[0], visitor[1], -visitor[0] - visitor[1]]
    shown = (offer.as_int + i // (ROUNDS // 3)) % 3
    return float(rng.random() < (0.9 if likes[shown] == max(likes) else 0.1))


environments = cb.Environments.from_lambda(
    ROUNDS,
    lambda i, rng: (rng.random() - 0.5, rng.random() - 0.5),
    lambda i, visitor, rng: OFFERS,
    reward,
    5,
)
rules = hn.oracles.LinearPolicies(n_actions=3)
bandit = hn.ContextSemiBanditFTPL(rules, predictor=hn.predictors.Ridge(), seed=0)
learners = [hn.adapters.CobaLearner(each) for each in (bandit, hn.Restarting(bandit))]
learners += [cb.LinUCBLearner(), cb.RandomLearner()]
result = cb.Experiment(environments, learners).run(quiet=True)
for learner in result.learners.to_dicts():
    played = result.interactions.where(learner_id=learner["learner_id"])
    print(f"{learner['family']:22} reward {sum(played['reward']) / ROUNDS:.3f} per visitor")
