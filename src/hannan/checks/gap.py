"""Gap of an approximate oracle: the distance of its leader from the best policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hannan.core import Action, Oracle
from hannan.core.policy import loss_of
from hannan.core.validation import check_integer


@dataclass(frozen=True, slots=True)
class Gap:
    """Excess loss of the leader, as a share of the range between best and worst policy."""

    mean: float
    worst: float
    optimal: float
    """Share of the instances in which the leader was a best policy."""


def oracle_gap(
    oracle: Oracle,
    contexts: Sequence[Any],
    policies: Iterable[Callable[[Any], Action]],
    *,
    instances: int = 100,
    seed: int = 0,
) -> Gap:
    """Measure an oracle against a list of policies on random signed losses.

    Theorems assume an oracle that finds the best policy; a reduction such as `LinearPolicies` does
    not. Use this function on small instances whose policies you can list, to measure the excess
    loss.

    Parameters
    ----------
    oracle
        Oracle to measure.
    contexts
        A few contexts; each gets a random loss vector of standard normal numbers.
    policies
        All policies of the class, or as many as you can list.
    instances
        Number of random totals. Default 100.
    seed
        Seed of the losses. Default 0.

    Examples
    --------
    >>> import hannan as hn
    >>> exact = hn.oracles.FinitePolicies([[0, 1], [1, 0]])
    >>> hn.checks.oracle_gap(exact, [0, 1], [exact.policy(0), exact.policy(1)])
    Gap(mean=0.0, worst=0.0, optimal=1.0)
    """
    check_integer("oracle_gap", "instances", instances, 1)
    known = oracle.check_contexts(contexts)
    listed = [[policy(context) for context in known] for policy in policies]
    rng = np.random.default_rng(seed)
    gaps = np.empty(instances)
    for i in range(instances):
        losses = rng.normal(size=(len(known), oracle.n_actions or 1))
        total = oracle.objective()
        for context, row in zip(known, losses, strict=True):
            total.add(context, row)
        leader = total.leader()
        reached = sum(loss_of(row, leader(x)) for x, row in zip(known, losses, strict=True))
        values = [
            sum(loss_of(row, action) for row, action in zip(losses, actions, strict=True))
            for actions in listed
        ]
        low, high = min(values), max(values)
        gaps[i] = max(0.0, reached - low) / (high - low) if high > low else 0.0
    return Gap(float(gaps.mean()), float(gaps.max()), float((gaps < 1e-9).mean()))
