"""Replay of arrays: given losses, or classes to predict."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hannan.core import (
    ContextError,
    Environment,
    InputTypeError,
    LossError,
    Oracle,
    ParameterError,
    Round,
)
from hannan.core.arrays import as_array, as_floats, as_list, as_rows, columns_of, is_frame
from hannan.core.availability import check_available
from hannan.core.rounds import IntArray
from hannan.core.validation import FloatArray, check_choice, check_integer, check_positive, refuse
from hannan.environments._scaling import RUNNING, unit

_BUNDLED = ("breast_cancer", "digits", "iris", "wine")


class FromArrays(Environment):
    """Replay arrays of contexts and losses, in order.

    If all actions are always available, this is an oblivious adversary. With restricted action sets
    the rounds are fixed too, but the best policy is not: if its action is unavailable, the policy
    is charged the loss of the learner's action.

    Parameters
    ----------
    contexts
        T contexts: a list, an array, or a column. The rows of a two-dimensional array or of a frame
        are feature vectors. None means a problem without contexts.
    losses
        Losses of the K actions in T rounds: array or frame [T, K] of finite numbers.
    available
        Available actions of each round: booleans [T, K], or a list with a list of actions per round
        (None for all actions). Default None: all actions in all rounds. The losses of unavailable
        actions are ignored.

    Examples
    --------
    >>> import hannan as hn
    >>> environment = hn.environments.FromArrays([0, 1, 0], [[0, 1], [1, 0], [0, 1]])
    >>> environment.horizon, environment.n_actions
    (3, 2)
    >>> world = hn.environments.FromArrays(None, [[0.5, 0], [0.5, np.nan]], available=[None, [0]])
    >>> hn.play(hn.baselines.FollowTheLeader(hn.oracles.AllPolicies(1, 2)), world).actions
    array([0, 0])
    """

    def __init__(self, contexts: Any, losses: Any, *, available: Any = None) -> None:
        self.contexts_given = contexts
        self.losses = losses
        self.available = available
        self.oblivious = available is None  # type: ignore[misc]
        try:
            table = as_floats(losses).copy()
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"FromArrays needs losses [T, K] of numbers: {error}.") from None
        if table.ndim != 2 or 0 in table.shape:
            raise ParameterError(
                f"FromArrays needs losses [T, K]; got an array of shape {table.shape}."
            )
        self._available = self._check_rows(available, *table.shape)
        finite = np.isfinite(table)
        for row, allowed in enumerate(self._available or ()):
            finite[row] |= allowed is not None and ~np.isin(np.arange(table.shape[1]), allowed)
        if not finite.all():
            row = int(np.argmin(finite.all(axis=1)))
            raise LossError(f"Losses must be finite; row {row}, counting from 0, is {table[row]}.")
        listed = [None] * len(table) if contexts is None else list(as_rows(contexts))
        if len(listed) != len(table):
            raise ParameterError(
                f"FromArrays got {len(listed)} contexts for {len(table)} rows of losses. Pass one "
                "context per row."
            )
        self._losses: FloatArray = table
        self._contexts: list[Any] = listed
        self.n_actions = int(table.shape[1])

    @property
    def params(self) -> dict[str, Any]:
        return {**super().params, "contexts": self.contexts_given}

    @property
    def horizon(self) -> int:
        return len(self._losses)

    @property
    def contexts(self) -> list[Any] | None:
        return None if self.contexts_given is None else self._contexts

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if horizon > len(self._losses):
            raise ParameterError(
                f"FromArrays has {len(self._losses)} rounds, less than the horizon {horizon}."
            )
        sets = itertools.repeat(None) if self._available is None else self._available
        rows = zip(self._contexts[:horizon], self._losses, sets, strict=False)
        for context, losses, allowed in rows:
            yield Round(context, losses, available=allowed)

    def _check_rows(self, available: Any, T: int, K: int) -> list[IntArray | None] | None:
        if available is None:
            return None
        try:
            rows = list(as_array(available) if is_frame(available) else available)
        except TypeError:
            rows = []
        if len(rows) != T:
            accepted = f"booleans [{T}, {K}], or {T} lists of actions"
            raise refuse(self, "available", accepted, available)
        return [
            None if row is None else check_available(self, row, K, f"available[{t}]")
            for t, row in enumerate(rows)
        ]


class Classification(Environment):
    r"""Online classification: the actions are the classes, and every wrong class costs 1.

    The losses are :math:`\ell_t(a) = 1[a \ne y_t]`. With full information this is online
    classification. With bandit feedback the learner observes only whether its prediction was right.

    Parameters
    ----------
    rows
        Feature vectors [n, p], an array or a frame of finite numbers.
    labels
        Class of each row, an array or a column: integers from 0 to K - 1, or names, which are
        numbered in alphabetical order.
    n_actions
        Number of classes K. Default: the largest label plus one.
    shuffle
        Whether each pass visits the rows in a new random order, with an unlimited number of passes.
        If False, there is one pass, in the given order. Default True.
    scale
        Scaling of the features. None (default): no scaling. A number: divide the features by this
        number. "unit": map each feature to [0, 1] by its range over all rows. "running-unit" and
        "running-standard": map to [0, 1], or to mean 0 and variance 1, by the rows so far,
        including the current row.
    oracle
        Policy class (oracle) that regret is measured against. Default None.

    Examples
    --------
    >>> import hannan as hn
    >>> world = hn.environments.Classification.bundled("iris")
    >>> world.n_actions, len(world.contexts)
    (3, 150)
    >>> learner = hn.ContextSemiBanditFTPL(
    ...     hn.oracles.LinearPolicies(n_actions=3), predictor=hn.predictors.Ridge(), seed=0
    ... )
    >>> bool(hn.play(learner, world, horizon=2000, seed=0).losses.mean() < 0.25)
    True
    """

    def __init__(
        self,
        rows: Any,
        labels: Any,
        *,
        n_actions: int | None = None,
        shuffle: bool = True,
        scale: float | str | None = None,
        oracle: Oracle | None = None,
    ) -> None:
        self.rows = rows
        self.labels = labels
        self.shuffle = shuffle
        self.scale = scale
        self.oracle = oracle
        table = _check_rows(self, rows)
        self._labels, self._classes = _check_labels(self, labels, len(table), n_actions)
        self.n_actions = int(self._labels.max()) + 1 if n_actions is None else n_actions
        if oracle is not None and oracle.n_actions not in (None, self.n_actions):
            raise ParameterError(
                f"Classification has {self.n_actions} classes and an oracle of "
                f"{oracle.n_actions} actions. Pass an oracle with {self.n_actions} actions."
            )
        self._rows, self._scaler = _scaled(self, table, scale)
        self._miss = 1.0 - np.eye(self.n_actions)

    @classmethod
    def bundled(
        cls,
        dataset: str,
        *,
        shuffle: bool = True,
        scale: float | str | None = "usual",
        oracle: Oracle | None = None,
    ) -> Self:
        """Load a data set that comes with scikit-learn.

        Parameters
        ----------
        dataset
            Name of the data set: "breast_cancer", "digits", "iris" or "wine".
        shuffle, oracle
            As in `Classification`.
        scale
            As in `Classification`, or "usual" (default), which divides the digits by 16 and uses
            "unit" for the other data sets.
        """
        check_choice(f"{cls.__name__}.bundled", "dataset", dataset, _BUNDLED)
        from sklearn import datasets  # type: ignore[import-untyped]

        rows, labels = getattr(datasets, f"load_{dataset}")(return_X_y=True)
        if scale == "usual":
            scale = 16.0 if dataset == "digits" else "unit"
        return cls(rows, labels, shuffle=shuffle, scale=scale, oracle=oracle)

    @property
    def classes(self) -> list[Any]:
        """Class of each action: its number, or the given name.

        >>> Classification([[0.0], [1.0]], ["spam", "ham"]).classes
        ['ham', 'spam']
        """
        return list(range(self.n_actions)) if self._classes is None else list(self._classes)

    @property
    def horizon(self) -> int | None:
        """Number of rows if there is one pass, else None."""
        return None if self.shuffle else len(self._rows)

    @property
    def contexts(self) -> list[FloatArray] | None:
        """The scaled rows; None if the rows are scaled as they arrive."""
        return list(self._rows) if self._scaler is None else None

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Round]:
        if not self.shuffle and horizon > len(self._rows):
            raise ParameterError(
                f"Classification has {len(self._rows)} rounds, less than the horizon {horizon}. "
                "Reduce the horizon, or pass shuffle=True for unlimited rounds."
            )
        scaler = None if self._scaler is None else self._scaler()
        n = len(self._rows)
        passes = (rng.permutation(n).tolist() for _ in itertools.count())
        order = itertools.chain.from_iterable(passes) if self.shuffle else range(n)
        for i in itertools.islice(order, horizon):
            row = self._rows[i]
            context = row if scaler is None else scaler(row.astype(np.float64))
            yield Round(context, self._miss[self._labels[i]].copy())


def _check_rows(owner: object, rows: Any) -> NDArray[Any]:
    try:
        table = as_array(rows)
    except ValueError:
        raise refuse(owner, "rows", "numbers [n, p]", rows) from None
    if is_frame(rows) and table.dtype.kind not in "fiub":
        for name, column in columns_of(rows):
            if as_array(column).dtype.kind not in "fiub":
                raise ContextError(
                    f"Column {str(name)!r} of rows holds {as_list(column)[0]!r:.40}, not a number. "
                    "Leave out the column, or encode the rows with hannan.features.Features first."
                )
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "fiub":
        raise refuse(owner, "rows", "numbers [n, p]", rows)
    finite = np.isfinite(table)
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), table.shape[1])
        raise ContextError(
            f"Rows must be finite; feature {column} of row {row}, both counting from 0, is "
            f"{table[row, column]}. Fill in or drop missing values first."
        )
    return table


def _check_labels(
    owner: object, labels: Any, n_rows: int, n_actions: int | None
) -> tuple[NDArray[np.intp], list[str] | None]:
    """Return the labels as numbers, and their names if they have names."""
    found, names = as_array(labels), None
    if found.dtype.kind in "UO" and all(isinstance(each, str) for each in found.ravel().tolist()):
        classes, found = np.unique(found.astype(str), return_inverse=True)
        names = classes.tolist()
    if found.ndim != 1 or len(found) != n_rows or found.dtype.kind not in "iub":
        raise refuse(owner, "labels", f"{n_rows} integers or names, one for each row", labels)
    most = int(found.max())
    if n_actions is not None:
        most = check_integer(owner, "n_actions", n_actions, 1) - 1
    outside = (found < 0) | (found > most)
    if outside.any():
        row = int(np.argmax(outside))
        raise LossError(
            f"Labels must be from 0 to {most}; the label of row {row}, counting from 0, is "
            f"{found[row]}."
        )
    return found.astype(np.intp), names


def _scaled(
    owner: object, table: NDArray[Any], scale: float | str | None
) -> tuple[NDArray[Any], Callable[[], Any] | None]:
    """Return the rows to store, and a factory of scalers if rows are scaled as they arrive."""
    if isinstance(scale, str):
        check_choice(owner, "scale", scale, ("unit", *RUNNING))
        if scale in RUNNING:
            return table, RUNNING[scale]
    rows = table.astype(np.float64)
    if scale == "unit":
        rows = unit(rows, rows.min(axis=0), rows.max(axis=0))
    elif scale is not None:
        rows /= check_positive(owner, "scale", scale)
    return rows, None
