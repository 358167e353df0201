"""Dictionaries of features as the contexts of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hannan.adapters._rows import Encoding, Rows


class NamedRows:
    """How a dictionary becomes a row, by the parameter `features` of its owner.

    Features that are not named are left out. None: the names of the first dictionary that was
    kept; later ones may lack some, not have others.
    """

    def __init__(self, owner: object, features: Encoding) -> None:
        self._owner = owner
        self._rows = Rows(owner, "features", features)
        self._learns = features is None

    def __call__(self, context: Any) -> Any:
        """The context of a dictionary; what is not one passes as it is."""
        if self._rows.function is not None:
            return self._rows.function(context)
        if not isinstance(context, Mapping):
            return context
        rows = self._rows
        if self._learns and not rows.known:
            rows = Rows(self._owner, "features", tuple(context) or None)
        return rows.row(context, strict=self._learns)

    def keep(self, context: Any) -> None:
        """Remember the names of a dictionary that was accepted, if none are known yet."""
        if self._learns and not self._rows.known and isinstance(context, Mapping):
            self._rows.learn(context)
