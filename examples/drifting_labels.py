"""Digits whose names are reshuffled twice, told only whether a guess was right.

`Drifting` permutes the actions of any environment now and then: what was called 3 is called 7 from
some round on. A learner that trusts all it ever saw is lost; `Restarting` notices that predictions
have become worse and starts over. LinUCB is a good choice until the first change.
"""

import hannan as hn

ROUNDS = 3000
digits = hn.environments.Classification.bundled("digits")
renamed = hn.environments.Drifting(digits, changes=2)

plain = hn.ContextSemiBanditFTPL(
    hn.oracles.LinearPolicies(n_actions=10), predictor=hn.predictors.Ridge(alpha=0.1), seed=0
)
restarting = hn.Restarting(plain, max_restarts=5)
players = {"LinUCB": hn.baselines.LinUCB(10), "one learner": plain, "with restarts": restarting}

print("wrong guesses     before  after one change  after two")
for name, player in players.items():
    wrong = hn.play(player, renamed, ROUNDS, seed=0).losses.reshape(3, -1).mean(axis=1)
    print(f"{name:15}  {wrong[0]:7.1%}  {wrong[1]:16.1%}  {wrong[2]:9.1%}")
print("names changed after rounds 1000 and 2000, restarts came after", *restarting.restarts)
