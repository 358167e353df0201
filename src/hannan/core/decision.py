"""Decisions: tickets for actions whose losses are not known yet."""

from dataclasses import dataclass
from typing import Any

from hannan.core.policy import Action


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What was decided for a context, under an id that feedback refers to later."""

    id: int
    context: Any
    action: Action
