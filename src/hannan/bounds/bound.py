"""The return value of every result: a bound with its terms."""

import math
from dataclasses import dataclass, field

from hannan.core.validation import check_positive


@dataclass(frozen=True, slots=True)
class Bound:
    """A regret bound with its ε (and L), and the terms that add up to it.

    If ε changes during the game, it is the ε of the last round, if the bound is attained.

    >>> print(Bound(30.0, 0.1, {"stability": 10.0, "error": 20.0}))
    regret <= 30 = 10 (stability) + 20 (error), at epsilon = 0.1
    """

    value: float
    epsilon: float
    terms: dict[str, float] = field(compare=False)
    max_resamples: int | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        terms = " + ".join(f"{value:.4g} ({name})" for name, value in self.terms.items())
        limit = "" if self.max_resamples is None else f", L = {self.max_resamples}"
        return f"regret <= {self.value:.6g} = {terms}, at epsilon = {self.epsilon:.4g}{limit}"


def tuned(
    owner: str,
    epsilon: float | None,
    slope: float,
    error: float,
    max_resamples: int | None = None,
    **others: float,
) -> Bound:
    """Return slope·ε + error/ε and further terms, at the given ε or at the best one.

    With no slope there is nothing to pay at ε = ∞.
    """
    if epsilon is not None:
        epsilon = check_positive(owner, "epsilon", epsilon)
    else:
        epsilon = math.sqrt(error) / math.sqrt(slope) if slope else math.inf
    stability = slope * epsilon if slope else 0.0
    terms = {"stability": stability, "error": error / epsilon, **others}
    return Bound(sum(terms.values()), epsilon, terms, max_resamples)
