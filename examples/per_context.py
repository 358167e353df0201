"""Choose a slate of news for each kind of visitor.

There are 56 slates and 6 kinds of visitors, so 56^6 policies. `PerContext` optimises each kind
separately, so a round costs as much as with one kind. You observe clicks on the chosen items only
(semi-bandit feedback). Compare the clicks, and the slates found with the best ones.
"""

from itertools import combinations

import numpy as np

import hannan as hn

VISITORS = [(device, time) for device in ("phone", "desk") for time in ("am", "noon", "pm")]
slates = hn.oracles.FinitePolicies([[list(slate)] for slate in combinations(range(8), 3)])
oracle = hn.oracles.PerContext(slates, VISITORS)
print(f"policies: about 10^{oracle.log_size(VISITORS) / np.log(10):.0f}")

rng = np.random.default_rng(0)
T = 4000
interest = rng.uniform(0.05, 0.5, size=(len(VISITORS), 8))
who = rng.integers(len(VISITORS), size=T)
losses = (rng.random((T, 8)) > interest[who]).astype(float)  # 1 without a click
environment = hn.environments.FromArrays([VISITORS[i] for i in who], losses)

learner = hn.ContextSemiBanditFTPL(oracle, seed=0)
trace = hn.play(learner, environment)
print(f"clicks on random slates      {3 * (1 - losses.mean()) * T:7,.0f}")
print(f"clicks of the learner        {3 * T - trace.losses.sum():7,.0f}")
print(f"clicks of the best policy    {3 * T - trace.losses.sum() + trace.regret():7,.0f}")
for i, visitor in enumerate(VISITORS[:3]):
    print(visitor, learner.best_policy()(visitor), "best", np.sort(np.argsort(-interest[i])[:3]))
