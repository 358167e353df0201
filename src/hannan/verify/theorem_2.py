"""Theorem 2: regret with full information, on oblivious and adaptive environments."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from hannan.bounds import complete_information
from hannan.core import Environment, Oracle
from hannan.environments import FromArrays, LeaderPunisher
from hannan.losses import Cut
from hannan.oracles import Disjunctions, FinitePolicies, Submodular, Subsets
from hannan.separators import disjunctions
from hannan.verify.adversaries import Listed, Repeats, turns
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial, sizes

_CONFIDENCE = "mean regrets; false alarms below 1e-4"
_FACTORS = 4.0 ** np.arange(-2, 3)  # on the paper's ε


def _trial(
    what: str,
    oracle: Oracle,
    environment: Environment,
    horizon: int,
    loss_range: tuple[float, float] = (0.0, 1.0),
    separator: Any = None,
) -> Trial:
    # The range of a loss function refers to whole sets, but bounds need the range of an element.
    share = oracle.max_chosen if oracle.takes_functions else 1
    known: dict[str, Any] = {
        **sizes(oracle, separator=separator),
        "loss_range": (loss_range[0] / share, loss_range[1] / share),
        "nonnegative": loss_range[0] >= 0.0,
    }
    bound = partial(complete_information, horizon, **known)
    options = {"horizon": horizon, "separator": separator, "loss_range": loss_range}
    return Trial(what, oracle, environment, horizon, bound, options=options)


def _sweep(trial: Trial, seeds: list[int]) -> Check:
    """Compare regret with the sharp bound from too much noise to too little."""
    shares = []
    for epsilon in (trial.bound(form="printed").epsilon * _FACTORS).tolist():
        limit = trial.bound(form="sharp", epsilon=epsilon).value
        shares.append(trial.regret(seeds, epsilon=epsilon) / limit)
    what = "largest regret over sharp bound, ε from 1/16 to 16 times the printed ε"
    return Check(f"{trial.what}: {what}", max(shares), 1.0)


@claim("theorem-2-any-losses", "Theorem 2, claim 1", _CONFIDENCE)
def any_losses(effort: Effort) -> Iterator[Check]:
    """Regret with contexts known in advance is at most 4εK Σ‖f‖² + (10/ε)√(dm) log N for any
    losses, including functions of sets. The shift lemma needs only εκ Σ v² + G/ε.

    Claim 2.1: signed losses of three actions, and functions of sets.
    """
    T, seeds = effort.pick(600, 4000), effort.seeds("theorem-2-any", 20, 48)
    signed = FromArrays(None, 2.0 * np.asarray(turns(T, T // 2, K=3).losses) - 1.0)
    three = FinitePolicies([[0], [1], [2]])
    actions = _trial("three actions, losses ±1", three, signed, T, (-1.0, 1.0))
    yield from actions.theorem(seeds)
    yield _sweep(actions, seeds)
    # Both elements and none alternate as the best set; one element alone is never good.
    fors, against = (Cut([0], [1], 0.2, 2, [w, w], directed=False) for w in (-0.4, 0.4))
    functions = [(fors, against)[t % 2] for t in range(3 * T // 4)] + [fors] * (T // 4)
    sets = _trial("functions of sets", Submodular(2), Listed(functions, 2), T, (-1.0, 1.0))
    yield from sets.theorem(seeds[::2])


@claim("theorem-2-linear-losses", "Theorem 2, claim 2", _CONFIDENCE)
def linear_losses(effort: Effort) -> Iterator[Check]:
    """Regret with contexts known in advance and linear losses that are never negative is at most ε
    Σ E⟨π(x),ℓ⟩² + (10/ε)√(dm) log N. In the sharp form, G/ε replaces the second term.

    Claim 2.2: two alternating actions, and sets of elements with an adversary that punishes the
    leader.
    """
    T, seeds = effort.pick(600, 4000), effort.seeds("theorem-2-linear", 24, 60)
    pair = _trial("two actions", FinitePolicies([[0], [1]]), turns(T, T // 2), T)
    yield from pair.theorem(seeds)
    yield _sweep(pair, seeds)
    four = Subsets(4, 2)
    yield from _trial("two of four elements", four, LeaderPunisher(four), T).theorem(seeds[::3])


@claim("theorem-2-separator", "Theorem 2, claim 3", _CONFIDENCE)
def small_separator(effort: Effort) -> Iterator[Check]:
    """Regret with noise on a small separator, for any contexts, is at most 4εKd Σ‖f‖² + (10/ε)√(dm)
    log N. The sharp form is εdκ Σ v² + G/ε.

    Claim 2.3: the context that arrives carries no noise.
    """
    T, seeds = effort.pick(1000, 4000), effort.seeds("theorem-2-separator", 6, 32)
    world = turns(T, T // 2, [(1, 1, 1)], first=1)  # most formulas play 1 there
    formulas = _trial("disjunctions", Disjunctions(3), world, T, separator=disjunctions(3))
    yield from formulas.theorem(seeds)
    yield _sweep(formulas, seeds)


@claim("theorem-2-adaptive", "Theorem 2, adaptive adversaries", _CONFIDENCE)
def adaptive_adversaries(effort: Effort) -> Iterator[Check]:
    """Fresh noise in every round makes the three claims of Theorem 2 hold against an adversary that
    reacts to the actions. The adversary learns noise that is drawn once for the whole run.

    As a contrast, the same adversary wins against noise drawn once.
    """
    T, seeds = effort.pick(1000, 6000), effort.seeds("theorem-2-adaptive", 8, 32)
    pair = FinitePolicies([[0], [1]])
    formulas = FinitePolicies([[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    for trial in (
        _trial("linear losses", pair, Repeats(pair), T),
        _trial("losses ±1", pair, Repeats(pair, low=-1.0), T, (-1.0, 1.0)),
        _trial("separator", formulas, Repeats(formulas, (2, 0, 1)), T, separator=[0, 1]),
    ):
        yield from trial.theorem(seeds)
        stale = trial.regret(seeds[:4], epsilon="theorem", noise="once")
        limit = trial.bound(form="sharp", epsilon=trial.bound(form="printed").epsilon).value
        what = f"{trial.what}: regret with noise drawn once, beyond the sharp bound"
        yield Check(what, stale, limit, at_most=False)
