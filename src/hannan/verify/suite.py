"""All claims, and the loop that runs their experiments."""

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
    "set_hints",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, its checks, and the time of its experiment."""

    claim: Claim
    finding: Finding
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether all checks of the claim pass."""
        return self.finding.passed


def claims(only: Iterable[str] | None = None) -> list[Claim]:
    """Return all claims, or those with the given names; a name may be a module's.

    Parameters
    ----------
    only
        Names of claims or modules. Default None: all claims.

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
            raise ParameterError(f"No claim is called {name!r}. Pass some of: {there}.")
    return [claim for names, claim in known if wanted is None or not names.isdisjoint(wanted)]


def verify(
    only: Iterable[str] | None = None,
    *,
    full: bool = False,
    seed: int = 0,
    progress: Callable[[Claim], None] | None = None,
) -> list[Verdict]:
    """Run the experiments of all claims, or of some.

    If an experiment raises a `HannanError`, for example because a separator does not separate, its
    claim fails, with the error as its only check. The experiments of the other claims still run.

    Parameters
    ----------
    only
        Names of claims, as `hannan verify` prints them. Default None: all claims.
    full
        Whether to run larger experiments, which take longer. Default False.
    seed
        Seed of all experiments. Default 0.
    progress
        Function called with each claim before its experiment. Default None.

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
            why = str(error).rstrip(".")
            checks = [Check(f"raised {type(error).__name__}: {why}", 1.0, 0.0)]
        verdicts.append(Verdict(claim, Finding(checks), time.perf_counter() - started))
    return verdicts
