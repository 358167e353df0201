"""The front door: decisions of your own, by name and in your units."""

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
from hannan.decisions.summary import Summary, summary_of
from hannan.off_policy import Log

_EXPLORED = 0.002  # of all decisions, unless exploration= says otherwise
_EXPLORED_OF_OFFERS = 0.0001  # the same for each of what is offered
_WARM = 100  # decisions, of which the base makes one nearly surely, with its noise
_REMEMBERED = 10_000  # closed decisions whose outcomes may be reported again

_COLUMNS = ("action", "propensity", "id")
_CALLS = ("decide", "decide_many", "report", "late", "expire", "add", "retire", "learn")
_BROKEN = (
    "This Decider is broken: a call was interrupted while it changed the Decider, by Ctrl-C for "
    "example. Load the file that was saved last, or open the journal again, which does not have "
    "that call."
)

_Call = TypeVar("_Call", bound=Callable[..., Any])


def _locked(method: _Call) -> _Call:
    """Let one call at a time be made, from whatever thread."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            if self._broken:
                raise OrderError(_BROKEN)
            return method(self, *args, **kwargs)

    return call  # type: ignore[return-value]


class Decider(Parametrised):
    r"""Decides which action to take, and learns from what came of it.

    Actions have names, outcomes are rewards or losses in units of your own, and what is known
    before a decision is a mapping or a row of anything: numbers, words, dates, or nothing at all.
    Behind it is the recommended learner, `hn.bandit`, which starts over when the world changes.

    Parameters
    ----------
    actions
        Their names: words, or numbers such as prices. None where every decision brings its own
        actions with features of theirs.
    rewards, losses
        (low, high) of the outcomes: `rewards` where more is better, `losses` where less is.
    baseline
        What is done today, to be compared all along: an action, or a function of the context that
        returns one; where every decision offers its own, of the context and the offer.
    exploration
        The least probability of every available action; by default two decisions in a thousand are
        made at random, 0.002 divided by the number of actions. Of what is offered 0.0001 each.
    holdout
        The share of decisions that follow the baseline at random, as the control group of an A/B
        test does: 0.05 is usual. `summary().holdout` compares the two. Nothing is learned from
        them, and their propensities are exact like all others.
    features, item_features
        How contexts, and what is offered, are read: a `Features` or a mapping that declares them;
        None to find out from the first ones.
    clip
        Whether outcomes outside of their range count as its nearest end. Else they are refused.
    max_open
        How many decisions may wait for their outcomes; one more is refused.
    confidence
        Of all intervals together.
    seed
        Fixes all randomness; None takes fresh entropy.

    Guarantee
    ---------
    A refused call changes nothing. Every decision states the probability it was drawn with, which
    is exact. All intervals hold at once and at all times with the given confidence, whatever the
    outcomes, if these are fixed before the action is drawn, though they may come late
    (`off_policy.Watch`). Without contexts expected regret is bounded for any adversary
    (`TsallisINF`); with contexts no theorem applies, and the learner's base is protection only
    against being predictable.

    Examples
    --------
    >>> import hannan as hn
    >>> d = hn.Decider(actions=["red", "green"], rewards=(0, 200), baseline="red", seed=0)
    >>> for order in range(500):
    ...     decision = d.decide({"age": 20 + order % 50, "city": ["Rome", None][order % 2]})
    ...     learned = d.report(decision, reward=180.0 if decision.action == "green" else 80.0)
    >>> decision.action, d.summary().decisions
    ('green', 500)
    """

    stored = State(
        _names=Part(),
        _contexts=Made(Contexts, "_new_contexts", rows=Flag()) | None,
        _learner=Object(Learner, like=lambda self: self._new_learner(self._contexts)) | None,
        _open=Part(),
        _scoreboard=Part(),
        _action_checksum=Count(2**32),
    )
    _broken = False  # whether a call was interrupted while it changed something

    def __init__(
        self,
        actions: Iterable[Any] | None = None,
        *,
        rewards: tuple[float, float] | None = None,
        losses: tuple[float, float] | None = None,
        baseline: Any = None,
        exploration: float | None = None,
        holdout: float = 0.0,
        features: Any = None,
        item_features: Any = None,
        clip: bool = False,
        max_open: int = MOST_OPEN,
        confidence: float = 0.95,
        seed: int | None = None,
    ) -> None:
        self.actions, self.rewards, self.losses = actions, rewards, losses
        self.baseline, self.exploration = baseline, exploration
        self.holdout = check_share(self, holdout, baseline, actions)
        self.features, self.item_features, self.clip = features, item_features, clip
        self.max_open = check_integer(self, "max_open", max_open, 1, MOST_OPEN + 1)
        self.confidence = confidence
        self.seed = check_seed(self, seed)
        self._lock = threading.RLock()
        self._units = Units(rewards, losses, clip)
        self._names = None if actions is None else Names(actions)
        new_features("features", features)
        new_features("item_features", item_features)
        self._seed = secrets.randbits(62) if self.seed is None else self.seed
        self._group = ControlGroup(self.holdout, self._seed)
        self._least(self._size)
        self._constant = self._constant_baseline()
        # Both are made once the first decision shows whether there are contexts.
        self._contexts: Contexts | None = None
        self._learner: Any = None
        self._open = OpenDecisions(self.max_open, _REMEMBERED)
        self._scoreboard = Scoreboard(self._size, baseline is not None, confidence)
        self._action_checksum = 0  # of all actions that were decided on
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
        """An action for a context, with its probability and an id to report its outcome under.

        Parameters
        ----------
        context
            What is known before the decision: a mapping, a row, or None, always, for none.
        available
            The names of the actions that can be taken now; by default all that are not retired.
        id
            An id of your own, which nobody else has: a number or up to 200 letters.
        actions
            What is offered, where the Decider was made without actions: for each id what is known
            of it. The offer may be another one each time.
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
        """Decide on each row of a table, as so many calls of `decide` would, or on none.

        Returns a frame with the columns action, propensity and id, of the kind of the given frame
        and with its index; for an array or a list of contexts, a list of answers. If one row is
        refused, no decision is made.

        Parameters
        ----------
        contexts
            A frame of pandas, polars or pyarrow, a 2-d array, or a list of contexts.
        available
            The names of the actions that can be taken now, for all rows; or such a list for each.
        ids
            An id for each row, as in `decide`; by default new ones.
        actions
            The items that are offered to each row, as in `decide`.
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
        """Return the answer to each request: those known already, and all others decided on."""
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
        """Return the action distribution that `decide` would draw from; no decision is opened.

        For one context a mapping from actions to probabilities; for a frame one of its kind, with a
        column for each action; for an array or a list of contexts a list of mappings. Each row is
        read as the next decision. Nothing changes.

        Parameters
        ----------
        context
            A context, or several as in `decide_many`.
        available, actions
            As in `decide`, and as in `decide_many` for several.
        """
        many = is_table(context)
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
            if contexts is None:  # the first row fixes the columns, of a reader for this call alone
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
        """Return a checked request: the context, its row, available actions, id, offer and mark."""
        if type(context) is not dict:
            context = only_row(context)
            if context is None and self._contexts is not None and self._contexts.rows:
                raise ContextError(
                    "decide() needs a context: this Decider has seen contexts. Give {} where "
                    "nothing is known."
                )
        row, names = plain(context), self._names
        key = id if type(id) is str and 0 < len(id) <= LONGEST else new_id(id)
        allowed = items = numbers = None
        if names is None:
            if available is not None:
                raise ParameterError(
                    "Of what is offered, leave out of actions= what cannot be had."
                )
            items = offered(actions)
        elif actions is not None:
            raise ParameterError(
                "actions= is for a Decider that was made without: this one decides between "
                f"{', '.join(map(repr, names.all[:6]))}. available= leaves out some."
            )
        elif available is None:
            allowed = names.here
        else:
            numbers = names.numbers(available)
            allowed = names.playable(numbers)
        # What the caller asked: which actions are retired may change until it asks again.
        mark = 0 if id is None else mark_of(row, numbers, items)
        return context, row, allowed, key, items, mark

    def _same(self, key: Id, mark: int, items: Items | None) -> NamedDecision:
        """Return the decision that was made under an id, for a request that is made again."""
        action, q = self._open.again(key, mark)
        if key in self._open.waiting:
            return self.decision(key)
        names = self._known_names(items)
        return NamedDecision(names[action], q, key, names)

    def _known_names(self, items: Items | None) -> tuple[Name, ...]:
        """Return the names of all actions, or of the items that are offered."""
        return tuple(name for name, _ in items or ()) if self._names is None else self._names.all

    def report(self, decision: NamedDecision | Id, reward: Any = None, *, loss: Any = None) -> bool:
        """The outcome of a decision, given it or its id: at any time, in any order, or again.

        Returns whether it was learned. The same outcome a second time changes nothing, another one
        is refused; what comes after the decision has expired is counted and not learned.
        """
        with self._lock:
            key = decision if type(decision) is str else as_id(decision)
            outcome = self._units.outcome(reward, loss)
            if key in self._open.waiting:
                self._made("report", key, outcome)
                return True
            if not self._open.told(key, outcome):
                self._made("late")
            return False

    @_locked
    def expire(self, older_than: float | timedelta, reward: Any = None, *, loss: Any = None) -> int:
        """Give up waiting for the outcomes of old decisions; how many there were.

        Parameters
        ----------
        older_than
            An age in seconds, or a `timedelta`.
        reward, loss
            What no answer means, such as reward=0.0 where nobody bought; by default nothing is
            learned from these decisions, and intervals count them at their worst.
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
        """A decision that waits for its outcome, by its id."""
        key = as_id(id)
        if key not in self._open.waiting:
            self._open.check_closed(key)
            raise ClosedDecisionError(
                f"Decision {key!r} does not wait for its outcome any more, and only what decide() "
                "returned still knows of it: why(decision) takes that, in place of the id."
            )
        number, action, q, _, _, control, _ = self._open.waiting[key]
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
        """The ids of all decisions that wait for their outcomes, the oldest first."""
        with self._lock:
            return list(self._open.waiting)

    # Actions that come and go, and decisions of others --------------------------------------------

    @_locked
    def add_action(self, name: Any) -> None:
        """One more action, from the next decision on; a retired one comes back as it was known.

        All that was learned of the others stays, and of the new one nothing is known: it is tried
        as one of a new Decider would be.
        """
        self._own_names("add_action")
        self._made("add", as_name(name))

    @_locked
    def retire(self, name: Any) -> None:
        """Never decide on an action again; open decisions on it may still be reported."""
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
        """A decision that was made elsewhere, with the probability it was drawn with.

        It counts in what is learned, and in no statement: those are about decisions made here.

        Parameters
        ----------
        context, action
            What was known, and what was done.
        reward, loss
            What came of it.
        propensity
            The probability with which it was done, greater than 0; 1 where it always is. The less
            is known of it, the less the learner's base is worth; the predictor does not use it.
        actions
            What was offered, as in `decide`.
        """
        if propensity is None:
            raise ParameterError(
                "learn() needs propensity=, the probability with which the action was chosen: 1 "
                "where a fixed rule chose it, 1/K where any of K actions was as likely."
            )
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
        """Learn all decisions of a log; how many there were.

        If one of them is refused, those before it have been learned, and the error says which.

        Parameters
        ----------
        log
            An `off_policy.Log`, by its names and with its rewards if it has them; otherwise its
            actions are numbers in the order of ours, and its losses are in our units, or in [0, 1],
            0 for the highest reward, where we have rewards; rows
            (context, action, outcome, propensity); or mappings, or a frame, with columns action,
            reward or loss, and propensity, all others being the context.
        """
        count, names = 0, self._own_names("warm_start").all
        for context, action, outcome, q in logged(log, names, self._units):
            try:
                self.learn(context, action, propensity=q, **outcome)
            except HannanError as error:
                raise type(error)(f"Row {count} of the log: {error}") from None
            count += 1
        return count

    @_locked
    def log(self) -> Log:
        """Return the decisions with outcomes as a log, to evaluate other rules on.

        The `off_policy.Log` has the contexts, the actions by name, their exact propensities, the
        outcomes in their units, the available actions and the times. A Decider keeps the last
        10,000 closed decisions, about 0.5 kB each, and so do its files. Decisions that wait for
        their outcomes, and those that expired without one, are left out; `log.notes` counts them.
        Estimates are right only if these are left out whatever their action and outcome: where no
        answer means no sale, let `expire(age, reward=0.0)` say so first.

        Decisions of `learn` and of a Decider without actions of its own are not kept.

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
        return log_of(self._open, self._scoreboard, self._own_names("log").all, self._units)

    # What is known ------------------------------------------------------------------------------

    @_locked
    def why(self, decision: NamedDecision | Id) -> Why:
        """The probabilities and the expected outcomes of all actions when a decision was made.

        A decision that has been answered is to be given itself, not by its id.
        """
        answer = decision if isinstance(decision, NamedDecision) else self.decision(decision)
        names, units, distribution = answer.actions, self._units, answer.distribution
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
        """How decisions fare, beside the baseline and every action on its own."""
        names = None if self._names is None else self._names.all
        waiting = len(self._open.waiting)
        summary = summary_of(self._scoreboard, self._units, names, self._learner, waiting)
        return replace(summary, notes=(*self._changes, *summary.notes))

    def metrics(self) -> dict[str, Any]:
        """Return the summary as numbers by name, for a monitoring system: valid JSON at all times.

        A number that is not known is None.
        """
        with self._lock:
            features = {} if self._contexts is None else self._contexts.quality
            return as_json({**self.summary().to_dict(), "features": features})  # type: ignore[no-any-return]

    def __str__(self) -> str:
        """Five lines: what it decides on, how much, how well, compared with what, and how.

        Then a line for each column of the contexts that has clearly become worse.
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
        """A sentence for each column whose quality has clearly become worse."""
        return [] if self._contexts is None else self._contexts.changes()

    @property
    def _head(self) -> str:
        """The actions and the range of their outcomes."""
        units, names = self._units, [] if self._names is None else self._names.all
        shown = ", ".join(map(str, names[:6])) + (", …" if len(names) > 6 else "")
        shown = shown or "what is offered each time"
        return f"Decider: {shown}; {units.word} from {units.low:g} to {units.high:g}"

    def warm_up(self, context: Any = None, actions: Mapping[Any, Any] | None = None) -> float:
        """Compile what decisions need, on a copy: nothing changes. The seconds that this took.

        Inner loops are compiled when they are first called, which takes some seconds; called when
        a service starts, this takes them out of its first answers.

        Parameters
        ----------
        context, actions
            Such as will come.
        """
        began = time.perf_counter()
        with self._lock:
            twin = copy.deepcopy(self)
        twin._journal = None
        if context is None and twin._contexts is not None and twin._contexts.rows:
            context = {}
        names = twin._names
        left = [] if names is None else [each for each in names.all if each not in names.retired]
        for turn in range(_WARM):
            available = left[1:] if turn % 2 and left[1:] else None
            answer = twin.decide(context, available, actions=actions)
            if turn < 2:
                str(twin)  # which says what a decision without an outcome may cost
            twin.report(answer, **{twin._units.word: twin._units.back(1.0)})
        return time.perf_counter() - began

    # Files --------------------------------------------------------------------------------------

    @_locked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one step: `hannan.load(path)` decides on bit for bit."""
        save(self, path)

    @_locked
    def journal(
        self, path: str | os.PathLike[str], *, fsync: bool = True, every: int = EVERY
    ) -> Self:
        """From now on every accepted call is in this file before it returns.

        If there is a journal already, of a Decider made like this one, this one takes it up where
        that one ended: so a service makes its Decider and names its journal, whether it starts or
        starts again. Returns the Decider itself.

        Parameters
        ----------
        path
            The file; a lock file beside it keeps other processes out.
        fsync
            Whether a call waits for the disk. Without, calls outlive a killed process all the
            same, but the last ones may not outlive a machine that loses power.
        every
            After how many calls a new snapshot takes the place of the lines so far.
        """
        if self._journal is not None:
            raise OrderError(f"This Decider has a journal already, {self._journal.path}.")
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
        """The Decider of a journal, as it was after the last call that was acknowledged.

        Parameters
        ----------
        path
            The file.
        trusted
            As in `hannan.load`: the function that was given as `baseline`, if one was.
        fsync, every
            As in `journal`.
        """
        if not os.path.exists(path):
            raise StorageError(f"There is no journal {path}: Decider(…).journal(path) begins one.")
        journal = Journal(path, bool(fsync), check_every(every))
        try:
            found = load(journal.path, trusted=trusted)
            if not isinstance(found, cls):
                raise DamagedFileError(f"{path} holds no Decider but a {type(found).__name__}.")
            journal.go_on(*found._replayed)
        except BaseException:
            journal.close()
            raise
        found._journal = journal
        return found

    def close(self) -> None:
        """End the journal, so that another process may take it up.

        From then on this Decider refuses calls that would change it, because no file would have
        them.
        """
        with self._lock:
            if self._journal is not None:
                self._journal.close()

    def _resume_from(self, journal: Journal) -> None:
        """Become the Decider of a journal."""
        rule = [self.baseline] if callable(self.baseline) else []
        found = load(journal.path, trusted=rule)
        ours, theirs = dict(self.params), dict(getattr(found, "params", {}))
        names = self._names
        changed = names is not None and (names.all != tuple(self.actions or ()) or names.retired)
        if changed or self._learner is not None or type(found) is not type(self):
            raise ParameterError(
                f"There is a file {journal.path} already, and this Decider has made decisions of "
                "its own: take up the journal by Decider.open(path), or give another name."
            )
        if names is not None and theirs.get("actions") is not None:
            begun = list(names.all)
            theirs["actions"], ours["actions"] = list(theirs["actions"])[: len(begun)], begun
        if self.seed is None:
            ours["seed"] = theirs["seed"]
        if not same(ours, theirs):
            which = ", ".join(name for name in ours if not same(ours[name], theirs.get(name)))
            raise ParameterError(
                f"The journal {journal.path} is of a Decider with another {which}: "
                "Decider.open(path) takes that one up."
            )
        journal.go_on(*found._replayed)
        vars(self).update(vars(found), _lock=self._lock)

    def _resumed(self, mark: bytes, tail: bytes, path: str) -> None:
        """Make the calls of a journal again, by the same code that made them at first."""
        check, used, done = start(mark), 0, 0
        calls = calls_in(tail, check, path)
        for call, end, after in calls:
            try:
                self._again(call, path)
            except (HannanError, ArithmeticError, LookupError, TypeError, ValueError) as error:
                if done == len(calls) - 1:
                    break  # it was refused, and its process killed before it was taken back
                raise DamagedFileError(
                    f"{path} is damaged: call {done + 1} after its snapshot, {call[0]!r:.40}, "
                    f"cannot be made again: {error}"
                ) from error
            check, used, done = after, end, done + 1
        self._replayed = len(tail) - used, check, done

    def _again(self, call: Call, path: str) -> None:
        kind, trail, *args = call
        if kind not in _CALLS:
            raise DamagedFileError(f"{path} holds a call {kind!r:.40}, which there is not.")
        if trail != self._action_checksum:
            raise StorageError(
                f"{path} replays to other decisions than were made: it was written by another "
                "version, or on a machine that rounds otherwise."
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
        """Refuse a decision of a journal that `decide` would not have made."""
        offers, known = self._names is None, self._open
        size = len(items) if offers else self._size
        absent = target is None and (offers or self.baseline is None)
        require(
            self,
            ids=as_id(key) == key and key not in known.waiting and key not in known.closed,
            time=Number().fits(moment),
            baseline=absent or (self.baseline is not None and Count(size).fits(target)),
            actions=items == offered(dict(items)) if offers else items is None,
            marks=Count(2**64).fits(mark),
        )

    # Calls --------------------------------------------------------------------------------------

    def _made(self, kind: str, *args: Any) -> Any:
        """Write a call to the journal, then do it; if it is refused, take it back.

        The caller has the lock.
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

    # Each of these is a function of what was learned and of its arguments alone.

    def _do_decide(
        self,
        row: Any,
        allowed: list[int] | None,
        key: Id,
        moment: float,
        target: int | None,
        items: Items | None,
        mark: int,
    ) -> NamedDecision:
        learner, contexts = self._learner, self._contexts
        if contexts is None:
            learner, contexts = self._begin(row)
        context, learn = contexts.read(row, items)
        turn = self._turn(learner, context, allowed, target)
        # From here on nothing can fail.
        learn()
        self._learner, self._contexts = learner, contexts
        return self._entered(turn, key, moment, target, mark, row, allowed)

    def _do_decide_many(self, calls: list[Any]) -> list[NamedDecision]:
        """Decide on all rows, as so many calls would, once all of them have been read."""
        learner, contexts = self._learner, copy.deepcopy(self._contexts)
        if contexts is None:
            learner, contexts = self._begin(calls[0][0])
        read = []
        for number, (row, *_, items, _) in enumerate(calls):
            try:
                context, learn = contexts.read(row, items)
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
            self._broken = True  # some rows are decided on, and others are not
            raise
        return answers

    def _turn(
        self, learner: Any, context: Any, allowed: list[int] | None, target: int | None
    ) -> tuple[Any, int, int, FloatArray | None, int | None]:
        """Let the learner choose, or the holdout in its place.

        Then the learner's choice never happened; its action distribution and its predictions are
        those of any other round. Returns the learner's round, its number, the action, the action
        distribution, and the action that the holdout would have taken, if any.
        """
        group = self._group
        opened = learner.open(context, allowed, late=True, committed=not group.share)
        number, action, distribution = opened.number, opened.action, opened.action_distribution()
        if not group.share:
            return opened, number, action, distribution, None
        control = target if distribution is not None and group.may_take(target, allowed) else None
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
        target: int | None,
        mark: int,
        row: Any,
        allowed: list[int] | None,
    ) -> NamedDecision:
        """Enter a round as an open decision; nothing can fail."""
        opened, number, action, distribution, control = turn
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

    def _do_report(self, key: Id, outcome: float, expired: bool = False) -> None:
        number, action, *_ = self._open.waiting[key]
        loss = self._units.as_loss(outcome)
        if number >= 0:
            self._learner.close(self._learner.open_round(number), loss)
        self._scoreboard.add_outcome(number, action, loss)
        self._open.close(key, outcome, expired)

    def _do_late(self) -> None:
        self._scoreboard.late += 1

    def _do_expire(self, before: float, outcome: float | None) -> None:
        for key in self._open.older(before):
            if outcome is None:
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
        # From here on nothing can fail.
        learn()
        self._learner, self._contexts = learner, contexts
        self._scoreboard.logged += 1

    # Parts --------------------------------------------------------------------------------------

    def _begin(self, row: Any) -> tuple[Any, Contexts]:
        """Make the learner and the reader of contexts that the first context asks for."""
        contexts = self._new_contexts(row is not None)
        return self._new_learner(contexts), contexts

    @property
    def _size(self) -> int:
        """K; 0 where every decision offers its own actions."""
        return 0 if self._names is None else len(self._names)

    def _own_names(self, verb: str) -> Names:
        """The names, where there are any."""
        if self._names is None:
            raise ParameterError(
                f"{verb}() is for a Decider with actions of its own; this one was made without, "
                "and each decision says what is offered."
            )
        return self._names

    def _constant_baseline(self) -> int | None:
        """Return the number of the baseline's action, if the baseline is an action."""
        if self.baseline is None or callable(self.baseline):
            return None
        if self._names is None:
            raise refuse(self, "baseline", "a function of the context and the offer", self.baseline)
        return self._names.place(self.baseline)

    def _aim(self, context: Any, actions: Any, items: Items | None) -> int | None:
        """What the baseline's rule does; of an offer None if it takes nothing that is in it."""
        if items is None:
            assert self._names is not None
            return self._names.place(self.baseline(context))
        taken = self.baseline(context, actions)
        return None if taken is None else place(as_name(taken), items, "The baseline's choice")

    def _least(self, n_actions: int) -> float:
        """The least probability of an action."""
        given = self.exploration
        if given is None:
            return _EXPLORED / n_actions if n_actions else _EXPLORED_OF_OFFERS
        most = max(n_actions, 2)
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not 0.0 <= given < 1.0 / most:
            raise refuse(self, "exploration", f"a probability from 0 to less than 1/{most}", given)
        return float(given)

    def _new_contexts(self, rows: bool) -> Contexts:
        return Contexts(rows, self._names is None, self.features, self.item_features)

    def _new_learner(self, contexts: Contexts) -> Learner:
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
        """For copies: they have a lock of their own."""
        return {**vars(self), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _check_state(self) -> None:
        learner = self._learner
        numbers = [] if learner is None else learner.open_decisions
        rounds = [(number, learner.open_round(number).action) for number in numbers]
        waiting = sorted(each[:2] for each in self._open.waiting.values())
        require(
            self,
            learner=(learner is None) == (self._contexts is None),
            decisions=rounds == [each for each in waiting if each[0] >= 0]
            and [number for number, _ in waiting] == sorted(self._scoreboard.watch.open_decisions)
            and all(action < self._size for number, action in waiting if number < 0),
        )
