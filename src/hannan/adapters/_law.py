"""What a learner would play on many rows: its choices without noise, and the law of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Learner, Objective, Policy
from hannan.core.validation import FloatArray
from hannan.learners import Restarting
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.off_policy.law import law as law_of_next
from hannan.oracles.linear_policies import LinearPolicy

_SEED = 0x6C6177  # of the noise behind estimates: asking twice gives the same answer


def at_work(learner: Learner) -> Any:
    """The learner that plays now, where one plays through another."""
    while isinstance(learner, Restarting):
        learner = learner._player
    return learner


def prospects(learner: PerturbedLeader, rows: FloatArray) -> Iterator[tuple[FloatArray, Objective]]:
    """Each row as a context, with the totals whose leader would be followed on it."""
    for row in rows:
        context = learner._check_context(row)
        yield context, _twin(learner)._prospect(context)


def chosen(learner: Learner, rows: FloatArray) -> NDArray[np.intp]:
    """What would be played on each row if there were no noise."""
    learner = at_work(learner)
    if not isinstance(learner, PerturbedLeader) or learner.forecaster is None:
        return _choices(learner.best_policy(), rows)  # type: ignore[attr-defined]
    played = [total.action(row, None, 0, 0.0) for row, total in prospects(learner, rows)]
    return np.array(played, dtype=np.intp)


def law(learner: Learner, rows: FloatArray, n_actions: int, draws: int) -> FloatArray:
    """The probability of each action on each row, were it the context of the round to come.

    Exact where the class can compute it. Otherwise frequencies under `draws` draws of noise: the
    same leaders for all rows, unless guesses make leaders depend on the row, or the learner is
    not a perturbed leader and can only be asked. Asking changes nothing.
    """
    learner = at_work(learner)
    if not isinstance(learner, PerturbedLeader) or learner.perturbation != "laplace":
        found = (law_of_next(learner, row, n_actions, draws, _SEED) for row in rows)
        return np.array([each.probabilities for each in found])
    if learner.forecaster is None:
        return _law_of_leaders(learner, rows, n_actions, draws)
    each = [_law_of_leaders(learner, row[None, :], n_actions, draws) for row in rows]
    return np.concatenate(each)


def _law_of_leaders(
    learner: PerturbedLeader, rows: FloatArray, n_actions: int, draws: int
) -> FloatArray:
    contexts = [learner._check_context(row) for row in rows]
    twin = _twin(learner)
    total = twin._prospect(contexts[0])
    noise, scale = twin._fakes, twin._scale
    if scale == 0.0:
        noise, draws = None, 1
    elif total.law(contexts[0], noise, scale) is not None:
        return np.array([total.law(context, noise, scale) for context in contexts])
    found = np.zeros((len(rows), n_actions))
    for policy in total.leaders(noise, 0, draws, scale):
        found[np.arange(len(rows)), _choices(policy, rows)] += 1.0
    return found / draws


def _twin(learner: PerturbedLeader) -> PerturbedLeader:
    """A copy to look ahead with: schedules and guesses move on when they are looked at."""
    return learner._twin(np.random.default_rng(_SEED))


def _choices(policy: Policy, rows: FloatArray) -> NDArray[np.intp]:
    """A policy's actions on the rows of an array."""
    if isinstance(policy, LinearPolicy) and len(policy.weights):
        p = rows.shape[1]  # the weights of a constant feature, if there are any, come last
        scores = rows @ policy.weights[:p] + policy.weights[p:].sum(axis=0)
        return np.asarray(scores.argmin(axis=1))
    many = getattr(policy, "predict", None)
    if many is not None:
        return np.asarray(many(rows), dtype=np.intp)
    return np.array([policy(row) for row in rows], dtype=np.intp)
