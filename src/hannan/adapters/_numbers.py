"""Number the actions that other libraries identify by labels or features."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from hannan.core import ParameterError
from hannan.core.params import short


class Numbering:
    """Numbers 0, 1, … for actions: in their order of appearance, or in the order of a given list.

    `of` changes nothing; `keep` assigns numbers to new actions. `labels` holds the actions by
    number.
    """

    def __init__(self, listed: Sequence[Any] | None = None) -> None:
        self.fixed = listed is not None
        self.labels: list[Any] = []
        self._places: dict[Hashable, int] = {}
        self.keep(listed or ())

    def of(self, actions: Sequence[Any], limit: int | None = None, advice: str = "") -> list[int]:
        """Return the numbers of the actions of a round, of which a learner has at most `limit`."""
        keys = list(map(action_key, actions))
        if len(set(keys)) < len(keys):
            twice = actions[next(i for i, key in enumerate(keys) if keys.count(key) > 1)]
            raise ParameterError(
                f"A round offers the action {short(twice)} more than once, {short(actions)}: "
                "they cannot be distinguished. Leave one out, or give them different names."
            )
        fresh = [key for key in keys if key not in self._places]
        if fresh and self.fixed:
            raise ParameterError(
                f"A round offers the action {short(actions[keys.index(fresh[0])])}, which is not "
                "in the list actions=. Add the action to the list, or leave out such rounds."
            )
        known = self._places | {key: len(self._places) + i for i, key in enumerate(fresh)}
        numbers = [known[key] for key in keys]
        if limit is not None and max(numbers, default=0) >= limit:
            raise ParameterError(
                f"A round offers the action {short(actions[numbers.index(max(numbers))])}, but all "
                f"{limit} actions of the learner are taken. Create the learner with the total "
                f"number of actions{advice}."
            )
        return numbers

    def keep(self, actions: Sequence[Any]) -> None:
        """Assign numbers to the new ones among these actions."""
        for action in actions:
            key = action_key(action)
            if key not in self._places:
                self._places[key] = len(self._places)
                self.labels.append(action)


def action_key(action: Any) -> Hashable:
    """Return a hashable key of an action: lists become tuples, dictionaries sets of their items."""
    try:
        hash(action)
    except TypeError:
        if isinstance(action, Mapping):
            return frozenset((name, action_key(value)) for name, value in action.items())
        return tuple(map(action_key, action))
    return action  # type: ignore[no-any-return]
