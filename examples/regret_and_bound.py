"""Regret as it grows, beside what the learner certifies about itself on the way."""

import numpy as np

import hannan as hn

oracle = hn.oracles.FinitePolicies(np.random.default_rng(0).integers(0, 5, size=(1000, 50)))
world = hn.environments.LeaderPunisher(oracle)
learner = hn.ContextFTPL(oracle, seed=0)
EVERY, HORIZON = 1000, 10_000

certified = []


def note(t):
    """Ask for the certificate now and then; that costs one oracle call."""
    if t % EVERY == 0:
        certified.append(learner.certificate())


trace = hn.play(learner, world, HORIZON, seed=0, progress=note)
rounds, regrets = trace.regret_curve(every=EVERY)

print("rounds  regret  measured  95 % certain  a priori")
for t, regret, bound in zip(rounds, regrets, certified, strict=True):
    print(
        f"{t:6d}  {regret:6.0f}  {bound.measured:8.0f}  {bound.high_probability:12.0f}"
        f"  {bound.a_priori:8.0f}  {'#' * round(regret / 4)}"
    )
