"""Weights that estimate one over the probability of having been chosen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core import Action, Objective, ParameterError
from hannan.core.oracle import Draw
from hannan.core.params import Parametrised
from hannan.core.state import Flag, State
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.learners.perturbed_leader import NoisyRound, PerturbedLeader

# c with q E[W^2] <= c E[W] for every q and L, W from r successes; exact weights have 1.
# It bounds q^2 E[W^2] too (there 2, 1.5, 1.36, 1.32, 1.31, then 1.3 would do).
# Probabilities in place of successes: at most this, and for a known part of the draw much less.
_SECOND_MOMENT = {1: 2.0, 2: 1.51, 3: 1.38}
# Less than r in the sum of probabilities spares draws. Up to a half of that leaves those that are
# 0 or 1 as they were, and these are the worst case.
_HALF = 0.5
_MOST_IN_PAIRS = 10  # what the integral in `kernels.weights` is exact for


class Resampling(Parametrised):
    r"""Geometric resampling until r successes; or, where the law is known, its mean itself.

    A chosen element's weight has mean :math:`(1-(1-q)^L)/q`, q its probability and L the most
    draws, whatever r is.

    With `pairs` a draw serves as itself and as its negative, which has the same law, and counts for
    the probability that the element is chosen, given as much of the draw as is easily computed, in
    place of a success or none. Draws stop once these probabilities add up to r - 1/2, which takes r
    of them where they are 0 or 1. The mean is the same, to the last digit; the variance is smaller.

    Parameters
    ----------
    successes
        r: more of them, less variance and more draws; at most 10 with pairs.
    exact
        True: the mean itself, which takes an oracle that can compute q. False: always draws.
        None: the mean where the oracle can compute q, else draws.
    pairs
        True: for single actions. None: for single actions where the class searches under a draw and
        its negative in about the time of one. Sets are drawn until all elements have r successes.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.AllPolicies(2, 3), resampling=hn.Resampling(successes=4, exact=False), seed=0
    ... )
    >>> learner.decide(0).weights
    array([1.])
    """

    stored = State(known=Flag() | None)

    def __init__(
        self, successes: int = 2, exact: bool | None = None, pairs: bool | None = False
    ) -> None:
        self.successes = check_integer(self, "successes", successes, 1)
        for name, value in (("exact", exact), ("pairs", pairs)):
            if value not in (None, True, False):
                raise refuse(self, name, "True, False or None", value)
        if pairs is not False and successes > _MOST_IN_PAIRS:
            raise refuse(self, "successes", f"at most {_MOST_IN_PAIRS} with pairs", successes)
        self.exact = exact
        self.pairs = pairs
        # Whether all weights so far were exact; None before the first.
        self.known: bool | None = exact or None

    @property
    def second_moment(self) -> float:
        """An upper bound on q E[W²]/E[W] of all weights so far."""
        return self.moment(self.known)

    def moment(self, exact: bool | None) -> float:
        """An upper bound on q E[W²]/E[W] of weights that are exact, or drawn."""
        return 1.0 if exact else _SECOND_MOMENT.get(self.successes, 1.34)

    def note(self, exact: bool | None) -> None:
        """Whether the weights of a round were exact; None where none were needed."""
        if exact is not None:
            self.known = exact and self.known is not False

    def law(self, total: Objective, context: Any, draw: Draw) -> FloatArray | None:
        """The law of the choice of a total's leader, where it is known and used."""
        return None if self.exact is False else total.law(context, draw)

    @property
    def enough(self) -> float:
        """What the probabilities of draws in pairs must add up to."""
        return self.successes - _HALF

    def in_pairs(self, total: Objective) -> bool:
        """Whether draws of single actions are taken in pairs."""
        return total.paired if self.pairs is None else self.pairs

    def weights(
        self,
        total: Objective,
        context: Any,
        action: Action,
        draw: Draw,
        limit: int,
        needed: Any,
        stop_key: np.uint64,
    ) -> tuple[Any, int]:
        """Weights of the chosen elements by draws from `draw` on, and how many were used.

        One for each element, a number for a single action; 0 where `needed` is 0. `stop_key` is the
        key of random numbers other than noise.
        """
        r = self.successes
        if isinstance(action, int):
            if self.in_pairs(total):
                return total.weigh(context, action, draw, limit, self.enough, 0.0, stop_key)
            return total.resample_one(context, action, draw, limit, r)
        some = np.arange(len(action)) if needed is None else needed.nonzero()[0]
        weights = np.zeros(len(action))
        weights[some], used = total.resample(context, action[some], draw, limit, r)
        return weights, used

    def mixed_weight(
        self, leader: PerturbedLeader, total: Objective, opened: NoisyRound, draw: Draw, limit: int
    ) -> tuple[float, int]:
        """The weight of an action that others than the leader may have chosen, and draws used.

        It is played with probability s (c + (1 - c) x), x that of the leader. So its weight is 1/s
        times one for trials that are successes with probability c, or else if the leader chooses
        it: the trials up to the first success of the former kind are one random number, and the
        leader is asked only in these. In pairs the probability of a trial takes the place of its
        success.
        """
        noise, first, scale = draw
        context, action, r = opened.context, opened.action, self.successes
        assert isinstance(action, int)
        certain, s = opened.weighing(action, total.n_actions)
        if self.in_pairs(total):
            given = draw, limit, self.enough, certain, leader.stop_key
            weight, used = total.weigh(context, action, *given)
            return weight / s, used
        if certain == 0.0:
            weight, used = total.resample_one(context, action, draw, limit, r)
            return weight / s, used
        weights, used = 0.0, 0
        for _ in range(r):
            trials = 1.0 + math.log1p(-leader.uniform(first + used)) // math.log1p(-certain)
            most = int(min(trials, limit))
            weight, drawn = total.resample_one(
                context, action, Draw(noise, first + used, scale), most, 1
            )
            weights += weight
            used += max(1, drawn)  # the uniform number goes with a draw, which is not used again
        return weights / (r * s), used


