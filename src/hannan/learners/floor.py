"""A least probability for every action."""

from __future__ import annotations

from typing import Any

from hannan.core import ParameterError
from hannan.core.state import Number, State
from hannan.core.stored import Stored
from hannan.core.validation import refuse
from hannan.learners.hint import AdvisedRound

_NEARLY_ALL = 1.0 - 1e-16


class Floor(Stored):
    r"""Every available action is played with at least a given probability, by mixing.

    In a share η of the rounds, that probability times the number of available actions, all of these
    are equally likely; in the others the learner decides as it does without. What this costs in a
    round is :math:`\eta\langle u - q, \ell\rangle`, at most η times the largest loss: u uniform, q
    the learner's own distribution.

    Attributes
    ----------
    kept
        The least share of the rounds that is left to the learner.
    price
        An unbiased estimate of what exploration has cost in the rounds answered so far.
    """

    stored = State(price=Number())

    def __init__(self, owner: object, exploration: Any, n_actions: int, max_chosen: int) -> None:
        known = isinstance(exploration, int | float) and not isinstance(exploration, bool)
        least = max(n_actions, 2)  # described actions come and go
        if not known or not 0.0 <= exploration < 1.0 / least:
            raise refuse(
                owner, "exploration", f"a number from 0 to less than 1/{least}", exploration
            )
        if exploration and max_chosen > 1:
            raise ParameterError(
                f"exploration={exploration!r} is for single actions: which sets of elements are "
                "feasible is known to the oracle alone."
            )
        self._least = float(exploration)
        self._n_actions = n_actions  # 0 where each round has its own
        self.kept = 1.0 - n_actions * self._least
        self.price = 0.0

    def raise_to(self, opened: AdvisedRound, untried: bool = False) -> None:
        """Give a round its share of exploration: nearly all of it where everything is `untried`."""
        offered = self._n_actions or len(opened.context)
        available = offered if opened.plays is None else len(opened.available_indices)
        n = available if self._n_actions else offered
        if n * self._least >= 1.0:
            raise ParameterError(
                f"exploration={self._least:g} cannot be the probability of each of {n} "
                f"actions: offer fewer than {1.0 / self._least:g}, or choose less of it."
            )
        opened.explores = _NEARLY_ALL if untried else n * self._least
        opened.each = opened.explores / available

    def see(self, n_actions: int) -> None:
        """Take notice of how many described actions a round had."""
        self.kept = min(self.kept, 1.0 - n_actions * self._least)

    def charge(self, opened: AdvisedRound, loss: Any) -> None:
        """A round has cost so much; whether it explored does not depend on anything else."""
        share = opened.explores
        self.price += loss if opened.explored else -share / (1.0 - share) * loss
