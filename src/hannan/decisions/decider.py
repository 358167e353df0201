"""The `Decider`: decisions between your actions, with outcomes in your units."""

from __future__ import annotations

import copy
import functools
import os
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Self, TypeVar

import numpy as np

from hannan._recommended import bandit
from hannan.core import (
    ClosedDecisionError,
    ContextError,
    DamagedFileError,
    HannanError,
    Learner,
    OrderError,
    ParameterError,
    StorageError,
    load,
)
from hannan.core.arrays import is_frame
from hannan.core.display import page, paragraph
from hannan.core.frames import like
from hannan.core.params import Parametrised
from hannan.core.rounds import MOST_OPEN
from hannan.core.state import Count, Flag, Made, Number, Object, Part, State, require, same
from hannan.core.storage import save
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from hannan.core.validation import FloatArray, check_integer, check_probability, check_seed, refuse
from hannan.decisions.answers import (
    LONGEST,
    Id,
    NamedDecision,
    OpenDecisions,
    Units,
    Why,
    as_id,
    check_distinct,
    mark_of,
    new_id,
)
from hannan.decisions.contexts import Contexts, Items, new_features, offered, place, plain
from hannan.decisions.frames import available_by_row, is_table, only_row, rows_of, spread
from hannan.decisions.holdout import ControlGroup, check_share
from hannan.decisions.journal import EVERY, Call, Journal, calls_in, check_every, start
from hannan.decisions.logs import log_of, logged
from hannan.decisions.names import Name, Names, as_name
from hannan.decisions.records import as_json, request_text
from hannan.decisions.scoreboard import Scoreboard
from hannan.decisions.sets import Sets, as_stored, log_of_sets, sets_of
from hannan.decisions.summary import Summary, summary_of

_EXPLORED = 0.002  # default share of random decisions, if the actions are fixed
_EXPLORED_OF_OFFERS = 0.0001  # default minimum probability of each item
_WARM = 100  # decisions: the base learner, which needs noise, almost surely makes one of them
_REMEMBERED = 10_000  # closed decisions whose outcomes may be reported again

_COLUMNS = ("action", "propensity", "id")
_CALLS = ("decide", "decide_many", "report", "late", "expire", "add", "retire", "learn")
_BROKEN = (
    "This Decider is in an inconsistent state, because a call that changed it was interrupted, for "
    "example by Ctrl-C. Load the last saved file, or reopen the journal, which does not contain "
    "that call."
)

_Call = TypeVar("_Call", bound=Callable[..., Any])


