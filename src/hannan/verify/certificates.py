"""What a learner says about its own regret while it runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._games import Means, games, scatter, seeded, seeds, standard_error, turns
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_Z = 4.5  # standard errors; one-sided, 3e-6 for each check
_AXES = ("mean of what is stated", "mean regret")


@claim(
    "certificate-coverage",
    "Certificates (beyond the paper)",
    "binomial counts with 4.5 standard errors; false alarms below 1e-5",
)
def coverage(effort: Effort) -> Finding:
    """With the stated probability regret is at most D + G/ε + B√(T log(1/δ)/2).

    Two actions take turns and then settle, which is where regret comes nearest to what is
    measured. Azuma's inequality is generous: the interesting number is how often regret exceeds
    the measured value alone.
    """
    T = effort.pick(100, 400)
    numbers = seeds(effort, "coverage", 300, 3000)
    oracle = AllPolicies(1, 2)
    played = games(seeded(ContextFTPL, oracle), turns(T, T // 2), T, numbers)
    regret = np.array([trace.regret() for _, trace in played])
    checks = []
    x = np.sort(regret)
    reached = 1.0 - np.arange(len(x)) / len(x)
    series = [Series("runs with at least this regret", x, reached)]
    for confidence in (0.8, 0.95):
        limits = np.array(
            [learner.certificate(confidence).high_probability for learner, _ in played]
        )
        share = 1.0 - confidence
        what = f"share of runs with regret beyond the certificate for {confidence:g}"
        chance = _Z * math.sqrt(share * confidence / len(regret))
        checks.append(Check(what, float((regret > limits).mean()), share, allowance=chance))
        marks = [float(limits.mean())] * 2
        series.append(Series(f"mean certificate for {confidence:g}", marks, [0.0, 1.0], "dashed"))
    found = [learner.certificate() for learner, _ in played]
    measured = np.array([certificate.measured for certificate in found])
    series.append(Series("mean measured value", [float(measured.mean())] * 2, [0.0, 1.0], "dashed"))
    stated = np.array([certificate.realised_regret for certificate in found])
    off = float(np.abs(stated - regret).max())
    checks.append(Check("stated regret off the true one, at most", off, 1e-9))
    beyond = float((regret > measured).mean())
    note = f"regret exceeds the measured value itself, which speaks of its mean, in {beyond:.0%}"
    return Finding(checks, Plot("regret", "share of runs", series), note)


@claim("certificates", "Certificates (beyond the paper)", "mean regrets; false alarms below 1e-4")
def above_regret(effort: Effort) -> Finding:
    """Measured instability plus G/ε, and the sum of εκv² plus G/ε from observed ranges, are on
    average above regret, and are said in plain sentences.
    """
    T = effort.pick(200, 1000)
    numbers = seeds(effort, "certificates", 100, 600)
    oracle = AllPolicies(1, 2)
    cases: dict[str, tuple[dict[str, Any], Any]] = {
        "self-tuned": ({}, turns(T, T // 2)),
        "anytime": ({"epsilon": "anytime"}, turns(T, T // 2)),
        "the paper's ε": ({"epsilon": "theorem", "horizon": T}, turns(T, T // 2)),
        "much noise": ({"epsilon": 4.0 / T}, turns(T, T)),
    }
    means, drawn = Means(), []
    for where, (options, world) in cases.items():
        played = games(seeded(ContextFTPL, oracle, **options), world, T, numbers)
        found = [learner.certificate() for learner, _ in played]
        regret = np.array([trace.regret() for _, trace in played])
        silent = sum(str(c).count("expected regret is at most") != 1 for c in found)
        statements = {"a priori": [c.a_priori for c in found]}
        if not options:
            statements["measured"] = [c.measured for c in found]
            silent += sum("(measured)" not in str(c) for c in found)
            silent += sum("with probability 0.95 regret is at most" not in str(c) for c in found)
        for what, stated in statements.items():
            means.below(f"{where}: regret, {what}", regret, np.array(stated))
            drawn.append(means[-1])
        means.append(Check(f"{where}: statements without a sentence", silent, 0.0))
    return Finding(means, scatter(drawn, *_AXES), means.note("what was stated"))


@claim(
    "certificates-semi-bandit",
    "Certificates (beyond the paper)",
    "paired means with 4.5 standard errors; false alarms below 1e-4",
)
def semi_bandit(effort: Effort) -> Finding:
    """With semi-bandit feedback measured instability, the variance of the estimates, and the loss
    less the best policy's estimated loss are on average above regret.

    Three estimates whose means are above pseudo-regret; the last is nearly an equality.
    """
    T = effort.pick(200, 1000)
    numbers = seeds(effort, "semi-bandit certificates", 80, 600)
    oracle = FinitePolicies([[0], [1], [2]])
    cases: dict[str, dict[str, Any]] = {
        "self-tuned": {},
        "the paper's ε": {"epsilon": "theorem", "horizon": T},
    }
    checks, drawn = [], []
    for where, options in cases.items():
        make = seeded(ContextSemiBanditFTPL, oracle, **options)
        played = games(make, turns(T, T // 2, K=3), T, numbers)
        found = [learner.certificate() for learner, _ in played]
        regret = np.array([trace.regret() for _, trace in played])
        statements = {"variance": [c.variance_estimate for c in found]}
        if not options:
            statements = {
                "instability": [c.stability_estimate for c in found],
                **statements,
                "comparator": [c.comparator_estimate for c in found],
            }
        for what, stated in statements.items():
            chance = _Z * standard_error(np.array(stated) - regret)
            name = f"{where}: regret, estimate from {what}"
            drawn.append(Check(name, regret.mean(), float(np.mean(stated)), allowance=chance))
            checks.append(drawn[-1])
        silent = sum("estimated to be at most" not in str(certificate) for certificate in found)
        checks.append(Check(f"{where}: certificates without a sentence", silent, 0.0))
    return Finding(checks, scatter(drawn, *_AXES))
