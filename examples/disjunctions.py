"""Disjunctions: a spam filter with 2^40 rules.

A message is a vector of forty bits, one per word. A rule blocks a message if the message has a word
of the rule's set. You observe only whether the chosen action was a mistake (bandit feedback).
Halfway through, the spammers change their words: compare the mistakes early, before the change, and
of the best rule in hindsight.
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
lost, hindsight = np.zeros(T), oracle.objective()
for t in range(T):
    message = rng.random(WORDS) < 0.06
    spam = SPAM[2 * t // T](message) if rng.random() < 0.95 else int(rng.integers(2))
    lost[t] = learner.act(message) != spam
    learner.update(lost[t])
    hindsight.add(oracle.check_context(message), np.array([spam, 1 - spam], dtype=float))

print(f"rules: {oracle.n_policies:,}")
print(f"mistakes in the first thousand messages: {lost[:1000].mean():.3f}")
print(f"mistakes in the thousand messages before the change: {lost[2000:3000].mean():.3f}")
print(f"mistakes of the best rule for all messages: {hindsight.minima()[0] / T:.3f}")
print(f"this rule blocks on words {hindsight.leader().variables}")
