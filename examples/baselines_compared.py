"""Nine ways to decide, in one loop: any learner plays any world, and says what it promises.

A drive across a town whose streets jam now here, now there, where all travel times are known in
the evening; and three treatments for eight kinds of patients, where only the outcome of the one
given is known. Regret is against the best route, and the best rule, in hindsight.
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

print(f"{'learner':22} {'mean loss':>9} {'regret':>7} {'promised':>9} {'calls a round':>14}")
for world, learners in ((town, on_routes), (ward, on_patients)):
    print(f"{type(world).__name__}:")
    for learner in learners:
        trace = hn.play(learner, world, horizon=2000, seed=1)
        bound, calls = learner.regret_bound(), trace.oracle_calls / len(trace)
        promised = "nothing" if bound is None else f"{bound:.0f}"
        print(
            f"{type(learner).__name__:22} {trace.losses.mean():9.3f} {trace.regret():7.1f}", end=""
        )
        print(f" {promised:>9} {calls:14.2f}")
