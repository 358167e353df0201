"""Claims, and the checks that decide whether they pass."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np


@dataclass(frozen=True, slots=True)
class Effort:
    """Size of the experiments: a few minutes for all claims together, or longer."""

    full: bool = False
    seed: int = 0

    def pick(self, quick: int, full: int) -> int:
        """Return one of two sizes."""
        return full if self.full else quick

    def seeds(self, name: str, quick: int, full: int) -> list[int]:
        """Return random seeds, as many as the effort allows."""
        drawn: list[int] = self.rng(name).integers(2**31, size=self.pick(quick, full)).tolist()
        return drawn

    def rng(self, *path: int | str) -> np.random.Generator:
        """Return a generator determined by the seed and a path of names and numbers."""
        words = [crc32(p.encode()) if isinstance(p, str) else p for p in path]
        return np.random.default_rng([self.seed, *words])


@dataclass(frozen=True, slots=True)
class Check:
    """A measured number, and the limit that a claim states for it.

    >>> check = Check("regret", 12.0, 30.0)
    >>> check.passed, check.margin
    (True, 0.6)
    >>> Check("probability", 0.52, 0.5, allowance=0.03).passed
    True
    """

    what: str
    measured: float
    limit: float
    at_most: bool = True
    """Whether the limit is an upper limit."""
    allowance: float = 0.0
    """Deviation allowed for chance, at the confidence of the claim."""

    @property
    def passed(self) -> bool:
        """Whether the number is on the right side of its limit; NaN never is."""
        if self.at_most:
            return bool(self.measured <= self.limit + self.allowance)
        return bool(self.measured >= self.limit - self.allowance)

    @property
    def margin(self) -> float:
        """Distance of the number from its limit, as a share of the limit; negative beyond it."""
        room = self.limit - self.measured if self.at_most else self.measured - self.limit
        return room / abs(self.limit) if self.limit else room


@dataclass(frozen=True, slots=True)
class Finding:
    """The checks of one experiment."""

    checks: Sequence[Check]

    @property
    def passed(self) -> bool:
        """Whether there is at least one check and all checks pass."""
        return bool(self.checks) and all(check.passed for check in self.checks)


Experiment = Callable[[Effort], Iterable[Check]]
"""Function that yields its checks one by one, each as soon as it is decided."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A result of the paper or of this library, with an experiment that could refute it."""

    name: str
    """Lower case, words joined by hyphens."""
    result: str
    """Place in the paper: "Theorem 2, claim 1"."""
    says: str
    """Statement of the claim, in one or two sentences."""
    confidence: str
    """Confidence of a verdict: "holds on every path", or the probability of a false alarm."""
    experiment: Experiment = field(repr=False)


def claim(name: str, result: str, confidence: str) -> Callable[[Experiment], Claim]:
    """Make a claim from an experiment; the first paragraph of its docstring is the statement."""

    def decorate(experiment: Experiment) -> Claim:
        statement, *_ = (experiment.__doc__ or "").split("\n\n")
        return Claim(name, result, " ".join(statement.split()), confidence, experiment)

    return decorate
