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
from datetime import timedelta
from typing import Any, Self, TypeVar

import numpy as np

from hannan._recommended import bandit
from hannan.core import (
    DamagedFileError,
    HannanError,
    Learner,
    OrderError,
    ParameterError,
    StorageError,
    load,
)
from hannan.core.params import Parametrised
from hannan.core.rounds import MOST_OPEN
from hannan.core.state import Count, Flag, Made, Number, Object, Part, State, require, same
from hannan.core.storage import save
from hannan.core.storage.encoding import Encoder
from hannan.core.storage.files import packed
from hannan.core.validation import check_integer, check_probability, check_seed, refuse
from hannan.decisions.answers import Answer, Id, OpenDecisions, Units, Why, as_id
from hannan.decisions.contexts import Contexts, Items, new_features, offered, place, plain
from hannan.decisions.journal import EVERY, Call, Journal, calls_in, check_every, start
from hannan.decisions.logs import logged
from hannan.decisions.names import Name, Names, as_name
from hannan.decisions.scoreboard import Scoreboard
from hannan.decisions.summary import Summary, summary_of

_EXPLORED = 0.002  # of all decisions, unless exploration= says otherwise
_EXPLORED_OF_OFFERS = 0.0001  # the same for each of what is offered
_WARM = 4  # decisions
_REMEMBERED = 10_000  # closed decisions whose outcomes may be reported again

