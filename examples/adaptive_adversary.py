"""Adaptive adversary: an inspector who predicts your choices.

Every day an inspector checks one of four streets: the one where most copies of you would park,
given the same past and other random draws. A learner without randomness is therefore fined every
day. Compare the shares of fined days: `ContextFTPL`, which has a guarantee against adaptive
adversaries, comes close to the share of a random choice.
"""

import hannan as hn

STREETS, WEATHERS, DAYS = 4, 10, 3000
inspector = hn.environments.CopyPunisher(n_actions=STREETS, n_contexts=WEATHERS, copies=8, low=0.1)
rules = hn.oracles.AllPolicies(WEATHERS, STREETS)

drivers = {
    "LinUCB": hn.baselines.LinUCB(STREETS),
    "epsilon-greedy": hn.baselines.EpsilonGreedy(STREETS, epsilon=0.1, seed=0),
    "ContextSemiBanditFTPL": hn.ContextSemiBanditFTPL(rules, seed=0),
    "ContextFTPL": hn.ContextFTPL(rules, seed=0),
}
for name, driver in drivers.items():
    fines = hn.play(driver, inspector, horizon=DAYS, seed=1).losses
    print(f"{name:22} fined on {fines.mean():6.1%} of all days")
print(f"{'random choice':22} expected {(1 + (STREETS - 1) * inspector.low) / STREETS:6.1%}")

# The inspector asks where you would park in weather 3. The learners do not change.
print("LinUCB:     ", *drivers["LinUCB"].would_play(3, copies=12))
print("ContextFTPL:", *drivers["ContextFTPL"].would_play(3, copies=12))
