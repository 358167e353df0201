"""What actions cost in each class, where not all mistakes cost the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hannan.core import ParameterError
from hannan.core.validation import FloatArray, refuse


def check_cost(owner: object, cost: Any, classes: Sequence[Any]) -> tuple[list[Any], FloatArray]:
    """The actions, and what each of them costs in each class [class, action].

    `cost` has for a class what actions cost. Where all of its actions are classes too, all classes
    are actions: what is not said costs nothing for the right class, and 1 for another. Else the
    actions are those that it names, and it must say what they all cost in all classes.
    """
    accepted = "a mapping from classes to mappings from actions to what they cost"
    if not isinstance(cost, Mapping) or not all(isinstance(row, Mapping) for row in cost.values()):
        raise refuse(owner, "cost", accepted, cost)
    places = {str(name): i for i, name in enumerate(classes)}
    for name in cost:
        if str(name) not in places:
            known = ", ".join(map(repr, places))
            raise ParameterError(
                f"Costs are given for the class {name!r}; there are {known[:500]}."
            )
    named = list(dict.fromkeys(str(action) for row in cost.values() for action in row))
    if all(name in places for name in named):
        actions, table = list(classes), 1.0 - np.eye(len(classes))
    else:
        actions, table = list(named), np.full((len(classes), len(named)), math.nan)
    at = {str(action): k for k, action in enumerate(actions)}
    for name, row in cost.items():
        for action, value in row.items():
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise refuse(owner, "cost", accepted, cost)
            table[places[str(name)], at[str(action)]] = float(value)
    wanting = np.argwhere(~np.isfinite(table))
    if len(wanting):
        i, k = wanting[0]
        raise ParameterError(
            f"The cost of {actions[k]!r} where {classes[i]!r} is right must be a finite number. "
            "Where actions are not the classes, every action needs a cost in every class."
        )
    return actions, table
