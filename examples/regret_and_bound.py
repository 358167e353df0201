"""Compare regret with its bound and its certificate.

An adversary gives loss 1 to the action of the leader among 1,000 policies. The learner measures its
certificate, which is far below the regret bound that holds before the run. `python
examples/regret_and_bound.py picture.png` draws the curves (needs matplotlib).
"""

import sys
from importlib.util import find_spec

import hannan as hn

EVERY, HORIZON = 250, 10_000
policies = hn.oracles.FinitePolicies.random(n_policies=1000, n_contexts=50, n_actions=5, seed=0)
learner = hn.ContextFTPL(policies, seed=0)
curves = {"bound": [], "certificate (95 % confidence)": [], "certificate (measured)": []}


def record(t):
    """Record the bound and the certificate; each certificate costs one oracle call."""
    if t % EVERY == 0:
        now = learner.certificate()
        values = learner.regret_bound(), now.high_probability, now.measured
        for curve, value in zip(curves.values(), values, strict=True):
            curve.append(value)


trace = hn.play(learner, hn.environments.LeaderPunisher(policies), HORIZON, 0, progress=record)
rounds, curves["regret"] = trace.regret_curve(every=EVERY)
print("round", *curves, sep="  ")
for row in list(zip(rounds, *curves.values(), strict=True))[3::4]:
    print(*(f"{value:6.0f}" for value in row))
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    for (name, curve), style in zip(curves.items(), (":", "-.", "--", "-"), strict=True):
        pyplot.plot(rounds, curve, style, label=name)
    pyplot.gca().set(xlabel="round", ylabel="regret so far, in units of losses")
    pyplot.legend(frameon=False)
    pyplot.savefig(sys.argv[1])
