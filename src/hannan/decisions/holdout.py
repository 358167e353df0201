"""The share of decisions that follow the current rule at random."""

from __future__ import annotations

import hashlib
from typing import Any

from hannan.core import ParameterError
from hannan.core.validation import FloatArray, refuse


class ControlGroup:
    """Random choice of the decisions that follow the current rule, as in an A/B test.

    Parameters
    ----------
    share
        Share of the decisions that follow the current rule, from 0 to less than 1.
    seed
        Random seed, which determines these decisions.
    """

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.seed = share, seed

    def may_take(self, target: Any, available: list[int] | None) -> bool:
        """Return whether a decision can be in the group, given the current rule's action."""
        if self.share == 0.0 or target is None or available is None:
            return self.share > 0.0 and target is not None
        return {*target} <= {*available} if type(target) is tuple else target in available

    def takes(self, number: int) -> bool:
        """Return whether the decision with this number is in the group; ignore outcomes."""
        toss = hashlib.blake2b(f"{self.seed} holdout {number}".encode(), digest_size=7)
        return int.from_bytes(toss.digest(), "big") < self.share * 2.0**56

    def mixed(self, distribution: FloatArray, target: Any) -> FloatArray:
        """Return an action distribution with the group's share on the current rule's action.

        For sets, return the probabilities of the elements, with the share on those of its set.
        """
        mixture = (1.0 - self.share) * distribution
        mixture[list(target) if type(target) is tuple else target] += self.share
        return mixture


def check_share(owner: object, share: Any, baseline: Any, actions: Any) -> float:
    """Check the share of a holdout, which needs a current rule."""
    number = isinstance(share, int | float) and not isinstance(share, bool)
    if not number or not 0.0 <= share < 1.0:
        raise refuse(owner, "holdout", "a share of the decisions from 0 to less than 1", share)
    if share and (baseline is None or actions is None):
        raise ParameterError(
            f"holdout={share!r} needs actions= and baseline=. The baseline is your current rule, "
            "which this share of the decisions follows."
        )
    return float(share)
