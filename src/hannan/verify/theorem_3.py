"""Theorem 3: semi-bandit feedback, with contexts known in advance or a small separator."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

from hannan.bounds import Sizes, semi_bandit
from hannan.core import Environment, Oracle
from hannan.environments import PlantedPolicy
from hannan.learners import ContextSemiBanditFTPL
from hannan.oracles import Disjunctions, FinitePolicies
from hannan.separators import disjunctions
from hannan.verify.adversaries import Habits, steady
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import FIXED_SEEDS, Trial, sizes

SLATES = FinitePolicies([[pair] for pair in combinations(range(4), 2)], n_actions=4)
FORMULAS = Disjunctions(3)


def experts(effort: Effort) -> FinitePolicies:
    """Draw twelve policies on three contexts, three actions."""
    rows = list(product(range(3), repeat=3))
    chosen = effort.rng("theorem-3").permutation(len(rows))[:12]
    return FinitePolicies([rows[i] for i in chosen], n_actions=3)


def trials(
    what: str, oracle: Oracle, contexts: Sequence[Any], T: int, separator: Any = None
) -> tuple[Sizes, list[Trial]]:
    """Return the sizes of a class, and trials in three environments.

    One environment reacts to the actions, one never changes its losses, and one is random. With one
    success, the second moment of the weights has the constant 2 of the theorem.
    """
    known = sizes(oracle, contexts, separator, pairs=2000)
    environments: dict[str, Environment] = {
        "steady": steady(oracle, contexts, T, good=0.4),
        "punishes habits": Habits(oracle, contexts),
        "random": PlantedPolicy(oracle, contexts, good=0.2, bad=0.6),
    }
    bound = partial(semi_bandit, T, **known)
    options = {"horizon": T, "separator": separator, "resampling": "shared"}
    more: dict[str, Any] = {"learner": ContextSemiBanditFTPL, "options": options, "pseudo": True}
    return known, [
        Trial(f"{what}, {name}", oracle, environment, T, bound, **more)
        for name, environment in environments.items()
    ]


@claim("theorem-3-transductive", "Theorem 3, contexts known in advance", FIXED_SEEDS)
def transductive(effort: Effort) -> Iterator[Check]:
    """Pseudo-regret with semi-bandit feedback is at most 2εmKT + (10/ε)√(dm) log N + KT/(eL). In
    the sharp form, G/ε replaces the second term.

    Single actions and sets of two, at the printed and at the sharp tuning.
    """
    T, seeds = effort.pick(2000, 16_000), effort.seeds("theorem-3", 2, 6)
    oracle = experts(effort)
    for trial in (
        *trials("one action", oracle, list(oracle.contexts), T)[1],
        *trials("sets of two", SLATES, [0], T)[1],
    ):
        yield from trial.theorem(seeds)


@claim("theorem-3-separator", "Theorem 3, small separator", FIXED_SEEDS)
def small_separator(effort: Effort) -> Iterator[Check]:
    """Pseudo-regret with noise on a separator only is of order √T: at most 2εκmKT + G/ε + KT/(eL),
    κ = dm. The printed T^(2/3) has a superfluous factor L.

    Disjunctions over three bits, with noise on the three unit vectors; any context may arrive. The
    printed bound exceeds T until T is 1.6 million.
    """
    T, seeds = effort.pick(2000, 16_000), effort.seeds("theorem-3", 2, 6)
    known, tried = trials("disjunctions", FORMULAS, range(8), T, disjunctions(3))
    for trial in tried:
        yield from trial.theorem(seeds)

    def exponent(form: str) -> float:
        few, many = (semi_bandit(n * 10**6, form=form, **known).value for n in (1, 4))
        return math.log(many / few) / math.log(4.0)

    yield Check("growth exponent of the sharp bound", exponent("sharp"), 0.5, allowance=1e-3)
    what = "growth exponent of the printed bound"
    yield Check(what, exponent("printed"), 2 / 3, at_most=False, allowance=1e-3)
    printed, best = (semi_bandit(T, max_resamples=L, **known).value for L in (None, "best"))
    yield Check("printed bound with its best L, against L = T^(1/3)", best, printed)
