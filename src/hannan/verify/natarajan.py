"""The Natarajan corollary: infinite classes of finite dimension, on contexts known in advance."""

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan import bounds
from hannan.core import Oracle
from hannan.oracles import FinitePolicies, Thresholds
from hannan.oracles.thresholds import ThresholdPolicy
from hannan.verify.adversaries import turns
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial

Table = NDArray[np.int64]


class NatarajanCase(NamedTuple):
    """A class on d contexts, with all its policies on them."""

    name: str
    oracle: Oracle
    contexts: Sequence[Any]
    table: Table
    n_actions: int
    random: bool = False

    @property
    def dimension(self) -> int:
        """Natarajan dimension ν, from all sets of contexts."""
        return bounds.natarajan_dimension(self.table)


@claim(
    "natarajan-size",
    "Lemma (Sauer–Shelah for Natarajan dimension), erratum 12",
    "all policies counted",
)
def growth(effort: Effort) -> Iterator[Check]:
    """Classes of Natarajan dimension ν have at most (deK²/2ν)^ν policies on d contexts, slightly
    fewer than the printed (de(K+1)²/2ν)^ν.
    """
    points, wrong = [], 0.0
    for case in _cases(effort):
        d, K, nu = len(case.contexts), case.n_actions, case.dimension
        sauer = bounds.natarajan_log_size(nu, d, K)
        forms = [nu * math.log(d * math.e * labels**2 / (2 * nu)) for labels in (K, K + 1)]
        counted = math.log(len(np.unique(case.table, axis=0)))
        points.append((counted, sauer, *forms))
        log_size = case.oracle.log_size(case.contexts)
        assert log_size is not None
        wrong = max(wrong, abs(counted - log_size))
        if not case.random:
            yield Check(f"{case.name}, ν = {nu}: log N", counted, sauer)
    shares = np.array(points)[:, :-1] / np.array(points)[:, 1:]
    yield Check("all: log N, as a share of Sauer's sum", shares[:, 0].max(), 1.0, True, 1e-12)
    yield Check("all: Sauer's sum, as a share of the lemma with K²", shares[:, 1].max(), 1.0)
    yield Check("all: K², as a share of (K+1)² as printed", shares[:, 2].max(), 1.0)
    yield Check("all: oracle's log N, distance from the count", wrong, 1e-12)


def _cases(effort: Effort) -> Iterator[NatarajanCase]:
    rng = effort.rng("natarajan")
    for K, d in [(2, 12), (3, 10), *([(2, 40), (4, 16)] if effort.full else [])]:
        yield _thresholds(d, K)
    for K, d, nu in [(2, 9, 2), (3, 7, 2), *([(2, 10, 3), (4, 8, 3)] if effort.full else [])]:
        yield _nearly_constant(d, K, nu)
    for _ in range(effort.pick(3, 30)):
        d, K = (int(n) for n in rng.integers([4, 2], [8, 5]))
        table = rng.integers(K, size=(int(rng.integers(10, 80)), d))
        oracle = FinitePolicies(table, n_actions=K)
        yield NatarajanCase("random policies", oracle, range(d), table, K, random=True)


def _thresholds(d: int, K: int) -> NatarajanCase:
    """Return an infinite class, with a list of the policies that differ on these contexts."""
    oracle = Thresholds(K)
    points = [float(x) for x in range(d)]
    pairs = itertools.product(points, itertools.product(range(K), repeat=2))
    policies = [ThresholdPolicy(oracle, cut, below, above) for cut, (below, above) in pairs]
    table = np.array([[policy(x) for x in points] for policy in policies])
    return NatarajanCase(f"thresholds, {d} points, K = {K}", oracle, points, table, K)


def _nearly_constant(d: int, K: int, nu: int) -> NatarajanCase:
    """Return all policies that play 0 except on ν contexts: the largest of dimension ν if K = 2."""
    table = np.array(list(itertools.product(range(K), repeat=d)))
    table = table[(table != 0).sum(axis=1) <= nu]
    return NatarajanCase(
        f"0 except on {nu} of {d}, K = {K}", FinitePolicies(table), range(d), table, K
    )


@claim("natarajan", "Corollary (Natarajan), erratum 11", "mean regret below its bound")
def corollary(effort: Effort) -> Iterator[Check]:
    """Regret against a class of finite Natarajan dimension grows like √T in the transductive
    setting. The printed error follows from the sharp form, while Theorem 2 gives a larger error.

    Learners are tuned by each form of the corollary, on more and more points and on a multiclass
    table.
    """
    T = effort.pick(600, 3000)
    lines = [_thresholds(d, 2) for d in (4, 8, 16, effort.pick(32, 64))]
    for case in (*lines, _nearly_constant(8, 3, 2)):
        what, K, seeds = case.name, case.n_actions, effort.seeds(case.name, 3, 20)
        sizes: dict[str, Any] = {"dimension": case.dimension, "d": len(case.contexts)}
        bound = partial(bounds.natarajan, T, n_actions=K, **sizes)
        world, options = turns(T, T // 3, case.contexts, K), {"contexts": case.contexts}
        trial = Trial(what, case.oracle, world, T, bound, options=options)
        yield from trial.theorem(seeds, same=False)
        printed, corrected = bound(form="printed").value, bound(form="corrected")
        regret = trial.regret(seeds, epsilon=corrected.epsilon)
        yield Check(f"{what}: regret, against the corrected form", regret, corrected.value)
        yield Check(f"{what}: printed form, corrected form", printed, corrected.value)
        G = bounds.laplace_complexity(case.oracle, case.contexts, pairs=1000)
        sharp = bound(form="sharp", complexity=G)
        regret = trial.regret(seeds, epsilon=sharp.epsilon)
        yield Check(f"{what}: regret, against the sharp form with G", regret, sharp.value)
