"""Theorem 1: regret is at most stability plus error, both measured separately."""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from hannan import bounds
from hannan.core import Oracle
from hannan.core.oracle import WITHOUT_NOISE
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.experiments import play
from hannan.learners import FTPL, ContextFTPL
from hannan.oracles import AllPolicies, FinitePolicies
from hannan.verify.adversaries import turns
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.laplace_error import draw_of
from hannan.verify.trial import Trial, standard_error

_SIGMAS = 5.0  # a normal variable exceeds this with probability 3e-7


class CostTerms(NamedTuple):
    """Costs of a fixed sequence of losses, on average over noise that is fixed for the run."""

    stability: float  # the first term of the theorem
    error: float  # the second term
    regret: float
    excess: FloatArray  # loss of be-the-leader less the loss of the best policy, [draws]


@claim("theorem-1", "Theorem 1", "false alarm below 1e-5")
def decomposition(effort: Effort) -> Iterator[Check]:
    """Regret of the perturbed leader is at most the sum of two terms: stability, the cost of
    deciding before the loss is known, and error, the spread of the noise over policies.

    Policies alternate as the best one, then one stays best. Another distribution of noise is tried,
    too.
    """
    rng = effort.rng("theorem-1")
    T, d, K, N, epsilon = effort.pick(200, 800), 4, 3, 24, effort.pick(6, 3) / 10
    table = rng.integers(K, size=(N, d))
    table[-1] = 0  # best at the end
    oracle = FinitePolicies(table, n_actions=K)
    world = turns(T, T // 2, range(d), K)
    sizes = bounds.sizes_of(oracle)
    learner = ContextFTPL(oracle, epsilon=epsilon, seed=int(rng.integers(2**31)))
    terms = _terms(learner, world, effort.pick(1000, 4000))
    bound = partial(bounds.stability_plus_error, epsilon, T, **sizes)
    printed, sharp = bound(), bound(form="sharp")
    trial = Trial("turns", oracle, world, T, bound, options={"epsilon": epsilon})
    n = effort.pick(40, 150)
    fresh, kept = trial.regrets(range(n)), trial.regrets(range(n, 2 * n), noise="once")
    mean, spread = float(fresh.mean()), math.sqrt((fresh.var(ddof=1) + kept.var(ddof=1)) / n)
    stability, limit = terms.stability, terms.stability + terms.error
    yield Check("mean regret of learners, fresh noise", mean, limit)
    yield Check("mean regret, with half the error, G/ε", mean, limit - terms.error / 2)
    yield Check("fixed noise less fresh noise", abs(float(kept.mean()) - mean), _SIGMAS * spread)
    yield Check("stability, against Theorem 2", stability, sharp.terms["stability"])
    yield Check("error, against the printed lemma", terms.error, printed.terms["error"])
    yield Check("half the error, against the sharp lemma", terms.error / 2, sharp.terms["error"])
    yield Check("sharp bound, against the printed bound", sharp.value, printed.value)
    yield _other_distribution(effort, oracle, world)


@claim("one-sided-error", "Theorem 1, sharp form", "five standard errors: false alarm below 1e-6")
def one_sided_error(effort: Effort) -> Iterator[Check]:
    """Noise costs only E[max noise] = G/ε, not the printed E[max] - E[min] = 2G/ε, because the best
    policy does not depend on the noise.

    In a slow race, instability costs nothing, and noise costs all of G/ε but no more.
    """
    d, K, pace, epsilon = 3, 3, effort.pick(10, 5) / 100, 1.0
    oracle = AllPolicies(d, K)
    T = d * round(14.0 / pace)  # so that noise cannot change the leader at the end
    losses = np.tile(np.where(np.arange(K) == 0, 0.0, pace), (T, 1))
    world = FromArrays(np.arange(T) % d, losses)
    learner = ContextFTPL(oracle, epsilon=epsilon, seed=int(effort.rng("race").integers(2**31)))
    terms = _terms(learner, world, effort.pick(1000, 4000))
    G = bounds.laplace_complexity(oracle)
    sizes = bounds.sizes_of(oracle, log_size=False, complexity=G)
    bound = bounds.stability_plus_error(epsilon, T, loss_bound=pace, form="sharp", **sizes)
    error = bound.terms["error"]
    mean, chance = float(terms.excess.mean()), _SIGMAS * standard_error(terms.excess)
    regret, limit = terms.regret, terms.stability + error
    yield Check("be-the-leader loss beyond the best, against G/ε", mean, error, True, chance)
    yield Check("be-the-leader loss beyond the best, at least 0.8 G/ε", mean, 0.8 * error, False)
    yield Check("regret, against stability + G/ε", regret, limit, True, chance)
    yield Check("regret, against stability + 2G/ε as printed", regret, limit + error)
    yield Check("stability, against Theorem 2", terms.stability, bound.terms["stability"])


def _terms(learner: ContextFTPL, world: FromArrays, draws: int) -> CostTerms:
    """Return the costs of the leader before and after each round, under noise fixed for the run."""
    draw = draw_of(learner)
    total = learner.oracle.objective()
    low, high = (
        total.minima(draw._replace(scale=sign * draw.scale), draws) for sign in (1.0, -1.0)
    )
    played, foreseeing = [], []  # losses of each round, for each draw
    for context, loss in zip(world.contexts or (), np.asarray(world.losses), strict=True):
        played.append(total.chosen(context, draw, draws) @ loss)
        total.add(context, loss)
        foreseeing.append(total.chosen(context, draw, draws) @ loss)
    before, after, best = np.array(played), np.array(foreseeing), float(total.minima()[0])
    stability = float((before - after).mean(axis=1).sum())
    regret = float(before.mean(axis=1).sum()) - best
    return CostTerms(stability, float((-high - low).mean()), regret, after.sum(axis=0) - best)


def _other_distribution(effort: Effort, oracle: Oracle, world: FromArrays) -> Check:
    """Check Algorithm 1 with a random number of one-sided fake outcomes on random contexts."""
    contexts, losses = (world.contexts or [])[:100], np.asarray(world.losses)[:100]
    d, K = len(set(contexts)), losses.shape[1]

    def fakes(rng: np.random.Generator) -> list[tuple[int, FloatArray]]:
        n = int(rng.poisson(12))
        points = rng.integers(d, size=n).tolist()
        return list(zip(points, rng.exponential(size=(n, K)), strict=True))

    limits = []
    for i in range(effort.pick(60, 1000)):
        total, mirror = oracle.objective(), oracle.objective()
        for x, fake in fakes(effort.rng("distribution", i)):
            total.add(x, fake)
            mirror.add(x, -fake)
        limit = -mirror.minima()[0] - total.minima()[0]
        for context, loss in zip(contexts, losses, strict=True):
            limit += loss[total.action(context, WITHOUT_NOISE)]
            limit -= loss[total.settle(context, loss, WITHOUT_NOISE)]
        limits.append(limit)
    short = FromArrays(contexts, losses)
    learners = [FTPL(oracle, fakes, seed=i) for i in range(effort.pick(20, 100))]
    mean = float(np.mean([play(learner, short).regret() for learner in learners]))
    return Check("FTPL, one-sided noise of random length", mean, float(np.mean(limits)))
