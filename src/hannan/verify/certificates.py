"""What a learner says about its own regret while it runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core.validation import FloatArray
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify._games import games, mean_check, room, room_note, seeded, seeds, turns
from hannan.verify.claim import Check, Claim, Effort, Finding, Plot, Series

_Z = 4.5  # standard errors; one-sided, 3e-6 for each check


def coverage(effort: Effort) -> Finding:
    """How often regret is larger than it should be with a stated probability.

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
        checks.append(
            Check(
                f"share of runs with regret beyond the certificate for {confidence:g}",
                float((regret > limits).mean()),
                share,
                allowance=_Z * math.sqrt(share * confidence / len(regret)),
            )
        )
        marks = [float(limits.mean())] * 2
        series.append(Series(f"mean certificate for {confidence:g}", marks, [0.0, 1.0], "dashed"))
    measured = np.array([learner.certificate().measured for learner, _ in played])
    series.append(Series("mean measured value", [float(measured.mean())] * 2, [0.0, 1.0], "dashed"))
    stated = [
        learner.certificate().realised_regret - r
        for (learner, _), r in zip(played, regret, strict=True)
    ]
    checks.append(
        Check("stated regret off the true one, at most", float(np.abs(stated).max()), 1e-9)
    )
    beyond = float((regret > measured).mean())
    return Finding(
        checks,
        Plot("regret", "share of runs", series),
        f"regret exceeds the measured value itself, which speaks of its mean, in {beyond:.0%}",
    )


def above_regret(effort: Effort) -> Finding:
    """Measured and a-priori values are above mean regret, and every one has its sentence."""
    T = effort.pick(200, 1000)
    numbers = seeds(effort, "certificates", 100, 600)
    oracle = AllPolicies(1, 2)
    cases: dict[str, tuple[dict[str, Any], Any]] = {
        "self-tuned": ({}, turns(T, T // 2)),
        "anytime": ({"epsilon": "anytime"}, turns(T, T // 2)),
        "the paper's ε": ({"epsilon": "theorem", "horizon": T}, turns(T, T // 2)),
        "much noise": ({"epsilon": 4.0 / T}, turns(T, T)),
    }
    checks: list[Check] = []
    means, values, left = [], [], math.inf
    for where, (options, world) in cases.items():
        played = games(seeded(ContextFTPL, oracle, **options), world, T, numbers)
        found = [learner.certificate() for learner, _ in played]
        regret = np.array([trace.regret() for _, trace in played])
        silent = sum(
            str(certificate).count("expected regret is at most") != 1 for certificate in found
        )
        statements = {"a priori": np.array([c.a_priori for c in found])}
        if not options:
            statements["measured"] = np.array([c.measured for c in found])
            silent += sum("(measured)" not in str(c) for c in found)
            silent += sum("with probability 0.95 regret is at most" not in str(c) for c in found)
        for what, stated in statements.items():
            checks.append(mean_check(f"{where}: regret, {what}", regret, float(stated.mean())))
            left = min(left, room(regret - stated, 0.0))
            means.append(float(regret.mean()))
            values.append(float(stated.mean()))
        checks.append(Check(f"{where}: statements without a sentence", silent, 0.0))
    return Finding(checks, _scatter(values, means), room_note(left, what="what was stated"))


def semi_bandit(effort: Effort) -> Finding:
    """Three estimates whose means are above pseudo-regret; the last is nearly an equality."""
    T = effort.pick(200, 1000)
    numbers = seeds(effort, "semi-bandit certificates", 80, 600)
    oracle = FinitePolicies([[0], [1], [2]])
    cases: dict[str, dict[str, Any]] = {
        "self-tuned": {},
        "the paper's ε": {"epsilon": "theorem", "horizon": T},
    }
    checks: list[Check] = []
    means, values = [], []
    for where, options in cases.items():
        make = seeded(ContextSemiBanditFTPL, oracle, **options)
        played = games(make, turns(T, T // 2, K=3), T, numbers)
        found = [learner.certificate() for learner, _ in played]
        regret = np.array([trace.regret() for _, trace in played])
        statements = {
            "instability": [c.stability_estimate for c in found] if not options else None,
            "variance": [c.variance_estimate for c in found],
            "comparator": [c.comparator_estimate for c in found] if not options else None,
        }
        for what, stated in statements.items():
            if stated is None:
                continue
            values.append(float(np.mean(stated)))
            means.append(float(regret.mean()))
            allowance = _Z * _standard_error(np.array(stated) - regret)
            name = f"{where}: regret, estimate from {what}"
            checks.append(Check(name, means[-1], values[-1], allowance=allowance))
        silent = sum("estimated to be at most" not in str(certificate) for certificate in found)
        checks.append(Check(f"{where}: certificates without a sentence", silent, 0.0))
    return Finding(checks, _scatter(values, means))


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def _scatter(values: list[float], means: list[float]) -> Plot:
    top = np.array([0.0, max(values)])
    return Plot(
        "mean of what is stated",
        "mean regret",
        [
            Series("statements", values, means, "points"),
            Series("equality", top, top, "dashed"),
        ],
    )


CLAIMS = (
    Claim(
        "certificate-coverage",
        "Certificates (beyond the paper)",
        "With the stated probability regret is at most D + G/ε + B√(T log(1/δ)/2).",
        "binomial counts with 4.5 standard errors; false alarms below 1e-5",
        coverage,
    ),
    Claim(
        "certificates",
        "Certificates (beyond the paper)",
        "Measured instability plus G/ε, and the sum of εκv² plus G/ε from observed ranges, are on "
        "average above regret, and are said in plain sentences.",
        "mean regrets; false alarms below 1e-4",
        above_regret,
    ),
    Claim(
        "certificates-semi-bandit",
        "Certificates (beyond the paper)",
        "With semi-bandit feedback measured instability, the variance of the estimates, and the "
        "loss less the best policy's estimated loss are on average above regret.",
        "paired means with 4.5 standard errors; false alarms below 1e-4",
        semi_bandit,
    ),
)
