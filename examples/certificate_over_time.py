"""Certificates over time with bandit feedback.

Three estimates bound the expected regret. An estimate above the total loss is useless, because
losses are not negative: the output states when each estimate falls below it. `python
examples/certificate_over_time.py picture.png` draws the estimates (needs matplotlib).
"""

import sys
from importlib.util import find_spec

import hannan as hn

policies = hn.oracles.FinitePolicies.random(n_policies=20, n_contexts=4, n_actions=3, seed=0)
environment = hn.environments.PlantedPolicy(policies, good=0.2, bad=0.7)
learner = hn.ContextSemiBanditFTPL(policies, seed=0)
certificates = []


def record(t):
    """Record the certificate every 50 rounds; each costs one oracle call."""
    if t % 50 == 0:
        certificates.append(learner.certificate())


hn.play(learner, environment, horizon=6000, seed=1, progress=record)
kinds = [each.kind for each in certificates[-1].statements if each.bounds and each.value]
for kind in kinds:
    late = max((each.rounds for each in certificates if each.values[kind] >= each.loss), default=0)
    print(f"{kind}: {certificates[-1].values[kind]:.0f}, below the total loss after round {late}")
print(f"total loss: {certificates[-1].loss:.0f}")
if len(sys.argv) > 1 and find_spec("matplotlib"):
    from matplotlib import pyplot

    rounds = [each.rounds for each in certificates]
    for kind in kinds:
        pyplot.plot(rounds, [each.values[kind] for each in certificates], label=kind)
    pyplot.plot(rounds, [each.loss for each in certificates], "k--", label="total loss")
    pyplot.gca().set(xlabel="round", ylabel="bound on regret, in units of losses")
    pyplot.legend(frameon=False)
    pyplot.savefig(sys.argv[1])
