"""Logs of decisions: actions, their propensities and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import InputTypeError, LossError, Menu, ParameterError
from hannan.core.arrays import as_array, as_floats, as_list, as_rows, as_scalar
from hannan.core.availability import check_available
from hannan.core.display import page, paragraph, table
from hannan.core.params import short
from hannan.core.plots import Dot, axes, draw_dots, legend
from hannan.core.validation import FloatArray, check_bounded_range, check_choice, check_integer
from hannan.features import Features
from hannan.off_policy import frames
from hannan.off_policy.propensities import (
    check_propensities,
    estimate_propensities,
    is_sorted,
)

if TYPE_CHECKING:
    from hannan.off_policy.replay import LogReplay

IntArray = NDArray[np.intp]

TINY = 1e-100  # minimum propensity: below, squares of 1/q overflow
TOLERANCE = 1e-5  # of probabilities, which logs may hold rounded or in single precision


_COLUMNS = (
    "contexts", "actions", "losses", "propensities", "available", "distribution", "weights",
    "rewards", "times",
)  # fmt: skip
_SHOWN = 5  # rows in a notebook
_SURVEYED = 1000  # rows from which the kinds of columns are inferred


class LoggedDecision(NamedTuple):
    """One round of a log."""

    context: Any
    action: int
    loss: float
    propensity: float
    available: IntArray | None
    distribution: FloatArray | None
    weight: float | None
    reward: float | None = None
    time: float | None = None
    name: Any = None
    """Name of the action, in a log with names."""


def place_of(action: Any, places: Mapping[Any, int], n_actions: int) -> int | None:
    """Return the number of an action, given its name or number; None if it is unknown."""
    single = action.item() if isinstance(action, np.ndarray) and action.ndim == 0 else action
    single = as_scalar(single)
    if not isinstance(single, str | int | float) or isinstance(single, bool):
        return None
    if single in places:
        return places[single]
    if not isinstance(single, int) or any(isinstance(each, int) for each in places):
        return None
    return single if 0 <= single < n_actions else None


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    r"""Log of decisions: contexts, actions drawn with known probabilities, and outcomes.

    In round t, the action :math:`a_t` was drawn from the action distribution :math:`q_t` in context
    :math:`x_t`, and only the outcome of this action was observed. `evaluate` estimates the mean
    outcome of other policies from such a log. `from_frame` and `from_file` read logs of other
    systems. `Decider.log` returns the decisions of a Decider.

    The arrays are read-only copies. `log[2:7]`, `log[mask]` and `log[places]` are logs, `log[3]` is
    a round, and iteration goes over rounds.

    Parameters
    ----------
    contexts
        n contexts: a list, the rows of an array, or mappings from names to values. None for a
        problem without contexts. If actions have features, a `Menu` for each round.
    actions
        The logged actions, integers 0..K-1, or their names if `names` are text. With menus, row
        numbers of the menus (`Menu.index` returns the row of an id).
    losses
        Outcomes of the actions, if less is better.
    propensities
        Probability with which each action was drawn, in (0, 1]. A value below 1e-100 raises an
        error, because such an action is never drawn.
    n_actions
        Number of actions K; with menus, their largest number of rows. Default: the number of
        `names`.
    available
        For each round, the available actions as integers, or None for all actions. Default: all
        actions in all rounds.
    distribution
        Array [n, K] of the probabilities of all actions. Default: not known.
    weights
        For each round, an unbiased estimate of the inverse propensity, drawn independently of the
        loss, such as `decision.weights`. Default: none.
    draws
        Number of draws from which the propensities were estimated; None if they are exact.
    rewards
        Outcomes of the actions, if more is better; instead of `losses`. The attribute `losses` is
        then :math:`(high - reward)/(high - low)`, in [0, 1].
    value_range
        Range (low, high) of the outcomes. Default: the smallest and the largest reward; none for
        losses.
    names
        Different names of the K actions: text or numbers. Default: none.
    times
        Time of each action, in seconds since 1970. Default: not known.
    estimated
        Whether the propensities were estimated from the contexts. Default False.
    notes
        Remarks on the log, such as the rounds that it leaves out; `evaluate` repeats them.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log(
    ...     contexts=[0, 1, 1],
    ...     actions=[0, 1, 0],
    ...     losses=[0.0, 1.0, 0.5],
    ...     propensities=[0.5, 0.25, 0.75],
    ...     n_actions=2,
    ... )
    >>> log
    <Log: 3 rounds, 2 actions, mean loss 0.5, propensities from 0.25>
    >>> log[1:].losses
    array([1. , 0.5])
    >>> log[1].context, log[1].action, log[1].propensity
    (1, 1, 0.25)

    With names, and rewards in euros:

    >>> log = hn.off_policy.Log(
    ...     contexts=[{"age": 31}, {"age": 48}],
    ...     actions=["none", "10%"],
    ...     rewards=[0.0, 48.5],
    ...     propensities=[0.5, 0.5],
    ...     names=["none", "10%"],
    ... )
    >>> log
    <Log: 2 rounds, 2 actions, mean reward 24.25, propensities from 0.5>
    >>> log[1].name, log[1].reward
    ('10%', 48.5)
    """

    contexts: Any
    actions: Any
    losses: Any = None
    propensities: Any = None
    n_actions: Any = None
    available: Any = None
    distribution: Any = None
    weights: Any = None
    draws: int | None = None
    rewards: Any = None
    value_range: Any = None
    names: Any = None
    times: Any = None
    estimated: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "names", self._checked_names())
        if self.n_actions is None and self.names is not None:
            put(self, "n_actions", len(self.names))
        put(self, "n_actions", check_integer(self, "n_actions", self.n_actions, 1))
        if self.names is not None and len(self.names) != self.n_actions:
            raise ParameterError(
                f"A Log of {self.n_actions} actions needs as many names; got {len(self.names)}."
            )
        put(self, "actions", self._checked_actions())
        n = len(self.actions)
        self._check_outcomes(n)
        put(self, "contexts", self._checked_contexts(n))
        if self.times is not None:
            put(self, "times", self._numbers("times", (n,)))
        put(self, "propensities", self._numbers("propensities", (n,)))
        _first(
            "propensities",
            ~((self.propensities >= TINY) & (self.propensities <= 1.0)),
            self.propensities,
            f"probabilities in (0, 1] of actions that were taken, and at least {TINY:g}",
        )
        if self.weights is not None:
            put(self, "weights", self._numbers("weights", (n,)))
            wrong = (self.weights < 1.0 - TOLERANCE) | (self.weights > 1.0 / TINY)
            accepted = f"at least 1, as inverse probabilities are, and at most {1.0 / TINY:g}"
            _first("weights", wrong, self.weights, accepted)
        if self.draws is not None:
            put(self, "draws", check_integer(self, "draws", self.draws, 1))
        if self.takes_items:
            put(self, "available", self._offered())
        if self.available is not None:
            put(self, "available", self._checked_available(n))
        if self.distribution is not None:
            put(self, "distribution", self._checked_distribution(n))

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[LoggedDecision]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> LoggedDecision: ...
    @overload
    def __getitem__(self, key: slice | ArrayLike) -> Self: ...
    def __getitem__(self, key: Any) -> LoggedDecision | Self:
        if isinstance(key, int | np.integer):
            place = range(len(self))[key]
            columns = [getattr(self, name) for name in _COLUMNS]
            context, *cells = [None if each is None else each[place] for each in columns]
            logged = LoggedDecision(context, *map(as_scalar, cells))
            return logged._replace(name=self.names and self.names[logged.action])
        places = np.arange(len(self))[key if isinstance(key, slice) else np.asarray(key)]
        taken = {name: _taken(getattr(self, name), places) for name in _COLUMNS}
        return replace(self, **taken | ({"available": None} if self.takes_items else {}))

    def __eq__(self, other: object) -> bool:
        """Return whether all rounds are equal, bit for bit."""
        if not isinstance(other, Log):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        facts = f"{len(self)} rounds, {self.n_actions} actions"
        if len(self):
            facts += f", mean {self.unit} {self.outcomes.mean():.4g}"
            facts += f", propensities from {self.propensities.min():.4g}"
        return f"<Log: {'; '.join([facts, *self.notes])}>"

    def _repr_html_(self) -> str:
        heads = ("action", "rounds", "share", f"mean {self.unit} when taken", "propensities")
        rows = [
            (
                str(name),
                f"{len(taken):,}",
                f"{len(taken) / len(self):.1%}",
                f"{self.outcomes[taken].mean():.4g}",
                "{:.4g} to {:.4g}".format(*self._span(taken)),
            )
            for name, taken in self._by_action()
        ]
        first, _ = frames.columns_of_log(self[:_SHOWN])
        cells = [[_cell(value) for value in as_list(column)] for column in first.values()]
        return page(
            paragraph(repr(self)[1:-1], strong=True),
            table(heads, rows),
            paragraph(f"The first {min(len(self), _SHOWN)} rounds:"),
            table(["", *first], [(str(i), *row) for i, row in enumerate(zip(*cells, strict=True))]),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the frequency and the propensities of each action, and return the axes.

        A dot is the share of an action in all rounds. A line goes from the smallest to the largest
        propensity of the action in these rounds. Estimates for policies that rely on actions with
        small propensities have wide intervals. Needs matplotlib (`pip install 'hannan[report]'`).

        Parameters
        ----------
        ax
            Axes to draw on. Default: new ones.
        """
        dots = [
            Dot(str(name), len(taken) / len(self), self._span(taken))
            for name, taken in self._by_action()
        ]
        ax = axes(self, ax, len(dots))
        draw_dots(ax, dots, "probability", value="share of rounds", narrow="propensities")
        ax.set_xlim(left=0.0)
        legend(ax)
        return ax

    def _by_action(self) -> list[tuple[Any, IntArray]]:
        """Return each action that was taken and its rounds, the most frequent action first."""
        order = np.argsort(self.actions, kind="stable")
        actions, starts = np.unique(self.actions[order], return_index=True)
        rounds = np.split(order, starts[1:])
        names = [self.names[k] if self.names else k for k in actions.tolist()]
        pairs = list(zip(names, rounds, strict=True)) if len(self) else []
        return sorted(pairs, key=lambda pair: -len(pair[1]))

    def _span(self, rounds: IntArray) -> tuple[float, float]:
        """Return the smallest and the largest propensity in some rounds."""
        chances = self.propensities[rounds]
        return float(chances.min()), float(chances.max())

    @property
    def takes_items(self) -> bool:
        """Whether each context is a `Menu` of actions with features."""
        contexts = self.contexts
        return type(contexts) is list and bool(contexts) and isinstance(contexts[0], Menu)

    @property
    def unit(self) -> str:
        """ "reward" if more is better, "loss" if less is."""
        return "loss" if self.rewards is None else "reward"

    @property
    def outcomes(self) -> FloatArray:
        """Rewards, or the losses of a log without rewards."""
        return self.losses if self.rewards is None else self.rewards  # type: ignore[no-any-return]

    @cached_property
    def features(self) -> FloatArray | None:
        """Contexts as an array [n, p], if they are vectors of one length or mappings.

        `Features` encodes mappings.
        """
        contexts = self.contexts
        if isinstance(contexts, np.ndarray) or not self.mapped:
            return contexts if isinstance(contexts, np.ndarray) else None
        return _frozen(np.array([self._encoder.encode(row) for row in contexts]))

    @cached_property
    def _encoder(self) -> Features:
        """Encoder fitted to all contexts, which are mappings."""
        encoder = Features().find(self.contexts[:_SURVEYED])
        for row in self.contexts:
            encoder.see(row)
        return encoder

    @property
    def rows(self) -> Any:
        """Contexts in the form for learners and predictors, with mappings encoded."""
        return self.features if self.mapped else self.contexts

    @cached_property
    def mapped(self) -> bool:
        """Whether all contexts are mappings from names to values."""
        contexts = self.contexts
        return len(contexts) > 0 and all(isinstance(each, Mapping) for each in contexts)

    def place(self, action: Any) -> int | None:
        """Return the number 0..K-1 of an action, given its name or number; None if unknown.

        If names are integers, an integer is a name.
        """
        return place_of(action, self._places, self.n_actions)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    def outcome_of(self, losses: FloatArray) -> FloatArray:
        """Convert entries of `losses` to outcomes."""
        if self.rewards is None:
            return losses
        low, high = self.value_range
        return np.asarray(high - losses * (high - low))

    @cached_property
    def sorted(self) -> bool:
        """Whether rounds are sorted by action or outcome, instead of by time."""
        return is_sorted(self.actions, self.outcomes)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Array [n, K]: whether an action was available in a round."""
        if self.available is None:
            return np.ones((len(self), self.n_actions), dtype=np.bool_)
        table = np.zeros((len(self), self.n_actions), dtype=np.bool_)
        for row, actions in zip(table, self.available, strict=True):
            row[actions] = True
        return table

    def to_frame(self) -> Any:
        """Return the columns as a pandas DataFrame; without pandas, as a dictionary of columns.

        The columns are the contexts (their names for mappings; x0, x1, … for vectors; else
        "context"), action (its name if there are names), reward or loss, and propensity. If the log
        has them, the columns weight, draws, time, available and the action distribution p0, p1, …
        follow. `from_frame` reads such a frame. Its `attrs` hold names, value_range and notes.
        """
        return frames.frame_of(self)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        n_actions: int | None = None,
        *,
        action: str | None = None,
        reward: str | None = None,
        loss: str | None = None,
        propensity: str | float | None = None,
        context: str | Sequence[str] | None = None,
        names: Sequence[Any] | None = None,
        value_range: tuple[float, float] | None = None,
        check: bool = True,
    ) -> Self:
        """Read a log from the columns of a frame.

        Parameters
        ----------
        frame
            A frame of pandas or polars, a table of pyarrow, or a mapping of names to columns.
        n_actions
            Number of actions K, only for frames of `to_frame`. Default: as in the frame.
        action
            Column of the actions: names of any kind. An empty cell raises an error.
        reward, loss
            Column of the outcomes: `reward` if more is better, `loss` if less is better.
        propensity
            Column of the probabilities with which the actions were drawn; one number for all rows;
            or "estimate" for `estimate_propensities`, under the assumptions stated there.
        context
            Columns that policies can use. Default: all other columns.
        names
            The possible actions. Default: the actions in the frame, sorted.
        value_range
            Range (low, high) of the outcomes. Default: the smallest and largest reward; none for
            losses.
        check
            Whether to raise an error if the propensities cannot be right, as `check_propensities`
            does. Default True.

        Without `action`, `reward` and `loss`, the frame must have the columns of `to_frame()`.

        Examples
        --------
        >>> import hannan as hn
        >>> orders = {"age": [31, 48, 25], "offer": ["none", "10%", "none"],
        ...           "revenue": [0.0, 48.5, 12.0], "p": [0.5, 0.25, 0.5]}
        >>> log = hn.off_policy.Log.from_frame(
        ...     orders, action="offer", reward="revenue", propensity="p"
        ... )
        >>> log.names, log[1].name, log[1].context
        (('10%', 'none'), '10%', {'age': 48})
        >>> hn.off_policy.Log.from_frame(log.to_frame()) == log
        True
        """
        columns = frames.columns_in(frame)
        if action is None and reward is None and loss is None:
            return cls(**frames.read_own(columns, getattr(frame, "attrs", {}), n_actions))
        named = {"action": action, "reward": reward, "loss": loss, "propensity": propensity}
        return cls._checked(frames.read(columns, named, context, names, value_range), check)

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        action: str | None = None,
        reward: str | None = None,
        loss: str | None = None,
        propensity: str | float | None = None,
        context: Any = None,
        names: Sequence[Any] | None = None,
        value_range: tuple[float, float] | None = None,
        check: bool = True,
        **options: Any,
    ) -> Self:
        """Read a log from a CSV, JSON lines or Parquet file.

        Parameters
        ----------
        path
            Path of the file.
        action, reward, loss, propensity, names, value_range, check
            As in `from_frame`.
        context
            Columns that policies can use: a list of names, or a mapping from names to kinds such
            as "number". The contexts are then mappings. If it is one name, the contexts are the
            numbers in this column. Default: all other columns except identifiers and free text.
        options
            Options of `environments.FromLog`: missing, dialect, max_columns, max_unpacked.
        """
        named = {"action": action, "reward": reward, "loss": loss, "propensity": propensity}
        columns = frames.read_file(path, named, context, names, value_range, options)
        return cls._checked(columns, check)

    @classmethod
    def _checked(cls, columns: dict[str, Any], check: bool) -> Self:
        """Create a log, and estimate or check its propensities."""
        estimated = columns["propensities"] is None
        n = len(columns["actions"])
        log = cls(**columns | ({"propensities": np.ones(n)} if estimated else {}))
        if estimated:
            p = estimate_propensities(log.features, log.actions, log.n_actions)
            return replace(log, propensities=p, estimated=True)
        if check:
            log.check_propensities()
        return log

    def check_propensities(self) -> None:
        """Raise `PropensityError` if the propensities cannot be right; see `check_propensities`.

        Each log is checked only once. Estimated propensities are not checked.
        """
        if "_right" not in vars(self) and self.draws is None and not self.estimated:
            names = range(self.n_actions) if self.names is None else self.names
            check_propensities(
                self.actions,
                self.propensities,
                names,
                self.features,
                self.available,
                features=self._encoder.names if self.mapped else None,
                in_order=not self.sorted,
            )
            vars(self)["_right"] = True

    def environment(self, **options: Any) -> LogReplay:
        """Return an environment that replays the log; options as in `LogReplay`."""
        from hannan.off_policy.replay import LogReplay

        return LogReplay(self, **options)

    def _checked_names(self) -> tuple[Any, ...] | None:
        if self.names is None:
            return None
        if isinstance(self.names, str | bytes | Mapping) or not isinstance(self.names, Iterable):
            raise InputTypeError(
                f"names= must be a list of names of actions; got {short(self.names)}."
            )
        names = as_list(self.names)
        for name in names:
            single = isinstance(name, str | int | float) and not isinstance(name, bool)
            if not single or name == "" or name != name:
                raise InputTypeError(
                    f"The name of an action must be non-empty text or a number; got {name!r:.100}."
                )
        if len({*names}) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise ParameterError(f"names= has {twice!r} twice; names must be different.")
        return tuple(names)

    def _check_outcomes(self, n: int) -> None:
        """Set losses, rewards and value_range."""
        put = object.__setattr__
        if self.losses is self.rewards is None:
            raise ParameterError(
                "A Log needs losses=, if less is better, or rewards=, if more is better; got "
                "neither."
            )
        name = "losses" if self.rewards is None else "rewards"
        values = self._numbers(name, (n,))
        put(self, name, values)
        if self.value_range is not None:
            low, high = check_bounded_range(self, self.value_range, "value_range")
            put(self, "value_range", (low, high))
            outside = (values < low) | (values > high)
            _first(name, outside, values, f"in value_range=({low:g}, {high:g})")
        elif self.rewards is not None:
            low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
            put(self, "value_range", (low, high) if low < high else (min(low, 0.0), max(high, 1.0)))
        if self.rewards is not None:
            low, high = self.value_range
            losses = (high - values) / (high - low)
            if self.losses is not None and not np.array_equal(self.losses, losses):
                raise ParameterError(
                    "A Log needs losses=, if less is better, or rewards=, if more is better; got "
                    "both, and they contradict each other."
                )
            put(self, "losses", _frozen(losses))

    def _checked_actions(self) -> IntArray:
        given = as_array(self.actions)
        if self.names is not None and given.ndim == 1 and given.dtype.kind in "UO":
            places = [self._places.get(name, -1) for name in given.tolist()]
            given = np.array(places, dtype=np.intp)
            if (given < 0).any():
                unknown = as_list(self.actions)[int(np.argmax(given < 0))]
                raise ParameterError(f"{unknown!r:.100} is not one of names={list(self.names)}.")
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise InputTypeError(
                "The actions of a Log must be integers 0..K-1, one for each round; got "
                f"{short(self.actions)}. For sets of elements, use SetLog."
            )
        wrong = (given < 0) | (given >= self.n_actions)
        _first("actions", wrong, given, f"integers from 0 to {self.n_actions - 1}")
        return _frozen(given.astype(np.intp))

    def _checked_contexts(self, n: int) -> Any:
        given = self.contexts
        if given is None:
            return [None] * n
        try:
            given = as_rows(given)
            length = len(given)
        except TypeError:
            raise InputTypeError(
                f"The contexts of a Log must be a list or an array; got {short(given)}."
            ) from None
        if length != n:
            raise ParameterError(f"A Log needs a context for each of {n} actions; got {length}.")
        if _are_vectors(given):
            return _frozen(np.array(given, dtype=np.float64))
        return as_list(given)

    def _offered(self) -> list[Any] | None:
        """Return the row numbers of each menu; None if all menus have `n_actions` rows."""
        if self.available is not None:
            raise ParameterError("A Menu holds the available actions: leave out available=.")
        for t, (menu, action) in enumerate(zip(self.contexts, self.actions, strict=True)):
            if not isinstance(menu, Menu):
                raise InputTypeError(
                    f"All contexts of a Log with menus must be menus; round {t} has {short(menu)}."
                )
            if len(menu) > self.n_actions:
                raise ParameterError(
                    f"n_actions={self.n_actions} is too small: round {t} has {len(menu)} actions."
                )
            if action >= len(menu):
                raise ParameterError(
                    f"Round {t} has the actions 0 to {len(menu) - 1}; its action is {action}."
                )
        if all(len(menu) == self.n_actions for menu in self.contexts):
            return None
        return [np.arange(len(menu)) for menu in self.contexts]

    def _checked_available(self, n: int) -> list[IntArray]:
        needed = f"available= needs the actions of each of {n} rounds"
        try:
            rows = list(self.available)
        except TypeError:
            raise InputTypeError(f"{needed}; got {short(self.available)}.") from None
        if len(rows) != n:
            raise ParameterError(f"{needed}; got {len(rows)}.")
        sets = []
        for t, (row, action) in enumerate(zip(rows, self.actions, strict=True)):
            there = None
            if row is not None:
                there = check_available(self, row, self.n_actions, f"available[{t}]")
            there = np.arange(self.n_actions) if there is None else there
            if action not in there:
                raise ParameterError(
                    f"available[{t}] must hold the logged action {action}; got {short(row)}."
                )
            sets.append(_frozen(there))
        return sets

    def _checked_distribution(self, n: int) -> FloatArray:
        table = self._numbers("distribution", (n, self.n_actions))
        if n:
            wrong = (table < 0.0).any(axis=1) | (abs(table.sum(axis=1) - 1.0) > TOLERANCE)
            wrong |= (table * ~self.allowed > 0.0).any(axis=1)
            accepted = "probabilities of the available actions, which sum to 1"
            _first("distribution", wrong, table, accepted)
            logged = table[np.arange(n), self.actions]
            wrong = abs(logged - self.propensities) > TOLERANCE
            _first("propensities", wrong, self.propensities, "the probabilities in distribution=")
        return table

    def _numbers(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        try:
            table = np.array(as_floats(getattr(self, name)))
        except (TypeError, ValueError):
            raise InputTypeError(
                f"The {name} of a Log must be numbers; got {short(getattr(self, name))}."
            ) from None
        if table.shape != shape:
            raise ParameterError(
                f"The {name} of a Log of {shape[0]} actions must be an array of shape {shape}; "
                f"got one of shape {table.shape}."
            )
        finite = np.isfinite(table)
        _first(name, ~(finite.all(axis=1) if finite.ndim > 1 else finite), table, "finite numbers")
        return _frozen(table)


def check_inverse(owner: object, log: Log, inverse: Any) -> None:
    """Raise `ParameterError` for an unknown source of 1/q, or for weights that a log lacks."""
    check_choice(owner, "inverse", inverse, ("propensities", "weights"))
    if inverse == "weights" and log.weights is None:
        raise ParameterError("inverse='weights' needs a log with weights=; this log has none.")


def _cell(value: Any) -> str:
    """Return a value of the log as text for a table."""
    return f"{value:.6g}" if isinstance(value, float) else f"{as_scalar(value)!s:.60}"


def _first(name: str, wrong: Any, values: NDArray[Any], accepted: str) -> None:
    """Raise an error for the first round with a wrong value."""
    if wrong.any():
        t = int(np.argmax(wrong))
        kind = LossError if name in ("losses", "rewards") else ParameterError
        raise kind(f"The {name} of a Log must be {accepted}; round {t} has {values[t]}.")


def _are_vectors(given: Any) -> bool:
    """Return whether contexts are numeric vectors (arrays or lists) of one length."""
    if isinstance(given, np.ndarray):
        return given.ndim == 2 and given.dtype.kind in "iufb"
    shapes = {_shape(row) for row in given}
    return len(shapes) == 1 and () not in shapes


def _shape(row: Any) -> tuple[int, ...]:
    """Return the shape of a vector; () for any other value."""
    if isinstance(row, list) and all(isinstance(value, int | float) for value in row):
        return (len(row),)
    numeric = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "iufb"
    return row.shape if numeric else ()


def _taken(values: Any, places: Any) -> Any:
    if values is None:
        return None
    return values[places] if isinstance(values, np.ndarray) else [values[i] for i in places]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and a.shape == b.shape and bool((a == b).all())
    if isinstance(a, Menu) and isinstance(b, Menu):
        return a.key == b.key
    return bool(a == b)


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values
