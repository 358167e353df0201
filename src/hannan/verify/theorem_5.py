"""Theorem 5: regret follows how wrong the guesses of the next losses were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hannan.environments import FromArrays
from hannan.learners import ContextFTPL
from hannan.learners.prediction import TRUST
from hannan.oracles import FinitePolicies
from hannan.verify._games import Means, Recorded, instability, let_play, scatter, seeds
from hannan.verify._guesses import TWO, Problem, Script, problems
from hannan.verify.be_the_leader import foreseeing, lemma
from hannan.verify.claim import Check, Effort, Finding, Plot, Series, claim

_LEVEL = 1e-6


@claim(
    "theorem-5",
    "Theorem 5",
    "means many standard errors below their bounds; right guesses: Bernstein's at 1e-6",
)
def follows_errors(effort: Effort) -> Finding:
    """With predictors regret is at most 4εK Σ‖f - Q‖² + (10/ε)√(dm) log N (d times the first term
    with a separator); sharp: εκ Σ range(f - Q)² + G/ε, with no K for single actions.
    """
    numbers = seeds(effort, "theorem-5", 8, 40)
    tried = problems(effort.pick(200, 1200), effort.rng("theorem-5", "losses"))
    checks = Means()
    for problem in tried:
        name, errors = problem.name, problem.errors("always")
        printed, sharp = (problem.bound(errors, form) for form in ("printed", "sharp"))
        found = problem.regrets(printed.epsilon, "always", numbers)
        at = problem.bound(errors, "sharp", printed.epsilon)
        best = problem.regrets(sharp.epsilon, "always", numbers)
        own = problem.regrets("adaptive", "always", numbers)
        limit = problem.self_tuned(errors.used)
        checks.below(f"{name}: regret, printed bound", found, printed.value)
        checks.below(f"{name}: regret, sharp bound at the same ε", found, at.value)
        what = f"{name}: sharp bound below the printed one"
        checks.append(Check(what, sharp.value, printed.value))
        checks.below(f"{name}: regret at the best sharp ε", best, sharp.value)
        checks.below(f"{name}: regret, self-tuned", own, limit)
    plot = scatter([c for c in checks if ": regret" in c.what], "bound", "regret", log=True)
    checks += _right_guesses(tried, seeds(effort, "right guesses", 30, 200))
    return Finding(checks, plot, "regrets below 0.1 are drawn at 0.1")


def _right_guesses(tried: list[Problem], numbers: list[int]) -> list[Check]:
    """With right guesses only noise costs anything, and self-tuning then uses none.

    If one of two actions always costs 1, noise of size s costs nearly s G: the learner errs in
    round t with the probability that noise outweighs t rounds. The allowance is Bernstein's.
    """
    losses = np.tile([0.0, 1.0], (200, 1))
    steady = Problem("", TWO, FromArrays(None, losses), Script(losses))
    noisy = steady.regrets(0.05, "always", numbers)
    limit = steady.bound(steady.errors("always"), "sharp", 0.05).value
    share = -np.log(_LEVEL) / len(numbers)
    chance = float(np.sqrt(2.0 * limit * share) + share / 3.0)
    right = [replace(each, predictor=Script(np.asarray(each.world.losses))) for each in tried]
    own = [
        each.regrets("adaptive", trust, numbers[:2]).max()
        for each in (steady, *right)
        for trust in TRUST
    ]
    what = "right guesses, ε = 1/20: regret at most G/ε"
    return [
        Check(what, float(noisy.mean()), limit, allowance=chance),
        Check("right guesses: largest regret, self-tuned", float(max(own)), 0.0),
    ]


@claim(
    "be-the-optimistic-leader",
    "Lemma (follow vs be the leader with predictors)",
    "holds on every path",
)
def on_every_path(effort: Effort) -> Finding:
    r"""What a guess leaves unforeseen is all that is paid for, besides the noise on the best policy
    and on the first one.

    :math:`\sum_t Q_t(a_t) + (f_t - Q_t)(b_t) \le \sum_t f_t(\pi^*) + z(\pi^*) - z(\pi_1)`, with a
    the leader's action when the guess counts as a round and b that of the leader who knows the
    loss. Each surprise :math:`(f-Q)(a) - (f-Q)(b)` is paid and never earned.
    """
    rng = effort.rng("optimistic leader")
    gaps, least = [], [0.0]
    for _ in range(effort.pick(60, 1500)):
        N, d, K, T = (int(n) for n in rng.integers([2, 1, 2, 1], [12, 5, 5, 30]))
        table = rng.integers(K, size=(N, d))
        oracle = FinitePolicies(table, n_actions=K)
        x = rng.integers(d, size=T).tolist()
        f, Q = rng.integers(-3, 4, size=(2, T, K)).astype(float)
        scale = float(rng.choice([0.0, 0.3, 3.0, 30.0]))
        key = int(rng.integers(2**63))
        gaps.append(foreseeing(oracle, key, scale, zip(x, f, Q, strict=True)))
        options: Any = {"trust": "always", "loss_range": (-3.0, 3.0)}
        learner = ContextFTPL(oracle, epsilon=Recorded(), predictor=Script(Q), **options)
        for context, losses in zip(x, f, strict=True):
            let_play(learner, context, losses)
        least.append(float(instability(learner).min()))
    what = "smallest cost of a surprise, self-tuned learners"
    return lemma(gaps, Check(what, min(least), 0.0, False))


@claim(
    "earned-trust",
    "Predictors that may be bad (beyond Theorem 5)",
    "holds on every path; a mean far below its bound",
)
def trust_is_earned(effort: Effort) -> Finding:
    """Guesses used only while they have done better than none cost at most twice the smaller of the
    two sums of squared ranges, and one step.
    """
    rng = effort.rng("earned trust")
    used, better, steps = [], [], []
    for i in range(effort.pick(40, 400)):
        T = int(rng.integers(1, 200))
        f, Q = rng.random((2, T, 2)) * rng.random((2, T, 1)) ** rng.choice([0.0, 1.0, 4.0])
        if i % 4 == 0:  # the guess is wrong whenever it is trusted and right when it is not
            f, Q = np.tile([[0.0, 0.0], [1.0, 0.0]], (T, 1))[:T], np.tile([1.0, 0.0], (T, 1))
        errors = Problem("", TWO, FromArrays(None, f), Script(Q)).errors("earned")
        used.append(errors.used)
        better.append(min(errors.offered, errors.none))
        steps.append(errors.step)
    limits = 2.0 * np.array(better) + steps
    (wrong,) = (p for p in problems(effort.pick(200, 1200), rng) if p.name == "wrong guesses")
    errors = wrong.errors("earned")
    allowed = 2.0 * errors.none + errors.step
    own = wrong.regrets("adaptive", "earned", seeds(effort, "earned trust", 8, 60))
    excess = float(max(used - limits))
    checks = Means()
    checks.append(Check("largest excess over twice the better sum and a step", excess, 0.0))
    checks.append(Check("wrong guesses: squared ranges used", errors.used, allowed))
    checks.below("wrong guesses: regret, self-tuned", own, wrong.self_tuned(allowed))
    series = [
        Series("games", limits, used, "points"),
        Series("the limit", np.sort(limits), np.sort(limits), "dashed"),
    ]
    x = "twice the smaller sum of squared ranges, with the guesses or without, and a step"
    return Finding(checks, Plot(x, "squared ranges used", series))
