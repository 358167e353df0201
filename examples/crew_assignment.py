"""Assign crews to lines with semi-bandit feedback.

Each day eight crews serve eight lines, and you observe only the delays of the assigned pairs.
Compare the delays per day with those of a random and of the best assignment. Give a file name to
draw how often each crew served each line (needs matplotlib).
"""

import sys
from importlib.util import find_spec

import numpy as np

import hannan as hn

CREWS, DAYS = 8, 6000
rng = np.random.default_rng(0)
delay = rng.uniform(0.2, 0.8, (CREWS, CREWS))
delay[np.arange(CREWS), rng.permutation(CREWS)] = 0.1
crews = hn.oracles.Matchings(CREWS, CREWS)
losses = rng.random((DAYS, CREWS * CREWS)) < delay.ravel()
trace = hn.play(hn.bandit(policies=crews, seed=0), hn.environments.FromArrays(None, losses))

print(f"random assignment   {losses.mean() * CREWS:.2f} delays per day")
print(f"best assignment     {losses.mean(axis=0)[trace.best_policy(None)].sum():.2f}")
for part, mean in enumerate(trace.losses.reshape(6, -1).mean(axis=1)):
    print(f"learner, sixth {part + 1}    {mean:.2f}")
print("best assignment (crew, line):", *crews.pairs(trace.best_policy(None)))

if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    used = np.bincount(np.concatenate(trace.actions), minlength=CREWS * CREWS)
    pyplot.imshow(used.reshape(CREWS, CREWS) / DAYS, cmap="Blues")
    pyplot.scatter(*np.array(crews.pairs(trace.best_policy(None)))[:, ::-1].T, color="tab:red")
    pyplot.gca().set(title="Share of days; red: best assignment", xlabel="line", ylabel="crew")
    pyplot.savefig(sys.argv[1])
