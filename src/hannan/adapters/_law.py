"""What a learner would play on many rows: its choices without noise, and the law of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hannan.core import Learner, Policy
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.validation import FloatArray
from hannan.experiments.game import at_work

_KEY = np.uint64(0x6C6177)  # of the noise behind estimates: asking twice gives the same answer


def chosen(learner: Learner, rows: FloatArray) -> NDArray[np.intp]:
    """What would be played on each row if there were no noise: a hint if it is the rule."""
    player = at_work(learner)
    if getattr(player, "predictor_", None) is None or not hasattr(player, "outlook"):
        return _choices(player.best_policy(), rows)
    played = np.empty(len(rows), dtype=np.intp)
    for i, row in enumerate(rows):
        context, past, _, advice, share = player.outlook(row)
        played[i] = advice if share > 0.5 else past.action(context, WITHOUT_NOISE)
    return played


def law(learner: Learner, rows: FloatArray, draws: int) -> FloatArray:
    """The probability of each action on each row, were it the context of the round to come.

    Where nothing is guessed leaders do not depend on the row: those of slow classes are found once.
    """
    player = at_work(learner)
    if getattr(player, "predictor_", None) is None and hasattr(player, "outlook"):
        context, past, (noise, _, scale), *_ = player.outlook(rows[0])
        if scale > 0.0 and past.law(context, Draw(noise, 0, scale)) is None:
            noise = player.leader.reseeded(_KEY).noise
            found = np.zeros((len(rows), past.total.n_actions))
            for policy in past.total.leaders(Draw(noise, 0, scale), draws):
                found[np.arange(len(rows)), _choices(policy, rows)] += 1.0
            return found / draws
    return np.array([player.propensities(row, draws).probabilities for row in rows])


def _choices(policy: Policy, rows: FloatArray) -> NDArray[np.intp]:
    """A policy's actions on the rows of an array."""
    many = getattr(policy, "predict", None)
    if many is not None:
        return np.asarray(many(rows), dtype=np.intp)
    return np.array([policy(row) for row in rows], dtype=np.intp)
