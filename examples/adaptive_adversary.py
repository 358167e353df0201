"""A parking inspector who knows how you choose, but not your coins.

Every day one of four streets is checked: the one where copies of you, with the same past and other
coins, would most likely park today. Whoever has no coins is fined every single day, however well
it has learned. With a guarantee against adaptive adversaries you pay little more than chance would.
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
print(f"{'chance':22} would be {(1 + (STREETS - 1) * inspector.low) / STREETS:6.1%}")

# What the inspector asks: where would you park in weather 3? Asking changes nothing.
print("LinUCB:     ", *drivers["LinUCB"].would_play(3, copies=12))
print("ContextFTPL:", *drivers["ContextFTPL"].would_play(3, copies=12))
