"""All claims, and the loop that tries them."""

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hannan.core import HannanError, ParameterError
from hannan.core.validation import check_seed
from hannan.verify.claim import Check, Claim, Effort, Finding

# In the order of the paper.
_MODULES = (
    "be_the_leader",
    "ties",
    "theorem_1",
    "laplace_error",
    "stability",
    "theorem_2",
    "separators",
    "examples",
    "proxy_losses",
    "theorem_3",
    "switching",
    "theorem_5",
    "natarajan",
    "hardness",
    "growth",
    "round_by_round",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, its checks, and how long they took."""

    claim: Claim
    finding: Finding
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the claim stands."""
        return self.finding.passed


def claims(only: Iterable[str] | None = None) -> list[Claim]:
    """Return all claims, or those of the given names; a name may also be a module's.

    Parameters
    ----------
    only
        The names; None for all claims.

    Examples
    --------
    >>> [claim.name for claim in claims(["be-the-leader"])]
    ['be-the-leader']
    """
    known: list[tuple[set[str], Claim]] = []
    for module in _MODULES:
        listed = vars(importlib.import_module(f"hannan.verify.{module}")).values()
        found = [claim for claim in listed if isinstance(claim, Claim)]
        known += [({module.replace("_", "-"), claim.name}, claim) for claim in found]
    wanted = None if only is None else list(only)
    for name in wanted or ():
        if not any(name in names for names, _ in known):
            there = ", ".join(claim.name for _, claim in known)
            raise ParameterError(f"No claim is called {name!r}; there are {there}.")
    return [claim for names, claim in known if wanted is None or not names.isdisjoint(wanted)]


def verify(
    only: Iterable[str] | None = None,
    *,
    full: bool = False,
    seed: int = 0,
    progress: Callable[[Claim], None] | None = None,
) -> list[Verdict]:
    """Try every claim, or some of them.

    If an experiment raises a `HannanError`, for example because a separator does not separate, its
    claim fails, with the error as its only check. The other claims are tried nevertheless.

    Parameters
    ----------
    only
        Names of claims, as `hannan verify` prints them.
    full
        Whether to run larger experiments, which take longer.
    seed
        Seed of all experiments.
    progress
        Called with each claim before it is tried.

    Examples
    --------
    >>> import hannan as hn
    >>> [verdict.passed for verdict in hn.verify.verify(["be-the-leader"])]
    [True]
    """
    check_seed("verify", seed)
    effort = Effort(full, seed)
    verdicts = []
    for claim in claims(only):
        if progress is not None:
            progress(claim)
        started = time.perf_counter()
        try:
            checks = list(claim.experiment(effort))
        except HannanError as error:
            checks = [Check(f"refused with {type(error).__name__}: {error}", 1.0, 0.0)]
        verdicts.append(Verdict(claim, Finding(checks), time.perf_counter() - started))
    return verdicts
