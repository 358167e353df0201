"""Cases of the contract checks: each test module declares those of its classes in `CONTRACT`.

That is a mapping from names, "Class" or "Class, setting", to what is checked:

- an oracle, or the arguments of `Tried`: an oracle, contexts to try it on, policies to compare it
  with;
- a `Match` for a learner;
- an environment, a predictor, a detector or a column of features as it is.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import Any, NamedTuple

import hannan as hn

TESTS = Path(__file__).parent


class Tried(NamedTuple):
    """An oracle and what it is tried on."""

    oracle: hn.Oracle
    contexts: Any = None  # its own
    policies: Any = ()


class Match(NamedTuple):
    """A learner and where it plays."""

    learner: hn.Learner
    environment: hn.Environment
    no_regret: bool = True  # whether its average regret should fall there
    horizon: int = 60


def declared(base: type) -> dict[str, Any]:
    """The declared cases of one kind of class, by name."""
    found: dict[str, Any] = {}
    for name, case in everything():
        if isinstance(subject(case), base):
            assert name not in found, f"two cases are called {name!r}"
            found[name] = case
    return found


@functools.cache
def everything() -> list[tuple[str, Any]]:
    """All declared cases, with their names."""
    cases = []
    for path in sorted(TESTS.rglob("*.py")):
        if "\nCONTRACT = {" in path.read_text(encoding="utf-8"):
            dotted = path.relative_to(TESTS.parent).with_suffix("").parts
            cases += importlib.import_module(".".join(dotted)).CONTRACT.items()
    for name, case in cases:
        assert name.partition(", ")[0] == type(subject(case)).__name__, name
    return cases


def subject(case: Any) -> Any:
    """What a case is about."""
    return case[0] if isinstance(case, tuple) else case
