r"""Use of a predictor for sets of elements.

The hint is the best set for the predictor's lower bounds. All quantities are sums over elements, so
the learner needs only the probabilities of elements, never those of whole sets. One geometric
number for each chosen element gives two unbiased estimates. Let a hint have probability p, let the
base learner's set contain element j with probability x, and let N be the number of its draws until
one contains j. For an element of the hint,

.. math:: E\, \frac{1 - (1-p)^N}{p} = \frac{1}{q}, \qquad E\, (1-p)^{N-1} = \frac{x}{q},
          \qquad q = p + (1-p) x .

The first number is the importance weight J, the second the ratio r of the base learner's
probability to the real one. For other elements J = N/(1-p) and r = 1/(1-p).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hannan.core import Oracle, Policy, Predictor
from hannan.core.availability import has_available
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.predictor import check_guess
from hannan.core.state import require
from hannan.core.validation import FloatArray, LossRange
from hannan.kernels import sets as kernel
from hannan.learners.hint import Hint, Trust
from hannan.learners.perturbed_leader import Past

_TRIALS = 4  # draws that estimate the base learner's mean V
_LARGEST_RATIO = 100.0  # cap in a measurement of the hints' advantage, which only sets their share
_FORGETTING = 0.99  # factor of the recent advantage in each round
_ANY = -math.inf, math.inf


class SetHint(Hint):
    """A predictor of element losses, its trust, and the record of its hints for sets.

    S adds, for a round with the hint h, estimates V, chosen set a and losses ℓ,

    .. math:: p\\, (V(h) - E\\, V(a_0)) + \\sum_{j \\in a} (1 - r_j) (\\ell_j - V_j) ,

    where a₀ is the base learner's set. Separate draws estimate E V(a₀). With the draws behind r,
    missing feedback, which may react to S, could depend on r.
    """

    _compared = "the base learner of this run, which decides few rounds"

    def __init__(
        self,
        predictor: Predictor | None,
        trust: Trust,
        n_actions: int,
        loss_range: LossRange,
        kept: float,
        oracle: Oracle,
    ) -> None:
        super().__init__(predictor, trust, n_actions, loss_range, kept)
        self.most_elements = oracle.max_chosen
        if not oracle.fixed_size and loss_range[1] < 0.0:
            self.spread = max(1.0, -self._low / self.top)
        self._empty = oracle.objective()  # finds the best set for the predictor's bounds alone

    def advise(self, opened: Any, G: float, n: int, known: bool) -> None:
        if self._guesses or not self.mixes:
            super().advise(opened, G, n, known)
            return
        predictor, context, K = self.predictor, opened.context, self._n_actions
        bounds, estimates = self._bounds(context)
        opened.values = self._checked(estimates, K)
        bounds = check_guess(predictor, bounds, K, _ANY)
        opened.advice = self._empty.action(context, WITHOUT_NOISE, bounds, opened.plays)
        opened.calls += 1
        plays = opened.plays
        if plays is not None and not has_available(self._empty.oracle, context, plays):
            return  # the set comes from outside the class, and no draw would contain it
        share = self.trust.probability(self, n, G, True, self._kept)
        if share is None:
            opened.refused = True
        else:
            opened.share = share

    def check(self, opened: Any, weighed: bool) -> None:
        asked = opened.advice is not None and opened.values is not None
        ratio = opened.ratio is not None or not (weighed and opened.share > 0.0)
        require(opened, values=asked or not self.mixes, ratio=ratio or not self.mixes)

    def truncation(self, opened: Any, K: int) -> float:
        """Return a bound on the cost of truncating the resampling in a round, as L is finite.

        Elements of the hint may have a lower limit of draws. Their ratio then counts as 0 too
        often, which costs at most V times the probability of this.
        """
        p, L = opened.share, opened.limit
        usual: float = self.top * K / (math.e * L)
        if p == 0.0:
            return usual
        more = limit_of(p, L) - 1
        largest: float = kernel.total(opened.values, opened.advice) - self._low * len(opened.advice)
        usual += largest * math.exp(more * math.log1p(-p)) / (math.e * more)
        return usual

    def unseen(self, opened: Any, missing: Any) -> float:
        usual: float = super().unseen(opened, missing)
        if opened.share == 0.0:
            return usual
        values = opened.values[opened.action[missing & ~opened.hit]] - self._low
        more: float = opened.share / (1.0 - opened.share) * float(values.sum())
        return usual + more / self._kept

    def played(self, opened: Any) -> None:
        share = opened.share
        self.W += 1.0 / (1.0 - share)
        self.refused += opened.refused
        self.waiting += 1
        if share == 0.0:
            return
        self.hinted += 1
        opened.split = opened.weights is not None
        high = self._low + self.top
        own, unlikely = kernel.largest_step(
            opened.values, opened.action, opened.hit, self._low, high
        )
        unlikely *= share / (1.0 - share)
        largest = own + unlikely
        if opened.split:  # E V(a₀) was drawn at the decision
            self.S += share * opened.gap
            opened.unpaid = unlikely / self._kept
            self.unpaid += opened.unpaid
        else:
            largest += share * self.top * self.most_elements * self.spread
        opened.reserved = largest / self._kept
        self.reserve += opened.reserved

    def charge(self, opened: Any, loss: Any, weight: Any, missing: Any = None) -> None:
        self.reserve -= opened.reserved
        self.unpaid -= opened.unpaid
        self.waiting -= 1
        self.with_feedback += 1
        if opened.explored:  # only rounds decided by hint or base learner count
            return
        share, own = opened.share, (opened.values, opened.action, opened.hit)
        if missing is not None:
            loss = np.where(missing, np.nan, loss)
        ratio = weight if opened.ratio is None else opened.ratio  # not used without a share
        cost, gain = kernel.charge(loss, *own, weight, ratio, share, _LARGEST_RATIO)
        if share > 0.0:
            self.S += (cost + (0.0 if opened.split else share * opened.gap)) / self._kept
        gain = (opened.gap + gain) / self.top
        self.cost += gain
        self.squares += gain * gain
        self.recent = _FORGETTING * self.recent + gain
        self.recent_squares = _FORGETTING * self.recent_squares + gain * gain

    def best_policy(self, contexts: Any) -> Policy | None:
        """Return the best policy on some contexts for the predictor's bounds.

        None if hints have not reduced the loss. The base learner decides few rounds, so its own
        estimates are too rough then.
        """
        if not self.mixes or self.cost >= 0.0 or not contexts:
            return None
        total = self._empty.copy()
        for context in contexts:
            bounds, _ = self._bounds(context)
            total.add(context, check_guess(self.predictor, bounds, self._n_actions, _ANY))
        return total.leader()

    def _bounds(self, context: Any) -> tuple[Any, Any]:
        """Return the predictor's values to optimise, and its best estimates."""
        predictor = self.predictor
        if hasattr(predictor, "bounds_and_estimates"):
            return predictor.bounds_and_estimates(context)  # type: ignore[no-any-return]
        bounds = predictor.predict(context)
        return bounds, predictor.estimate(context) if hasattr(predictor, "estimate") else bounds


