"""Sets of elements as the actions of a `Decider`: their names, outcomes and propensities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hannan._recommended import bandit
from hannan.core import InputTypeError, Learner, Oracle, ParameterError
from hannan.core.arrays import as_floats, as_list
from hannan.core.availability import is_feasible
from hannan.core.frames import by_column, frame
from hannan.core.params import short
from hannan.core.rounds import OpenRound
from hannan.core.state import Array, Count, Kind, State, TuplesOf
from hannan.core.stored import Stored
from hannan.core.validation import FloatArray
from hannan.decisions.answers import Id, NamedDecision, OpenDecisions, Units
from hannan.decisions.logs import notes_on
from hannan.decisions.names import Name, Names
from hannan.decisions.records import request_in
from hannan.decisions.scoreboard import Scoreboard
from hannan.oracles import Paths, PerContext

Chosen = tuple[int, ...]
"""The numbers of the chosen elements, sorted."""

_LOGGED = ("id", "time", "context", "available", "action", "propensity")


def sets_of(decider: Any, units: Units) -> Sets:
    """Return the elements of a Decider with `policies`; check that its parameters suit sets."""
    for name in ("exploration", "features", "item_features"):
        if getattr(decider, name) is not None:
            raise ParameterError(
                f"{name}= is for single actions, but policies= chooses sets. Leave out {name}=. "
                "Contexts of sets are those that the policy class takes."
            )
    if decider.baseline is not None and not decider.holdout:
        raise ParameterError(
            "With policies=, baseline= needs holdout=: the outcomes of your current sets are only "
            "known from decisions that follow them. Pass a share such as holdout=0.05."
        )
    return Sets(decider.policies, units, decider.holdout, decider.shared, decider.guess)


class ElementNames(Names):
    """Names of the elements; the tuple ("home", "bridge") is another name of "home-bridge"."""

    def place(self, name: Any) -> int:
        return super().place(_joined(name))


class Sets(Stored):
    """The elements of a `Decider` of sets, in their units, and the results of each element.

    Parameters
    ----------
    oracle
        The policy class.
    units
        Range of the outcome of one element.
    share
        Share of the decisions in the holdout.
    shared, guess
        As in `Decider`.
    """

    stored = State(
        plays=Array(low=0.0),
        with_feedback=Array(low=0.0).where(
            lambda self, with_feedback: (with_feedback <= self.plays).all()
        ),
        sums=Array(),
    )

    def __init__(
        self, oracle: Any, units: Units, share: float, shared: Any = False, guess: Any = None
    ) -> None:
        if not isinstance(oracle, Oracle) or not oracle.chooses_sets or oracle.takes_functions:
            raise ParameterError(
                "policies= must be an oracle that chooses sets of elements with a loss each, such "
                f"as hannan.oracles.Paths(…); got {short(oracle)}. To choose single actions, pass "
                "their names as actions= and leave out policies=."
            )
        size: Any = oracle.n_actions
        for known, what, argument in (
            (size, "the number of elements", "n_actions="),
            (oracle.contexts or oracle.takes_new_contexts, "its contexts", "contexts="),
        ):
            if not known:
                who = type(oracle).__name__
                raise ParameterError(f"policies= must know {what}: pass {argument} to {who}.")
        self.oracle, self.units, self.share = oracle, units, share
        self._empty, self._feasible = oracle.objective(), set[Any]()
        self.shared, self.guess = shared, guess
        ends = min(units.low, 0.0) * oracle.max_chosen, max(units.high, 0.0) * oracle.max_chosen
        self.total = Units(**{units.plural: ends}, clip=True)  # sums may round beyond an end
        self.plays, self.with_feedback = np.zeros(size), np.zeros(size)
        self.sums = np.zeros(size)  # of outcomes

    def new_learner(self, seed: int) -> Learner:
        """Create the learner, whose losses are outcomes, or rewards times -1."""
        low, high = self.units.low, self.units.high
        span = (low, high) if self.units.word == "loss" else (0.0 - high, 0.0 - low)
        given = {"seed": seed, "loss_range": span, "shared": self.shared}
        return bandit(policies=self.oracle, guess=self._first_losses, **given)

    @property
    def baselines(self) -> Kind:
        """The sets that a baseline may have, as numbers of elements."""
        return TuplesOf(Count(len(self.plays))).where(
            lambda _, chosen: list(chosen) == sorted({*chosen})
        )

    # Names --------------------------------------------------------------------------------------

    def names(self, actions: Iterable[Any] | None) -> ElementNames:
        """Return the caller's names of the elements, or those of the policy class."""
        size, own = self.oracle.n_actions, type(self.oracle).__name__
        if actions is None:
            elements = list(map(_joined, _elements_of(self.oracle)))
            twice, count = Counter(elements).most_common(1)[0]
            if count == 1:
                return self._guessed(ElementNames(elements))
            raise ParameterError(
                f"Two elements of {own} have the name {twice!r}. Pass actions=, a list with a "
                "different name for each element."
            )
        names = ElementNames(actions)
        if len(names) != size:
            raise ParameterError(
                f"actions= must name the {size} elements of {own}, in their order; got "
                f"{len(names)} names."
            )
        return self._guessed(names)

    _first_losses: FloatArray | None = None

    def _guessed(self, names: ElementNames) -> ElementNames:
        """Convert the first guesses to losses in the order of the names, and return the names."""
        guess, reward = self.guess, self.units.word == "reward"
        if isinstance(guess, Mapping):
            values = np.full(len(names), self.units.high if reward else self.units.low)
            for name, value in guess.items():
                values[names.place(name)] = value
            guess = values
        if guess is not None:
            self._first_losses = as_floats(guess) * (-1.0 if reward else 1.0)
        return names

    def check_returns(self, names: Names, name: Any) -> None:
        """Raise `ParameterError` unless an element to add is a retired one."""
        if name not in names.retired:
            raise ParameterError(
                f"{name!r:.100} is not a retired element, and the sets of "
                f"{type(self.oracle).__name__} cannot have new elements. Create another Decider, "
                "with a policy class that has them all; available= or retire() leaves some out."
            )

    def choice(self, names: Names, value: Any) -> Chosen:
        """Return the set that a baseline names."""
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise InputTypeError(
                "With policies=, the baseline must be a list of names of elements, or a function "
                f"that returns such a list; got {short(value)}."
            )
        chosen = tuple(names.numbers(value))
        if len(chosen) > self.oracle.max_chosen:
            raise ParameterError(
                f"The baseline has {len(chosen)} elements, but the sets of "
                f"{type(self.oracle).__name__} have at most {self.oracle.max_chosen}."
            )
        return chosen

    def check_feasible(self, names: Names, chosen: Chosen, context: Any) -> None:
        """Raise `ParameterError` unless the class can choose the baseline's set on a context."""
        context = self.oracle.check_context(context)
        key = self.oracle.key(context), chosen
        if key in self._feasible:
            return
        if is_feasible(self._empty, context, np.array(chosen, dtype=np.intp)):
            self._feasible.add(key)
        else:
            raise ParameterError(
                f"The baseline gives {[names.all[j] for j in chosen]!r:.200}, which is not a set "
                f"of {type(self.oracle).__name__}. Give all elements of a feasible set."
            )

    # Outcomes -----------------------------------------------------------------------------------

    def outcomes(self, names: Names, chosen: Chosen, told: dict[str, Any]) -> tuple[float, ...]:
        """Return the checked outcome of each chosen element.

        `told` are the arguments of `report`: reward, loss, rewards and losses.
        """
        plural, listed = self.units.plural, told.pop(self.units.plural)
        wrong = [f"{name}={short(value)}" for name, value in told.items() if value is not None]
        if wrong or listed is None:
            raise ParameterError(
                f"This Decider chooses sets and was created with {plural}=, so report the "
                f"{self.units.word} of each chosen element, as {plural}={{name: number}}, or as a "
                f"sequence in the order of the action; got {', '.join(wrong) or 'neither'}. The "
                "learner cannot learn from their sum alone."
            )
        if isinstance(listed, Mapping):
            listed = _in_order(plural, names, chosen, listed)
        elif isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
            raise InputTypeError(
                f"{plural}= must be a mapping from names of elements to numbers, or a sequence of "
                f"numbers; got {short(listed)}."
            )
        values = as_list(listed)
        if len(values) != len(chosen):
            raise ParameterError(
                f"{plural}= must have {len(chosen)} numbers, one for each chosen element; got "
                f"{len(values)}."
            )
        return tuple(self._checked(names.all[j], x) for j, x in zip(chosen, values, strict=True))

    def _checked(self, name: Name, value: Any) -> float:
        """Return the outcome of an element; a missing one raises an error that names it."""
        if value is None or value != value:
            raise ParameterError(
                f"The {self.units.word} of {name!r} is missing; got {value}. Report a number for "
                "each chosen element: if it was not measured, its usual value."
            )
        return self.units.checked(value)

    def losses(self, outcomes: Sequence[float] | FloatArray) -> FloatArray:
        """Return the learner's losses of outcomes."""
        return np.array(outcomes) * (1.0 if self.units.word == "loss" else -1.0)

    def add_decision(
        self,
        scoreboard: Scoreboard,
        number: int,
        chosen: Chosen,
        control: Chosen | None,
    ) -> None:
        """Count a decision; its number is negative in the holdout. Never fails.

        For the scoreboard, action 0 is the learner's choice, and action 1 the current rule, which
        is unavailable without a set `control`. The holdout chooses between both.
        """
        self.plays[list(chosen)] += 1.0
        row, there, share = int(number < 0), None, self.share
        if control is None:
            there, share = [0], 0.0
        chances = np.array([1.0 - share, share])[: scoreboard.n_actions]
        q = float(chances[row])
        scoreboard.add_decision(number, row, q, None, there, len(chances), chances)

    def close(
        self,
        known: OpenDecisions,
        learner: Learner,
        scoreboard: Scoreboard,
        key: Id,
        outcomes: tuple[float, ...] | None,
        expired: bool,
    ) -> None:
        """Let the learner use the outcomes of a decision, or forget it without outcomes."""
        number, chosen, _, _, _, control, _ = known.waiting[key]
        opened = None if number < 0 else learner.open_round(number)
        if opened is not None and outcomes is None:
            learner.forget(number)
        elif opened is not None:
            learner.close(opened, self.losses(outcomes or ()))
        # Nothing can fail after this point.
        if outcomes is None:
            scoreboard.add_expired(number)
        else:
            self.with_feedback[list(chosen)] += 1.0
            self.sums[list(chosen)] += outcomes
            loss = self.total.as_loss(math.fsum(outcomes))
            scoreboard.add_outcome(number, int(number < 0), loss)
        known.close(key, outcomes, expired, self.inclusion(opened, chosen, control))

    # Results ------------------------------------------------------------------------------------

    def inclusion(
        self, opened: OpenRound | None, chosen: Chosen, control: Chosen | None
    ) -> tuple[float, ...] | None:
        """Return the propensity of each chosen element; None while the learner must not show it.

        In the holdout there is no round of the learner, and the propensities are not known.
        `control` is the set that the holdout would have chosen, if any.
        """
        record = None if opened is None else opened.record
        if record is None or (record.hidden and not record.exact):
            return None
        q = np.minimum(np.atleast_1d(record.propensity), 1.0)
        if control is not None:
            q = (1.0 - self.share) * q + self.share * np.isin(chosen, control)
        return tuple(q.tolist())

    def answer(self, names: tuple[Name, ...], chosen: Chosen, q: Any, *more: Any) -> NamedDecision:
        """Return a decision for the caller; without `q`, its propensities are NaN."""
        shown = (math.nan,) * len(chosen) if q is None else q
        return NamedDecision(tuple(names[j] for j in chosen), shown, more[0], names, *more[1:])

    def results(self, names: Sequence[Name]) -> dict[Name, dict[str, float]]:
        """Return the number of decisions and the mean outcome of each element chosen so far."""
        with np.errstate(invalid="ignore"):
            means = self.sums / self.with_feedback
        rows = zip(names, self.plays.tolist(), self.with_feedback.tolist(), means, strict=True)
        return {
            name: {"decisions": int(n), "with_feedback": int(told), "mean": float(mean)}
            for name, n, told, mean in rows
            if n
        }