PRESETS = {
    "auto": Resampling(pairs=None),
    "conditional": Resampling(2, False, pairs=True),
    "exact": Resampling(1, True),
    "shared": Resampling(1, False),
    "rao-blackwell": Resampling(2, False),
}


def check_resampling(owner: object, resampling: Any) -> Resampling:
    """What a word, a number of successes or a `Resampling` says."""
    if isinstance(resampling, Resampling):
        return resampling.clone()
    if isinstance(resampling, str) and resampling in PRESETS:
        return PRESETS[resampling].clone()
    if isinstance(resampling, str) or resampling is None:
        words = ", ".join(map(repr, PRESETS))
        accepted = f"one of {words}, a number of successes, or a Resampling"
        raise refuse(owner, "resampling", accepted, resampling)
    return Resampling(check_integer(owner, "resampling", resampling, 1), exact=False)


def no_law(oracle: object) -> ParameterError:
    """What to say where exact weights were asked for."""
    return ParameterError(
        f"resampling='exact' needs the law of the action, which {type(oracle).__name__} cannot "
        "compute here. Use 'auto'."
    )


def mean_weights(law: FloatArray, opened: NoisyRound, limit: int) -> Any:
    """The mean weights themselves, for a known law of the leader's choice."""
    action = opened.action
    if not isinstance(action, int):
        return np.array([mean_weight(float(q), limit) for q in law[action]])
    certain, s = opened.weighing(action, len(law))
    return mean_weight(certain + (1.0 - certain) * law.item(action), limit) / s


def mean_weight(q: float, limit: int) -> float:
    """(1 - (1-q)^L)/q"""
    if q <= 0.0:
        return float(limit)
    return 1.0 if q >= 1.0 else -math.expm1(limit * math.log1p(-q)) / q
