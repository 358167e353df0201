"""The Natarajan corollary: infinite classes of finite dimension, on contexts known in advance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hannan import bounds
from hannan.core import Oracle
from hannan.environments import LeaderPunisher
from hannan.learners import ContextFTPL
from hannan.oracles import FinitePolicies, Thresholds
from hannan.verify._games import regrets, seeds
from hannan.verify.claim import Check, Claim, Effort, Finding, Plot, Series

Table = NDArray[np.int64]


class Case(NamedTuple):
    """A class on d contexts, with all its policies there."""

    name: str
    oracle: Oracle
    contexts: Sequence[Any]
    table: Table
    n_actions: int

    @property
    def dimension(self) -> int:
        """ν, by trying all sets of contexts."""
        return bounds.natarajan_dimension(self.table)

    @property
    def log_size(self) -> float:
        """log N, by counting."""
        return math.log(len(np.unique(self.table, axis=0)))


def growth(effort: Effort) -> Finding:
    """Policies counted on d contexts, against three forms of Sauer's lemma."""
    checks, points = [], []
    for case in _cases(effort):
        d, K, nu = len(case.contexts), case.n_actions, case.dimension
        found = bounds.natarajan_log_size(nu, d, K)
        squared = nu * math.log(d * math.e * K**2 / (2 * nu))
        printed = nu * math.log(d * math.e * (K + 1) ** 2 / (2 * nu))
        log_size = case.oracle.log_size(case.contexts)
        assert log_size is not None
        points.append((case.log_size, found, squared, printed))
        checks += [
            Check(f"{case.name}, ν = {nu}: log N, against Sauer's sum", case.log_size, found),
            Check(f"{case.name}: Sauer's sum, against K² in the lemma", found, squared),
            Check(f"{case.name}: K², against (K+1)² as printed", squared, printed),
            Check(f"{case.name}: log N, against what the oracle says", case.log_size, log_size),
        ]
    counted, *limits = np.array(sorted(points)).T
    names = ("Sauer's sum", "with K²", "with (K+1)², as printed")
    return Finding(
        checks,
        Plot(
            "log N, counted",
            "bounds on it",
            [
                *(Series(name, counted, y, "points") for name, y in zip(names, limits, strict=True)),
                Series("log N itself", counted, counted, "dashed"),
            ],
        ),
    )


def corollary(effort: Effort) -> Finding:
    """Learners tuned by the corrected corollary, against the three forms of it."""
    T = effort.pick(400, 4000)
    checks, sizes, found = [], [], []
    for case in _cases(effort, playable=True):
        d, K = len(case.contexts), case.n_actions
        forms = {
            form: bounds.natarajan(
                T, dimension=case.dimension, d=d, n_actions=K, form=form
            )
            for form in ("printed", "corrected", "sharp")
        }
        world = LeaderPunisher(case.oracle, contexts=case.contexts)
        means = {
            form: _mean(effort, case, world, T, forms[form].epsilon)
            for form in ("corrected", "sharp")
        }
        checks += [
            Check(f"{case.name}: regret, against the corrected form", means["corrected"], forms["corrected"].value),
            Check(f"{case.name}: regret, against the sharp form", means["sharp"], forms["sharp"].value),
            Check(f"{case.name}: sharp, against printed", forms["sharp"].value, forms["printed"].value),
            Check(f"{case.name}: printed, against corrected", forms["printed"].value, forms["corrected"].value),
        ]
        sizes.append(d)
        found.append((means["sharp"], *(forms[form].value for form in ("sharp", "printed", "corrected"))))
    order = np.argsort(sizes)
    return Finding(
        checks,
        Plot(
            "d",
            f"regret after {T} rounds",
            [
                Series(name, np.array(sizes)[order], y[order], style)
                for name, y, style in zip(
                    ("measured", "sharp", "as printed", "corrected: what Theorem 2 gives"),
                    np.array(found).T,
                    ("points", "dashed", "dashed", "dashed"),
                    strict=True,
                )
            ],
            log_y=True,
        ),
    )
