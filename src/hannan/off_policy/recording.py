"""Wrappers that play like a learner, and log its decisions or report them to a `Watch`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hannan.core import InputTypeError, Learner, OpenRound, ParameterError, Propensities
from hannan.core.arrays import as_floats
from hannan.core.availability import PassedOn
from hannan.core.params import short
from hannan.core.policy import loss_of
from hannan.core.rounds import n_actions_of
from hannan.core.state import Array, Count, ListOf, Number, Object, OneOf, State, require
from hannan.core.validation import FloatArray, check_integer, refuse
from hannan.off_policy.log import TINY, Log
from hannan.off_policy.rules import shares
from hannan.off_policy.set_log import SetLog
from hannan.off_policy.sets import counted_weights
from hannan.off_policy.watch import Watch

_NOTHING = Propensities(np.empty(0), np.empty(0), 0)


def _of_learner(name: str) -> Any:
    """Return a property of a `LearnerWrapper` that reads the learner's attribute."""
    return property(lambda self: getattr(self.learner, name))


class LearnerWrapper(Learner):
    """Learner that plays like another one, and asks it for its action distribution before.

    Parameters
    ----------
    learner
        Learner of single actions or of sets, which continues from its current state.
    draws
        Number of draws to estimate the action distribution of a learner that does not know it.
    """

    stored = State(_opened=Count())

    class Round(OpenRound):
        """A round of the learner, with its action distribution."""

        inner: Any = None  # the round of the learner; None once it has feedback
        known: Propensities = _NOTHING  # the action distribution before the draw
        place: int = 0  # number of the decision

        stored = State(
            inner=Object(OpenRound).where(
                lambda self, inner: inner is self.learner.open_round(inner.number)
            )
            | None,
            known=Object(Propensities).where(
                lambda self, known: len(known.probabilities) == n_actions_of(self)
            ),
            place=Count(),
        )

    def _check_state(self) -> None:
        rounds: Any = self._ledger.opened
        require(self, rounds=all(opened.inner is not None for opened in rounds))

    def __init__(self, learner: Learner, draws: int) -> None:
        super().__init__()
        if not isinstance(learner, Learner):
            raise refuse(self, "learner", "a learner, such as ContextSemiBanditFTPL(…)", learner)
        self.learner: Learner = learner
        self.draws = check_integer(self, "draws", draws, 2, 10**6)
        self.oracle = learner.oracle
        self.feedback = learner.feedback  # type: ignore[misc]
        self.late = learner.late
        self.rounds = learner.rounds
        self.oracle_calls = learner.oracle_calls
        self._availability = PassedOn()
        self._K = self._n_actions(learner)
        self._opened = 0

    # The round --------------------------------------------------------------------------

    def _act(self, opened: Any) -> None:
        """Play the learner's action, and record the action distribution."""
        learner, some, late = self.learner, opened.available, opened.number is not None
        if isinstance(opened.context, np.ndarray):
            opened.context = opened.context.copy()  # the caller may reuse its array
        opened.known = learner.propensities(opened.context, self.draws, some, decide=late)
        opened.inner = learner.choose(opened.context, some, late)
        action = opened.inner.action
        if isinstance(action, np.ndarray):
            opened.plays = opened.inner.plays
        opened.play(action if isinstance(action, np.ndarray) else int(action))
        opened.place, opened.record = self._opened, opened.inner.record

    def _played(self, opened: Any) -> None:
        learner = self.learner
        learner.commit(opened.inner)
        self._opened = opened.place + 1
        opened.calls = learner.oracle_calls - self.oracle_calls

    def _abandoned(self, opened: Any) -> None:
        number = opened.inner.number
        if number is not None and self.learner.open_round(number) is not None:
            self.learner.forget(number)

    def _update(self, opened: Any, loss: Any) -> None:
        """Update the learner."""
        self.learner.update(loss, opened.inner.number)
        opened.inner = None
        self.rounds = self.learner.rounds - 1  # the learner may have other rounds with feedback
        opened.calls = self.learner.oracle_calls - self.oracle_calls

    # Attributes of the learner ----------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Return another attribute of the learner: `best_policy`, `certificate`, …"""
        if name.startswith("_") or name == "learner":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.learner, name)

    def clone(self, **changes: Any) -> Self:
        """Return a new wrapper of a clone of the learner, which has learned nothing."""
        return super().clone(**{"learner": self.learner.clone(), **changes})

    def fresh(self, number: int) -> Self:
        """Return a new wrapper of a fresh learner, with separate randomness."""
        return self.clone(learner=self.learner.fresh(number))

    def reset(self) -> None:
        """Reset the learner and delete all recorded rounds."""
        self.learner.reset()
        super().reset()

    would_play: Any = _of_learner("would_play")
    propensities: Any = _of_learner("propensities")
    regret_bound: Any = _of_learner("regret_bound")
    loss_suffered: Any = _of_learner("loss_suffered")
    check_context: Any = _of_learner("check_context")
    takes_items: Any = _of_learner("takes_items")
    clock: Any = _of_learner("clock")

    @property
    def action_count(self) -> int | None:
        return self._K or None

    @property
    def _scores_actions(self) -> bool:
        sets = self.oracle is not None and self.oracle.chooses_sets
        return sets and self.learner._scores_actions

    def _n_actions(self, learner: Learner) -> int:
        """Return the number of actions or elements, 0 for actions with features.

        Raise `ParameterError` for learners without an action distribution, or without losses of
        elements.
        """
        who, oracle = type(self).__name__, learner.oracle
        if oracle is not None and oracle.chooses_sets and oracle.takes_functions:
            raise ParameterError(
                f"A {who} needs losses of sets that are sums over elements; those of "
                f"{type(oracle).__name__} are functions of whole sets. Estimate its policies by "
                "playing them."
            )
        if getattr(learner, "noise", None) == "once":
            raise ParameterError(f"A {who} needs fresh noise in each round: pass noise='fresh'.")
        if learner.takes_items:
            return 0
        if learner.action_count is None:
            which = type(learner if oracle is None else oracle).__name__
            raise ParameterError(
                f"A {who} needs the number of actions: pass n_actions= to {which}."
            )
        return learner.action_count


