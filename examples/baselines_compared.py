"""Compare nine learners and their regret bounds.

Any learner can run in any environment. Five learners choose routes through a congested town and
observe all travel times (full information). Four learners choose treatments for patients and
observe the outcome of the chosen one (bandit feedback). The table lists the mean loss, the regret
against the best policy in hindsight, the regret bound and the oracle calls per round.
"""

import hannan as hn

roads = hn.networks.RoadNetwork.grid(4, 4)
routes = hn.oracles.Paths.towards(roads, source=1, target=16)
town = hn.environments.Congestion(roads, routes)
on_routes = [
    hn.baselines.FollowTheLeader(routes),
    hn.baselines.KalaiVempala(routes, seed=0),
    hn.baselines.Hedge(hn.oracles.FinitePolicies.routes(routes), seed=0),
    hn.ContextFTPL(routes, seed=0),
    hn.StronglyAdaptive(hn.ContextFTPL(routes, seed=0), seed=0),
]
rules = hn.oracles.AllPolicies(n_contexts=8, n_actions=3)
ward = hn.environments.PlantedPolicy(rules, good=0.2, bad=0.5)
on_patients = [
    hn.baselines.EpsilonGreedy(3, seed=0),
    hn.baselines.LinUCB(3),
    hn.baselines.EpochGreedy(rules, seed=0),
    hn.ContextSemiBanditFTPL(rules, seed=0),
]

print(f"{'learner':22} {'mean loss':>9} {'regret':>7} {'bound':>9} {'calls/round':>12}")
for environment, learners in ((town, on_routes), (ward, on_patients)):
    print(f"{type(environment).__name__}:")
    for learner in learners:
        trace = hn.play(learner, environment, horizon=2000, seed=1)
        bound, calls = learner.regret_bound(), trace.oracle_calls / len(trace)
        shown = "none" if bound is None else f"{bound:.0f}"
        print(
            f"{type(learner).__name__:22} {trace.losses.mean():9.3f} {trace.regret():7.1f}", end=""
        )
        print(f" {shown:>9} {calls:12.2f}")
