"""What a learner holds between two rounds, for experiments that need many draws of one moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.oracle import Noise
from hannan.core.validation import FloatArray
from hannan.learners import ContextFTPL


def noise_of(learner: ContextFTPL) -> tuple[Noise, float]:
    """Its unit noise, and the scale it is used at."""
    assert learner.leader.noise is not None
    return learner.leader.noise, learner.step.scale


def fake_losses(learner: ContextFTPL, first: int, count: int) -> FloatArray:
    """The fake losses of some draws as they enter the total, [count, d, K]."""
    noise, scale = noise_of(learner)
    return scale * np.array([noise.unit(first + i) for i in range(count)])


def leader_counts(learner: ContextFTPL, first: int, count: int) -> NDArray[np.int64]:
    """How often each policy of a table leads under the next total, over some draws."""
    noise, scale = noise_of(learner)
    table: Any = learner.oracle
    leaders: Any = learner.leader.total.leaders(noise, first, count, scale)
    return np.bincount([leader.index for leader in leaders], minlength=table.n_policies)


def let_play(learner: ContextFTPL, context: Any, losses: Any) -> None:
    """One round."""
    learner.act(context)
    learner.update(losses)
