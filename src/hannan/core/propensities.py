"""Probabilities of being chosen."""

from dataclasses import dataclass

from hannan.core.validation import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Propensities:
    """For each element the probability of being chosen now, with its standard error."""

    probabilities: FloatArray
    standard_errors: FloatArray
    draws: int
    """Number of draws behind the estimate; 0 where the probabilities are exact."""
