"""Restart after drift: digits whose labels are permuted.

`Drifting` permutes the actions of an environment twice, and you observe only whether the chosen
label was right (bandit feedback). A learner that uses its whole history fails after a change.
`Restarting` detects larger prediction errors and starts a fresh learner. Compare the shares of
wrong labels; without drift, LinUCB is as good.
"""

import hannan as hn

ROUNDS = 3000
digits = hn.environments.Classification.bundled("digits")
renamed = hn.environments.Drifting(digits, changes=2)

plain = hn.ContextSemiBanditFTPL(
    hn.oracles.LinearPolicies(n_actions=10), predictor=hn.predictors.Ridge(alpha=0.1), seed=0
)
restarting = hn.Restarting(plain, max_restarts=5)
learners = {
    "LinUCB": hn.baselines.LinUCB(10),
    "without restarts": plain,
    "with restarts": restarting,
}

print("wrong labels       before  after one change  after two")
for name, learner in learners.items():
    wrong = hn.play(learner, renamed, ROUNDS, seed=0).losses.reshape(3, -1).mean(axis=1)
    print(f"{name:16}  {wrong[0]:7.1%}  {wrong[1]:16.1%}  {wrong[2]:9.1%}")
print("labels changed after rounds 1000 and 2000, restarts after", *restarting.restarts)
