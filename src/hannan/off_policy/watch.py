"""Anytime-valid confidence intervals for named policies."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import Decision, DecisionError, InputTypeError, ParameterError
from hannan.core.availability import check_available
from hannan.core.display import page, paragraph, table
from hannan.core.frames import by_column, frame
from hannan.core.params import Parametrised, short
from hannan.core.plots import Dot, axes, draw_dots, draw_line, legend
from hannan.core.rounds import MOST_OPEN
from hannan.core.state import Array, Count, DictOf, Key, Number, Object, State, TupleOf, require
from hannan.core.storage import save
from hannan.core.validation import (
    FloatArray,
    check_bounded_range,
    check_choice,
    check_chosen_loss,
    check_integer,
    refuse,
)
from hannan.kernels import watch as kernel
from hannan.off_policy import supermartingales as evidence
from hannan.off_policy.centres import Centre, nothing_predicted
from hannan.off_policy.log import IntArray, Log, check_inverse
from hannan.off_policy.rules import (
    Shares,
    check_policies,
    inverse,
    shares,
    takes_available,
    target,
)
from hannan.off_policy.set_log import SetLog
from hannan.off_policy.sets import Overlap, WatchedSets, element_weights

_LONGEST = 200  # characters of an id

Interval = tuple[float, float]
Waiting = tuple[Any, Any, Centre | None]
"""An open round: shares, 1/q or None, and a centre or None. A centre needs the exact 1/q.

For sets: the overlap of sets, the weights of elements or None, and None.
"""
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class PolicyIntervals:
    """Intervals for the mean loss of a policy, and for the regret of the played actions against it.

    All numbers are about the rounds so far, with the confidence of the `Watch`.

    Attributes
    ----------
    name
        Name of the policy.
    estimate, look
        Estimate of the policy's mean loss, or reward, over the rounds with feedback, clipped to the
        anytime-valid interval; and an ordinary interval, valid if you look once. NaN before any
        feedback.
    ahead, ahead_look
        Estimate and ordinary interval for the mean loss of the played actions minus the mean loss
        of the policy. The played actions did better if it is negative.
    effective
        Effective sample size of these estimates.
    unit
        "reward" in a Watch with `rewards`, where a loss is minus a reward; else "loss".
    loss
        Anytime-valid interval (low, high) for the policy's mean loss over all rounds.
    regret
        Anytime-valid interval (low, high) for the total regret against the policy: the sum over all
        rounds of the expected loss of the played action, given the past, minus the policy's loss.
        The played actions did better if it is negative.
    rounds
        Number of rounds.
    open, abandoned
        Numbers of open and of abandoned rounds. The intervals count them at the worst loss.
    unavailable
        Number of rounds in which the policy's choice was unavailable. In these rounds, the policy
        copies the played action.
    """

    name: str
    loss: Interval
    regret: Interval
    rounds: int
    open: int
    abandoned: int
    unavailable: int
    estimate: float = math.nan
    look: Interval = (math.nan, math.nan)
    ahead: float = math.nan
    ahead_look: Interval = (math.nan, math.nan)
    effective: float = 0.0
    unit: str = "loss"

    @property
    def reward(self) -> Interval:
        """Interval (low, high) for the policy's mean reward; a reward is minus a loss."""
        return _negative(self.loss)

    @property
    def gain(self) -> Interval:
        """Interval (low, high) for the gain per round over the policy, minus the mean regret."""
        low, high = _negative(self.regret)
        return low / max(self.rounds, 1), high / max(self.rounds, 1)

    @property
    def contradicts(self) -> bool:
        """Whether an interval is empty.

        If the assumptions hold, this is as rare as an interval that misses its true value.
        """
        return self.loss[0] > self.loss[1] or self.regret[0] > self.regret[1]

    @property
    def verdict(self) -> str:
        """Verdict on the played actions: "better", "worse", "not known" or "contradiction"."""
        low, high = self.regret
        if self.contradicts:
            return "contradiction"
        if high < 0.0:
            return "better"
        return "worse" if low > 0.0 else "not known"

    def __str__(self) -> str:
        if self.unit == "reward":
            low, high = self.reward
            said = f"{self.name}: mean reward {low:.4g} to {high:.4g}, gain of the played actions "
            said += f"{self.gain[0]:.4g} to {self.gain[1]:.4g}"
            return f"{said} per round: {self.verdict}"
        low, high = self.loss
        said = f"{self.name}: mean loss {low:.4g} to {high:.4g}, regret of the played actions "
        return said + f"{self.regret[0]:.4g} to {self.regret[1]:.4g}: {self.verdict}"


