"""A rule that a replay fitted to your rows, to decide new rows."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import ContextError, ParameterError
from hannan.core.arrays import as_list, columns_of, is_frame
from hannan.core.params import Parametrised
from hannan.core.state import require
from hannan.core.storage import save
from hannan.core.stored import NO_STATE, Stored
from hannan.core.validation import FloatArray
from hannan.decisions.frames import only_row
from hannan.environments._columns import is_empty, is_hole
from hannan.environments._dialect import Dialect
from hannan.environments._features import readable
from hannan.experiments.search import Candidate, LinearFit, TreeFit
from hannan.features import Column, Date, Features, Number

_LEAF = -1
_LEAP_DAY = datetime(2024, 2, 29, 13, 30)


@dataclass(frozen=True, eq=False)
class Weights(Stored):
    """Linear scores: weights [p + 1, K], the constant last; the smallest score wins."""

    weights: FloatArray
    stored = NO_STATE

    def __post_init__(self) -> None:
        w = self.weights
        require(self, weights=_is_array(w, "f", 2) and bool(np.isfinite(w).all()) and len(w) > 0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and actions."""
        return len(self.weights) - 1, self.weights.shape[1]

    def choose(self, rows: FloatArray) -> NDArray[np.intp]:
        """Return the action of each row."""
        return np.asarray((rows @ self.weights[:-1] + self.weights[-1]).argmin(axis=1))


@dataclass(frozen=True, eq=False)
class Forest(Stored):
    """Trees whose values add up to predicted losses; the action with the smallest one wins.

    Nodes are rows of the arrays. An inner node compares a `feature` with a `threshold`: the first
    of its two `children` follows if the feature is at most the threshold, else the second one.
    Children come after their parent.
    """

    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: FloatArray
    children: NDArray[np.int64]
    values: FloatArray
    width: int
    stored = NO_STATE

    def __post_init__(self) -> None:
        n, inner = len(self.feature), self.feature != _LEAF
        shaped = all(_is_array(a, "i", 1) for a in (self.roots, self.feature))
        shaped = shaped and _is_array(self.children, "i", 2) and _is_array(self.values, "f", 2)
        shaped = shaped and _is_array(self.threshold, "f", 1) and type(self.width) is int
        require(self, arrays=shaped)
        later = self.children > np.arange(n)[:, None]
        require(
            self,
            lengths=self.children.shape == (n, 2) and len(self.threshold) == len(self.values) == n,
            roots=bool(((self.roots >= 0) & (self.roots < n)).all()),
            features=bool(((self.feature >= _LEAF) & (self.feature < self.width)).all()),
            children=bool((later & (self.children < n))[inner].all()),
            values=bool(np.isfinite(self.values).all()),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of features and actions."""
        return self.width, self.values.shape[1]

    def choose(self, rows: FloatArray) -> NDArray[np.intp]:
        """Return the action of each row."""
        total = np.zeros((len(rows), self.values.shape[1]))
        for root in self.roots.tolist():
            at = np.full(len(rows), root)
            while len(going := np.flatnonzero(self.feature[at] != _LEAF)):
                node = at[going]
                right = rows[going, self.feature[node]] > self.threshold[node]
                at[going] = self.children[node, right.astype(np.int64)]
            total += self.values[at]
        return np.asarray(total.argmin(axis=1))

    @classmethod
    def of(cls, trees: TreeFit, rows: FloatArray) -> Forest:
        """Copy scikit-learn's trees, and check that the copy chooses the same actions on `rows`."""
        single = len(trees.models) == 1
        parts = [_single(trees.models[0].tree_)] if single else _sums(trees.models)
        starts = np.cumsum([0, *(len(part[0]) for part in parts)])
        feature, threshold, children, values = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )
        shift = np.repeat(starts[:-1], np.diff(starts))[:, None]
        arrays = starts[:-1], feature, threshold, children + shift, values
        forest = cls(*arrays, int(rows.shape[1]))
        if (forest.choose(rows) != trees(rows)).mean() > 0.001:
            raise ParameterError(
                "Hannan cannot read the trees of this version of scikit-learn, so it cannot return "
                "the rule. Please report this."
            )
        return forest


