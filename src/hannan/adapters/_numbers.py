"""Numbers for actions that other libraries know by their names or features."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from hannan.core import ParameterError
from hannan.core.params import short


class Numbering:
    """Numbers 0, 1, … for actions: as they first come, or in the order of a list of all of them.

    `of` changes nothing; `keep` gives new ones their numbers. `labels` has the actions by number.
    """

    def __init__(self, listed: Sequence[Any] | None = None) -> None:
        self.fixed = listed is not None
        self.labels: list[Any] = []
        self._places: dict[Hashable, int] = {}
        self.keep(listed or ())

    def of(self, actions: Sequence[Any], limit: int | None = None, advice: str = "") -> list[int]:
        """Return the numbers of the actions of a round; a learner may have room for `limit`."""
        keys = list(map(action_key, actions))
        if len(set(keys)) < len(keys):
            twice = actions[next(i for i, key in enumerate(keys) if keys.count(key) > 1)]
            raise ParameterError(
                f"A round offers the action {short(twice)} more than once, {short(actions)}: "
                "nothing tells them apart. Leave one out, or give each a name of its own."
            )
        fresh = [key for key in keys if key not in self._places]
        if fresh and self.fixed:
            raise ParameterError(
                f"A round offers the action {short(actions[keys.index(fresh[0])])}, which is not "
                "in the list actions=. Add it there, or leave out the rounds that have it."
            )
        known = self._places | {key: len(self._places) + i for i, key in enumerate(fresh)}
        numbers = [known[key] for key in keys]
        if limit is not None and max(numbers, default=0) >= limit:
            raise ParameterError(
                f"A round offers the action {short(actions[numbers.index(max(numbers))])}, and the "
                f"learner has no more than {limit}, which are taken. Make the learner with as many "
                f"actions as there are in all{advice}."
            )
        return numbers

    def keep(self, actions: Sequence[Any]) -> None:
        """Give new ones among these actions their numbers."""
        for action in actions:
            key = action_key(action)
            if key not in self._places:
                self._places[key] = len(self._places)
                self.labels.append(action)


def action_key(action: Any) -> Hashable:
    """What tells an action from others: lists count as tuples, dictionaries by what they hold."""
    try:
        hash(action)
    except TypeError:
        if isinstance(action, Mapping):
            return frozenset((name, action_key(value)) for name, value in action.items())
        return tuple(map(action_key, action))
    return action  # type: ignore[no-any-return]
