"""Use your own optimiser as an oracle: prices by income.

A policy asks the high price from some income on. `solve` returns the best policy for any table of
losses, and the learner only calls `solve`. Halfway through, more customers accept the high price.
The output is the best policy and a certificate with bounds on the regret.
"""

import numpy as np

import hannan as hn

INCOMES = list(range(10))
LOW, HIGH = 0, 1


def solve(incomes, losses):
    """Return the best policy; losses can be negative because they include noise."""

    def cost(cut):
        rows = zip(incomes, losses, strict=True)
        return sum(row[HIGH if income >= cut else LOW] for income, row in rows)

    best = min(range(len(INCOMES) + 1), key=cost)
    return lambda income: HIGH if income >= best else LOW


oracle = hn.oracles.FunctionOracle(solve, n_actions=2)
learner = hn.ContextFTPL(oracle, contexts=INCOMES, seed=0)
rng = np.random.default_rng(1)

for t in range(2000):
    income = int(rng.integers(len(INCOMES)))
    price = learner.act(income)
    turns_away = rng.random() < (0.1 if income >= (7 if t < 1000 else 3) else 0.9)
    learner.update([0.5, float(turns_away)])

best = learner.best_policy()
cut = min((income for income in INCOMES if best(income) == HIGH), default=len(INCOMES))
print(f"best rule in hindsight: high price from income {cut} on")
print(learner.certificate())