class Watch(Parametrised):
    r"""Anytime-valid confidence intervals for named policies, and for the regret against each.

    In each round s an action a is drawn from a distribution q and has the loss :math:`\ell_s(a)`.
    Weights with mean at most 1/q estimate the loss of a policy π. With probability `confidence`,
    **for all policies and after every round simultaneously**, the intervals contain

    .. math:: \frac1n \sum_{s=1}^n \ell_s(\pi(x_s)) \qquad \text{and} \qquad
              \sum_{s=1}^n \langle q_s, \ell_s \rangle - \ell_s(\pi(x_s))

    over all n rounds so far. So you can look after every round, and stop at any time. The intervals
    count rounds without feedback at the worst loss. Therefore feedback may be delayed, out of order
    or missing, even if this depends on actions and losses.

    Actions may be sets of elements, with `max_chosen`: routes, slates, assignments. A loss is then
    the sum over the elements of a set, and weights estimate 1/q for each element.

    Parameters
    ----------
    policies
        Dictionary from names to policies: an action, for the policy that always takes this action;
        or a `Policy` or any function of a context that returns an action, or the probabilities of
        all actions. A function with an argument `available` receives the available actions. Other
        policies copy the played action if their choice is unavailable. None (default), with
        `n_actions`: all constant policies.
    n_actions
        Number of actions K. Required if `policies` is None, for `names`, and if a policy has an
        argument `available`.
    loss_range
        Range (low, high) of the losses. Default (0, 1). A loss outside of it raises `LossError`.
    confidence
        Joint confidence level of all anytime-valid intervals. Default 0.95.
    names
        Names of the K actions, which policies then return. Default: none.
    rewards
        Range (low, high) of the outcomes if more is better, instead of `loss_range`. Losses are
        then rewards times -1, also in `add_loss`. The output shows rewards and gains.
    max_chosen
        Largest number of elements of a set, if actions are sets. Then `n_actions` is the number of
        elements, which `names` and `loss_range` are about; a policy is a set, or a function of a
        context that returns one. Default None: single actions.
    floors
        For sets: dictionary from names of policies to the smallest propensity of their elements.
        Each element of the policy's set must have at least this probability, in each round in which
        the set is available. A learner's `exploration` is such a floor for its `current_rule`.
        Intervals are then much narrower in rounds with known propensities, such as those of
        `Watched`. Default: none.

    Guarantee
    ---------
    The intervals hold as stated above (docs/explanation/paper-sharper.md, 3.13) if

    - (i) each action is drawn with the stated probability, given the past;
    - (ii) the losses of all actions of a round are fixed, though hidden, when the action is drawn:
      feedback may be delayed, but losses must not depend on later actions;
    - (iii) a policy's choice is fixed before the action is drawn.

    Losses may depend on all earlier actions, and the learner on all earlier losses.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), epsilon=0.02, seed=0)
    >>> watch = hn.off_policy.Watch({"always 1": 1, "today": lambda context: 2 - context})
    >>> for t in range(1000):
    ...     decision = learner.decide(t % 2)
    ...     watch.add_decision(decision)
    ...     loss = 0.1 if decision.action == 2 else 0.9
    ...     learner.update(loss, decision=decision)
    ...     watch.add_loss(decision, loss)
    >>> print(watch)
    After 1,000 rounds, 95 % anytime-valid confidence intervals:
    policy            mean loss         regret against policy  played actions are
    (played actions)  0.1771 to 0.2888
    always 1          0.3011 to 0.9996  -822.5 to -87.0        better
    today             0.1196 to 0.6200  -389.4 to 96.3         not known

    Two of five links, of which the learner plays today's pair in at least 5 % of the rounds:

    >>> learner = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.Subsets(5, 2), exploration=0.05, current_rule=[0, 1], seed=0
    ... )
    >>> watch = hn.off_policy.Watch({"today": [0, 1]}, 5, max_chosen=2, floors={"today": 0.05})
    >>> watched = hn.off_policy.Watched(learner, watch, draws=50)
    >>> for t in range(1000):
    ...     links = watched.act()
    ...     watched.update([0.8 - 0.15 * link for link in links])
    >>> print(watch)
    After 1,000 rounds, 95 % anytime-valid confidence intervals:
    policy            mean loss         regret against policy    played actions are
    (played actions)  0.5481 to 0.6904
    today             0.9034 to 1.5945  -1,017.9 to -321.5       better

    References
    ----------
    [fan2015], [howard2021]
    """

    stored = State(
        _with_feedback=Count(),
        _abandoned=Count(),
        _sums=Array(),
        _kinds=Array(low=0).where(lambda self, kinds: not kinds[-1, [0, 1, 3]].any()),
        _open=DictOf(
            Key().where(lambda self, key: _is_key(key)),
            TupleOf(
                Object(Shares, Overlap),
                Number(low=1.0) | Array(None, None, low=1.0) | None,
                Object(Centre) | None,
            ).where(lambda self, held: self._could_wait(*held)),
            most=MOST_OPEN,
        ),
        _moments=Array(),
        _reserved=Count(),
        _seen=Array(low=0.0).where(
            lambda self, seen: (seen[1] >= np.maximum(seen[0] - 1e-6, 1.0)).all()
        ),
        _absent=Array(low=0, high="rounds"),
    )
    room_for = ("n_actions",)

    def __init__(
        self,
        policies: Mapping[str, Any] | None = None,
        n_actions: int | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        confidence: float = 0.95,
        names: Sequence[Any] | None = None,
        rewards: tuple[float, float] | None = None,
        max_chosen: int | None = None,
        floors: Mapping[str, float] | None = None,
    ) -> None:
        self.names = None if names is None else tuple(names)
        self._places = {name: i for i, name in enumerate(self.names or ())}
        if n_actions is not None:
            n_actions = check_integer(self, "n_actions", n_actions, 1)
        if self.names is not None and len(self._places) != n_actions:
            raise refuse(self, "names", "a different name for each of n_actions actions", names)
        self.n_actions, self.max_chosen, self.floors = n_actions, max_chosen, floors
        self._range = check_bounded_range(self, loss_range)
        if rewards is not None:
            self._range = _negative(check_bounded_range(self, rewards, "rewards"))
        self._sets, check = None, None
        if max_chosen is not None:
            self._sets = WatchedSets(self, max_chosen, n_actions, self._range, floors)
            self._range, check = self._sets.range, partial(self._sets.check, places=self._places)
        elif floors is not None:
            raise ParameterError("floors= is for sets of elements: pass max_chosen=, too.")
        self.policies = check_policies(self, policies, n_actions, self._places, check)
        if self._sets is not None and not self._sets.floors.keys() <= self.policies.keys():
            raise refuse(self, "floors", f"for policies out of {list(self.policies)!r}", floors)
        self.loss_range, self.rewards = loss_range, rewards
        self._unit = "loss" if rewards is None else "reward"
        if not isinstance(confidence, float) or not 0.0 < confidence < 1.0:
            raise refuse(self, "confidence", "a number in (0, 1)", confidence)
        self.confidence = float(confidence)
        self._told = [callable(each) and takes_available(each) for each in self.policies.values()]
        rows = len(self.policies) + 1  # the last row is about the played actions
        self._sums = np.zeros((rows, 2, len(evidence.RATE)))  # over the rounds with feedback
        self._moments = np.zeros((rows, 6))  # of estimates and ratios in these rounds
        self._kinds = np.zeros((rows, len(evidence.RESERVES)), dtype=np.int64)  # abandoned rounds
        self._reserved = 0  # abandoned rounds with a centre, whose reserve is in the sums
        self._seen = np.ones((2, 0)) if self._sets is None else self._sets.nothing_seen()
        self._absent = np.zeros(rows - 1, dtype=np.int64)  # unavailable choices in all these rounds
        self._open: dict[Hashable, Waiting] = {}
        self._with_feedback = 0
        self._abandoned = 0

    # Rounds -----------------------------------------------------------------------------------

    def add_decision(
        self,
        decision: Decision | int | str,
        context: Any = None,
        action: Any = None,
        *,
        propensity: Any = None,
        weight: Any = None,
        available: Any = None,
    ) -> None:
        """Add a decision of a learner, or of any system that draws its actions.

        Parameters
        ----------
        decision
            A `Decision`, or an id under which you report the loss.
        context, action, available
            Context, action and available actions, if `decision` is an id.
        propensity
            Probability with which the action was drawn; for sets, one for each element of the
            action. Default: the propensity of the decision.
        weight
            Estimate of 1/q instead of the propensity: at least 1, with a mean of at most 1/q, and
            drawn independently of the losses. Default: `decision.weights`. If it is known only with
            the loss, pass it to `add_loss`.
        """
        key = _key(decision)
        if isinstance(decision, Decision):
            if context is not None or action is not None or available is not None:
                raise ParameterError(
                    "A Decision holds its context, action and available actions: pass it alone."
                )
            context, action, available = decision.context, decision.action, decision.available
        elif available is not None:
            if self.n_actions is None:
                raise ParameterError(
                    "available= needs the number of actions: pass n_actions= to Watch."
                )
            sets = self._sets is not None
            available = check_available(self, available, self.n_actions, sets=sets)
        if key in self._open:
            raise DecisionError(f"Decision {key!r} is already open. Use a different id.")
        self.check_room()
        targets = self.targets(context, available)
        if self._sets is not None:
            chosen = self._sets.action(action, available)
            weights = element_weights(self, decision, len(chosen), propensity, weight)
            self.enter(key, self.overlap(targets, chosen, weights), weights)
            return
        held = shares(targets, self._action(action, available), available)
        self.enter(key, held, inverse(self, decision, propensity, weight))

    def add_loss(self, decision: Decision | int | str, loss: Any, *, weight: Any = None) -> None:
        """Report the loss of a decision's action.

        Parameters
        ----------
        decision
            The decision, or its id.
        loss
            Loss of the action; minus its reward, in a Watch with `rewards`. For sets: the losses of
            the action's elements, NaN if missing. A missing loss counts as the worst.
        weight
            As in `add_decision`, if it was not known then.
        """
        key, held, known, _ = self._find(decision)
        if known is None:
            known = self._inverse(decision, held, weight)
        elif weight is not None:
            raise ParameterError(
                f"The weight of decision {key!r} is already known. Leave out weight=."
            )
        if known is None and (self._sets is not None or held.played.any()):
            raise ParameterError(
                f"The probability of decision {key!r} is unknown. Pass add_decision(propensity=…) "
                "or add_loss(weight=…)."
            )
        checked = self.check_loss(loss, None if self._sets is None else len(held.elements))
        self.settle(key, checked, 1.0 if known is None else known)

    def abandon(self, decision: Decision | int | str) -> None:
        """Abandon a decision that will never have a loss; it counts at the worst loss."""
        key, held, weight, centre = self._find(decision)
        del self._open[key]
        if not _is_known(weight, centre):
            self._kinds[np.arange(len(self._kinds)), held.kinds] += 1
        else:
            self._reserve(self._sums, held, weight, centre)
            self._reserved += 1
        self._absent += held.copied[:-1] > 0.0
        self._abandoned += 1

    def withdraw(self, decision: Decision | int | str) -> None:
        """Remove a decision that was not carried out, as if it had never been made.

        The intervals stay valid only if this does not depend on the action.
        """
        del self._open[self._find(decision)[0]]

    def read(
        self, log: Log | SetLog, *, inverse: str = "propensities", without_feedback: int = 0
    ) -> None:
        """Add the rounds of a log.

        Parameters
        ----------
        log
            The log; a `SetLog` for sets.
        inverse
            Source of 1/q: "propensities" (default), or "weights", the log's estimates of 1/q.
        without_feedback
            Number of further rounds without feedback, which are not in the log. They count at the
            worst loss. Default 0. Leaving them out is right only if the missing feedback does not
            depend on actions and losses.
        """
        check_integer(self, "without_feedback", without_feedback, 0)
        if isinstance(log, SetLog) and self._sets is not None:
            check_choice(self, "inverse", inverse, ("propensities",))
            self._read_sets(log)
            self._leave_out(without_feedback)
            return
        if not isinstance(log, Log) or self._sets is not None:
            known = "a Log, for sets a SetLog and max_chosen= of the Watch"
            raise refuse(self, "log", known, log)
        check_inverse(self, log, inverse)
        if self.n_actions not in (None, log.n_actions):
            raise ParameterError(
                f"The log must have the {self.n_actions} actions of the Watch; it has "
                f"{log.n_actions}."
            )
        if self.names not in (None, log.names):
            known = f"{self.names!r:.200}, in this order: pass names= to Log"
            raise ParameterError(f"The log must have the actions of the Watch, {known}.")
        if self.rewards is not None and log.rewards is None:
            raise ParameterError(
                "A Watch with rewards= reads only logs with rewards; this log has losses."
            )
        losses = log.losses if self.rewards is None else -log.rewards
        low, high = self._range
        for extreme in (losses.min(initial=high), losses.max(initial=low)):
            self.check_loss(extreme)
        weights = 1.0 / log.propensities if inverse == "propensities" else log.weights
        unit = (losses - low) / (high - low)
        sums, moments, absent = self._sums.copy(), self._moments.copy(), self._absent.copy()
        plain = nothing_predicted(len(self.policies))
        for one, weight, loss in zip(log, weights.tolist(), unit.tolist(), strict=True):
            there = one.available
            if there is not None and len(there) == log.n_actions:
                there = None
            held = shares(self.targets(one.context, there, log.n_actions), one.action, there)
            how = held.played, held.copied, max(1.0, weight), loss
            kernel.add(sums, moments, absent, *how, evidence.COLUMNS, plain, 0.0)
        self._sums, self._moments, self._absent = sums, moments, absent
        self._with_feedback += len(log)
        self._leave_out(without_feedback)

    def _leave_out(self, rounds: int) -> None:
        """Count rounds without feedback of which nothing else is known."""
        self._abandoned += rounds
        self._kinds[:-1, evidence.IN_PART] += rounds
        self._kinds[-1, evidence.AS_PLAYED] += rounds

    def _read_sets(self, log: SetLog) -> None:
        """Add the rounds of a log of sets, or none of them if one is not valid."""
        if log.n_actions != self.n_actions:
            raise ParameterError(
                f"The log must have the {self.n_actions} elements of the Watch; it has "
                f"{log.n_actions}."
            )
        assert self._sets is not None
        rounds = []
        for context, action, losses, q, available in log:
            targets, weights = self.targets(context, available), log.weights(q)
            self.overlap(targets, self._sets.action(action, available), weights)
            rounds.append((targets, action, weights, self._sets.losses(losses, len(action))))
        for targets, action, weights, losses in rounds:
            self._add_sets(Overlap.of(targets, action, self._seen), weights, losses)
        self._with_feedback += len(log)

    @classmethod
    def over(
        cls,
        log: Log | SetLog,
        policies: Mapping[str, Any] | None = None,
        *,
        loss_range: tuple[float, float] = (0.0, 1.0),
        confidence: float = 0.95,
        inverse: str = "propensities",
        without_feedback: int = 0,
        floors: Mapping[str, float] | None = None,
    ) -> Self:
        """Return a new watch with the rounds of a log, and its names and rewards if it has them.

        Parameters
        ----------
        log, inverse, without_feedback
            As in `read`.
        policies, loss_range, confidence, floors
            As in `Watch`. For a log with rewards, its `value_range` replaces `loss_range`.

        Examples
        --------
        >>> import numpy as np
        >>> import hannan as hn
        >>> rng = np.random.default_rng(0)
        >>> actions = rng.integers(2, size=1000)
        >>> losses = (rng.random(1000) < np.where(actions, 0.2, 0.7)).astype(float)
        >>> log = hn.off_policy.Log(None, actions, losses, np.full(1000, 0.5), n_actions=2)
        >>> print(hn.off_policy.Watch.over(log))
        After 1,000 rounds, 95 % anytime-valid confidence intervals:
        policy            mean loss         regret against policy  played actions are
        (played actions)  0.3650 to 0.5151
        always 0          0.5000 to 0.8097  -366.9 to -100.7       better
        always 1          0.1502 to 0.3137  165.1 to 283.3         worse
        """
        if isinstance(log, SetLog):
            how = policies, log.n_actions, loss_range, confidence
            watch = cls(*how, max_chosen=log.max_chosen, floors=floors)
            watch.read(log, without_feedback=without_feedback)
            return watch
        if not isinstance(log, Log):
            raise refuse("Watch.over", "log", "a Log or a SetLog", log)
        span = None if log.rewards is None else log.value_range
        watch = cls(policies, log.n_actions, loss_range, confidence, log.names, span)
        watch.read(log, inverse=inverse, without_feedback=without_feedback)
        return watch

    # Results ----------------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self._with_feedback + len(self._open) + self._abandoned

    @property
    def open_decisions(self) -> list[Any]:
        """Ids of the open decisions."""
        return list(self._open)

    def intervals(self) -> dict[str, PolicyIntervals]:
        """Return a dictionary from the name of each policy to its `PolicyIntervals`."""
        losses, regrets, _ = self._bounds()
        absent = self._absent.copy()
        for held, *_ in self._open.values():
            absent += held.copied[:-1] > 0.0
        each = zip(self.policies, losses, regrets, absent.tolist(), self._moments, strict=False)
        return {
            name: self._statement(name, loss, regret, unavailable, sums)
            for name, loss, regret, unavailable, sums in each
        }

    def _statement(
        self, name: str, loss: Interval, regret: Interval, unavailable: int, sums: FloatArray
    ) -> PolicyIntervals:
        span = self._range[1] - self._range[0]
        bounds = self._mean(loss), (span * regret[0], span * regret[1])
        counts = self.rounds, len(self._open), self._abandoned
        estimate, look, ahead, ahead_look, effective = self._looks(sums)
        estimate = float(np.clip(estimate, *self._shown(bounds[0])))
        ahead = float(np.clip(ahead, *np.divide(bounds[1], max(self.rounds, 1))))
        looks = estimate, look, ahead, ahead_look
        return PolicyIntervals(name, *bounds, *counts, unavailable, *looks, effective, self._unit)

    def _looks(self, sums: FloatArray) -> tuple[float, Interval, float, Interval, float]:
        """Estimate a policy's mean loss and the lead of the played actions, with intervals."""
        n, (low, high) = self._with_feedback, self._range
        value, squared, regret, squared_regret, ratio, squared_ratio = sums.tolist()
        if n < 2 or not squared_ratio:
            nothing = math.nan, math.nan
            return math.nan, nothing, math.nan, nothing, 0.0
        span, quantile = high - low, _NORMAL.inv_cdf(0.5 + self.confidence / 2.0)

        def interval(total: float, squares: float, least: float, sign: float) -> Any:
            mean = total / n
            half = quantile * math.sqrt(max(squares / n - mean * mean, 0.0) / (n - 1))
            ends = sorted(least + sign * span * (mean + side * half) for side in (-1.0, 1.0))
            return least + sign * span * mean, (ends[0], ends[1])

        loss = interval(value, squared, *((low, 1.0) if self.rewards is None else (-low, -1.0)))
        ahead = interval(regret, squared_regret, 0.0, -1.0)
        return *loss, *ahead, ratio * ratio / squared_ratio

    def to_frame(self) -> Any:
        """Return a frame with a row for each policy.

        The columns are policy, estimate, look_low and look_high (for a single look), loss_low,
        loss_high, regret_low, regret_high and verdict (anytime-valid), rounds, open, abandoned,
        unavailable and effective. With rewards, estimate is a mean reward, and reward_low,
        reward_high, gain_low and gain_high (per round) replace the columns of loss and regret.

        >>> Watch(n_actions=2).to_frame()["verdict"].tolist()
        ['not known', 'not known']
        """
        counts = "rounds", "open", "abandoned", "unavailable", "effective"
        gap = "regret" if self.rewards is None else "gain"
        rows = [
            {
                "policy": each.name,
                "estimate": each.estimate,
                "look_low": each.look[0],
                "look_high": each.look[1],
                f"{self._unit}_low": getattr(each, self._unit)[0],
                f"{self._unit}_high": getattr(each, self._unit)[1],
                f"{gap}_low": getattr(each, gap)[0],
                f"{gap}_high": getattr(each, gap)[1],
                "verdict": each.verdict,
                **{name: getattr(each, name) for name in counts},
            }
            for each in self.intervals().values()
        ]
        return frame(by_column(rows))

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean outcome of each policy with both intervals, and return matplotlib's axes.

        The band is the anytime-valid interval of the played actions. Needs matplotlib
        (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        statements = self.intervals().values()
        ax = axes(self, ax, len(statements))
        show, own = self._shown, f"mean {self._unit}"
        dots = [Dot(each.name, each.estimate, each.look, show(each.loss)) for each in statements]
        sure = f"{100 * self.confidence:g} % interval"
        once, ever = f"{sure} if you look once", f"{sure} at any time"
        draw_dots(ax, dots, f"{own} per round", narrow=once, wide=ever)
        draw_line(ax, math.nan, f"{own} of the played actions, at any time", self.played())
        legend(ax)
        return ax

    def played(self) -> Interval:
        """Return the interval (low, high) for the mean loss, or reward, of the played actions.

        The outcome of a round is here its expectation over the action distribution.
        """
        return self._shown(self._mean(self._bounds()[2]))

    def _shown(self, losses: Interval) -> Interval:
        """Convert an interval for losses to rewards, if the Watch has rewards."""
        return losses if self.rewards is None else _negative(losses)

    def _bounds(self) -> tuple[list[Interval], list[Interval], Interval]:
        """Return intervals for sums over all rounds: losses, regrets, and the played actions' loss.

        Losses are in [0, 1]. All intervals hold jointly. The loss of the played actions is the loss
        of a policy plus the regret against it, so bounds on two of the three bound the third.
        """
        n, P = float(self.rounds), len(self.policies)
        if not n:
            return [(0.0, 0.0)] * P, [(0.0, 0.0)] * P, (0.0, 0.0)
        # Two bounds on the loss of each policy and of the played actions, and two on each regret.
        log_odds = math.log((4 * P + 2) / (1.0 - self.confidence))
        sums, kinds = self._completed()
        least = evidence.lowest(sums, kinds, evidence.LOSS, log_odds)
        *losses, own = [(max(0.0, a), min(n, n - b)) for a, b in least.tolist()]
        least = evidence.lowest(sums[:-1], kinds, evidence.REGRET, log_odds)
        regrets = [(b, -a) for a, b in least.tolist()]
        pairs = list(zip(losses, regrets, strict=True))
        low = max(own[0], *(loss[0] + regret[0] for loss, regret in pairs))
        high = min(own[1], *(loss[1] + regret[1] for loss, regret in pairs))
        return (
            [(max(a, low - d), min(b, high - c)) for (a, b), (c, d) in pairs],
            [(max(c, low - b), min(d, high - a)) for (a, b), (c, d) in pairs],
            (low, high),
        )

    def _completed(self) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the sums with the reserves of open rounds, and the kinds of other open rounds."""
        sums, kinds = self._sums, self._kinds
        centred = [held for held in self._open.values() if _is_known(*held[1:])]
        if centred:
            sums = sums.copy()
            for held, weight, centre in centred:
                self._reserve(sums, held, weight, centre)
        if len(centred) < len(self._open):
            rest = [held.kinds for held, *how in self._open.values() if not _is_known(*how)]
            counts = [(np.array(rest) == kind).sum(axis=0) for kind in range(kinds.shape[1])]
            kinds = kinds + np.column_stack(counts)
        return sums, kinds

    def _reserve(self, sums: FloatArray, held: Any, weight: Any, centre: Any) -> None:
        """Add the largest terms of a round without feedback."""
        if self._sets is not None:
            unknown = np.full(len(held.elements), np.nan)
            self._sets.add(sums, self._moments.copy(), self.policies, held, weight, unknown)
            return
        how = held.played, held.copied, weight, evidence.COLUMNS, centre.rows, centre.own
        kernel.reserve(sums, *how)

    def _mean(self, total: Interval) -> Interval:
        """Convert an interval for a sum over all rounds to a mean in the units of the losses."""
        low, high = self._range
        if not self.rounds:
            return low, high
        span = (high - low) / self.rounds
        return low + span * total[0], low + span * total[1]

    def __str__(self) -> str:
        """Return a sentence and a table with a row for each policy."""
        sentence, rows, warning = self._words()
        return "\n".join([sentence, *aligned(rows), *warning])

    def _repr_html_(self) -> str:
        sentence, (heads, *rows), warning = self._words()
        warnings = [paragraph(text, warning=True) for text in warning]
        return page(*warnings, paragraph(sentence), table(heads, rows, marked=[0]))

    def _words(self) -> tuple[str, list[tuple[str, ...]], list[str]]:
        """Return a sentence, the rows of a table, and a warning if intervals are empty."""
        statements, (low, high) = self.intervals().values(), self.played()
        counts = (len(self._open), "open"), (self._abandoned, "abandoned")
        apart = "".join(f", {count:,} {what}" for count, what in counts if count)
        n, sure = self.rounds, f"{100 * self.confidence:g} % anytime-valid confidence intervals:"
        head, mean, gap = ("regret against policy", "{:.4f} to {:.4f}", "{:,.1f} to {:,.1f}")
        if self.rewards is not None:
            head, mean, gap = ("gain over policy, per round", *["{:.4g} to {:.4g}"] * 2)
        rows: list[tuple[str, ...]] = [("policy", f"mean {self._unit}", head, "played actions are")]
        rows.append(("(played actions)", mean.format(low, high), "", ""))
        for each in statements:
            loss = mean.format(*self._shown(each.loss))
            regret = gap.format(*(each.regret if self.rewards is None else each.gain))
            note = f"; unavailable in {m:,} round{'s' * (m > 1)}" if (m := each.unavailable) else ""
            rows.append((each.name, loss, regret, each.verdict + note))
        warning = []
        if any(each.contradicts for each in statements) or low > high:
            warning.append(
                "Some intervals contradict each other. Check that actions are drawn with the "
                "stated probabilities, and that losses are fixed before the actions are drawn."
            )
        return f"After {n:,} round{'s' * (n != 1)}{apart}, {sure}", rows, warning

    # For learners and Deciders ----------------------------------------------------------------

    def targets(
        self, context: Any, available: IntArray | None = None, n_actions: int | None = None
    ) -> list[Any]:
        """Ask the policies for their actions on a context, among the available actions."""
        if self._sets is not None:
            return [
                self._sets.target(name, policy, told, context, available, self._places)
                for (name, policy), told in zip(self.policies.items(), self._told, strict=True)
            ]
        K = self.n_actions if n_actions is None else n_actions
        return [
            target(name, policy, told, context, available, K, self._places)
            for (name, policy), told in zip(self.policies.items(), self._told, strict=True)
        ]

    def overlap(self, targets: list[Any], action: IntArray, weights: FloatArray | None) -> Overlap:
        """Return the overlap of the policies' sets with the chosen set, whose weights fit it."""
        assert self._sets is not None
        held = Overlap.of(targets, action, self._seen)
        self._sets.check_floors(self.policies, held, weights)
        return held

    def check_loss(self, loss: Any, size: int | None = None) -> Any:
        """Check a loss, or the losses of a set of this size, and scale them to [0, 1]."""
        if self._sets is not None:
            return self._sets.losses(loss, size or 0)
        low, high = self._range
        return (check_chosen_loss(loss, (low, high)) - low) / (high - low)

    def __contains__(self, decision: Decision | int | str) -> bool:
        """Return whether a decision is open."""
        return _key(decision) in self._open

    def check_room(self) -> None:
        """Raise `DecisionError` if there is no room for another open decision."""
        if len(self._open) >= MOST_OPEN:
            raise DecisionError(
                f"{MOST_OPEN} decisions are open, which is the limit. Report their losses, or call "
                "abandon(decision) for decisions that will never have one."
            )

    def enter(self, key: Hashable, held: Any, weight: Any, centre: Centre | None = None) -> None:
        """Add an open round. Never fails.

        A `centre` needs a weight of exactly 1/q, with q known for every action.
        """
        self._open[key] = held, weight, centre

    def settle(self, key: Hashable, loss: Any, weight: Any = None) -> None:
        """Add the loss of an open round, in [0, 1]. Never fails."""
        held, known, centre = self._open.pop(key)
        self._with_feedback += 1
        if self._sets is not None:
            self._add_sets(held, known if weight is None else weight, loss)
            return
        plain = nothing_predicted(len(self.policies)) if centre is None else centre.rows
        how = held.played, held.copied, known if weight is None else weight, loss
        own = 0.0 if centre is None else centre.own
        sums = self._sums, self._moments, self._absent
        kernel.add(*sums, *how, evidence.COLUMNS, plain, own)

    def _add_sets(self, held: Overlap, weights: FloatArray, losses: FloatArray) -> None:
        assert self._sets is not None
        self._sets.add(self._sums, self._moments, self.policies, held, weights, losses)
        self._absent += held.copied[:-1] > 0.0
        known = ~np.isnan(losses)
        self._seen[:, held.elements[known]] += losses[known], np.ones(known.sum())

    def extended(self, policies: Mapping[str, Any], n_actions: int | None = None) -> Self:
        """Return a watch that continues with more policies, and more actions.

        The intervals so far hold jointly with the confidence level, and so do all later intervals.
        In all earlier rounds, a new policy copies the played action.

        Parameters
        ----------
        policies
            All policies. Policies with the names of earlier ones continue these.
        n_actions
            New number of actions.
        """
        how = self.loss_range, self.confidence, self.names, self.rewards
        twin = type(self)(policies, n_actions, *how, self.max_chosen, self.floors)
        old = {name: row for row, name in enumerate(self.policies)}
        if not old.keys() <= twin.policies.keys():
            raise ParameterError("extended() needs all policies of the Watch, and new ones.")
        last = len(self.policies)
        rows = [*(old.get(name, last) for name in twin.policies), last]
        twin._sums, twin._kinds = self._sums[rows].copy(), self._kinds[rows].copy()
        twin._moments, twin._reserved = self._moments[rows].copy(), self._reserved
        every = self._with_feedback + self._abandoned
        twin._absent = np.append(self._absent, every)[rows[:-1]]
        for key, (held, weight, centre) in self._open.items():
            wider = None if centre is None else centre.extended(rows)
            twin._open[key] = held.extended(rows), weight, wider
        twin._seen = self._seen.copy()
        twin._with_feedback, twin._abandoned = self._with_feedback, self._abandoned
        return twin

    # Copies and files -------------------------------------------------------------------------

    def reset(self) -> None:
        """Delete all rounds."""
        self.__init__(**self.params)  # type: ignore[misc]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the watch to one file, atomically; `hannan.load(path)` continues identically.

        The file holds the names of policies that are functions. `hannan.load` needs them as
        `trusted`.
        """
        save(self, path)

    @property
    def progress(self) -> tuple[int, int, int]:
        """Numbers of rounds with feedback, of abandoned and of open rounds."""
        return self._with_feedback, self._abandoned, len(self._open)

    def _check_state(self) -> None:
        n = self._with_feedback + self._reserved
        slack = 1e-6 * (n + 1)
        most = n * evidence.MOST + slack
        within = (self._sums >= n * evidence.LEAST - slack) & (self._sums <= most)
        counted = self._kinds.sum(axis=1) == self._abandoned - self._reserved
        moments = (self._moments[:, [1, 3, 4, 5]] >= 0.0).all()
        require(self, sums=within.all(), kinds=counted.all(), moments=moments)

    def _could_wait(self, held: Any, weight: Any, centre: Centre | None) -> bool:
        """Return whether a stored open round belongs to this watch."""
        if self._sets is None:
            plain = isinstance(held, Shares) and not isinstance(weight, np.ndarray)
            return plain and (centre is None or weight is not None)
        if not isinstance(held, Overlap) or centre is not None:
            return False
        size = len(held.elements)
        shaped = isinstance(weight, np.ndarray) and weight.shape in ((1, size), (2, size))
        return held.fits and (weight is None or shaped)

    # Parts ------------------------------------------------------------------------------------

    def _inverse(self, decision: Any, held: Any, weight: Any) -> Any:
        """Return the weights of a decision that were unknown before its loss."""
        if self._sets is None:
            return inverse(self, decision, None, weight)
        return element_weights(self, decision, len(held.elements), None, weight)

    def _find(self, decision: Any) -> tuple[Hashable, Any, Any, Centre | None]:
        key = _key(decision)
        if key not in self._open:
            raise DecisionError(
                f"Decision {key!r} is not open: it has a loss, was abandoned, or was never added "
                f"with add_decision. Open decisions: {len(self._open)}."
            )
        return key, *self._open[key]

    def _action(self, action: Any, available: IntArray | None) -> int:
        if not isinstance(action, int | np.integer) or isinstance(action, bool):
            raise InputTypeError(
                f"A Watch without max_chosen= takes single actions, integers; got {short(action)}. "
                "For sets of elements, pass n_actions= and max_chosen= to Watch."
            )
        known = math.inf if self.n_actions is None else self.n_actions
        if not 0 <= action < known or (available is not None and action not in available):
            raise ParameterError(f"action={action} is not an available action.")
        return int(action)


def _is_known(weight: Any, centre: Any) -> bool:
    """Return whether the largest terms of an open round are computed from its own weights."""
    return centre is not None or isinstance(weight, np.ndarray)


def _negative(ends: Interval) -> Interval:
    return 0.0 - ends[1], 0.0 - ends[0]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _key(decision: Any) -> Any:
    key = decision.id if isinstance(decision, Decision) else decision
    if not _is_key(key):
        raise InputTypeError(
            f"A decision must be a Decision, or its id: an integer, or a string of at most "
            f"{_LONGEST} characters; got {short(decision)}."
        )
    return key


def _is_key(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return type(value) is int and -(2**63) <= value < 2**63
