"""Exploration: a minimum probability of every available action."""

from __future__ import annotations

from typing import Any

import numpy as np

from hannan.core import Oracle, ParameterError
from hannan.core.availability import is_feasible
from hannan.core.rounds import IntArray, is_action
from hannan.core.state import Number, State
from hannan.core.stored import Stored
from hannan.core.validation import refuse
from hannan.learners.hint import AdvisedRound

_NEARLY_ALL = 1.0 - 1e-16


class Floor(Stored):
    r"""Exploration floor: the minimum probability of each available action, by mixing.

    With probability η, the learner chooses uniformly among the available actions; else it decides
    as without exploration. η is the exploration floor times the number of available actions. The
    expected cost per round is :math:`\eta\langle u - q, \ell\rangle`, at most η times the largest
    loss. Here u is uniform, and q is the learner's own distribution.

    For sets, η is the exploration floor itself, and the learner plays the set of the current rule
    instead: only the oracle knows the feasible sets. If one of its elements is unavailable, there
    is no exploration in the round.

    Attributes
    ----------
    kept
        Smallest probability with which a round is decided without exploration.
    price
        Unbiased estimate of the cost of exploration in the rounds with feedback so far.
    """

    stored = State(price=Number())

    def __init__(
        self,
        owner: object,
        exploration: Any,
        n_actions: int,
        oracle: Oracle,
        current_rule: Any = None,
    ) -> None:
        known = isinstance(exploration, int | float) and not isinstance(exploration, bool)
        sets = oracle.chooses_sets
        least = 1 if sets else max(n_actions, 2)  # with items, the number is unknown here
        if not known or not 0.0 <= exploration < 1.0 / least:
            raise refuse(
                owner, "exploration", f"a number from 0 to less than 1/{least}", exploration
            )
        if sets and (current_rule is None) != (exploration == 0.0):
            raise ParameterError(
                f"With sets of elements, exploration={exploration!r} plays the set of your current "
                f"rule, and current_rule={current_rule!r:.60}. Pass both, or neither."
            )
        if current_rule is not None and not sets:
            raise ParameterError(
                "current_rule= is for sets of elements. With single actions, exploration plays "
                "all actions alike: leave out current_rule=."
            )
        self._least = float(exploration)
        self._n_actions = n_actions  # 0 if each round has its own items
        self._current_rule = current_rule
        self._empty: Any = oracle.objective() if sets else None
        self.kept = 1.0 - (self._least if sets else n_actions * self._least)
        self.price = 0.0

    def raise_to(self, opened: AdvisedRound, untried: bool = False) -> None:
        """Set the probability of exploration in a round: nearly 1 if every action is `untried`."""
        if self._current_rule is not None:
            opened.current = self._current_set(opened)
            closed = opened.plays is not None and (opened.plays[opened.current] < 0).any()
            opened.explores = opened.each = 0.0 if closed else self._least
            return
        offered = self._n_actions or len(opened.context)
        available = offered if opened.plays is None else len(opened.available_indices)
        n = available if self._n_actions else offered
        if n * self._least >= 1.0:
            raise ParameterError(
                f"exploration={self._least:g} cannot be the minimum probability of each of {n} "
                f"actions. Pass fewer than {1.0 / self._least:g} actions, or reduce exploration=."
            )
        opened.explores = _NEARLY_ALL if untried else n * self._least
        opened.each = opened.explores / available

    def _current_set(self, opened: AdvisedRound) -> IntArray:
        rule = self._current_rule
        chosen = rule(opened.context) if callable(rule) else rule
        elements = np.sort(np.atleast_1d(np.asarray(chosen)))
        if elements.dtype.kind not in "iu" or not is_action(
            elements.astype(np.intp), self._n_actions, sets=True
        ):
            raise ParameterError(
                f"current_rule= must give a set, an array of different elements from 0 to "
                f"{self._n_actions - 1}; got {chosen!r:.100}."
            )
        elements = elements.astype(np.intp)
        if not is_feasible(self._empty, opened.context, elements):
            raise ParameterError(
                f"current_rule= must give a feasible set; got {elements.tolist()!r:.100}, which "
                f"{type(self._empty.oracle).__name__} cannot choose."
            )
        return elements

    def see(self, n_actions: int) -> None:
        """Update `kept` with the number of items in a round."""
        self.kept = min(self.kept, 1.0 - n_actions * self._least)

    def most(self, rounds: int, largest: float) -> float:
        """Return a bound on the cost of exploration; a round costs up to `largest`."""
        return rounds * (1.0 - self.kept) * largest

    def charge(self, opened: AdvisedRound, loss: Any) -> None:
        """Update the estimated cost with the loss of a round; exploration is independent of it."""
        share = opened.explores
        self.price += loss if opened.explored else -share / (1.0 - share) * loss
