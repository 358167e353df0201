"""Statements about named policies that hold at all times at once."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
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
    Target,
    check_policies,
    inverse,
    shares,
    takes_available,
    target,
)

_LONGEST = 200  # letters of an id

Interval = tuple[float, float]
Waiting = tuple[Shares, float | None, Centre | None]
"""An open round; 1/q, or an estimate, may come with the loss. A centre needs the exact 1/q."""
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class PolicyIntervals:
    """How a policy would have done over all rounds so far, with the confidence of its `Watch`.

    Attributes
    ----------
    name
        Of the policy.
    estimate, look
        An estimate of its mean loss, or reward, over the rounds with feedback, moved into its
        interval at any time; and an ordinary interval for it: of the Watch's confidence if you look
        once. NaN before anything is known.
    ahead, ahead_look
        The same for our mean loss per round less its mean loss. Below 0 we have done better.
    effective
        The effective sample size of these estimates.
    unit
        "reward" in a Watch with `rewards`, where a loss is minus a reward; else "loss".
    loss
        (low, high) of its mean loss over all rounds that were decided.
    regret
        (low, high) of our regret against it in these rounds, in total: our expected loss in each
        round, given what came before, less its loss. Below 0 we have done better.
    rounds
        How many rounds were decided.
    open, forgotten
        How many of them wait for their loss, or will never have one. They count at their worst.
    unavailable
        In how many rounds what it chooses was not available. There it does what is played.
    """

    name: str
    loss: Interval
    regret: Interval
    rounds: int
    open: int
    forgotten: int
    unavailable: int
    estimate: float = math.nan
    look: Interval = (math.nan, math.nan)
    ahead: float = math.nan
    ahead_look: Interval = (math.nan, math.nan)
    effective: float = 0.0
    unit: str = "loss"

    @property
    def reward(self) -> Interval:
        """(low, high) of its mean reward over all rounds, a reward being minus a loss."""
        return _negative(self.loss)

    @property
    def gain(self) -> Interval:
        """(low, high) of our gain over it per round. Above 0 we have done better."""
        low, high = _negative(self.regret)
        return low / max(self.rounds, 1), high / max(self.rounds, 1)

    @property
    def contradicts(self) -> bool:
        """Whether no numbers are within the bounds.

        That is as rare as a wrong statement, where what statements need is true.
        """
        return self.loss[0] > self.loss[1] or self.regret[0] > self.regret[1]

    @property
    def verdict(self) -> str:
        """Whether we have done better, worse, or it is not known yet, in words."""
        low, high = self.regret
        if self.contradicts:
            return "contradiction"
        if high < 0.0:
            return "better"
        return "worse" if low > 0.0 else "not known"

    def __str__(self) -> str:
        if self.unit == "reward":
            low, high = self.reward
            said = f"{self.name}: mean reward from {low:.4g} to {high:.4g}, our gain over it from "
            said += f"{self.gain[0]:.4g} to {self.gain[1]:.4g}"
            return f"{said} per round: {self.verdict}"
        low, high = self.loss
        said = f"{self.name}: mean loss from {low:.4g} to {high:.4g}, our regret against it from "
        return said + f"{self.regret[0]:.4g} to {self.regret[1]:.4g}: {self.verdict}"


class Watch(Parametrised):
    r"""Intervals for the losses of a few policies, and for our regret against each of them.

    In each round s an action a was drawn from a distribution q and cost :math:`\ell_s(a)`; what a
    policy π
    would have cost is estimated by weights with mean at most 1/q. With probability `confidence`,
    **for all policies and at all times at once**, the intervals hold

    .. math:: \frac1n \sum_{s=1}^n \ell_s(\pi(x_s)) \qquad \text{and} \qquad
              \sum_{s=1}^n \langle q_s, \ell_s \rangle - \ell_s(\pi(x_s))

    over all n rounds that were decided. So one may look after every round, and stop when one
    likes. Rounds without an answer count at their worst: it does not matter when losses come, in
    which order, whether they ever come, and whether that has to do with actions and losses.

    Parameters
    ----------
    policies
        By name: an action, for the policy that always takes it; or a `Policy` or any function of a
        context that returns an action, or the probabilities of all, where it has an argument named
        `available` among those there are. Other policies do what is played where their choice is
        not available. None, with `n_actions`: all constant policies.
    n_actions
        K; needed for `policies=None`, and for policies that ask what is available.
    loss_range
        (low, high) of the losses. Others are refused.
    confidence
        Of all statements together.
    names
        Names of the K actions, by which policies then give them; needs `n_actions`. Default: none.
    rewards
        (low, high) of the outcomes, if more is better; instead of `loss_range`. Losses are then
        rewards times -1, in `answered` too, and statements are shown as rewards and gains.

    Guarantee
    ---------
    What is said above (docs/explanation/paper-notes.md, 3.13), if (i) each action was drawn with
    the stated probability, given all that came before; (ii) the losses of all actions of a round
    are fixed, though hidden, when it is decided: they may come late, but may not be made out of
    later plays; (iii) a policy's choice is fixed before the action is drawn. Losses may react to
    all earlier actions, and the learner to all earlier losses.

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
    After 1,000 rounds. With probability 0.95, at all times at once:
    policy            its mean loss     our regret against it
    (what is played)  0.1771 to 0.2888
    always 1          0.3011 to 0.9996  -822.5 to -87.0        we do better
    today             0.1196 to 0.6200  -389.4 to 96.3         not known

    References
    ----------
    [fan2015], [howard2021]
    """

    stored = State(
        _answered=Count(),
        _forgotten=Count(),
        _sums=Array(),
        _kinds=Array(low=0).where(lambda self, kinds: not kinds[-1, [0, 1, 3]].any()),
        _open=DictOf(
            Key().where(lambda self, key: _is_key(key)),
            TupleOf(Object(Shares), Number(low=1.0) | None, Object(Centre) | None).where(
                lambda self, held: held[2] is None or held[1] is not None
            ),
            most=MOST_OPEN,
        ),
        _moments=Array(),
        _reserved=Count(),
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
    ) -> None:
        self.names = None if names is None else tuple(names)
        self._places = {name: i for i, name in enumerate(self.names or ())}
        if n_actions is not None:
            n_actions = check_integer(self, "n_actions", n_actions, 1)
        if self.names is not None and len(self._places) != n_actions:
            raise refuse(self, "names", "a different name for each of n_actions actions", names)
        self.policies = check_policies(self, policies, n_actions, self._places)
        self.n_actions = n_actions
        self._range = check_bounded_range(self, loss_range)
        if rewards is not None:
            self._range = _negative(check_bounded_range(self, rewards, "rewards"))
        self.loss_range, self.rewards = loss_range, rewards
        self._unit = "loss" if rewards is None else "reward"
        if not isinstance(confidence, float) or not 0.0 < confidence < 1.0:
            raise refuse(self, "confidence", "a number in (0, 1)", confidence)
        self.confidence = float(confidence)
        self._told = [callable(each) and takes_available(each) for each in self.policies.values()]
        rows = len(self.policies) + 1  # the last one is what is played
        self._sums = np.zeros((rows, 2, len(evidence.RATE)))  # over the rounds that were answered
        self._moments = np.zeros((rows, 6))  # of estimates and ratios in these rounds
        self._kinds = np.zeros((rows, len(evidence.RESERVES)), dtype=np.int64)  # of the forgotten
        self._reserved = 0  # forgotten rounds with a centre, whose reserve is in the sums
        self._absent = np.zeros(rows - 1, dtype=np.int64)  # of both
        self._open: dict[Hashable, Waiting] = {}
        self._answered = 0
        self._forgotten = 0

    # What happens -----------------------------------------------------------------------------

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
        """A decision was made: one of a learner, or of anything that draws its actions.

        Parameters
        ----------
        decision
            A `Decision`, or an id under which the loss will come.
        context, action, available
            What was decided, if it is an id.
        propensity
            The probability with which the action was drawn; by default what the decision says.
        weight
            Instead of it: an estimate of 1/q, at least 1 and with a mean of at most 1/q, drawn
            without regard to losses; by default `decision.weights`. Where it is not known before
            the loss comes, `answered` takes it.
        """
        key = _key(decision)
        if isinstance(decision, Decision):
            if context is not None or action is not None or available is not None:
                raise ParameterError("A Decision says itself what was decided: give it alone.")
            context, action, available = decision.context, decision.action, decision.available
        elif available is not None:
            if self.n_actions is None:
                raise ParameterError(
                    "available= needs the number of actions: give Watch its n_actions=."
                )
            available = check_available(self, available, self.n_actions)
        if key in self._open:
            raise DecisionError(f"Decision {key!r} waits for its loss already.")
        self.check_room()
        held = shares(self.targets(context, available), self._action(action, available), available)
        self.enter(key, held, inverse(self, decision, propensity, weight))

    def add_loss(self, decision: Decision | int | str, loss: Any, *, weight: Any = None) -> None:
        """The loss of the action that was decided has come.

        Parameters
        ----------
        decision
            The decision, or its id.
        loss
            What its action has cost; minus its reward, in a Watch with `rewards`.
        weight
            As in `decided`, if it was not known then.
        """
        key, held, known, _ = self._find(decision)
        if known is None:
            known = inverse(self, decision, None, weight)
        elif weight is not None:
            raise ParameterError(f"The weight of decision {key!r} is known since it was made.")
        if known is None and held.played.any():
            raise ParameterError(
                f"The probability of decision {key!r} is not known: give decided(propensity=…) or "
                "answered(weight=…) what its action was drawn with."
            )
        self.settle(key, self.check_loss(loss), 1.0 if known is None else known)

    def abandon(self, decision: Decision | int | str) -> None:
        """The loss of a decision will never come; the round counts at its worst."""
        key, held, weight, centre = self._find(decision)
        del self._open[key]
        if centre is None:
            self._kinds[np.arange(len(self._kinds)), held.kinds] += 1
        else:
            self._reserve(self._sums, held, weight, centre)
            self._reserved += 1
        self._absent += held.copied[:-1] > 0.0
        self._forgotten += 1

    def withdraw(self, decision: Decision | int | str) -> None:
        """A decision was not carried out, and nobody saw it: as if it had never been made.

        Only where that has nothing to do with its action.
        """
        del self._open[self._find(decision)[0]]

    def read(self, log: Log, *, inverse: str = "propensities", unanswered: int = 0) -> None:
        """The rounds of a log.

        Parameters
        ----------
        log
            What was logged.
        inverse
            Where 1/q comes from: "propensities", or "weights", the log's own estimates of 1/q.
        unanswered
            How many more rounds were decided and are not in the log, as their losses have not
            come: they count at their worst. To leave them out is right only if which ones they
            are has nothing to do with actions and losses.
        """
        check_integer(self, "unanswered", unanswered, 0)
        if not isinstance(log, Log):
            raise refuse(self, "log", "a Log", log)
        check_inverse(self, log, inverse)
        if self.n_actions not in (None, log.n_actions):
            raise ParameterError(
                f"The log must have the {self.n_actions} actions of the Watch; it has "
                f"{log.n_actions}."
            )
        if self.names not in (None, log.names):
            known = f"{self.names!r:.200}, in this order: give Log its names="
            raise ParameterError(f"The log must have the actions of the Watch, {known}.")
        if self.rewards is not None and log.rewards is None:
            raise ParameterError("A Watch with rewards= reads logs with rewards, not with losses.")
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
        self._answered += len(log)
        self._forgotten += unanswered
        self._kinds[:-1, evidence.IN_PART] += unanswered
        self._kinds[-1, evidence.AS_PLAYED] += unanswered

    @classmethod
    def over(
        cls,
        log: Log,
        policies: Mapping[str, Any] | None = None,
        *,
        loss_range: tuple[float, float] = (0.0, 1.0),
        confidence: float = 0.95,
        inverse: str = "propensities",
        unanswered: int = 0,
    ) -> Self:
        """A watch that has read a log: with its names, and its rewards if it has them.

        Parameters
        ----------
        log, inverse, unanswered
            As in `read`.
        policies, loss_range, confidence
            As in `Watch`. The `value_range` of a log with rewards takes the place of `loss_range`.

        Examples
        --------
        >>> import numpy as np
        >>> import hannan as hn
        >>> rng = np.random.default_rng(0)
        >>> actions = rng.integers(2, size=1000)
        >>> losses = (rng.random(1000) < np.where(actions, 0.2, 0.7)).astype(float)
        >>> log = hn.off_policy.Log(None, actions, losses, np.full(1000, 0.5), n_actions=2)
        >>> print(hn.off_policy.Watch.over(log))
        After 1,000 rounds. With probability 0.95, at all times at once:
        policy            its mean loss     our regret against it
        (what is played)  0.3650 to 0.5151
        always 0          0.5000 to 0.8097  -366.9 to -100.7       we do better
        always 1          0.1502 to 0.3137  165.1 to 283.3         it does better
        """
        if not isinstance(log, Log):
            raise refuse("Watch.over", "log", "a Log", log)
        span = None if log.rewards is None else log.value_range
        watch = cls(policies, log.n_actions, loss_range, confidence, log.names, span)
        watch.read(log, inverse=inverse, unanswered=unanswered)
        return watch

    # What is known ----------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """How many rounds were decided."""
        return self._answered + len(self._open) + self._forgotten

    @property
    def open_decisions(self) -> list[Any]:
        """Ids of the decisions whose losses have not come yet."""
        return list(self._open)

    def intervals(self) -> dict[str, PolicyIntervals]:
        """A statement about each policy, by its name; see `PolicyIntervals`."""
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
        counts = self.rounds, len(self._open), self._forgotten
        estimate, look, ahead, ahead_look, effective = self._looks(sums)
        estimate = float(np.clip(estimate, *self._shown(bounds[0])))
        ahead = float(np.clip(ahead, *np.divide(bounds[1], max(self.rounds, 1))))
        looks = estimate, look, ahead, ahead_look
        return PolicyIntervals(name, *bounds, *counts, unavailable, *looks, effective, self._unit)

    def _looks(self, sums: FloatArray) -> tuple[float, Interval, float, Interval, float]:
        """Return estimates of a policy's mean loss and of our lead, with ordinary intervals."""
        n, (low, high) = self._answered, self._range
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
        """Return a row for each policy, as a frame.

        The columns: policy; estimate, look_low and look_high, for a single look; loss_low,
        loss_high, regret_low, regret_high and verdict, at any time; rounds, open, forgotten,
        unavailable, effective. With rewards: estimates of these, reward_low, reward_high, gain_low
        and gain_high, per round.

        >>> Watch(n_actions=2).to_frame()["verdict"].tolist()
        ['not known', 'not known']
        """
        counts = "rounds", "open", "forgotten", "unavailable", "effective"
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

        The band is the interval of our own at any time. Needs matplotlib
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
        draw_line(ax, math.nan, f"our own {own}, at any time", self.played())
        legend(ax)
        return ax

    def played(self) -> Interval:
        """(low, high) of our own mean loss, or reward, over all rounds that were decided.

        The outcome of a round is here its mean over the distribution that the action was drawn
        from.
        """
        return self._shown(self._mean(self._bounds()[2]))

    def _shown(self, losses: Interval) -> Interval:
        """Return an interval for losses as one for rewards, where these are shown."""
        return losses if self.rewards is None else _negative(losses)

    def _bounds(self) -> tuple[list[Interval], list[Interval], Interval]:
        """Of sums over all rounds, for losses in [0, 1]: losses, regrets, and our own loss.

        All hold together, and our loss is a policy's plus our regret against it: so bounds of two
        of them bound the third.
        """
        n, P = float(self.rounds), len(self.policies)
        if not n:
            return [(0.0, 0.0)] * P, [(0.0, 0.0)] * P, (0.0, 0.0)
        # Two statements about losses for each policy and for us, and two about each regret.
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
        """Return the sums with the reserves of open rounds, and the kinds of those without any."""
        sums, kinds = self._sums, self._kinds
        centred = [held for held in self._open.values() if held[2] is not None]
        if centred:
            sums = sums.copy()
            for held, weight, centre in centred:
                self._reserve(sums, held, weight, centre)
        if len(centred) < len(self._open):
            rest = [held.kinds for held, _, centre in self._open.values() if centre is None]
            counts = [(np.array(rest) == kind).sum(axis=0) for kind in range(kinds.shape[1])]
            kinds = kinds + np.column_stack(counts)
        return sums, kinds

    @staticmethod
    def _reserve(sums: FloatArray, held: Shares, weight: Any, centre: Any) -> None:
        """Add the largest terms of a round without feedback."""
        how = held.played, held.copied, weight, evidence.COLUMNS, centre.rows, centre.own
        kernel.reserve(sums, *how)

    def _mean(self, total: Interval) -> Interval:
        """Of a sum over all rounds, in the units of the losses."""
        low, high = self._range
        if not self.rounds:
            return low, high
        span = (high - low) / self.rounds
        return low + span * total[0], low + span * total[1]

    def __str__(self) -> str:
        """The statements as a table: a sentence, and a row for each policy."""
        sentence, rows, warning = self._words()
        return "\n".join([sentence, *aligned(rows), *warning])

    def _repr_html_(self) -> str:
        sentence, (heads, *rows), warning = self._words()
        warnings = [paragraph(text, warning=True) for text in warning]
        return page(*warnings, paragraph(sentence), table(heads, rows, marked=[0]))

    def _words(self) -> tuple[str, list[tuple[str, ...]], list[str]]:
        """Return a sentence, the rows of a table, and a warning about contradictions if any."""
        statements, (low, high) = self.intervals().values(), self.played()
        counts = (len(self._open), "open"), (self._forgotten, "never answered")
        apart = "".join(f", {count:,} {what}" for count, what in counts if count)
        sure = f"With probability {self.confidence:g}, at all times at once:"
        head, mean, gap = ("our regret against it", "{:.4f} to {:.4f}", "{:,.1f} to {:,.1f}")
        if self.rewards is not None:
            head, mean, gap = ("our gain over it, per round", *["{:.4g} to {:.4g}"] * 2)
        rows: list[tuple[str, ...]] = [("policy", f"its mean {self._unit}", head, "")]
        rows.append(("(what is played)", mean.format(low, high), "", ""))
        for each in statements:
            loss = mean.format(*self._shown(each.loss))
            regret = gap.format(*(each.regret if self.rewards is None else each.gain))
            note = f"; not available in {each.unavailable:,} rounds" if each.unavailable else ""
            rows.append((each.name, loss, regret, each.verdict + note))
        warning = []
        if any(each.contradicts for each in statements) or low > high:
            warning.append(
                "These statements contradict each other: check that actions are drawn with the "
                "stated probabilities, and that losses are fixed when a round is decided."
            )
        return f"After {self.rounds:,} rounds{apart}. {sure}", rows, warning

    # For what plays ---------------------------------------------------------------------------

    def targets(
        self, context: Any, available: IntArray | None = None, n_actions: int | None = None
    ) -> list[Target]:
        """What the policies do on a context, among the actions that are available."""
        K = self.n_actions if n_actions is None else n_actions
        return [
            target(name, policy, told, context, available, K, self._places)
            for (name, policy), told in zip(self.policies.items(), self._told, strict=True)
        ]

    def check_loss(self, loss: Any) -> float:
        """A loss, moved to [0, 1]."""
        low, high = self._range
        return (check_chosen_loss(loss, (low, high)) - low) / (high - low)

    def __contains__(self, decision: Decision | int | str) -> bool:
        """Whether a decision waits for its loss."""
        return _key(decision) in self._open

    def check_room(self) -> None:
        """Refuse a decision where too many wait already."""
        if len(self._open) >= MOST_OPEN:
            raise DecisionError(
                f"{MOST_OPEN} decisions wait for their losses: tell the Watch of those that will "
                "never come, by forgotten(decision)."
            )

    def enter(
        self, key: Hashable, held: Shares, weight: float | None, centre: Centre | None = None
    ) -> None:
        """Hold a round that has been decided; nothing can fail.

        A `centre` is for rounds whose weight is exactly 1/q, with q known for every action.
        """
        self._open[key] = held, weight, centre

    def settle(self, key: Hashable, loss: float, weight: float | None = None) -> None:
        """A round has been answered, by a loss in [0, 1]; nothing can fail."""
        held, known, centre = self._open.pop(key)
        self._answered += 1
        plain = nothing_predicted(len(self.policies)) if centre is None else centre.rows
        how = held.played, held.copied, known if weight is None else weight, loss
        own = 0.0 if centre is None else centre.own
        sums = self._sums, self._moments, self._absent
        kernel.add(*sums, *how, evidence.COLUMNS, plain, own)

    def extended(self, policies: Mapping[str, Any], n_actions: int | None = None) -> Self:
        """A watch that goes on from here with more policies, and more actions.

        What was said so far holds at once with the confidence, and so does all that is said from
        now on. A new policy did what was played in all rounds before.

        Parameters
        ----------
        policies
            All of them; those that were there already are known by their names.
        n_actions
            K then.
        """
        how = self.loss_range, self.confidence, self.names, self.rewards
        twin = type(self)(policies, n_actions, *how)
        old = {name: row for row, name in enumerate(self.policies)}
        if not old.keys() <= twin.policies.keys():
            raise ParameterError("extended() needs all policies that the Watch has, and new ones.")
        last = len(self.policies)
        rows = [*(old.get(name, last) for name in twin.policies), last]
        twin._sums, twin._kinds = self._sums[rows].copy(), self._kinds[rows].copy()
        twin._moments, twin._reserved = self._moments[rows].copy(), self._reserved
        every = self._answered + self._forgotten
        twin._absent = np.append(self._absent, every)[rows[:-1]]
        for key, (held, weight, centre) in self._open.items():
            wider = None if centre is None else centre.extended(rows)
            twin._open[key] = Shares(held.played[rows], held.copied[rows]), weight, wider
        twin._answered, twin._forgotten = self._answered, self._forgotten
        return twin

    # Copies and files -------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget all rounds."""
        self.__init__(**self.params)  # type: ignore[misc]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one step: `hannan.load(path)` goes on bit for bit.

        Policies that are functions are kept by their names, and have to be trusted when the file
        is loaded.
        """
        save(self, path)

    @property
    def progress(self) -> tuple[int, int, int]:
        """How many rounds were answered, forgotten, and are open."""
        return self._answered, self._forgotten, len(self._open)

    def _check_state(self) -> None:
        n = self._answered + self._reserved
        slack = 1e-6 * (n + 1)
        most = n * evidence.MOST + slack
        within = (self._sums >= n * evidence.LEAST - slack) & (self._sums <= most)
        counted = self._kinds.sum(axis=1) == self._forgotten - self._reserved
        moments = (self._moments[:, [1, 3, 4, 5]] >= 0.0).all()
        require(self, sums=within.all(), kinds=counted.all(), moments=moments)

    # Parts ------------------------------------------------------------------------------------

    def _find(self, decision: Any) -> tuple[Hashable, Shares, float | None, Centre | None]:
        key = _key(decision)
        if key not in self._open:
            raise DecisionError(
                f"Decision {key!r} has been answered or forgotten already, or this Watch was not "
                f"told of it; {len(self._open)} decisions are open."
            )
        return key, *self._open[key]

    def _action(self, action: Any, available: IntArray | None) -> int:
        if not isinstance(action, int | np.integer) or isinstance(action, bool):
            raise InputTypeError(f"A Watch is for single actions; got {short(action)}.")
        known = math.inf if self.n_actions is None else self.n_actions
        if not 0 <= action < known or (available is not None and action not in available):
            raise ParameterError(f"action={action} is none that was available.")
        return int(action)


def _negative(ends: Interval) -> Interval:
    return 0.0 - ends[1], 0.0 - ends[0]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _key(decision: Any) -> Any:
    key = decision.id if isinstance(decision, Decision) else decision
    if not _is_key(key):
        raise InputTypeError(
            f"A decision is a Decision, or its id: an integer, or a string of up to {_LONGEST} "
            f"letters; got {short(decision)}."
        )
    return key


def _is_key(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return type(value) is int and -(2**63) <= value < 2**63