_CALLS = ("decide", "report", "late", "expire", "add", "retire", "learn")
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
        _board=Part(),
        _trail=Count(2**32),
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
        features: Any = None,
        item_features: Any = None,
        clip: bool = False,
        max_open: int = MOST_OPEN,
        confidence: float = 0.95,
        seed: int | None = None,
    ) -> None:
        self.actions, self.rewards, self.losses = actions, rewards, losses
        self.baseline, self.exploration = baseline, exploration
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
        self._least(self._size)
        self._constant = self._constant_baseline()
        # Both are made once the first decision shows whether there are contexts.
        self._contexts: Contexts | None = None
        self._learner: Any = None
        self._open = OpenDecisions(self.max_open, _REMEMBERED)
        self._board = Scoreboard(self._size, baseline is not None, confidence)
        self._trail = 0  # of all actions that were decided on
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
    ) -> Answer:
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
            row, key = plain(context), self._open.admit(id)
            names, some, items = self._names, None, None
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
            else:
                some = names.here if available is None else names.some(available)
            aim = self._constant
            if callable(self.baseline):
                aim = self._aim(context, actions, items)
            return self._made("decide", row, some, key, time.time(), aim, items)  # type: ignore[no-any-return]

    def report(self, decision: Answer | Id, reward: Any = None, *, loss: Any = None) -> bool:
        """The outcome of a decision, given it or its id: at any time, in any order, or again.

        Returns whether it was learned. The same outcome a second time changes nothing, another one
        is refused; what comes after the decision has expired is counted and not learned.
        """
        with self._lock:
            key, outcome = as_id(decision), self._units.outcome(reward, loss)
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
    def decision(self, id: Id) -> Answer:
        """A decision that waits for its outcome, by its id."""
        key = as_id(id)
        if key not in self._open.waiting:
            self._open.check_closed(key)
            raise OrderError(f"Decision {key!r} does not wait for its outcome any more.")
        number, action, q, _ = self._open.waiting[key]
        opened = self._learner.open_round(number)
        names = opened.context.ids if self._names is None else self._names.all
        return Answer(names[action], q, key, names, opened)

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
        self._made("learn", plain(context), items, number, outcome, q)

    def warm_start(self, log: Any) -> int:
        """Learn all decisions of a log; how many there were.

        If one of them is refused, those before it have been learned, and the error says which.

        Parameters
        ----------
        log
            An `off_policy.Log`, whose actions are numbers in the order of ours, and whose losses
            are in our units, or in [0, 1], 0 for the highest reward, where we have rewards; rows
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

    # What is known ------------------------------------------------------------------------------

    @_locked
    def why(self, decision: Answer | Id) -> Why:
        """The probabilities and the expected outcomes of all actions when a decision was made.

        A decision that has been answered is to be given itself, not by its id.
        """
        answer = decision if isinstance(decision, Answer) else self.decision(decision)
        names, units, law = answer.actions, self._units, answer.law
        probabilities = {} if law is None else dict(zip(names, law.tolist(), strict=True))
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
        return summary_of(self._board, self._units, names, self._learner, waiting)

    def metrics(self) -> dict[str, Any]:
        """The same as numbers by name, for a monitoring system."""
        return self.summary().to_dict()

    def __str__(self) -> str:
        """Five lines: what it decides on, how much, how well, compared with what, and how."""
        units, names = self._units, [] if self._names is None else self._names.all
        shown = ", ".join(map(str, names[:6])) + (", …" if len(names) > 6 else "")
        shown = shown or "what is offered each time"
        head = f"Decider: {shown}; {units.word} from {units.low:g} to {units.high:g}"
        return "\n".join([head, *self.summary().lines()])

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
        for _ in range(_WARM):
            answer = twin.decide(context, actions=actions)
            twin.report(answer, **{twin._units.word: twin._units.back(1.0)})
        str(twin)
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
                self._take_up(journal)
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
        """End the journal, so that another process may take it up."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def _take_up(self, journal: Journal) -> None:
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
        if trail != self._trail:
            raise StorageError(
                f"{path} replays to other decisions than were made: it was written by another "
                "version, or on a machine that rounds otherwise."
            )
        if kind == "decide":
            _, _, key, moment, aim, items = args
            self._open.admit(key)
            offers = self._names is None
            size = len(items) if offers else self._size
            absent = aim is None and (offers or self.baseline is None)
            require(
                self,
                time=Number().fits(moment),
                baseline=absent or (self.baseline is not None and Count(size).fits(aim)),
                actions=items == offered(dict(items)) if offers else items is None,
            )
        elif kind == "expire":
            require(self, time=Number().fits(args[0]))
        getattr(self, f"_do_{kind}")(*args)

    # Calls --------------------------------------------------------------------------------------

    def _made(self, kind: str, *args: Any) -> Any:
        """Write a call to the journal, then do it; if it is refused, take it back.

        The caller has the lock.
        """
        if self._broken:
            raise OrderError(_BROKEN)
        journal, do = self._journal, getattr(self, f"_do_{kind}")
        if journal is not None:
            journal.append([kind, self._trail, *args])
        try:
            answer = do(*args)
        except BaseException as error:
            if journal is not None:
                journal.take_back()
            self._broken = not isinstance(error, Exception)
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
        some: list[int] | None,
        key: Id,
        moment: float,
        aim: int | None,
        items: Items | None,
    ) -> Answer:
        learner, contexts = self._learner, self._contexts
        if contexts is None:
            learner, contexts = self._begin(row)
        context, learn = contexts.read(row, items)
        opened = learner.open(context, some, late=True)
        number, action, q = opened.number, opened.action, float(opened.odds.propensity)
        # From here on nothing can fail.
        learn()
        self._learner, self._contexts = learner, contexts
        self._open.waiting[key] = number, action, q, moment
        names = context.ids if self._names is None else self._names.all
        there = None if opened.plays is None else opened.available
        self._board.decided(number, action, q, aim, there, len(names))
        self._trail = zlib.crc32(b"%d," % action, self._trail)
        return Answer(names[action], q, key, names, opened)

    def _do_report(self, key: Id, outcome: float, expired: bool = False) -> None:
        number, action, *_ = self._open.waiting[key]
        loss = self._units.as_loss(outcome)
        self._learner.close(self._learner.open_round(number), loss)
        self._board.told(number, action, loss)
        self._open.close(key, None if expired else outcome)

    def _do_late(self) -> None:
        self._board.late += 1

    def _do_expire(self, before: float, outcome: float | None) -> None:
        for key in self._open.older(before):
            if outcome is None:
                number = self._open.waiting[key][0]
                self._learner.forget(number)
                self._board.gave_up(number)
                self._open.close(key, None)
            else:
                self._do_report(key, outcome, expired=True)

    def _do_add(self, name: Name) -> None:
        names = self._own_names("add_action").with_new(name)
        K, learner = len(names), self._learner
        if self._size < K:
            least = self._least(K)
            if learner is not None:
                learner = learner.extended(K, exploration=least)
            self._learner, self._board = learner, self._board.extended(K)
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
        self._board.learned += 1

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
            return bandit(actions="described", **options)
        return bandit(K, None if contexts.rows else 1, **options)

    # Storage ------------------------------------------------------------------------------------

    def _params_to_store(self) -> dict[str, Any]:
        names = None if self._names is None else list(self._names.all)
        return {**self.params, "actions": names, "seed": self._seed}

    def __getstate__(self) -> dict[str, Any]:
        """For copies: they have a lock of their own, and no journal."""
        return {**vars(self), "_lock": None, "_journal": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def _check_state(self) -> None:
        learner = self._learner
        numbers = [] if learner is None else learner.open_decisions
        rounds = [(number, learner.open_round(number).action) for number in numbers]
        require(
            self,
            learner=(learner is None) == (self._contexts is None),
            decisions=rounds == sorted(each[:2] for each in self._open.waiting.values())
            and numbers == sorted(self._board.watch.open_decisions),
        )
