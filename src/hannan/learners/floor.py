"""Exploration: a minimum probability of every available action."""

from __future__ import annotations

from typing import Any

from hannan.core import ParameterError
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

    Attributes
    ----------
    kept
        Smallest probability with which a round is decided without exploration.
    price
        Unbiased estimate of the cost of exploration in the rounds with feedback so far.
    """

    stored = State(price=Number())

    def __init__(self, owner: object, exploration: Any, n_actions: int, max_chosen: int) -> None:
        known = isinstance(exploration, int | float) and not isinstance(exploration, bool)
        least = max(n_actions, 2)  # with items, the number of actions is unknown here
        if not known or not 0.0 <= exploration < 1.0 / least:
            raise refuse(
                owner, "exploration", f"a number from 0 to less than 1/{least}", exploration
            )
        if exploration and max_chosen > 1:
            raise ParameterError(
                f"exploration={exploration!r} is only for single actions, because only the oracle "
                "knows the feasible sets of elements. Pass exploration=0 for sets."
            )
        self._least = float(exploration)
        self._n_actions = n_actions  # 0 if each round has its own items
        self.kept = 1.0 - n_actions * self._least
        self.price = 0.0

    def raise_to(self, opened: AdvisedRound, untried: bool = False) -> None:
        """Set the probability of exploration in a round: nearly 1 if every action is `untried`."""
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

    def see(self, n_actions: int) -> None:
        """Update `kept` with the number of items in a round."""
        self.kept = min(self.kept, 1.0 - n_actions * self._least)

    def charge(self, opened: AdvisedRound, loss: Any) -> None:
        """Update the estimated cost with the loss of a round; exploration is independent of it."""
        share = opened.explores
        self.price += loss if opened.explored else -share / (1.0 - share) * loss