class Recorder(LearnerWrapper):
    r"""Learner that plays like another one and records a `Log` for off-policy evaluation.

    Before each decision, the recorder asks the learner for its `propensities`, which does not
    change the learner. If the learner knows q, the log has the exact q. If q can only be sampled,
    the recorder counts the share :math:`\bar q` of an action in m draws, together with the played
    action: :math:`\hat q = (1 + m \bar q)/(1 + m)` has

    .. math:: E\Big[\frac{1}{\hat q(a)} \,\Big|\, a\Big]
              = \frac{1 - (1 - q(a))^{m+1}}{q(a)},

    which is 1/q except for actions rarer than one in m. The log also has the weights of `decide`,
    which are drawn by geometric resampling, for `evaluate(..., inverse="weights")`. Rounds played
    with `act` have no weights.

    For a learner of sets, the log is a `SetLog`, with the propensity and the loss of each chosen
    element.

    Parameters
    ----------
    learner
        Learner of single actions or of sets, which continues from its current state. Report
        feedback on its earlier decisions to the learner itself.
    draws
        Number of draws m for a learner that does not know its action distribution. Default 1000.

    Guarantee
    ---------
    The guarantee of the learner.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 3), seed=0)
    >>> recorder = hn.off_policy.Recorder(learner)
    >>> for t in range(200):
    ...     decision = recorder.decide(t % 2)
    ...     recorder.update(0.1 if decision.action == 2 else 0.9, decision=decision)
    >>> recorder.log()
    <Log: 200 rounds, 3 actions, mean loss 0.18, propensities from 0.003494>
    >>> found = hn.off_policy.evaluate(recorder.log(), learner.best_policy(), "snips")
    >>> round(found.value, 6)
    0.1

    References
    ----------
    [neu2016]
    """

    stored = State(
        _with_feedback=ListOf(
            Object(LearnerWrapper.Round).where(lambda self, each: self._could_have(each))
        )
    )

    class Round(LearnerWrapper.Round):
        """A round of the learner, with its weight and loss in the log."""

        weight: float | None = None
        loss: Any = np.nan  # for sets: the losses of the chosen elements, 0 if missing
        missing: Any = None  # for sets: whether these losses are missing

        stored = State(
            weight=Number(low=0.0) | None,
            loss=Number() | Array(None),
            missing=Array(None, dtype=np.bool_) | None,
        )

    def _could_have(self, opened: Any) -> bool:
        """Return whether a stored round can be a round with feedback."""
        if type(opened) is not self.Round or opened.inner is not None:
            return False
        if opened.missing is None:
            return isinstance(opened.loss, float) and np.isfinite(opened.loss)
        return bool(np.shape(opened.loss) == opened.missing.shape == np.shape(opened.action))

    def __init__(self, learner: Learner, draws: int = 1000) -> None:
        super().__init__(learner, draws)
        self._with_feedback: list[Recorder.Round] = []

    def log(self) -> Any:
        """Return the rounds with feedback as a `Log`, or as a `SetLog`, in the order of decisions.

        The log leaves out open and abandoned decisions. Estimates stay right if the missing
        feedback does not depend on the losses.
        """
        kept = sorted(self._with_feedback, key=lambda opened: opened.place)
        if self.oracle is not None and self.oracle.chooses_sets:
            return self._set_log(kept)
        weights = [opened.weight for opened in kept]
        available = [opened.available for opened in kept]
        draws = max((opened.known.draws for opened in kept), default=0)
        K = self._K or max((len(opened.context) for opened in kept), default=1)
        table = np.zeros((len(kept), K))
        for row, opened in zip(table, kept, strict=True):
            distribution = opened.known.given(int(opened.action))
            row[: len(distribution)] = distribution
        actions = np.array([opened.action for opened in kept], dtype=np.intp)
        return Log(
            contexts=[opened.context for opened in kept],
            actions=actions,
            losses=[opened.loss for opened in kept],
            propensities=np.minimum(table[np.arange(len(kept)), actions], 1.0),
            n_actions=K,
            available=None if all(there is None for there in available) else available,
            distribution=table,
            weights=None if None in weights or not weights else weights,
            draws=draws + 1 if draws else None,
        )

    def _set_log(self, kept: list[Any]) -> SetLog:
        assert self.oracle is not None
        draws = max((opened.known.draws for opened in kept), default=0)
        return SetLog(
            contexts=[opened.context for opened in kept],
            actions=[opened.action for opened in kept],
            losses=[np.where(opened.missing, np.nan, opened.loss) for opened in kept],
            propensities=[_counted(opened.known, opened.action) for opened in kept],
            n_actions=self._K,
            max_chosen=self.oracle.max_chosen,
            available=[opened.available for opened in kept],
            draws=draws + 1 if draws else None,
        )

    # The round --------------------------------------------------------------------------

    def _update(self, opened: Round, loss: Any) -> None:
        """Update the learner, and record the loss of the action."""
        super()._update(opened, loss)
        if isinstance(opened.action, np.ndarray):
            losses = _costs(loss, opened.action, self._K)
            opened.missing = np.isnan(losses)
            opened.loss = np.where(opened.missing, 0.0, losses)
            self._with_feedback.append(opened)
            return
        if opened.record is not None and np.size(opened.record.weights) == 1:
            opened.weight = float(
                np.ravel(opened.record.weights)[0]
            )  # sampled weights are visible only now
        opened.loss = _cost(loss, int(opened.action))
        self._with_feedback.append(opened)