def _locked(method: _Call) -> _Call:
    """Let only one thread at a time call a method, and raise `OrderError` if the Decider broke."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            if self._broken:
                raise OrderError(_BROKEN)
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


class Decider(Parametrised):
    r"""Choose between actions and learn from the outcomes.

    Actions have names, and outcomes are rewards or losses in your units. The context of a decision
    is a mapping or a row of numbers, words, dates and missing values, or None. The `Decider` uses
    the recommended learner, `hn.bandit`, which starts over if it detects drift.

    Parameters
    ----------
    actions
        Names of the actions: strings, or numbers such as prices. None (default) if you pass the
        actions with their features (items) to each `decide` call. With `policies`, the names of
        the elements; the default is then their names in the policy class, such as "home-bridge" for
        the edge ("home", "bridge"), or their numbers.
    policies
        Policy class of sets of elements, if an action is a route, a slate or an assignment, such as
        `oracles.Paths(…)`. A context is then one that this class takes. Default None: single
        actions.
    rewards, losses
        Range (low, high) of the outcomes. Pass `rewards` if more is better, or `losses` if less is
        better. With `policies`, the range for each element.
    baseline
        Your current rule, for comparison: an action, or a function `f(context)` that returns one.
        With items, a function `f(context, actions)`. With `policies`, lists of names of elements
        in place of actions; this needs a `holdout`. Default: no comparison.
    shared, guess
        For `policies`, as in `bandit`: whether an element costs the same in all contexts, and a
        first guess of the outcome of each element. The latter is a mapping from names, or K
        numbers.
    exploration
        Minimum probability of each available action. Default: 0.002 divided by the number of
        actions, so that two decisions in a thousand are random; 0.0001 per item with items. Not
        for sets, which the learner explores by its noise alone.
    holdout
        Share of the decisions that follow the baseline at random, as the control group of an A/B
        test does. Default 0; 0.05 is usual. `summary().holdout` compares the two groups. The
        learner does not use these decisions. Their propensities are exact, too; those of sets are
        not known.
    features, item_features
        Encoders of the contexts and of the items: a `Features`, or a mapping that declares the
        columns. None (default) infers the columns from the first rows.
    clip
        Whether an outcome outside of the range counts as the nearest end of the range. By default,
        it raises `LossError`.
    max_open
        Maximum number of open decisions; one more raises `DecisionError`. Default 100,000.
    confidence
        Joint confidence level of all anytime-valid intervals. Default 0.95.
    seed
        Random seed. None (default) takes fresh entropy.

    Guarantee
    ---------
    A call that raises an error changes nothing. Every decision of a single action states the exact
    probability with which it was drawn. All anytime-valid intervals hold jointly with the given
    confidence, for any outcomes that are fixed before their actions are drawn. Feedback may be
    delayed (`off_policy.Watch`). Without contexts, the expected regret is bounded for any adversary
    (`TsallisINF`). With contexts no theorem applies: the base learner only protects against an
    adversary that predicts the actions.

    Examples
    --------
    >>> import hannan as hn
    >>> d = hn.Decider(actions=["red", "green"], rewards=(0, 200), baseline="red", seed=0)
    >>> for order in range(500):
    ...     decision = d.decide({"age": 20 + order % 50, "city": ["Rome", None][order % 2]})
    ...     learned = d.report(decision, reward=180.0 if decision.action == "green" else 80.0)
    >>> decision.action, d.summary().decisions
    ('green', 500)

    Routes, with the minutes of each link:

    >>> roads = hn.oracles.Paths([("home", "a"), ("home", "b"), ("a", "work"), ("b", "work")],
    ...                          "home", "work")
    >>> d = hn.Decider(policies=roads, losses=(0, 60), seed=0)
    >>> for day in range(200):
    ...     route = d.decide(id=day)
    ...     minutes = {link: 40.0 if "a" in link.split("-") else 10.0 for link in route.action}
    ...     learned = d.report(day, losses=minutes)
    >>> route.action
    ('home-b', 'b-work')
    """

    stored = State(
        _names=Part(),
        _sets=Part(),
        _contexts=Made(Contexts, "_new_contexts", rows=Flag()) | None,
        _learner=Object(Learner, like=lambda self: self._new_learner(self._contexts)) | None,
        _open=Part(),
        _scoreboard=Part(),
        _action_checksum=Count(2**32),
    )
    _broken = False  # whether an interrupted call left an inconsistent state
    _sets: Sets | None = None

    def __init__(
        self,
        actions: Iterable[Any] | None = None,
        *,
        policies: Any = None,
        rewards: tuple[float, float] | None = None,
        losses: tuple[float, float] | None = None,
        baseline: Any = None,
        shared: Any = False,
        guess: Any = None,
        exploration: float | None = None,
        holdout: float = 0.0,
        features: Any = None,
        item_features: Any = None,
        clip: bool = False,
        max_open: int = MOST_OPEN,
        confidence: float = 0.95,
        seed: int | None = None,
    ) -> None:
        self.actions, self.policies, self.rewards, self.losses = actions, policies, rewards, losses
        self.baseline, self.exploration = baseline, exploration
        self.shared, self.guess = shared, guess
        self.holdout = check_share(
            self, holdout, baseline, policies if actions is None else actions
        )
        self.features, self.item_features, self.clip = features, item_features, clip
        self.max_open = check_integer(self, "max_open", max_open, 1, MOST_OPEN + 1)
        self.confidence = confidence
        self.seed = check_seed(self, seed)
        self._lock = threading.RLock()
        self._units = Units(rewards, losses, clip)
        self._names = None if actions is None or policies is not None else Names(actions)
        new_features("features", features)
        new_features("item_features", item_features)
        self._seed = secrets.randbits(62) if self.seed is None else self.seed
        self._group = ControlGroup(self.holdout, self._seed)
        if policies is not None:
            self._sets = sets_of(self, self._units)
            self._names = self._sets.names(actions)
            self._sets.new_learner(self._seed)  # raises if it does not take the policy class
        elif shared is not False or guess is not None:
            raise ParameterError(
                "shared= and guess= are for sets of elements. Leave them out, or pass policies=."
            )
        self._least(self._size)
        self._constant = self._constant_baseline()
        # The first decision creates both, because it shows whether there are contexts.
        self._contexts: Contexts | None = None
        self._learner: Any = None
        self._open = OpenDecisions(self.max_open, _REMEMBERED)
        ruled = baseline is not None
        counted = (self._size, ruled) if self._sets is None else (1 + ruled, False)
        self._scoreboard = Scoreboard(*counted, confidence)
        self._action_checksum = 0  # CRC32 of all actions chosen so far
        self._journal: Journal | None = None
        self._replayed = (0, 0, 0)

    # Decisions and their outcomes ---------------------------------------------------------------

    def decide(
        self,
        context: Any = None,
        available: Any = None,
        id: Id | None = None,
        *,
        actions: Mapping[Any, Any] | None = None,
    ) -> NamedDecision:
        """Choose an action, with its probability and the id under which you report the outcome.

        Parameters
        ----------
        context
            Context of the decision: a mapping or a row. Either all decisions have a context, or
            all have None (default).
        available
            Names of the available actions. Default: all actions that are not retired.
        id
            Your unique id for the decision: an integer, a UUID, or text of up to 200 characters.
            Default: a random id. The same request with the same id returns the same decision.
        actions
            Items to choose from, if you created the Decider without `actions`: a mapping from ids
            to features. Each decision may have different items.
        """
        with self._lock:
            context, row, allowed, key, items, mark = self._asked(context, available, id, actions)
            if key in self._open.waiting or key in self._open.closed:
                return self._same(key, mark, items)
            if len(self._open.waiting) >= self.max_open:
                self._open.check_room(1)
            rule = callable(self.baseline)
            target = self._aim(context, actions, items) if rule else self._constant
            return self._made("decide", row, allowed, key, time.time(), target, items, mark)  # type: ignore[no-any-return]

    def decide_many(
        self,
        contexts: Any,
        available: Any = None,
        ids: Any = None,
        *,
        actions: Mapping[Any, Any] | None = None,
    ) -> Any:
        """Choose an action for each row of a table, as one call of `decide` per row would.

        For a frame, returns a frame of the same kind and index, with the columns action, propensity
        and id. For an array or a list of contexts, returns a list of decisions. If one row raises
        an error, no decision is made.

        Parameters
        ----------
        contexts
            A frame of pandas, polars or pyarrow, a 2-d array, or a list of contexts.
        available
            Names of the available actions for all rows, or a list of such lists, one for each row.
        ids
            An id for each row, as in `decide`. Default: random ids.
        actions
            Items to choose from in every row, as in `decide`.
        """
        rows = rows_of(contexts)
        with self._lock:
            asked, keys = [], []
            several = zip(
                rows,
                available_by_row(available, len(rows)),
                spread("ids", ids, len(rows)),
                strict=True,
            )
            for number, (row, allowed, id) in enumerate(several):
                try:
                    asked.append(self._asked(row, allowed, id, actions))
                except HannanError as error:
                    raise type(error)(f"Row {number}: {error}") from None
                keys.append(asked[-1][3])
            check_distinct(keys)
            answers = self._all_decided(asked, actions)
        if not is_frame(contexts):
            return answers
        columns = {name: [getattr(each, name) for each in answers] for name in _COLUMNS}
        return like(contexts, columns)

    def _all_decided(self, asked: list[Any], actions: Any) -> list[NamedDecision]:
        """Return a decision for each request: the known one for a repeated id, else a new one."""
        rule, now, known, calls = callable(self.baseline), time.time(), {}, []
        for context, row, allowed, key, items, mark in asked:
            if key in self._open.waiting or key in self._open.closed:
                known[key] = self._same(key, mark, items)
            else:
                target = self._aim(context, actions, items) if rule else self._constant
                calls.append([row, allowed, key, now, target, items, mark])
        if calls:
            self._open.check_room(len(calls))
            for answer in self._made("decide_many", calls):
                known[answer.id] = answer
        return [known[each[3]] for each in asked]

    @_locked
    def probabilities(
        self,
        context: Any = None,
        available: Any = None,
        *,
        actions: Mapping[Any, Any] | None = None,
    ) -> Any:
        """Return the action distribution from which `decide` would draw, without deciding.

        For one context, returns a mapping from actions to probabilities. For a frame, returns a
        frame of the same kind with a column for each action. For an array or a list of contexts,
        returns a list of mappings. Each row is treated as the next decision. The Decider does not
        change. For sets, these are the probabilities that each element is chosen, estimated by
        1,000 draws if the policy class cannot compute them.

        Parameters
        ----------
        context
            One context, or several as in `decide_many`.
        available, actions
            As in `decide`; for several contexts, as in `decide_many`.
        """
        many = is_table(context) if self._sets is None else type(context) is list
        rows = rows_of(context, "probabilities") if many else [context]
        masks = available_by_row(available, len(rows)) if many else [available]
        asked = [
            self._asked(row, mask, None, actions) for row, mask in zip(rows, masks, strict=True)
        ]
        names = self._known_names(offered(actions) if self._names is None else None)
        distributions = self._action_distributions(asked)
        if is_frame(context):
            table = np.array(distributions).reshape(len(rows), len(names))
            return like(context, dict(zip(names, table.T, strict=True)))
        answers = [
            dict(zip(names, distribution.tolist(), strict=True)) for distribution in distributions
        ]
        return answers if many else answers[0]

    def _action_distributions(self, asked: list[Any]) -> list[FloatArray]:
        """Return the action distribution of each request, if it were the next one."""
        learner, contexts = self._learner, self._contexts
        distributions = []
        for context, row, allowed, _, items, _ in asked:
            if contexts is None:  # the first row determines the columns of a temporary encoder
                learner, contexts = self._begin(row)
                x, learn = contexts.read(row, items)
                learn()
            else:
                x, _ = contexts.read(row, items)
            distribution = learner.propensities(x, available=allowed, decide=True).probabilities
            if self.holdout:
                rule = callable(self.baseline)
                target = self._aim(context, None, items) if rule else self._constant
                if target is not None and self._group.may_take(target, allowed):
                    distribution = self._group.mixed(distribution, target)
            distributions.append(distribution)
        return distributions

    def _asked(self, context: Any, available: Any, id: Any, actions: Any) -> tuple[Any, ...]:
        """Check a request; return its context, row, available actions, id, items and checksum."""
        if type(context) is not dict and self._sets is None:
            context = only_row(context)
            if context is None and self._contexts is not None and self._contexts.rows:
                raise ContextError(
                    "decide() needs a context, because earlier decisions of this Decider had one. "
                    "Pass {} if nothing is known."
                )
        row, names = plain(context), self._names
        key = id if type(id) is str and 0 < len(id) <= LONGEST else new_id(id)
        allowed = items = numbers = None
        if names is None:
            if available is not None:
                raise ParameterError(
                    "available= is not supported for a Decider without fixed actions. Pass only "
                    "the available items as actions=."
                )
            items = offered(actions)
        elif actions is not None:
            raise ParameterError(
                f"This Decider has fixed actions: {', '.join(map(repr, names.all[:6]))}. actions= "
                "is only for a Decider created without them. To leave out some, pass available=."
            )
        elif available is None:
            allowed = names.here
        else:
            numbers = names.numbers(available)
            allowed = names.playable(numbers)
        # The checksum is of the caller's request, because the retired actions may change before
        # the caller repeats it.
        mark = 0 if id is None else mark_of(row, numbers, items)
        return context, row, allowed, key, items, mark

    def _same(self, key: Id, mark: int, items: Items | None) -> NamedDecision:
        """Return the earlier decision of a repeated request, by its id."""
        action, q = self._open.again(key, mark)
        if key in self._open.waiting:
            return self.decision(key)
        names = self._known_names(items)
        if self._sets is not None:
            return self._sets.answer(names, action, q, key)
        return NamedDecision(names[action], q, key, names)

    def _known_names(self, items: Items | None) -> tuple[Name, ...]:
        """Return the names of all actions, or of the items."""
        return tuple(name for name, _ in items or ()) if self._names is None else self._names.all

    def report(
        self,
        decision: NamedDecision | Id,
        reward: Any = None,
        *,
        loss: Any = None,
        rewards: Any = None,
        losses: Any = None,
    ) -> bool:
        """Report the outcome of a decision, given the decision or its id, in any order.

        For a set, pass the outcomes of its elements as `rewards` or `losses`: a mapping from names
        to numbers, or a sequence in the order of the action.

        Returns whether the learner used the outcome. Reporting the same outcome again changes
        nothing. Another outcome for the same decision raises `ContradictoryOutcomeError`. An
        outcome after the decision has expired is counted, but the learner does not use it.
        """
        with self._lock:
            key = decision if type(decision) is str else as_id(decision)
            if self._sets is None and rewards is None and losses is None:
                outcome: Any = self._units.outcome(reward, loss)
            else:
                told = {"reward": reward, "loss": loss, "rewards": rewards, "losses": losses}
                outcome = self._own_sets("rewards= and losses=").outcomes(
                    self._own_names("report"), self._open.action(key), told
                )
            if key in self._open.waiting:
                self._made("report", key, outcome)
                return True
            if not self._open.told(key, outcome):
                self._made("late")
            return False

    @_locked
    def expire(self, older_than: float | timedelta, reward: Any = None, *, loss: Any = None) -> int:
        """Close old open decisions, and return their number.

        Parameters
        ----------
        older_than
            Minimum age of the decisions: seconds, or a `timedelta`.
        reward, loss
            Outcome of these decisions, such as reward=0.0 for no sale; for sets, of each of their
            elements. By default they have no outcome: the learner does not use them, and
            anytime-valid intervals assume the worst outcome.
        """
        age = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
        if isinstance(age, bool) or not isinstance(age, int | float) or not age >= 0.0:
            raise refuse("expire", "older_than", "a number of seconds >= 0", older_than)
        silent = reward is None and loss is None
        outcome = None if silent else self._units.outcome(reward, loss)
        before = time.time() - float(age)
        many = len(self._open.older(before))
        if many:
            self._made("expire", before, outcome)
        return many

    @_locked
    def decision(self, id: Id) -> NamedDecision:
        """Return an open decision, given its id."""
        key = as_id(id)
        if key not in self._open.waiting:
            self._open.check_closed(key)
            raise ClosedDecisionError(
                f"Decision {key!r} is closed: its outcome has been reported, or it has expired. "
                "For why(), pass the decision that decide() returned instead of its id."
            )
        number, action, q, _, _, control, _ = self._open.waiting[key]
        if self._sets is not None:
            opened = None if number < 0 else self._learner.open_round(number)
            known = self._sets.inclusion(opened, action, control)
            return self._sets.answer(self._known_names(None), action, known, key, opened)
        if number < 0:
            names = self._own_names("holdout").all
            return NamedDecision(names[action], q, key, names)
        opened = self._learner.open_round(number)
        names = opened.context.ids if self._names is None else self._names.all
        distribution = opened.action_distribution()
        distribution = distribution if control is None else self._group.mixed(distribution, control)
        return NamedDecision(names[action], q, key, names, opened, distribution)

    @property
    def open_decisions(self) -> list[Id]:
        """Ids of all open decisions, the oldest first."""
        with self._lock:
            return list(self._open.waiting)

    # Changing actions, and logged decisions -------------------------------------------------------

    @_locked
    def add_action(self, name: Any) -> None:
        """Add an action, starting with the next decision.

        The learner keeps all it has learned about the other actions, and tries the new action as a
        new Decider would. A retired action returns with its past. A policy class has no new
        elements, so with `policies` only retired elements can return.
        """
        names = self._own_names("add_action")
        if self._sets is not None:
            self._sets.check_returns(names, name)
        self._made("add", as_name(name))

    @_locked
    def retire(self, name: Any) -> None:
        """Never choose an action, or an element, again; its open decisions stay open."""
        self._own_names("retire")
        self._made("retire", as_name(name))

    @_locked
    def learn(
        self,
        context: Any,
        action: Any,
        reward: Any = None,
        propensity: Any = None,
        *,
        loss: Any = None,
        actions: Mapping[Any, Any] | None = None,
    ) -> None:
        """Learn from a logged decision of another system, given its propensity.

        The learner uses the decision, but `summary` does not include it: the summary is about the
        Decider's own decisions.

        Parameters
        ----------
        context, action
            Context and action of the logged decision.
        reward, loss
            Outcome of the logged decision.
        propensity
            Probability, in (0, 1], with which the other system chose the action; 1 for a
            deterministic rule. If it is only approximate, the base learner becomes less reliable;
            the predictor does not use it.
        actions
            Items to choose from, as in `decide`.
        """
        if propensity is None:
            raise ParameterError(
                "learn() needs propensity=, the probability with which the action was chosen. Pass "
                "1 for a deterministic rule, or 1/K if all K actions were equally likely."
            )
        self._check_single("learn")
        outcome = self._units.outcome(reward, loss)
        q = check_probability("learn", "propensity", propensity)
        items = None
        if self._names is None:
            items = offered(actions)
            number = place(as_name(action), items, "The action")
        else:
            number = self._names.place(action)
        self._made("learn", plain(only_row(context, "learn")), items, number, outcome, q)

    def warm_start(self, log: Any) -> int:
        """Learn from all decisions of a log, and return their number.

        If a row raises an error, the learner has used the rows before it, and the error names the
        row.

        Parameters
        ----------
        log
            One of these:

            - an `off_policy.Log`. Without names, its actions are indices of the Decider's actions.
              Its losses are in the Decider's units. If the Decider has rewards and the log has
              losses, these must lie in [0, 1], 0 for the highest reward;
            - rows (context, action, outcome, propensity);
            - mappings, or a frame, with the keys or columns action, reward or loss, and propensity.
              All other columns are the context.
        """
        self._check_single("warm_start")
        count, names = 0, self._own_names("warm_start").all
        for context, action, outcome, q in logged(log, names, self._units):
            try:
                self.learn(context, action, propensity=q, **outcome)
            except HannanError as error:
                raise type(error)(f"Row {count} of the log: {error}") from None
            count += 1
        return count

    @_locked
    def log(self) -> Any:
        """Return the decisions with outcomes as a log, to evaluate other rules.

        The `off_policy.Log` has the contexts, the names of the actions, their exact propensities,
        the outcomes in their units, the available actions and the times. A Decider and its files
        hold the last 10,000 closed decisions, about 0.5 kB each. The log leaves out open decisions
        and decisions that expired without an outcome; `log.notes` counts them. Estimates are
        right only if leaving them out does not depend on the action and the outcome: if no outcome
        means no sale, call `expire(age, reward=0.0)` first.

        The log does not contain decisions of `learn`. A Decider without fixed actions has no log:
        `log()` raises `ParameterError`. The log of a Decider of sets is a frame with the columns
        id, time, context, available, action, propensity, and losses or rewards; its notes are in
        `attrs["notes"]`. The propensity of an element is the probability that it was chosen, or an
        estimate of it whose inverse has the right mean; in the holdout it is NaN.

        Examples
        --------
        >>> import hannan as hn
        >>> d = hn.Decider(["red", "green"], rewards=(0, 9), exploration=0.2, seed=0)
        >>> for t in range(400):
        ...     decision = d.decide({"new": t % 2})
        ...     learned = d.report(decision, reward=9.0 if decision.action == "green" else 4.0)
        >>> print(hn.off_policy.evaluate(d.log(), lambda context: "red"))
        mean reward 4, 95 % interval 4 to 4 (...
        """
        names = self._own_names("log").all
        if self._sets is not None:
            return log_of_sets(self._open, self._scoreboard, names, self._units.plural)
        return log_of(self._open, self._scoreboard, names, self._units)

    # Results ------------------------------------------------------------------------------------

    @_locked
    def why(self, decision: NamedDecision | Id) -> Why:
        """Explain a decision: return the probability and expected outcome of each action.

        Pass the decision or, while the decision is open, its id.
        """
        answer = decision if isinstance(decision, NamedDecision) else self.decision(decision)
        names, units, distribution = answer.actions, self._units, answer.distribution
        if self._sets is not None:
            chances = dict(zip(answer.action, answer.propensity, strict=True))
            losses = [] if answer.expected is None else self._sets.losses(answer.expected).tolist()
            expected = dict(zip(names if losses else (), losses, strict=True))
            return Why(answer.action, answer.propensity, chances, expected, units.word)
        probabilities = (
            {} if distribution is None else dict(zip(names, distribution.tolist(), strict=True))
        )
        scores = {}
        if answer.expected is not None:
            values = np.clip(answer.expected, 0.0, 1.0).tolist()
            scores = dict(zip(names, map(units.back, values), strict=True))
        return Why(answer.action, answer.propensity, probabilities, scores, units.word)

    @_locked
    def summary(self) -> Summary:
        """Compare the decisions so far with the baseline and with each constant action."""
        names = None if self._names is None else self._names.all
        waiting = len(self._open.waiting)
        units, elements = self._units, None
        if self._sets is not None:
            units, elements = self._sets.total, self._sets.results(names or ())
        summary = summary_of(self._scoreboard, units, names, self._learner, waiting, elements)
        return replace(summary, notes=(*self._changes, *summary.notes))

    def metrics(self) -> dict[str, Any]:
        """Return the summary as a dictionary of numbers, for a monitoring system.

        The dictionary is always valid JSON; unknown numbers are None.
        """
        with self._lock:
            features = {} if self._contexts is None else self._contexts.quality
            return as_json({**self.summary().to_dict(), "features": features})  # type: ignore[no-any-return]

    def __str__(self) -> str:
        """Return five lines: the actions, counts, the mean outcome, a comparison, and the learner.

        A line for each column of the contexts whose quality has clearly declined follows.
        """
        with self._lock:
            return "\n".join([self._head, *self.summary().lines(), *self._changes])

    def to_frame(self) -> Any:
        """Return the comparisons of `summary()` as a frame; see `Summary.to_frame`."""
        return self.summary().to_frame()

    def plot(self, ax: Any = None) -> Any:
        """Draw the comparisons of `summary()` and return the axes; see `Summary.plot`."""
        return self.summary().plot(ax)

    def _repr_html_(self) -> str:
        return page(paragraph(self._head), self.summary()._repr_html_())

    @property
    def _changes(self) -> list[str]:
        """Sentences about columns whose quality has clearly declined."""
        return [] if self._contexts is None else self._contexts.changes()

    @property
    def _head(self) -> str:
        """The actions and the range of their outcomes."""
        units, names = self._units, [] if self._names is None else self._names.all
        shown = ", ".join(map(str, names[:6])) + (", …" if len(names) > 6 else "")
        shown = shown or "items passed to each decision"
        shown, each = (shown, "") if self._sets is None else (f"sets of {shown}", " per element")
        return f"Decider: {shown}; {units.word} from {units.low:g} to {units.high:g}{each}"

    def warm_up(self, context: Any = None, actions: Mapping[Any, Any] | None = None) -> float:
        """Compile the numba kernels ahead of time, and return the seconds this took.

        numba compiles each kernel at its first call, which takes some seconds. Call `warm_up` when
        a service starts, so that the first decisions are fast. Only a copy of the Decider decides.

        Parameters
        ----------
        context, actions
            Typical values, as in `decide`.
        """
        began = time.perf_counter()
        with self._lock:
            twin = copy.deepcopy(self)
        twin._journal = None
        if context is None and twin._contexts is not None and twin._contexts.rows:
            context = {}
        names, units, sets = twin._names, twin._units, twin._sets is not None
        left = [] if names is None else [each for each in names.all if each not in names.retired]
        for turn in range(_WARM):
            available = left[1:] if turn % 2 and left[1:] and not sets else None
            answer = twin.decide(context, available, actions=actions)
            if turn < 2:
                str(twin)  # compiles the certificate with an open decision
            worst: Any = units.back(1.0)
            told = {units.plural: [worst] * len(answer.action)} if sets else {units.word: worst}
            twin.report(answer, **told)
        return time.perf_counter() - began

    # Files --------------------------------------------------------------------------------------

    @_locked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the Decider to one file, atomically.

        `hannan.load(path)` returns a Decider that continues with identical results.
        """
        save(self, path)

    @_locked
    def journal(
        self, path: str | os.PathLike[str], *, fsync: bool = True, every: int = EVERY
    ) -> Self:
        """Write every call to a file before the call returns, and resume from an existing file.

        If the file exists, and is the journal of a Decider with the same parameters, this Decider
        resumes from its last call. A service can therefore run the same code at its first start
        and at every restart. Returns the Decider itself.

        Parameters
        ----------
        path
            Path of the journal. A lock file next to it excludes other processes.
        fsync
            Whether each call waits for the disk. Default True. If False, calls survive a killed
            process, but a machine that loses power may lose the last calls.
        every
            Number of calls after which a new snapshot replaces the lines so far. Default 10,000.
        """
        if self._journal is not None:
            raise OrderError(f"This Decider already has a journal, {self._journal.path}.")
        journal = Journal(path, bool(fsync), check_every(every))
        try:
            if journal.path.exists():
                self._resume_from(journal)
            else:
                journal.begin(packed(self, Encoder()))
        except BaseException:
            journal.close()
            raise
        self._journal = journal
        return self

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        trusted: Iterable[Any] = (),
        fsync: bool = True,
        every: int = EVERY,
    ) -> Self:
        """Open a journal, and return its Decider as it was after the last completed call.

        Parameters
        ----------
        path
            Path of the journal.
        trusted
            Trusted code, as in `hannan.load`: the function passed as `baseline`, if there is one.
        fsync, every
            As in `journal`.
        """
        if not os.path.exists(path):
            raise StorageError(
                f"There is no journal {path}. Create one with Decider(…).journal(path)."
            )
        journal = Journal(path, bool(fsync), check_every(every))
        try:
            found = load(journal.path, trusted=trusted)
            if not isinstance(found, cls):
                raise DamagedFileError(
                    f"{path} does not hold a Decider, but a {type(found).__name__}."
                )
            journal.go_on(*found._replayed)
        except BaseException:
            journal.close()
            raise
        found._journal = journal
        return found

    def close(self) -> None:
        """Close the journal, so that another process can open it.

        Calls that would change this Decider then raise `StorageError`, because no file would
        record them.
        """
        with self._lock:
            if self._journal is not None:
                self._journal.close()

    def _resume_from(self, journal: Journal) -> None:
        """Take over the state of the Decider of a journal."""
        own = self.baseline, getattr(self.policies, "solve", None)
        rule = [each for each in own if callable(each)]
        found = load(journal.path, trusted=rule)
        ours, theirs = dict(self.params), dict(getattr(found, "params", {}))
        names = self._names
        named = None if self.actions is None else tuple(self.actions)
        changed = names is not None and (named not in (None, names.all) or names.retired)
        if changed or self._learner is not None or type(found) is not type(self):
            raise ParameterError(
                f"The file {journal.path} already exists, and this Decider is not new. Resume from "
                "the file with Decider.open(path), or pass another path."
            )
        if names is not None and theirs.get("actions") is not None:
            begun = list(names.all)
            theirs["actions"], ours["actions"] = list(theirs["actions"])[: len(begun)], begun
        if self.seed is None:
            ours["seed"] = theirs["seed"]
        if not same(ours, theirs):
            which = ", ".join(name for name in ours if not same(ours[name], theirs.get(name)))
            raise ParameterError(
                f"The journal {journal.path} belongs to a Decider with other values of {which}. "
                "Resume from it with Decider.open(path), or pass another path."
            )
        journal.go_on(*found._replayed)
        vars(self).update(vars(found), _lock=self._lock)

    def _resumed(self, mark: bytes, tail: bytes, path: str) -> None:
        """Replay the calls of a journal, by the same code that executed them originally."""
        check, used, done = start(mark), 0, 0
        calls = calls_in(tail, check, path)
        for call, end, after in calls:
            try:
                self._again(call, path)
            except (HannanError, ArithmeticError, LookupError, TypeError, ValueError) as error:
                if done == len(calls) - 1:
                    break  # the call failed, and its process was killed before it removed the line
                raise DamagedFileError(
                    f"{path} is damaged: call {done + 1} after its snapshot, {call[0]!r:.40}, "
                    f"cannot be replayed: {error}"
                ) from error
            check, used, done = after, end, done + 1
        self._replayed = len(tail) - used, check, done

    def _again(self, call: Call, path: str) -> None:
        kind, trail, *args = call
        if kind not in _CALLS:
            raise DamagedFileError(f"{path} is damaged: it holds an unknown call {kind!r:.40}.")
        if trail != self._action_checksum:
            raise StorageError(
                f"Replaying {path} gives other decisions than the original ones. It was written by "
                "another version of Hannan, or on a machine that rounds differently."
            )
        if kind in ("decide", "decide_many"):
            calls = [args] if kind == "decide" else args[0]
            check_distinct([call[2] for call in calls])
            for call in calls:
                self._check_call(*call)
            self._open.check_room(len(calls))
        elif kind == "expire":
            require(self, time=Number().fits(args[0]))
        getattr(self, f"_do_{kind}")(*args)

    def _check_call(
        self,
        row: Any,
        allowed: Any,
        key: Any,
        moment: Any,
        target: Any,
        items: Any,
        mark: Any,
    ) -> None:
        """Raise an error for a decision in a journal that `decide` would not have made."""
        offers, known = self._names is None, self._open
        size = len(items) if offers else self._size
        absent = target is None and (offers or self.baseline is None)
        aimed = Count(size) if self._sets is None else self._sets.baselines
        require(
            self,
            ids=as_id(key) == key and key not in known.waiting and key not in known.closed,
            time=Number().fits(moment),
            baseline=absent or (self.baseline is not None and aimed.fits(target)),
            actions=items == offered(dict(items)) if offers else items is None,
            marks=Count(2**64).fits(mark),
        )

    # Calls --------------------------------------------------------------------------------------

    def _made(self, kind: str, *args: Any) -> Any:
        """Write a call to the journal, then execute it; if it fails, remove it from the journal.

        The caller holds the lock.
        """
        if self._broken:
            raise OrderError(_BROKEN)
        journal, do = self._journal, getattr(self, f"_do_{kind}")
        if journal is not None:
            journal.append([kind, self._action_checksum, *args])
        try:
            answer = do(*args)
        except BaseException as error:
            if journal is not None:
                journal.take_back()
            self._broken |= not isinstance(error, Exception)
            raise
        if journal is not None and journal.due:
            try:
                journal.begin(packed(self, Encoder()))
            except StorageError:
                journal.put_off()
        return answer

    # Each of these depends only on the state and on its arguments, so that calls can be replayed.

    def _do_decide(
        self,
        row: Any,
        allowed: list[int] | None,
        key: Id,
        moment: float,
        target: Any,
        items: Items | None,
        mark: int,
    ) -> NamedDecision:
        learner, contexts = self._learner, self._contexts
        if contexts is None:
            learner, contexts = self._begin(row)
        context, learn = contexts.read(row, items)
        turn = self._turn(learner, context, allowed, target)
        # Nothing can fail after this point.
        learn()
        self._learner, self._contexts = learner, contexts
        return self._entered(turn, key, moment, target, mark, row, allowed)

    def _do_decide_many(self, calls: list[Any]) -> list[NamedDecision]:
        """Decide on all rows, as one call per row would, after all rows have been encoded."""
        learner, contexts = self._learner, copy.deepcopy(self._contexts)
        if contexts is None:
            learner, contexts = self._begin(calls[0][0])
        read = []
        for number, (row, allowed, _, _, target, items, _) in enumerate(calls):
            try:
                context, learn = contexts.read(row, items)
                if self._sets is not None:  # raises if no set is available, or for the context
                    learner.would_play(context, available=allowed)
                    self._check_baseline(context, target)
            except HannanError as error:
                raise type(error)(f"Row {number}: {error}") from None
            learn()
            read.append(context)
        answers = []
        try:
            for context, (row, allowed, key, moment, target, _, mark) in zip(
                read, calls, strict=True
            ):
                turn = self._turn(learner, context, allowed, target)
                self._learner, self._contexts = learner, contexts
                answers.append(self._entered(turn, key, moment, target, mark, row, allowed))
        except BaseException:
            self._broken = True  # only some of the rows have decisions
            raise
        return answers

    def _turn(
        self, learner: Any, context: Any, allowed: list[int] | None, target: Any
    ) -> tuple[Any, int, Any, FloatArray | None, Any]:
        """Let the learner choose the action, or the holdout.

        If the holdout chooses, the learner's choice is discarded; its action distribution and its
        predictions are those of any other round. Returns the learner's round, its number, the
        action, the action distribution, and the action that the holdout would have taken, if any.
        """
        group = self._group
        self._check_baseline(context, target)
        opened = learner.open(context, allowed, late=True, committed=not group.share)
        number, action, distribution = opened.number, opened.action, opened.action_distribution()
        sets = self._sets is not None
        if sets:
            action = tuple(action.tolist())
        if not group.share:
            return opened, number, action, distribution, None
        known = sets or distribution is not None
        control = target if known and group.may_take(target, allowed) else None
        if control is not None and group.takes(self._scoreboard.watch.rounds):
            number, action = -1 - self._scoreboard.held_out, control
        else:
            learner.commit(opened)
        return opened, number, action, distribution, control

    def _entered(
        self,
        turn: tuple[Any, ...],
        key: Id,
        moment: float,
        target: Any,
        mark: int,
        row: Any,
        allowed: list[int] | None,
    ) -> NamedDecision:
        """Record a round as an open decision. Never fails."""
        opened, number, action, distribution, control = turn
        if self._sets is not None:
            text = request_text(row, allowed, self._size)
            self._open.waiting[key] = number, action, None, moment, mark, control, text
            self._sets.add_decision(self._scoreboard, number, action, control)
            trail = b"%d," * len(action) % action
            self._action_checksum = zlib.crc32(trail + b";", self._action_checksum)
            return self.decision(key)  # type: ignore[no-any-return]
        size = self._scoreboard.n_actions
        asked = request_text(row, allowed, size) if size else None
        q = float(opened.record.propensity)
        if control is not None:
            distribution = self._group.mixed(distribution, control)
            q = float(distribution[action])
        self._open.waiting[key] = number, action, q, moment, mark, control, asked
        names = opened.context.ids if self._names is None else self._names.all
        there = None if opened.plays is None else opened.available.tolist()
        self._scoreboard.add_decision(
            number, action, q, target, there, len(names), distribution, opened.values
        )
        self._action_checksum = zlib.crc32(b"%d," % action, self._action_checksum)
        return NamedDecision(names[action], q, key, names, opened, distribution)

    def _do_report(self, key: Id, outcome: Any, expired: bool = False) -> None:
        number, action, *_ = self._open.waiting[key]
        if self._sets is not None:
            self._sets.close(self._open, self._learner, self._scoreboard, key, outcome, expired)
            return
        loss = self._units.as_loss(outcome)
        if number >= 0:
            self._learner.close(self._learner.open_round(number), loss)
        self._scoreboard.add_outcome(number, action, loss)
        self._open.close(key, outcome, expired)

    def _do_late(self) -> None:
        self._scoreboard.late += 1

    def _do_expire(self, before: float, outcome: float | None) -> None:
        for key in self._open.older(before):
            if self._sets is not None:
                size = len(self._open.waiting[key][1])
                told = None if outcome is None else (outcome,) * size
                self._do_report(key, told, expired=True)
            elif outcome is None:
                number = self._open.waiting[key][0]
                if number >= 0:
                    self._learner.forget(number)
                self._scoreboard.add_expired(number)
                self._open.close(key, None, expired=True)
            else:
                self._do_report(key, outcome, expired=True)

    def _do_add(self, name: Name) -> None:
        names = self._own_names("add_action").with_new(name)
        K, learner = len(names), self._learner
        if self._size < K:
            least = self._least(K)
            if learner is not None:
                learner = learner.extended(K, exploration=least)
            self._learner, self._scoreboard = learner, self._scoreboard.extended(K)
        self._names = names

    def _do_retire(self, name: Name) -> None:
        self._names = self._own_names("retire").without(name)

    def _do_learn(
        self, row: Any, items: Items | None, action: int, outcome: float, propensity: float
    ) -> None:
        learner, contexts = self._learner, self._contexts
        if contexts is None:
            learner, contexts = self._begin(row)
        loss = self._units.as_loss(outcome)
        context, learn = contexts.read(row, items)
        learner.learn(context, action, loss, propensity)
        # Nothing can fail after this point.
        learn()
        self._learner, self._contexts = learner, contexts
        self._scoreboard.logged += 1

    # Parts --------------------------------------------------------------------------------------

    def _begin(self, row: Any) -> tuple[Any, Contexts]:
        """Create the learner and the encoder of contexts that the first context needs."""
        contexts = self._new_contexts(row is not None)
        return self._new_learner(contexts), contexts

    @property
    def _size(self) -> int:
        """Number of actions; 0 if items are passed to each decision."""
        return 0 if self._names is None else len(self._names)

    def _own_sets(self, argument: str) -> Sets:
        """Return the elements of sets; raise `ParameterError` if actions are single."""
        if self._sets is None:
            raise ParameterError(
                f"{argument} are for the elements of sets, with policies=, but this Decider "
                f"chooses single actions. Pass one number as {self._units.word}=."
            )
        return self._sets

    def _check_single(self, verb: str) -> None:
        """Raise `ParameterError` if actions are sets."""
        if self._sets is not None:
            raise ParameterError(
                f"{verb}() takes single actions, but this Decider chooses sets. Let it make the "
                "decisions itself, and report the outcomes of their elements."
            )

    def _own_names(self, verb: str) -> Names:
        """Return the names of the actions; raise `ParameterError` if there are none."""
        if self._names is None:
            raise ParameterError(
                f"{verb}() needs a Decider with fixed actions. This one was created without "
                "actions=, and takes items with each decision."
            )
        return self._names

    def _constant_baseline(self) -> Any:
        """Return the baseline's action as an index, if the baseline is an action."""
        if self.baseline is None or callable(self.baseline):
            return None
        if self._names is None:
            raise refuse(self, "baseline", "a function of the context and the items", self.baseline)
        return self._place(self.baseline)

    def _place(self, choice: Any) -> Any:
        """Return the index of an action of the baseline, or the elements of its set."""
        assert self._names is not None
        if self._sets is not None:
            return self._sets.choice(self._names, choice)
        return self._names.place(choice)

    def _check_baseline(self, context: Any, target: Any) -> None:
        if self._sets is not None and target is not None:
            assert self._names is not None
            self._sets.check_feasible(self._names, target, context)

    def _aim(self, context: Any, actions: Any, items: Items | None) -> Any:
        """Return the action of the baseline's rule, as an index; None if it takes no item."""
        if items is None:
            return self._place(self.baseline(context))
        taken = self.baseline(context, actions)
        return None if taken is None else place(as_name(taken), items, "The baseline's choice")

    def _least(self, n_actions: int) -> float:
        """Return the minimum probability of each action."""
        given = self.exploration
        if self._sets is not None:
            return 0.0
        if given is None:
            return _EXPLORED / n_actions if n_actions else _EXPLORED_OF_OFFERS
        most = max(n_actions, 2)
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not 0.0 <= given < 1.0 / most:
            raise refuse(self, "exploration", f"a probability from 0 to less than 1/{most}", given)
        return float(given)

    def _new_contexts(self, rows: bool) -> Contexts:
        sets = self._sets is not None
        features = self.features, self.item_features
        return Contexts(rows and not sets, self._names is None, *features, keys=sets)

    def _new_learner(self, contexts: Contexts) -> Learner:
        if self._sets is not None:
            return self._sets.new_learner(self._seed)
        K = self._size
        options: dict[str, Any] = {"seed": self._seed, "exploration": self._least(K)}
        if contexts.items:
            return bandit(actions="items", **options)
        return bandit(K, None if contexts.rows else 1, **options)

    # Storage ------------------------------------------------------------------------------------

    def _params_to_store(self) -> dict[str, Any]:
        names = None if self._names is None else list(self._names.all)
        return {**self.params, "actions": names, "seed": self._seed}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy, which gets a separate lock."""
        return {**vars(self), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _check_state(self) -> None:
        learner = self._learner
        numbers = [] if learner is None else learner.open_decisions
        opened = [learner.open_round(number) for number in numbers]
        rounds = [(each.number, as_stored(each.action)) for each in opened]
        waiting = sorted(each[:2] for each in self._open.waiting.values())
        require(
            self,
            learner=(learner is None) == (self._contexts is None),
            items=self._names is not None or all(each.context.ids for each in opened),
            decisions=rounds == [each for each in waiting if each[0] >= 0]
            and [number for number, _ in waiting] == sorted(self._scoreboard.watch.open_decisions)
            and all(np.max(action, initial=0) < self._size for n, action in waiting if n < 0),
        )