class Rule(Parametrised):
    """Decide new rows with a rule that a replay fitted to all rows of your data.

    Parameters
    ----------
    name
        Class of the rule, such as "decision tree", or "always yes" for a single action.
    actions
        Names of the actions.
    features
        Encoder of the columns; None for a single action, which needs no columns.
    model
        Model that chooses an action from the features; an integer for a single action.
    decimal
        Decimal mark of numbers in text.
    unread
        Further words for a missing value, for some columns.

    Examples
    --------
    >>> import hannan as hn
    >>> frame = {"age": list(range(20, 80)) * 5, "bought": (["no"] * 30 + ["yes"] * 30) * 5}
    >>> rule = hn.replay(frame, label="bought", learners=["FollowTheLeader"]).rule
    >>> rule.decide({"age": 43}), rule.decide_many({"age": [25, 61, None]})[:2]
    ('no', ['no', 'yes'])
    """

    stored = NO_STATE

    def __init__(
        self,
        name: str,
        actions: Iterable[Any],
        features: Features | None,
        model: Any,
        decimal: str = ".",
        unread: Mapping[str, list[str]] | None = None,
    ) -> None:
        self.name, self.features, self.model = name, features, model
        self.decimal, self.unread = decimal, unread or {}
        require(self, decimal=decimal in (".", ","), unread=isinstance(self.unread, Mapping))
        self._plain = Dialect(decimal=decimal).plain
        self.actions = list(actions)
        K = len(self.actions)
        if isinstance(model, Weights | Forest):
            width = features.width if isinstance(features, Features) else -1
            require(self, model=model.shape == (width, K))
        else:
            require(self, model=type(model) is int and 0 <= model < K)

    def __repr__(self) -> str:
        return f"<{self.name} with the actions {', '.join(map(str, self.actions))}>"

    @property
    def caution(self) -> str:
        """Warning for estimates of a fitted rule on its own data; empty for a single action."""
        if self.features is None:
            return ""
        return (
            "a replay fitted this rule: on the rows of that replay it looks better than it is; the "
            "replay's table shows its results on rows that it was not fitted to"
        )

    def decide(self, row: Any = None) -> Any:
        """Return the name of the action for a row.

        Parameters
        ----------
        row
            A mapping with the columns of your data, or a row of a frame. A column that the row
            lacks counts as a missing value; the row may lack half of the columns. Additional
            columns are ignored. The rule reads text as the replay did; an unreadable value raises
            `ContextError`.
        """
        row = only_row(row)
        cells = row if isinstance(row, Mapping) else getattr(row, "to_dict", dict)()
        return self._chosen({str(name): [cell] for name, cell in cells.items()}, 1, 0.5)[0]

    def decide_many(self, rows: Any) -> list[Any]:
        """Return the name of the action for each row.

        Parameters
        ----------
        rows
            A frame or a mapping of names to columns, with all columns of the rule; or a list of
            mappings, each as in `decide`.
        """
        if is_frame(rows) or isinstance(rows, Mapping):
            pairs = columns_of(rows) if is_frame(rows) else rows.items()
            columns = {str(name): as_list(column) for name, column in pairs}
            lengths = {len(column) for column in columns.values()}
            if len(lengths) != 1:
                raise ContextError(f"Columns must have equal lengths; got {sorted(lengths)}.")
            return self._chosen(columns, lengths.pop(), 0.0)
        return [self.decide(row) for row in rows]

    def __call__(self, context: Any = None) -> Any:
        return self.decide(context)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rule to a file, which `hannan.load` reads."""
        save(self, path)

    def _chosen(self, columns: Mapping[str, list[Any]], n: int, gaps: float) -> list[Any]:
        """Decide n rows, which may lack the share `gaps` of the columns."""
        if self.features is None:
            return [self.actions[self.model]] * n
        kinds = self.features.columns
        assert kinds is not None
        lacking = [name for name in kinds if name not in columns]
        if len(lacking) > gaps * len(kinds):
            raise ContextError(self._lacks(lacking, columns.keys() - kinds.keys()))
        cells = [self._read(c, kind, columns.get(c, [None] * n)) for c, kind in kinds.items()]
        rows = (dict(zip(kinds, row, strict=True)) for row in zip(*cells, strict=True))
        X = np.array([*map(self.features.encode, rows)]).reshape(n, self.features.width)
        return [self.actions[k] for k in self.model.choose(X).tolist()]

    def _lacks(self, lacking: list[str], others: Iterable[str]) -> str:
        """Return the message for columns that rows lack, with columns of similar names."""
        known, names = {name.lower(): name for name in others}, []
        for name in lacking[:8]:
            near = difflib.get_close_matches(name.lower(), known, 1)
            names.append(f"{name!r}" + (f" (did you mean {known[near[0]]!r}?)" if near else ""))
        return (
            f"The rule {self.name!r} lacks {len(lacking)} of its columns: {', '.join(names)}. A "
            "frame must have all columns, a row half of them. Rename columns, or add those that "
            "are unknown with None."
        )

    def _read(self, name: str, kind: Any, cells: list[Any]) -> list[Any]:
        """Read the cells of a column as the replay did; an unreadable one raises `ContextError`."""
        as_it_is, words = isinstance(kind, Number | Date), self.unread.get(name, ())
        written = [None if is_empty(c) else c if as_it_is else str(c) for c in cells]
        given = [self._plain(cell) if isinstance(cell, str) else cell for cell in written]
        found = readable(kind, given)
        for cell, value in zip(given, found, strict=True):
            if value is None and not is_hole(cell) and str(cell) not in words:
                raise ContextError(
                    f"The rule {self.name!r} cannot read {cell!r:.80} in column {name!r}, which "
                    f"holds {self._held(kind)}. Use this format, or pass None for an unknown value."
                )
        return found

    def _held(self, kind: Column) -> str:
        if isinstance(kind, Date):
            return f"dates such as {_LEAP_DAY.strftime(kind.format or '%Y-%m-%d')}"
        return f"numbers such as 1{self.decimal}5" if isinstance(kind, Number) else "yes or no"


def model_of(candidate: Candidate, rows: FloatArray) -> Weights | Forest:
    """Return a fitted rule as arrays; `rows` are the rows that it was fitted to."""
    fitted = candidate.choose
    if isinstance(fitted, LinearFit):
        return Weights(np.array(fitted.weights, dtype=np.float64))
    assert isinstance(fitted, TreeFit)
    return Forest.of(fitted, rows)


def _is_array(value: Any, kind: str, ndim: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == kind and value.ndim == ndim


def _single(tree: Any) -> tuple[Any, ...]:
    """Return the nodes of a tree that predicts the losses of all actions."""
    leaf = tree.children_left < 0
    children = np.column_stack([tree.children_left, tree.children_right]).astype(np.int64)
    feature = np.where(leaf, _LEAF, tree.feature).astype(np.int64)
    values = np.where(leaf[:, None], tree.value[:, :, 0], 0.0)
    return feature, tree.threshold.astype(np.float64), np.where(leaf[:, None], 0, children), values


def _sums(models: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the nodes of all trees of boosted models, each of which predicts one action's loss."""
    parts, K = [], len(models)
    for k, model in enumerate(models):
        column = np.arange(K) == k
        trees = [tree.nodes for stage in vars(model)["_predictors"] for tree in stage]
        for nodes in trees:
            leaf = nodes["is_leaf"].astype(bool)
            children = np.column_stack([nodes["left"], nodes["right"]]).astype(np.int64)
            parts.append((
                np.where(leaf, _LEAF, nodes["feature_idx"]).astype(np.int64),
                np.where(leaf, 0.0, nodes["num_threshold"]),
                np.where(leaf[:, None], 0, children),
                np.where(leaf, nodes["value"], 0.0)[:, None] * column,
            ))  # fmt: skip
        start = float(np.ravel(vars(model)["_baseline_prediction"])[0])
        leaf_only = (np.array([_LEAF]), np.zeros(1), np.zeros((1, 2), np.int64))
        parts.append((*leaf_only, start * column[None, :].astype(np.float64)))
    return parts
