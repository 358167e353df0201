"""Logs: what was decided, with which probability, and what it cost."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import count, takewhile
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import InputTypeError, LossError, Menu, ParameterError
from hannan.core.arrays import (
    as_array,
    as_floats,
    as_list,
    as_rows,
    as_scalar,
    columns_of,
    is_frame,
)
from hannan.core.availability import check_available
from hannan.core.params import short
from hannan.core.validation import FloatArray, check_choice, check_integer
from hannan.environments import FromLog

if TYPE_CHECKING:
    from hannan.off_policy.replay import LogReplay

IntArray = NDArray[np.intp]

TINY = 1e-100  # below, squares of 1/q overflow, and no such action has ever been taken
TOLERANCE = 1e-5  # of probabilities, which others' logs hold in single precision or rounded


_COLUMNS = (
    "contexts", "actions", "losses", "propensities", "available", "distribution", "weights",
)  # fmt: skip


class LoggedDecision(NamedTuple):
    """One round of a log."""

    context: Any
    action: int
    loss: float
    propensity: float
    available: IntArray | None
    distribution: FloatArray | None
    weight: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    r"""Rounds in which one of K actions was drawn from a known law and only its loss was seen.

    In round t the context :math:`x_t` came, the action :math:`a_t \sim q_t` was drawn, and cost
    :math:`\ell_t(a_t)`; `evaluate` says what other policies would have paid. The arrays are copies
    that cannot be written to; `log[2:7]`, `log[mask]` and `log[places]` are logs, `log[3]` is a
    round, and iteration goes over rounds.

    Parameters
    ----------
    contexts
        n contexts: a list, or the rows of an array. None for a problem without contexts. Where
        actions are described, a `Menu` for each round.
    actions
        The actions taken, integers 0..K-1; of a menu the number of its row (`Menu.index` finds
        that of an id).
    losses
        What they cost; lower is better.
    propensities
        The probability with which each of them was taken, in (0, 1]; those below 1e-100, which
        no action that was taken has, are refused.
    n_actions
        K; with menus the most that one of them offers.
    available
        For each round the actions there were, or None for all of them; None if always all.
    distribution
        Array [n, K]: the probabilities of all actions, where they were recorded too.
    weights
        For each round an unbiased estimate of one over the propensity, drawn independently of the
        loss, such as `decision.weights` holds.
    draws
        From how many draws the propensities were estimated; None where they are exact.

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
    """

    contexts: Any
    actions: Any
    losses: Any
    propensities: Any
    n_actions: int
    available: Any = None
    distribution: Any = None
    weights: Any = None
    draws: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "n_actions", check_integer(self, "n_actions", self.n_actions, 1))
        put(self, "actions", self._checked_actions())
        n = len(self.actions)
        put(self, "losses", self._numbers("losses", (n,)))
        put(self, "contexts", self._checked_contexts(n))
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
        if self.described:
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
            return LoggedDecision(context, *map(as_scalar, cells))
        places = np.arange(len(self))[key if isinstance(key, slice) else np.asarray(key)]
        taken = {name: _taken(getattr(self, name), places) for name in _COLUMNS}
        return replace(self, **taken | ({"available": None} if self.described else {}))

    def __eq__(self, other: object) -> bool:
        """Whether all rounds are the same, to the last bit."""
        if not isinstance(other, Log):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        facts = f"{len(self)} rounds, {self.n_actions} actions"
        if len(self):
            facts += f", mean loss {self.losses.mean():.4g}"
            facts += f", propensities from {self.propensities.min():.4g}"
        return f"<Log: {facts}>"

    @property
    def described(self) -> bool:
        """Whether each context is a `Menu`, which says what was offered."""
        contexts = self.contexts
        return type(contexts) is list and bool(contexts) and isinstance(contexts[0], Menu)

    @property
    def features(self) -> FloatArray | None:
        """The contexts as an array [n, p], where they are vectors of the same length."""
        return self.contexts if isinstance(self.contexts, np.ndarray) else None

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Array [n, K]: whether an action was available in a round."""
        if self.available is None:
            return np.ones((len(self), self.n_actions), dtype=np.bool_)
        table = np.zeros((len(self), self.n_actions), dtype=np.bool_)
        for row, actions in zip(table, self.available, strict=True):
            row[actions] = True
        return table

    def to_frame(self) -> dict[str, Any]:
        """Columns by name, for `pandas.DataFrame`, `polars.DataFrame` or `pyarrow.table`.

        "context", or x0, x1, … for vectors; action, loss, propensity; weight, draws, available
        and p0, p1, …, the distribution, where the log has them, else n_actions.
        """
        table: dict[str, Any] = {}
        if self.features is not None:
            table |= {f"x{j}": column for j, column in enumerate(self.features.T)}
        elif any(context is not None for context in self.contexts):
            table["context"] = self.contexts
        table |= {"action": self.actions, "loss": self.losses, "propensity": self.propensities}
        if self.weights is not None:
            table["weight"] = self.weights
        if self.draws is not None:
            table["draws"] = np.full(len(self), self.draws)
        if self.available is not None:
            table["available"] = [" ".join(map(str, row.tolist())) for row in self.available]
        if self.distribution is None:
            return table | {"n_actions": np.full(len(self), self.n_actions)}
        return table | {f"p{k}": column for k, column in enumerate(self.distribution.T)}

    @classmethod
    def from_frame(cls, frame: Any, n_actions: int | None = None) -> Self:
        """The log that `to_frame` turned into columns.

        Parameters
        ----------
        frame
            A frame of pandas or polars, a table of pyarrow, or a mapping of names to columns.
        n_actions
            K; by default what the frame says, which one of `to_frame` does.

        Examples
        --------
        >>> import hannan as hn
        >>> log = hn.off_policy.Log([0, 1], [0, 1], [0.0, 1.0], [0.5, 0.25], n_actions=2)
        >>> hn.off_policy.Log.from_frame(log.to_frame()) == log
        True
        """
        if not is_frame(frame) and not isinstance(frame, Mapping):
            raise InputTypeError(
                "Log.from_frame takes a frame or a mapping of names to columns; got "
                f"{short(frame)}. Read a file first, by pandas.read_csv or the like, or use "
                "Log.from_file."
            )
        columns = {name: np.asarray(column) for name, column in columns_of(frame)}
        absent = [name for name in ("action", "loss", "propensity") if name not in columns]
        if absent:
            raise ParameterError(
                f"A frame with the columns of Log.to_frame() needs {absent[0]!r}; there are "
                f"{list(columns)}."
            )
        laws, features = _numbered("p", columns), _numbered("x", columns)
        draws, available = columns.get("draws"), columns.get("available")
        if n_actions is None:
            n_actions = len(laws) or _repeated(columns.get("n_actions"))
        return cls(
            contexts=np.column_stack(features) if features else columns.get("context"),
            actions=columns["action"],
            losses=columns["loss"],
            propensities=columns["propensity"],
            n_actions=n_actions,
            available=None if available is None else [_actions_in(text) for text in available],
            distribution=np.column_stack(laws) if laws else None,
            weights=columns.get("weight"),
            draws=None if draws is None or not len(draws) else int(draws[0]),
        )

    @classmethod
    def from_file(cls, path: str | PathLike[str], **columns: Any) -> Self:
        """The rows of somebody's log in a CSV, JSON lines or Parquet file.

        Parameters
        ----------
        path
            The file.
        columns
            Which columns hold what, as in `environments.FromLog`: context, action, loss or reward,
            propensity, and so on. Losses are mapped to [0, 1] by its `value_range`.
        """
        try:
            inspect.signature(FromLog).bind(path, **columns)
        except TypeError as error:
            raise ParameterError(
                "Log.from_file takes the names of columns as environments.FromLog does: context=, "
                f"action=, loss= or reward=, propensity=; {error}."
            ) from None
        world = FromLog(path, **{**columns, "method": "importance"})
        rows = []
        for this_round in world.rounds(world.horizon, np.random.default_rng(0)):
            assert this_round.current is not None
            this_round.reveal(this_round.current)
            propensity = min(1.0 / this_round.weight, 1.0)
            rows.append((this_round.context, this_round.current, this_round.loss, propensity))
        contexts, actions, losses, propensities = ([row[i] for row in rows] for i in range(4))
        return cls(contexts, actions, losses, propensities, world.n_actions)

    def environment(self, **options: Any) -> LogReplay:
        """The rounds for a learner to play; options as in `LogReplay`."""
        from hannan.off_policy.replay import LogReplay

        return LogReplay(self, **options)

    def _checked_actions(self) -> IntArray:
        given = as_array(self.actions)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise InputTypeError(
                "The actions of a Log must be integers 0..K-1, one for each round; got "
                f"{short(self.actions)}."
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
        """The actions of each menu."""
        if self.available is not None:
            raise ParameterError("A Menu says what was available: leave out available=.")
        for t, (menu, action) in enumerate(zip(self.contexts, self.actions, strict=True)):
            if not isinstance(menu, Menu):
                raise InputTypeError(
                    f"Either all contexts of a Log are menus or none is; round {t} has "
                    f"{short(menu)}."
                )
            if len(menu) > self.n_actions:
                raise ParameterError(
                    f"n_actions={self.n_actions} is too few: round {t} offers {len(menu)} actions."
                )
            if action >= len(menu):
                raise ParameterError(
                    f"Round {t} offers {len(menu)} actions, from 0 on; its action is {action}."
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
            accepted = "probabilities of the actions available, of sum 1"
            _first("distribution", wrong, table, accepted)
            logged = table[np.arange(n), self.actions]
            wrong = abs(logged - self.propensities) > TOLERANCE
            _first("propensities", wrong, self.propensities, "those that distribution= gives")
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
    """Refuse what does not say where 1/q comes from, and weights that a log does not have."""
    check_choice(owner, "inverse", inverse, ("propensities", "weights"))
    if inverse == "weights" and log.weights is None:
        raise ParameterError("inverse='weights' needs a log with weights=; this one has none.")


def _first(name: str, wrong: Any, values: NDArray[Any], accepted: str) -> None:
    """Refuse the first round in which something is wrong."""
    if wrong.any():
        t = int(np.argmax(wrong))
        kind = LossError if name == "losses" else ParameterError
        raise kind(f"The {name} of a Log must be {accepted}; round {t} has {values[t]}.")


def _are_vectors(given: Any) -> bool:
    """Whether contexts are the rows of an array of numbers: arrays or lists, of one length."""
    if isinstance(given, np.ndarray):
        return given.ndim == 2 and given.dtype.kind in "iufb"
    shapes = {_shape(row) for row in given}
    return len(shapes) == 1 and () not in shapes


def _shape(row: Any) -> tuple[int, ...]:
    """The shape of a vector; () for anything else."""
    if isinstance(row, list) and all(isinstance(value, int | float) for value in row):
        return (len(row),)
    numeric = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "iufb"
    return row.shape if numeric else ()


def _numbered(letter: str, columns: Mapping[str, Any]) -> list[Any]:
    """The columns p0, p1, … in order."""
    names = takewhile(columns.__contains__, (f"{letter}{i}" for i in count()))
    return [columns[name] for name in names]


def _repeated(column: Any) -> Any:
    """K, by a column that repeats it."""
    if column is None or not len(column):
        raise ParameterError(
            "Log.from_frame needs n_actions=, as the frame has neither rows with 'n_actions' nor "
            "columns p0, p1…"
        )
    others = column[column != column[0]]
    if len(others):
        raise ParameterError(
            f"The column 'n_actions' must hold one number throughout; got {column[0]} and "
            f"{others[0]}."
        )
    return column[0]


def _actions_in(text: Any) -> list[int]:
    try:
        return [int(action) for action in str(text).split()]
    except ValueError:
        raise ParameterError(
            f"The column 'available' must hold actions such as '0 2 5'; got {text!r}."
        ) from None


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
