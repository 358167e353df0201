"""Records of experiments that nobody ran, in the format of a results file."""

import hashlib
import json
import math

import numpy as np

OURS = {
    "earned": {"type": "ContextSemiBanditFTPL", "trust": "earned"},
    "adaptive": {"type": "ContextFTPL", "epsilon": "adaptive"},
    "restarting": {
        "type": "Restarting",
        "learner": {"type": "ContextFTPL", "noise": "once"},
        "detector": {"type": "Bernstein", "delta": 0.002},
    },
}
BASELINES = {
    "hedge": {"type": "Hedge"},
    "fixed share": {"type": "FixedShare", "switches": 3},
    "leader": {"type": "FollowTheLeader"},
    "LinUCB": {"type": "LinUCB", "alpha": 1.0},
}
WORLDS = {
    "digits": {"title": "Digits, bandit feedback", "type": "Classification", "data": "digits"},
    "punisher": {"title": "A leader-punishing adversary", "type": "LeaderPunisher"},
    "routing": {"title": "Routes in drifting congestion", "type": "Congestion", "drift": 0.01},
}
NASTY = "<script>alert('x')</script> & \"quotes\""


def marks(horizon, points):
    """Powers of two, then even steps."""
    stride = max(1, math.ceil(horizon / points))
    early = [2**k for k in range(20) if 2**k < stride]
    return [*early, *range(stride, horizon, stride), horizon]


def record(
    world, learner, seed, *, horizon=10_000, points=100, regret=2.0, power=0.55, base=0.2,
    bound=9.0, certificate=4.0, calls=3.0, n_policies=12, adaptive=False,
):  # fmt: skip
    """One finished cell whose regret is about regret · t^power, and its time.

    `regret` None: nothing to compare with. `bound` and `certificate` are multiples of sqrt(t).
    """
    entropy = [seed] if not adaptive else [seed, *learner["name"].encode()]
    t = marks(horizon, points)
    x = np.array(t, dtype=float)
    shared = np.random.default_rng(entropy)
    own = np.random.default_rng([7, seed, *learner["name"].encode(), *world["name"].encode()])
    best = base * x + np.abs(np.cumsum(shared.normal(0, 0.02, x.size)) * np.sqrt(x) * 0.2)
    wander = np.cumsum(own.normal(0, 1, x.size)) / np.sqrt(x.size)
    excess = (regret or 1.0) * x**power * (1 + 0.12 * wander) + own.normal(0, 0.3, x.size)
    loss = best + excess
    leader = np.minimum(np.cumsum(shared.random(x.size) < 0.12), n_policies - 1)
    leaders = [f"policy {int(n)} of 50" for n in shared.permutation(50)[: leader.max() + 1]]
    compared = regret is not None
    limit = None if bound is None else [None if n < 64 else bound * n**0.5 for n in t]
    measured = None if certificate is None else [certificate * n**0.5 for n in t]
    cell = {
        "environment": world, "learner": learner, "seed": seed, "horizon": horizon,
        "policies": {"type": "LinearPolicies", "n_actions": 10}, "points": points,
        "hannan": "0.1.0",
    }  # fmt: skip
    key = hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]
    result = {
        "rounds": horizon, "feedback": "semi" if "Bandit" in learner["type"] else "full",
        "loss": loss[-1], "mean_loss": loss[-1] / horizon,
        "best": best[-1] if compared else None, "regret": loss[-1] - best[-1] if compared else None,
        "bound": limit[-1] if limit else None, "certificate": measured[-1] if measured else None,
        "oracle_calls": int(calls * horizon), "effective": float(horizon),
        "leaders": leaders if compared else None,
        "curve": {
            "t": t, "loss": loss.tolist(), "best": best.tolist() if compared else None,
            "bound": limit, "certificate": measured, "calls": [int(calls * n) for n in t],
            "leader": leader.tolist() if compared else None,
        },
    }  # fmt: skip
    seconds = (4e-6 + 9e-6 * calls) * horizon * own.uniform(0.9, 1.1)
    times = {"key": key, "seconds": 1.3 * seconds, "learner": seconds}
    times["curve"] = [seconds * n / horizon for n in t]
    return json.loads(json.dumps({"key": key, "cell": cell, "result": result})), times


def experiment(worlds=WORLDS, learners=OURS | BASELINES, seeds=5, **options):
    """Every learner in every environment: records, and times by key."""
    found = []
    for w, (world, about) in enumerate(worlds.items()):
        for i, (name, table) in enumerate(learners.items()):
            ours = name in OURS
            distribution = {
                "regret": None if name == "LinUCB" else 1.0 + 0.2 * (i % 7),
                "power": (0.5 + 0.04 * i) if ours else 0.55 + 0.05 * (i % 7) - 0.04 * (w % 3),
                "base": 0.05 + 0.05 * w,
                "bound": 9.0 * (1 + 9 * (w == 1)) if ours or name == "hedge" else None,
                "certificate": 5.0 + i if ours else None,
                "calls": 3.0 - i if ours else float(name == "leader"),
                "adaptive": world == "punisher",
            }
            for seed in range(seeds):
                here = {"name": world, **about}
                who = {"name": name, **table}
                found.append(record(here, who, seed, **(distribution | options)))
    return [pair[0] for pair in found], {pair[1]["key"]: pair[1] for pair in found}


def small():
    """One learner, one environment, one seed."""
    return experiment({"digits": WORLDS["digits"]}, {"earned": OURS["earned"]}, seeds=1)


def nasty():
    """Names that a browser must never take for markup."""
    worlds = {NASTY: {"title": NASTY, "type": "FromArrays", "path": NASTY}}
    learners = {NASTY: {"type": "ContextFTPL", "note": NASTY}, "hedge": BASELINES["hedge"]}
    records, times = experiment(worlds, learners, seeds=2)
    for entry in records:
        entry["result"]["leaders"] = [
            NASTY + str(i) for i, _ in enumerate(entry["result"]["leaders"])
        ]
    return records, times


def crowded():
    """Forty learners in ten environments; the twenty seeds of a cell differ in name only."""
    learners = {f"learner {i}": {"type": "ContextFTPL" if i % 3 else "Hedge", "epsilon": 0.1 * i}
                for i in range(40)}  # fmt: skip
    worlds = {f"world {w}": {"title": f"World number {w}", "type": "Congestion"} for w in range(10)}
    options = {"bound": 9.0, "certificate": 5.0, "n_policies": 50, "adaptive": True}
    records, times = experiment(worlds, learners, seeds=1, **options)
    copies = [
        entry | {"key": f"{entry['key']} {seed}", "cell": entry["cell"] | {"seed": seed}}
        for entry in records
        for seed in range(20)
    ]
    return copies, {copy["key"]: times[copy["key"].split()[0]] for copy in copies}