class Watched(LearnerWrapper):
    r"""Learner that plays like another one, and reports every round to a `Watch`.

    Before each decision, the wrapper asks the learner for its `propensities`, which does not change
    the learner, and the policies of the watch for their actions. If the learner knows its action
    distribution q, weights are 1/q. If q can only be sampled, weights are
    :math:`(1 + m)/(1 + h)`, where h of m draws chose the played action, as in `Recorder`. Such
    weights are on average at most 1/q, as a watch requires.

    Parameters
    ----------
    learner
        Learner of single actions or of sets, which continues from its current state. Earlier
        rounds do not count. Report feedback on earlier decisions to the learner itself.
    watch
        The `Watch`, which may already have other rounds.
    draws
        Number of draws m for a learner that does not know its action distribution. Default 200.
        With sets and the `floors` of the watch, a few draws are enough.

    Guarantee
    ---------
    The guarantee of the learner for regret, and the guarantee of `Watch` for the intervals.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(1, 2), epsilon=0.02, seed=0)
    >>> watched = hn.off_policy.Watched(learner, hn.off_policy.Watch({"always 0": 0}))
    >>> for t in range(500):
    ...     action = watched.act()
    ...     watched.update(0.7 if action == 0 else 0.4)
    >>> print(watched.watch)
    After 500 rounds, 95 % anytime-valid confidence intervals:
    policy            mean loss         regret against policy  played actions are
    (played actions)  0.4237 to 0.5071
    always 0          0.3909 to 0.8673  -205.8 to 22.4         not known

    References
    ----------
    [howard2021]
    """

    stored = State()

    class Round(LearnerWrapper.Round):
        """A round of the learner, with the policies' probabilities of its action."""

        shares: Any = None  # a `Shares` or an `Overlap`; None once the watch has them
        weight: Any = 1.0

        stored = State(shares=OneOf(None), weight=OneOf(1.0))

    def __init__(self, learner: Learner, watch: Watch, draws: int = 200) -> None:
        super().__init__(learner, draws)
        if not isinstance(watch, Watch):
            raise refuse(self, "watch", "a Watch, such as Watch({'always 0': 0})", watch)
        if watch.n_actions not in (None, self._K):
            raise ParameterError(
                f"watch= must have the {self._K} actions of the learner; it has {watch.n_actions}."
            )
        sets = self.oracle is not None and self.oracle.chooses_sets
        if sets and (watch.max_chosen or 0) < self.oracle.max_chosen:  # type: ignore[union-attr]
            m = self.oracle.max_chosen  # type: ignore[union-attr]
            raise refuse(self, "watch", f"for sets: pass max_chosen={m} to Watch", watch)
        if not sets and watch.max_chosen is not None:
            raise refuse(self, "watch", "for single actions: leave out max_chosen=", watch)
        self.watch = watch

    def _check_state(self) -> None:
        super()._check_state()
        rounds: Any = self._ledger.opened
        places = {opened.place for opened in rounds}
        known = places <= {*self.watch.open_decisions} and max(places, default=-1) < self._opened
        require(self, rounds=known and len(places) == len(rounds))

    # The round --------------------------------------------------------------------------

    def _act(self, opened: Round) -> None:
        """Ask the policies for their actions, then play the learner's action."""
        self.watch.check_room()
        some = opened.available
        targets = self.watch.targets(opened.context, some, self._K)
        super()._act(opened)
        while opened.place in self.watch:  # a number of another caller's round
            opened.place += 1
        if isinstance(opened.action, np.ndarray):
            q = opened.known.probabilities[opened.action]
            opened.weight = counted_weights(q, opened.known.draws)
            opened.shares = self.watch.overlap(targets, opened.action, opened.weight)
            return
        action = int(opened.action)
        chance = float(opened.known.given(action)[action])
        opened.weight = 1.0 / min(max(chance, TINY), 1.0)
        opened.shares = shares(targets, action, some)

    def _played(self, opened: Round) -> None:
        assert opened.shares is not None
        super()._played(opened)
        self.watch.enter(opened.place, opened.shares, opened.weight)
        opened.shares, opened.weight = None, 1.0

    def _abandoned(self, opened: Round) -> None:
        super()._abandoned(opened)
        self.watch.abandon(opened.place)

    def _update(self, opened: Round, loss: Any) -> None:
        """Update the learner, and report the loss of the action to the watch."""
        action, found = opened.action, None
        try:
            sets = isinstance(action, np.ndarray)
            found = _costs(loss, action, self._K) if sets else _cost(loss, int(action))
        except (TypeError, ValueError, IndexError, OverflowError):
            raise InputTypeError(
                f"The loss must be numbers, or a function of an action; got {short(loss)}."
            ) from None
        paid = self.watch.check_loss(found, np.size(action))
        super()._update(opened, loss)
        self.watch.settle(opened.place, paid)

    # Copies -----------------------------------------------------------------------------

    def clone(self, **changes: Any) -> Self:
        """Return a new wrapper of a clone of the learner, with a new watch."""
        return super().clone(**{"watch": self.watch.clone(), **changes})

    def reset(self) -> None:
        """Reset the learner and the watch."""
        self.watch.reset()
        super().reset()


def _cost(loss: Any, action: int) -> float:
    """Return the loss of an action, from all losses, a loss function, or its loss alone."""
    if callable(loss):
        return float(loss(action))
    found = as_floats(loss).reshape(-1)
    return loss_of(found, action if len(found) > 1 else 0)


def _counted(known: Propensities, action: Any) -> FloatArray:
    """Return the propensities of the chosen elements, with the action as one more sample."""
    q, m = np.clip(known.probabilities[action], TINY, 1.0), known.draws
    return np.asarray((1.0 + m * q) / (1.0 + m) if m else q)


def _costs(loss: Any, action: Any, n_actions: int) -> FloatArray:
    """Return the losses of the chosen elements, from theirs or from the losses of all elements."""
    found = as_floats(loss).reshape(-1)
    return found[action] if len(found) == n_actions else found
