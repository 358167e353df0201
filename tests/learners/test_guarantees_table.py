"""The table of `guarantees.md`: which learner has a regret bound and a certificate, and when."""

from pathlib import Path

import numpy as np
import pytest

import hannan as hn
from hannan.core import Feedback

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "guarantees.md"
TABLE = hn.oracles.FinitePolicies([[0, 1], [1, 2], [2, 0], [1, 1]])
FULL = hn.oracles.AllPolicies(2, 3)
MEAN = hn.predictors.Mean()
ORDER = [0, 1] * 100


def full(policies, **options):
    return hn.ContextFTPL(policies, seed=0, **options)


def semi(policies, **options):
    return hn.ContextSemiBanditFTPL(policies, seed=0, **options)


# A learner of each row by the beginning of its name, with substitutes and by scores.
ROWS = {
    "`bandit(K, n_contexts=n)`": (None, lambda _: hn.bandit(3, n_contexts=2, seed=0)),
    "`bandit(K, policies=exact class)`": (
        lambda policies: hn.bandit(3, policies=policies, seed=0),
        lambda policies: hn.bandit(3, policies=policies, seed=0, resampling="auto"),
    ),
    "`experts`": lambda policies: hn.experts(policies, seed=0),
    "`ContextFTPL`, self-tuned": full,
    "`ContextFTPL(predictor=…)`": lambda policies: full(policies, predictor=MEAN),
    '`ContextFTPL(noise="once")`': (lambda p: full(p, epsilon=0.5, noise="once"), None),
    "`ContextSemiBanditFTPL`, self-tuned": semi,
    '`ContextSemiBanditFTPL(epsilon="anytime")`': lambda p: semi(p, epsilon="anytime"),
    "`ContextSemiBanditFTPL`, fixed ε": lambda policies: semi(policies, epsilon=0.5),
    '`ContextSemiBanditFTPL(predictor=…)`, `trust="earned"`': lambda p: semi(p, predictor=MEAN),
    '`ContextSemiBanditFTPL(predictor=…)`, `trust="baseline"`': (
        lambda policies: semi(policies, predictor=MEAN, trust="baseline"),
        None,
    ),
    "`TsallisINF`, `Exp3IX`": (None, lambda policies: hn.TsallisINF(policies, seed=0)),
    "`FTPL`": (lambda p: hn.FTPL(p, lambda rng: [(0, rng.laplace(size=3))], seed=0), None),
    "`PlayoutFTPL`": lambda policies: hn.PlayoutFTPL(policies, ORDER, seed=0),
    "`PlayoutBandit`": lambda policies: hn.PlayoutBandit(policies, ORDER, seed=0),
    "`Discounted`, discount below 1": lambda policies: hn.Discounted(full(policies), 0.9),
    "`Discounted`, discount 1": lambda policies: hn.Discounted(full(policies), 1.0),
    "`Restarting(learner, max_restarts=m)`": lambda p: hn.Restarting(full(p), max_restarts=3),
    "`Restarting(learner)` without a limit": lambda policies: hn.Restarting(full(policies)),
    "`StronglyAdaptive`": lambda p: hn.StronglyAdaptive(full(p), seed=0),
    "`baselines.Hedge`": (lambda policies: hn.baselines.Hedge(policies, seed=0), None),
    "`baselines.EpochGreedy`": (lambda p: hn.baselines.EpochGreedy(p, seed=0), None),
}


def cells(name):
    (line,) = [each for each in PAGE.read_text().splitlines() if each.startswith(f"| {name}")]
    return [cell.strip() for cell in line.strip("|").split("|")][2:]


def found(learner, late=False, available=None):
    """Play 40 rounds; return whether there is a bound, and a bound in the certificate."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        pair = [learner.decide(0), learner.decide(1)][::-1] if late else [None, None]
        for x, decision in enumerate(pair):
            action = decision.action if late else learner.act(x, available=available)
            losses = rng.random(3)
            loss = losses if learner.feedback is Feedback.FULL else float(losses[action])
            learner.update(loss, decision=decision) if late else learner.update(loss)
    certificate = learner.certificate() if hasattr(learner, "certificate") else None
    statements = certificate.statements if certificate else ()
    certified = any(each.bounds and each.value is not None for each in statements)
    return learner.regret_bound() is not None, certified


def claimed(cell):
    """Return the claims of a cell on the bound and on the certificate."""
    first = cell.replace(",", " ").replace(":", " ").split()[0]
    known = {"both": (True, True), "neither": (False, False), "bound": (True, None)}
    known |= dict.fromkeys(["certificate", "`measured`", "`comparator_estimate`"], (False, True))
    known |= {"`a_priori`": (False, True), "Theorem": (False, False)}
    known["`realised_regret`"] = known["neither"]
    return known[first]


def agree(claim, fact):
    return all(said is None or said == seen for said, seen in zip(claim, fact, strict=True))


@pytest.mark.parametrize("name", ROWS)
def test_the_row_is_true(name):
    make = ROWS[name]
    substitute, score = make if isinstance(make, tuple) else (make, make)
    prompt, late, unavailable = cells(name)
    for make, policies in ((substitute, TABLE), (score, FULL)):
        if make is None:
            continue
        assert agree(claimed(prompt), found(make(policies))), prompt
        if late.startswith("raises"):
            with pytest.raises(hn.ParameterError):
                make(policies).decide(0)
        elif not late.startswith("as "):
            assert agree(claimed(late), found(make(policies), late=True)), late
        how = "substitute" if policies is TABLE else "score"
        for part in unavailable.split(", "):
            if part.startswith((how, "neither")):
                claim = claimed(part.removeprefix(f"{how}: "))
                assert agree(claim, found(make(policies), available=[0, 1])), part
