"""Regret against its bounds: theory before the run, and certificates on the way.

The adversary gives loss 1 to the action of the leader, among 1,000 policies. The learner measures
its own certificate, which is far below the bound of theory. `python examples/regret_and_bound.py
picture.png` also draws the curves (if matplotlib is installed).
"""

import sys
from importlib.util import find_spec

import hannan as hn

EVERY, HORIZON = 250, 10_000
policies = hn.oracles.FinitePolicies.random(n_policies=1000, n_contexts=50, n_actions=5, seed=0)
learner = hn.ContextFTPL(policies, seed=0)
noted = {"bound": [], "certificate (95 % certain)": [], "certificate (measured)": []}


def note(t):
    """Note the bound and the certificate now and then; a certificate costs one oracle call."""
    if t % EVERY == 0:
        said = learner.certificate()
        values = learner.regret_bound(), said.high_probability, said.measured
        for curve, value in zip(noted.values(), values, strict=True):
            curve.append(value)


trace = hn.play(learner, hn.environments.LeaderPunisher(policies), HORIZON, 0, progress=note)
rounds, noted["regret"] = trace.regret_curve(every=EVERY)
print("round", *noted, sep="  ")
for row in list(zip(rounds, *noted.values(), strict=True))[3::4]:
    print(*(f"{value:6.0f}" for value in row))
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    for (name, curve), style in zip(noted.items(), (":", "-.", "--", "-"), strict=True):
        pyplot.plot(rounds, curve, style, label=name)
    pyplot.gca().set(xlabel="round", ylabel="regret so far, in units of losses")
    pyplot.legend(frameon=False)
    pyplot.savefig(sys.argv[1])
