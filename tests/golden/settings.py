"""All settings, by name; the first part of a name is its family."""

from collections.abc import Callable

from tests.golden import (
    baselines,
    described,
    perturbed_leaders,
    playouts,
    policy_classes,
    recommended,
    saving,
    wrappers,
)
from tests.golden.playing import Trace

MODULES = (
    perturbed_leaders,
    playouts,
    wrappers,
    baselines,
    recommended,
    policy_classes,
    described,
    saving,
)


def settings() -> dict[str, Callable[[], Trace]]:
    """What plays each setting."""
    found: dict[str, Callable[[], Trace]] = {}
    for module in MODULES:
        for name, play in module.settings():
            if name in found:
                raise ValueError(f"Two settings are called {name!r}.")
            found[name] = play
    return found


def family(name: str) -> str:
    """The first part of a name."""
    return name.partition("/")[0]