def as_stored(action: Any) -> Any:
    """Return an action as files hold it: a number, or a tuple for a set."""
    return tuple(action.tolist()) if isinstance(action, np.ndarray) else action


def log_of_sets(
    known: OpenDecisions, scoreboard: Scoreboard, names: Sequence[Name], plural: str
) -> Any:
    """Return a frame with a row for each closed decision with outcomes, the oldest first."""
    rows = []
    for key, (chosen, q, _, outcomes, _, moment, text) in known.closed.items():
        if outcomes is not None:
            context, there = request_in(text or "")
            names_of = [tuple(names[j] for j in each) for each in (there, chosen)]
            shown = (math.nan,) * len(chosen) if q is None else q
            values = key, moment, context, *names_of, shown, outcomes
            rows.append(dict(zip([*_LOGGED, plural], values, strict=True)))
    rows.sort(key=lambda row: row["time"])
    notes = notes_on(len(rows), known, scoreboard)
    return frame(by_column(rows, [*_LOGGED, plural]), {"notes": notes})


def _elements_of(oracle: Any) -> Sequence[Any]:
    """Return the names of the elements in a policy class, or their numbers."""
    problem: Any = oracle.problems()[0] if isinstance(oracle, PerContext) else oracle
    if isinstance(problem, Paths):
        return problem.edges
    every = np.arange(oracle.n_actions)
    return problem.named(every) if hasattr(problem, "named") else every.tolist()  # type: ignore[no-any-return]


def _joined(name: Any) -> Any:
    """Return the name of an edge or a pair as text."""
    return "-".join(map(str, name)) if isinstance(name, tuple) else name


def _in_order(plural: str, names: Names, chosen: Chosen, told: Mapping[Any, Any]) -> list[Any]:
    """Return the values of a mapping in the order of the chosen elements."""
    by_place = {names.place(name): value for name, value in told.items()}
    others = [names.all[j] for j in by_place if j not in chosen]
    if others:
        raise ParameterError(
            f"{plural}= has {others[0]!r}, which this decision did not choose. Report the chosen "
            f"elements only: {', '.join(repr(names.all[j]) for j in chosen[:20])}."
        )
    missing = [names.all[j] for j in chosen if j not in by_place]
    if missing:
        raise ParameterError(
            f"{plural}= has no number for {missing[0]!r}. Report all chosen elements in one call; "
            "if an outcome will never be known, let the decision expire."
        )
    return [by_place[j] for j in chosen]
