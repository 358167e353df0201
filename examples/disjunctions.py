"""A spam filter that may block on any of forty words: 2^40 rules, seen through what it did.

A message is a row of forty bits, one for each word. A rule blocks a message if it holds one of a
set of words. Only the fate of the chosen action is seen: a blocked message that was fine, or a
passed one that was spam. Halfway through, the spammers change their vocabulary.
"""

import numpy as np

import hannan as hn

WORDS, T = 40, 6000
oracle = hn.oracles.Disjunctions(WORDS)
learner = hn.ContextSemiBanditFTPL(
    oracle, separator=hn.separators.disjunctions(WORDS), epsilon=0.15, seed=0
)
rng = np.random.default_rng(1)

SPAM = oracle.policy([3, 7, 11]), oracle.policy([3, 20])
lost, fresh = np.zeros(T), oracle.objective()
for t in range(T):
    message = rng.random(WORDS) < 0.06
    spam = SPAM[2 * t // T](message) if rng.random() < 0.95 else int(rng.integers(2))
    lost[t] = learner.act(message) != spam
    learner.update(lost[t])
    fresh.add(oracle.check_context(message), np.array([spam, 1 - spam], dtype=float))

print(f"rules: {oracle.n_policies:,}")
print(f"mistakes in the first thousand messages: {lost[:1000].mean():.3f}")
print(f"mistakes in the thousand before the change: {lost[2000:3000].mean():.3f}")
print(f"mistakes of the best rule for all messages: {fresh.minima()[0] / T:.3f}")
print(f"which is: block on words {fresh.leader().variables}")
