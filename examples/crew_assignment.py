"""Assign eight crews to eight lines every day, and see only how late each crew was on its line.

Crews have strengths nobody wrote down. With a path as argument a picture is drawn: which crew
served which line how often, and which would have been best (if matplotlib is installed).
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
trace = hn.play(hn.ContextSemiBanditFTPL(crews, seed=0), hn.environments.FromArrays(None, losses))

print(f"random assignment   {losses.mean() * CREWS:.2f} delays a day")
print(f"best assignment     {losses.mean(axis=0)[trace.best_policy(None)].sum():.2f}")
for part, mean in enumerate(trace.losses.reshape(6, -1).mean(axis=1)):
    print(f"learner, sixth {part + 1}    {mean:.2f}")
print("crew and line:", *crews.pairs(trace.best_policy(None)))

if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    used = np.bincount(np.concatenate(trace.actions), minlength=CREWS * CREWS)
    pyplot.imshow(used.reshape(CREWS, CREWS) / DAYS, cmap="Blues")
    pyplot.scatter(*np.array(crews.pairs(trace.best_policy(None)))[:, ::-1].T, color="tab:red")
    pyplot.gca().set(title="Assigned, and best", xlabel="line", ylabel="crew")
    pyplot.savefig(sys.argv[1])
