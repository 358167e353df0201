"""Which action is which in rounds of Vowpal Wabbit, and what was decided in them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hannan.adapters.vw.encoding import Flat, flat
from hannan.adapters.vw.rounds import CbAdfRound, CbRound, CcbRound, Features, Round
from hannan.core import InputTypeError, ParameterError
from hannan.core.params import short
from hannan.core.validation import check_choice, refuse

Actions = str | Sequence[Features] | Sequence[str]


def actions_from_vw(rounds: Iterable[Round], by: str = "features") -> list[Any]:
    """The different actions of a log, in the order in which `log_from_vw` numbers them.

    The list can be the `actions` of `log_from_vw`, so that other logs have the same numbers, and
    that of `log_to_vw`.

    Parameters
    ----------
    rounds
        What `read_vw` (cb_adf, ccb) or `read_dsjson` gives.
    by
        What makes two actions of different rounds the same: their "features" or their "tag".

    Examples
    --------
    >>> import hannan as hn
    >>> lines = ["0:1:0.5 |ad red", "|ad blue", "", "|ad green", "0:0:0.5 |ad red"]
    >>> rounds = list(hn.adapters.read_vw(lines, "cb_adf"))
    >>> ads = hn.adapters.actions_from_vw(rounds)
    >>> ads
    [{'ad': {'red': 1.0}}, {'ad': {'blue': 1.0}}, {'ad': {'green': 1.0}}]
    >>> log = hn.adapters.log_from_vw(rounds, actions=ads)
    >>> [ads[k] for k in log.actions]
    [{'ad': {'red': 1.0}}, {'ad': {'red': 1.0}}]
    """
    found = Decisions(check_choice("actions_from_vw", "by", by, ("features", "tag")))
    for this_round in rounds:
        if not isinstance(this_round, CbAdfRound | CcbRound):
            raise InputTypeError(
                f"actions_from_vw takes rounds of cb_adf and ccb; got {short(this_round)}. Actions "
                "of cb and csoaa have numbers and nothing else."
            )
        found.numbers(this_round)
    return found.known


class Logged(NamedTuple):
    features: Flat
    action: int
    cost: float
    probability: float
    available: tuple[int, ...] | None
    law: dict[int, float] | None
    weight: float


class Decisions:
    """Numbers for actions, by what makes them the same: a kind, or a list of those there are.

    Attributes
    ----------
    known
        The features or the tag of each action, by its number.
    """

    def __init__(self, actions: Actions) -> None:
        self.kind = actions if isinstance(actions, str) else _kind(actions)
        self.known: list[Any] = []
        self._places: dict[Hashable, int] = {}
        self._given = False
        if not isinstance(actions, str):
            self._places = dict(zip(map(_key, actions), range(len(actions)), strict=True))
            self.known = list(actions)
            self._given = True

    def of(self, this_round: Round) -> Iterator[Logged]:
        """What one round tells: nothing, one decision, or one for each slot."""
        if isinstance(this_round, CbRound):
            yield from self._single(this_round)
        elif isinstance(this_round, CbAdfRound):
            yield from self._group(this_round)
        elif isinstance(this_round, CcbRound):
            yield from self._slots(this_round)
        else:
            raise InputTypeError(
                "log_from_vw takes rounds of cb, cb_adf and ccb; environment_from_vw those of "
                f"csoaa. Got {short(this_round)}."
            )

    def _single(self, this: CbRound) -> Iterator[Logged]:
        if self.kind != "position":
            raise ParameterError("Actions of cb have neither features nor tags, but a position.")
        if this.action is not None and this.cost is not None and this.probability is not None:
            label = this.action, this.cost, this.probability
            yield Logged(flat(this.context), *label, this.available, None, 1.0)

    def _group(self, this: CbAdfRound) -> Iterator[Logged]:
        numbers = self.numbers(this)
        if this.skip_learn or this.action is None:
            return
        if this.cost is not None and this.probability is not None:
            law = None
            if this.others and len(this.others) == len(numbers) - 1:
                law = {numbers[k]: p for k, p in this.others.items()}
                law[numbers[this.action]] = this.probability
            label = numbers[this.action], this.cost, this.probability
            yield Logged(flat(this.context), *label, numbers, law, this.weight)

    def _slots(self, this: CcbRound) -> Iterator[Logged]:
        numbers = self.numbers(this)
        used: set[int] = set()
        for slot in this.slots:
            allowed = range(len(numbers)) if slot.available is None else slot.available
            left = [k for k in allowed if k not in used]
            if slot.action is None:
                return  # what was left for later slots is not known
            used.add(slot.action)
            if slot.cost is None or slot.probability is None or this.skip_learn:
                continue
            if slot.action not in left:
                raise ParameterError(
                    f"Action {slot.action} was chosen for a slot where {left} were left: {slot}."
                )
            offered = tuple(numbers[k] for k in left)
            label = numbers[slot.action], slot.cost, slot.probability
            features = flat(this.context, slot.features)
            yield Logged(features, *label, offered, None, this.weight)

    def numbers(self, this: CbAdfRound | CcbRound) -> tuple[int, ...]:
        """The number of each action of a round."""
        if self.kind == "position":
            return tuple(range(len(this.actions)))
        named: Sequence[Any] = this.tags if self.kind == "tag" else this.actions
        keys = [_key(one) for one in named]
        if len(set(keys)) < len(this.actions):
            raise ParameterError(
                f"Two actions of a round have the same {self.kind}, or no tag, so that it does not "
                f"tell them apart: {short(this)}."
            )
        return tuple(map(self._number, keys, named))

    def _number(self, key: Hashable, action: Any) -> int:
        if key not in self._places:
            if self._given:
                raise ParameterError(
                    f"actions= lists {len(self.known)} actions; got one more, {short(action)}. Add "
                    "it, or leave out the rounds that have it."
                )
            self._places[key] = len(self.known)
            self.known.append(action)
        return self._places[key]


def _kind(actions: Any) -> str:
    """What a list of actions tells of them, each of which it must have once."""
    listed = list(actions) if isinstance(actions, Sequence) else []
    for kind, what in (("tag", str), ("features", Mapping)):
        fits = all(isinstance(one, what) for one in listed)
        if fits and 0 < len(listed) == len(set(map(_key, listed))):
            return kind
    accepted = "'position', 'features', 'tag', or a list of the tags or features of all actions"
    raise refuse("log_from_vw", "actions", f"{accepted}, each once", actions)


def _key(action: Features | str) -> Hashable:
    return action if isinstance(action, str) else tuple(sorted(flat(action).items()))