def limit_of(p: float, L: int) -> int:
    """Return the limit of draws for an element whose trials succeed at least with probability p.

    More draws would find it with probability 1/L at most.
    """
    return max(2, math.ceil(min(L, 1.0 - math.log(L) / math.log1p(-p)))) if p > 0.0 else L


def weigh_elements(
    past: Past, opened: Any, draw: Draw, J: Any, needed: Any, distribution: Any
) -> tuple[FloatArray, int]:
    """Return the weight of each element that a hint or exploration may have chosen, and the draws.

    Also set the ratio and the gap of the round. `distribution` is that of the base learner's
    choice, or None if it is unknown. `J` is the rule for weights without hints; with a hint, draws
    continue until the first success.
    """
    context, action, values = opened.context, opened.action, opened.values
    x = past.inclusion(context, action, draw) if distribution is None else distribution[action]
    if x is not None:
        weights, used = _from_probabilities(opened, x), 0
    elif opened.mixes:
        weights, used = _from_draws(past, opened, draw, needed)
    else:
        weights, used = J.weights(past, context, action, draw, opened.limit, needed)
    if opened.advice is None:
        return weights, used
    assert values is not None
    if distribution is None:
        chosen = past.chosen(context, draw.later(used), _TRIALS)
        used += _TRIALS
        opened.gap = kernel.gap(values, opened.advice, chosen)
    else:
        opened.gap = float(values[opened.advice].sum() - distribution @ values)
    return weights, used


def _from_probabilities(opened: Any, x: FloatArray) -> FloatArray:
    """Return mean weights given the base learner's probabilities, and set the ratio."""
    weights, opened.ratio = np.empty(len(x)), np.empty(len(x))
    settings = opened.hit, opened.hit_by_exploring, opened.share, opened.explores, opened.limit
    kernel.from_probabilities(x, *settings, weights, opened.ratio)
    return weights


def _from_draws(past: Past, opened: Any, draw: Draw, needed: Any) -> tuple[FloatArray, int]:
    """Return weights from the numbers of draws until each element is chosen; set the ratio."""
    p, hit, L, action = opened.share, opened.hit, opened.limit, opened.action
    explored, e = opened.hit_by_exploring, opened.explores
    weights, ratio = np.zeros(len(hit)), np.full(len(hit), 1.0 / (1.0 - p))
    groups = [(hit, limit_of(p, L))]  # elements with the same limit
    if not hit.all():
        others = ~hit if needed is None else ~hit & (needed != 0.0)
        if e:
            groups.append((others & explored, limit_of(e / (e + (1.0 - e) * (1.0 - p)), L)))
            others &= ~explored
        groups.append((others, L))
    used = 0  # all groups read the same draws
    for group, limit in groups:
        places = group.nonzero()[0]
        if len(places):
            numbers, rows = past.weights(opened.context, action[places], draw, limit, 1)
            used = max(used, rows)
            kernel.from_numbers(numbers, places, hit, explored, p, e, limit, weights, ratio)
    opened.ratio = ratio
    return weights, used
