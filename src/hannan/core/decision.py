"""Decisions: tickets for actions whose losses are not known yet."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core.policy import Action


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided for a context, under an id that feedback refers to later."""

    id: int
    context: Any
    action: Action
    weights: NDArray[np.float64]
    """For each chosen element an estimate of 1/q, q its probability of being chosen, drawn from
    the state at decision time: inverse propensities, unbiased up to the known truncation."""
