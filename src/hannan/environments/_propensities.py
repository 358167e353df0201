"""Check the propensities of a log, and estimate missing ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hannan.core import ParameterError, PropensityError
from hannan.core.validation import FloatArray, check_integer

IntArray = NDArray[np.intp]

FALSE_ALARMS = 1e-4
"""Probability that `check_propensities` rejects a log whose propensities are right."""
TOLERANCE = 0.02  # relative error of the means that passes, because propensities are often rounded
FLOOR = 1e-3  # minimum of estimated propensities
RARE = 0.01
_BETS = 0.5 ** np.arange(1, 13)
_UNSEEN = 4.0  # assumed ratio of an action's smallest logged propensity to its smallest propensity
_IMPOSSIBLE = 0.1  # mean of 1[a = k]/p below which an action seems impossible in a region
_LEVELS = 8  # largest m in the check of propensities above 1/(m + 1)
_LEAVES = 8
_SHORT = 50  # rows
_MOST_BEFORE = 100  # most actions for which rows are split by the previous action
_HEAVY = 100.0  # largest weight of a row when the tree is fitted
_FITTED = 20_000  # most rows that the tree is fitted to
_TRAINED = 50_000  # most rows that a model of the action is fitted to
_BOOSTED = 20  # most actions for which boosted trees are tried


class _Cells(NamedTuple):
    """A partition of the rows: the cell of each row (-1 if in no cell), and names of the cells."""

    at: IntArray
    words: list[str]
    repeats: bool = False
    """Whether cells are defined by the previous action, and only its repetition is checked."""


@dataclass(frozen=True)
class _Weights:
    """Importance weights of the rows of each action, within each cell of a partition."""

    cells: _Cells
    actions: IntArray
    propensities: FloatArray
    allowed: NDArray[np.bool_] | None
    n_actions: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.cells.words), self.n_actions

    @property
    def _groups(self) -> IntArray:
        """Number of the cell and action of each row; rows outside all cells come last."""
        at = np.where(self.cells.at < 0, self.shape[0], self.cells.at)
        return np.asarray(at * self.n_actions + self.actions, dtype=np.intp)

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up values of the rows, by cell and action."""
        cells, K = self.shape
        total = np.bincount(self._groups, values, (cells + 1) * K)
        return np.asarray(total.reshape(cells + 1, K)[:cells])

    def rows(self) -> FloatArray:
        """Return the number of rows in which each action was available, by cell."""
        cells, K = self.shape
        inside = self.cells.at >= 0
        table: Any = True if self.allowed is None else self.allowed[inside]
        counts = np.zeros((cells, K))
        np.add.at(counts, self.cells.at[inside], table)
        return counts

    def too_large(self) -> FloatArray:
        """Return the log evidence that the mean of 1[a = k]/p exceeds 1, by cell and action."""
        weights = 1.0 / self.propensities / (1.0 + TOLERANCE)
        without = self.rows() - self.sums(np.ones(len(weights)))
        bets = [
            self.sums(np.log1p(bet * (weights - 1.0))) + without * np.log1p(-bet) for bet in _BETS
        ]
        return np.asarray(_mixed(bets))


def check_propensities(
    actions: ArrayLike,
    propensities: ArrayLike,
    names: Sequence[Any] | None = None,
    X: ArrayLike | None = None,
    available: Any = None,
    *,
    features: Sequence[str] | None = None,
    in_order: bool = False,
) -> None:
    r"""Raise `PropensityError` if these cannot be the probabilities of the logged actions.

    If :math:`p_t` is the probability with which action :math:`a_t` was taken, then for every action
    k the mean of :math:`1[a_t = k]/p_t` is 1. This holds over all rows, and over every subset that
    the features define. The check tests all rows. It also fits a small tree to a random half of the
    rows, and tests its leaves on the other half. A mean above 1 refutes the propensities. A mean
    below 1 does so only if the action was not practically impossible in the other rows; for this
    the check assumes at least a quarter of its smallest logged propensity, between its first and
    its last row. Furthermore, at most m actions can have a propensity above 1/(m + 1). Deviations
    of up to 2 % pass, because propensities are often rounded.

    Parameters
    ----------
    actions
        Indices 0..K-1 of the n logged actions.
    propensities
        Probabilities of the logged actions, in (0, 1].
    names
        Names of the K actions, for messages. Default: their indices.
    X
        Feature vectors [n, d]; NaN is a missing value. Default: no features.
    available
        Actions that were available in each row: n lists of indices (None for all), or a table of
        booleans [n, K]. Default: all in every row.
    features
        Names of the d features, for messages.
    in_order
        Whether the rows are in the order in which the actions were taken. If True, the check also
        tests each quarter of the rows, and the repetitions of each action. It then finds
        probabilities that changed over time, and draws that decided several rows. Default False.

    Guarantee
    ---------
    A log with right propensities is rejected with probability at most 1e-4, even if they are small
    or a learner set them depending on earlier rows. The evidence is a mean of products of bets,
    which is a supermartingale [waudbysmith2024]. For means below 1 this holds under the assumption
    above.

    Examples
    --------
    >>> from hannan.off_policy import check_propensities
    >>> actions = [0] * 350 + [1] * 100 + [2] * 550
    >>> check_propensities(actions, [0.35] * 350 + [0.1] * 100 + [0.55] * 550)
    >>> check_propensities(actions, [1 / 3] * 1000, names=["none", "5%", "10%"])
    Traceback (most recent call last):
    ...
    hannan.core.errors.PropensityError: '10%' was logged in 55 % of the rows, but its propensities
    say 33 %: the mean of 1[action = '10%']/propensity is 1.65 and must be 1...
    """
    a, p = _checked(actions, propensities)
    if len(a) == 0:
        return
    K = int(a.max()) + 1 if names is None else len(names)
    shown = [repr(name) for name in (range(K) if names is None else names)]
    allowed = None if available is None else _table_of(available, len(a), K)
    if p.min() >= 1.0 - 1e-9 and len(np.unique(a)) > 1:
        raise PropensityError(
            f"Every propensity is 1, but {len(np.unique(a))} different actions were logged: a "
            "deterministic rule chose them. Such a log does not contain the outcomes of other "
            "actions in similar rows. If the actions were drawn at random, pass their "
            "probabilities; otherwise choose some actions at random from now on, and log their "
            "probabilities."
        )
    everywhere = _Cells(np.zeros(len(a), dtype=np.intp), [""])
    table = _checked_table(X, len(a))
    # With right propensities, weights 1/p make all actions equally frequent everywhere: a split
    # that separates actions shows where the propensities are wrong.
    leaves, tested = _leaves(a, table, np.minimum(1.0 / p, _HEAVY), features)
    regions, _ = _leaves(a, table, np.ones(len(a)), features)
    splits = [everywhere, _Cells(np.where(tested, leaves.at, -1), leaves.words)]
    if in_order:
        splits += _in_time(a, shown)
    count = sum(len(cells.words) for cells in splits)
    least = float(np.log((count + 1) * (K + _LEVELS) / FALSE_ALARMS))
    for cells in splits:
        weights = _Weights(cells, a, p, allowed, K)
        evidence = weights.too_large()
        if cells.repeats:  # actions may well alternate
            evidence = np.where(np.eye(K, dtype=bool), evidence, -np.inf)
        if cells is everywhere:
            evidence = np.maximum(evidence, _too_small(weights, (leaves, regions), least))
        if evidence.max(initial=0.0) > least:
            raise PropensityError(_told(weights, evidence, shown))
        _check_levels(cells, p, K, least)


def is_sorted(actions: IntArray, outcomes: FloatArray) -> bool:
    """Return whether rows are sorted by actions or outcomes, instead of the order of the decisions.

    Parameters
    ----------
    actions, outcomes
        Actions and outcomes of the n rows. Fewer than 50 rows may be sorted by chance.

    Examples
    --------
    >>> import numpy as np
    >>> is_sorted(np.repeat([0, 1], 50), np.tile([0.0, 1.0], 50))
    True
    >>> is_sorted(np.tile([0, 1], 50), np.tile([0.0, 1.0], 50))
    False
    """
    if len(actions) < _SHORT:  # few rows may be sorted by chance
        return False
    steps, runs = np.diff(outcomes), 1 + np.count_nonzero(np.diff(actions))
    by_outcome = bool((steps >= 0.0).all() or (steps <= 0.0).all()) and bool(steps.any())
    return by_outcome or bool(1 < runs == len(np.unique(actions)))


def _in_time(a: IntArray, shown: list[str]) -> list[_Cells]:
    """Partition rows, in their order, into quarters and by the action of the previous row."""
    splits = []
    if len(shown) <= _MOST_BEFORE:
        before = np.concatenate(([-1], a[:-1])).astype(np.intp)
        splits.append(_Cells(before, [f" {_AFTER} {name}" for name in shown], repeats=True))
    quarters = 4 * np.arange(len(a), dtype=np.intp) // len(a)
    words = [f" in the {each} {_QUARTER}" for each in ("first", "second", "third", "last")]
    return [*splits, _Cells(quarters, words)]


def _checked(actions: Any, propensities: Any) -> tuple[IntArray, FloatArray]:
    a, p = np.asarray(actions), np.asarray(propensities, dtype=np.float64)
    if a.ndim != 1 or a.shape != p.shape or (a.size and (a.dtype.kind not in "iu" or a.min() < 0)):
        raise ParameterError(
            "actions must be indices 0..K-1, and propensities must have one number per action; got "
            f"arrays of shapes {a.shape} and {p.shape}."
        )
    wrong = np.flatnonzero(~((p > 0.0) & (p <= 1.0)))
    if len(wrong):
        percent = " Divide percentages by 100." if p[wrong[0]] > 1.0 else ""
        raise PropensityError(
            f"A propensity must be a probability in (0, 1]; row {wrong[0]} has "
            f"{p[wrong[0]]:g}.{percent}"
        )
    return a.astype(np.intp), p


def _table_of(available: Any, n: int, K: int) -> NDArray[np.bool_]:
    """Return the availability of actions as a table of booleans [n, K]."""
    if isinstance(available, np.ndarray) and available.dtype == bool:
        table = available
    else:
        table = np.zeros((len(available), K), dtype=bool)
        for row, places in zip(table, available, strict=True):
            row[slice(None) if places is None else np.asarray(places, dtype=np.intp)] = True
    if table.shape != (n, K):
        raise ParameterError(
            f"available must have an entry for each of {n} rows and {K} actions; got shape "
            f"{table.shape}."
        )
    return table


def _mixed(bets: Sequence[Any]) -> Any:
    """Return the log of the mean of products of bets, given the logs of the products."""
    return np.logaddexp.reduce(np.asarray(bets), axis=0) - np.log(len(bets))


def _too_small(weights: _Weights, splits: Sequence[_Cells], least: float) -> FloatArray:
    """Return the log of the evidence that the mean of 1[a = k]/p is below 1, by action.

    It is computed only for actions for which it could exceed `least`.
    """
    p = weights.propensities
    rows, largest = weights.rows()[0], np.zeros(weights.n_actions)
    np.maximum.at(largest, weights.actions, 1.0 / p)
    frequent = []
    for cells in splits:
        parts = _Weights(cells, weights.actions, p, weights.allowed, weights.n_actions)
        frequent.append(parts.sums(1.0 / p) > _IMPOSSIBLE * parts.rows())
    evidence = np.full(len(rows), -np.inf)
    for k in np.flatnonzero((largest > 0.0) & (rows > least * largest)).tolist():
        possible = [table[cells.at, k] for table, cells in zip(frequent, splits, strict=True)]
        evidence[k] = _shortfall(weights, k, _UNSEEN * largest[k], np.all(possible, axis=0))
    return evidence


def _shortfall(weights: _Weights, k: int, most: float, possible: NDArray[np.bool_]) -> float:
    """Return the log of the evidence that action k was logged too rarely.

    The probability of action k is assumed to be at least 1/most. Another row counts only if the
    action seems to have been possible there: the propensity of the row leaves 1/most for action k,
    and the row lies between the first and the last row of action k.
    """
    taken = np.flatnonzero(weights.actions == k)
    p = weights.propensities
    other = possible & (weights.actions != k) & (p <= 1.0 - 1.0 / most)
    if weights.allowed is not None:
        other &= weights.allowed[:, k]
    without = int(other[taken[0] : taken[-1]].sum())
    with_it = 1.0 - 1.0 / p[taken] / (1.0 - TOLERANCE)
    bets = [
        np.log1p(bet * with_it).sum() + without * np.log1p(bet) for bet in 2.0 * _BETS[:6] / most
    ]
    return float(_mixed(bets))


def _check_levels(cells: _Cells, p: FloatArray, K: int, least: float) -> None:
    """Raise `PropensityError` if more than m actions have propensities above 1/(m + 1)."""
    for m in range(1, min(K, _LEVELS) + 1):
        above = np.where(p > 1.0 / (m + 1), 0, 1).astype(np.intp)
        weights = _Weights(cells, above, m * p, None, 2)
        evidence = weights.too_large()[:, 0]
        cell = int(evidence.argmax())
        if evidence[cell] > least:
            mean = m * weights.sums(1.0 / (m * p))[cell, 0] / weights.rows()[cell, 0]
            actions = "one action" if m == 1 else f"{m} actions"
            raise PropensityError(
                f"The propensities are too large{cells.words[cell]}: at most {actions} can have "
                f"a propensity above 1/{m + 1} in a row, but the mean of 1[propensity > "
                f"1/{m + 1}]/propensity is {mean:.2f} and must be at most {m}. {_FIX}"
            )


def _told(weights: _Weights, evidence: FloatArray, shown: list[str]) -> str:
    """Describe the clearest deviation, and the means of all actions."""
    p, rows = weights.propensities, np.maximum(weights.rows(), 1.0)
    counts, means = weights.sums(np.ones(len(p))), weights.sums(1.0 / p) / rows
    deviations = np.sqrt(weights.sums((1.0 / p - 1.0) / p)) / rows
    cell = int(evidence.max(axis=1).argmax())
    k = int(evidence[cell].argmax())
    name, share, mean = shown[k], counts[cell, k] / rows[cell, k], means[cell, k]
    others = ", ".join(f"{n} {m:.2f}" for n, m in list(zip(shown, means[cell], strict=True))[:12])
    text = (
        f"{name} was logged in {_percent(share)} of the rows{weights.cells.words[cell]}, but its "
        f"propensities say {_percent(share / mean)}: the mean of 1[action = {name}]/propensity "
        f"is {mean:.2f} and must be 1 (standard error {deviations[cell, k]:.2g}; all "
        f"actions: {others}). These are not the probabilities with which the actions were taken"
    )
    if mean < 1.0:
        text += f", or {name} was unavailable in some of the rows"
    text += ", or rows were left out because of their action"
    words = weights.cells.words[cell]
    return f"{text}. {_DRAWN_ONCE if _AFTER in words else _CHANGED if _QUARTER in words else _FIX}"


_AFTER, _QUARTER = "that follow a row with", "quarter of the rows"
_DRAWN_ONCE = (
    "If one draw decided several rows, such as all rows of a customer, merge them into one row. If "
    "the rows are sorted by their action or outcome, shuffle them."
)
_CHANGED = (
    "If the probabilities changed over time, pass for each row the probability at that time. If "
    "the rows are sorted by their action or outcome, shuffle them."
)
_FIX = (
    "Pass the probabilities of the policy that took the actions, or propensity='estimate' if the "
    "features explain its choices."
)


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if share < 0.995 else "100 %"


def _checked_table(X: Any, n: int) -> FloatArray:
    table = np.zeros((n, 0)) if X is None else np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or len(table) != n:
        raise ParameterError(
            f"X must have a row for each of {n} actions; got an array of shape {table.shape}."
        )
    return np.where(np.isfinite(table), table, np.nan)


def _leaves(
    a: IntArray, X: FloatArray, weights: FloatArray, names: Sequence[str] | None
) -> tuple[_Cells, NDArray[np.bool_]]:
    """Partition the rows by a tree for the action, fitted to half of them; the rest is for tests.

    Without features there is one leaf, and there are no test rows.
    """
    from sklearn.tree import DecisionTreeClassifier

    n = len(a)
    if not X.shape[1] or n < 4 * _LEAVES:
        return _Cells(np.zeros(n, dtype=np.intp), [""]), np.zeros(n, dtype=bool)
    order = np.random.default_rng(0).permutation(n)
    rows = order[: n // 2][:_FITTED]
    leaf = max(_LEAVES, len(rows) // 50)
    tree = DecisionTreeClassifier(max_leaf_nodes=_LEAVES, min_samples_leaf=leaf, random_state=0)
    tree.fit(X[rows], a[rows], sample_weight=weights[rows])
    nodes, at = np.unique(tree.apply(X), return_inverse=True)
    tested = np.ones(n, dtype=bool)
    tested[order[: n // 2]] = False
    paths, counts = _paths(tree.tree_, names), np.bincount(at[tested], minlength=len(nodes))
    words = [
        f" in a part of {count:,} rows, separated by {paths[node] or 'no feature'}"
        for node, count in zip(nodes.tolist(), counts.tolist(), strict=True)
    ]
    return _Cells(at.astype(np.intp), words), tested


def _paths(tree: Any, names: Sequence[str] | None) -> dict[int, str]:
    """Return the features that lead to each node of a tree."""
    paths: dict[int, list[str]] = {0: []}
    for node in range(tree.node_count):
        for child in (tree.children_left[node], tree.children_right[node]):
            if child >= 0:
                at = int(tree.feature[node])
                paths[int(child)] = [*paths[node], f"feature {at}" if names is None else names[at]]
    return {node: " and ".join(dict.fromkeys(path)) for node, path in paths.items()}


def estimate_propensities(
    X: ArrayLike | None,
    actions: ArrayLike,
    n_actions: int,
    *,
    folds: int = 5,
    seed: int = 0,
    full: bool = False,
) -> FloatArray:
    r"""Estimate the probability of each logged action from the features.

    A classifier predicts the action: a multinomial logistic regression or boosted trees, depending
    on which has the smaller log loss on held-out rows. Each row is predicted by a model that was
    fitted to the other folds. The predictions are then calibrated, by one exponent and one factor
    per action, so that the mean prediction of each action equals its share in the log. The minimum
    is 0.001.

    The estimates replace logged propensities under two assumptions that the log cannot prove:

    - The features hold every reason for the choice that also matters for the outcome. Nothing else,
      such as an impression of the customer, influenced both.
    - Every action was possible in every row. Many estimates below 0.01 are a sign that this is
      wrong.

    Parameters
    ----------
    X
        Feature vectors [n, d], finite. If None, the estimates are the shares of the actions.
    actions
        Indices 0..K-1 of the n logged actions.
    n_actions
        Number of actions K.
    folds
        Number of parts into which the rows are split at random, at least 2. Default 5.
    seed
        Seed of this split. Default 0.
    full
        Whether to return the estimates of all actions [n, K] instead of the logged ones [n].
        Default False.

    Examples
    --------
    >>> import numpy as np
    >>> from hannan.off_policy import estimate_propensities
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 1))
    >>> q = 1 / (1 + np.exp(-x[:, 0]))  # probability of action 1
    >>> actions = (rng.random(2000) < q).astype(int)
    >>> p = estimate_propensities(x, actions, 2)
    >>> error = abs(p - np.where(actions == 1, q, 1 - q)).mean()
    >>> print(f"{error:.3f}")
    0.012
    """
    a = np.asarray(actions, dtype=np.intp)
    K = check_integer("estimate_propensities", "n_actions", n_actions, 1)
    folds = check_integer("estimate_propensities", "folds", folds, 2)
    table = None if X is None else np.asarray(X, dtype=np.float64)
    counts = np.bincount(a, minlength=K)
    shares = np.maximum(counts / max(len(a), 1), FLOOR)
    p = np.repeat(shares[None] / shares.sum(), len(a), axis=0)
    if table is not None and table.size and len(a) >= 10 * folds and (counts > 0).sum() > 1:
        p = _raked(_cross_fitted(table, a, K, folds, seed), a)
    return p if full else np.ascontiguousarray(p[np.arange(len(a)), a])


def _cross_fitted(X: FloatArray, a: IntArray, K: int, folds: int, seed: int) -> FloatArray:
    """Predict the probabilities of all actions in each fold by models of the others."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(seed)
    fold = rng.permutation(len(a)) % folds
    models = _models(K)
    p = np.empty((len(a), K))
    with threadpool_limits(limits=1):
        for f in range(folds):
            others, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            others = rng.permutation(others)[:_TRAINED]
            guesses = [_predicted(model, X[others], a[others], X[held], K) for model in models]
            losses = [-np.log(guess[np.arange(len(held)), a[held]]).mean() for guess in guesses]
            best = int(np.argmin(losses))
            p[held] = guesses[best]
            models = [models[best]]  # chosen in the first fold
    return p


def _models(K: int) -> list[Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    models = [make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))]
    if K <= _BOOSTED:
        models.append(
            HistGradientBoostingClassifier(
                learning_rate=0.1, max_leaf_nodes=15, early_stopping=True, random_state=0
            )
        )
    return models


def _predicted(model: Any, X: FloatArray, a: IntArray, held: FloatArray, K: int) -> FloatArray:
    """Fit a model and predict the probabilities of all K actions, at least FLOOR before scaling."""
    p = np.full((len(held), K), FLOOR)
    classes = np.unique(a)
    if len(classes) == 1:
        p[:, classes] = 1.0
    else:
        p[:, classes] = np.maximum(model.fit(X, a).predict_proba(held), FLOOR)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _raked(p: FloatArray, a: IntArray) -> FloatArray:
    """Calibrate predictions by an exponent and a factor for each action."""
    rows, shares = np.arange(len(a)), np.bincount(a, minlength=p.shape[1]) / len(a)

    def scaled(exponent: float) -> FloatArray:
        q = p**exponent
        q /= q.sum(axis=1, keepdims=True)
        for _ in range(5):
            q *= np.maximum(shares, FLOOR) / np.maximum(q.mean(axis=0), 1e-12)
            q /= q.sum(axis=1, keepdims=True)
        return q

    candidates = [scaled(exponent) for exponent in np.linspace(0.5, 1.5, 11)]
    q = min(candidates, key=lambda each: -np.log(each[rows, a]).sum())
    q = np.maximum(q, FLOOR)
    return np.asarray(q / q.sum(axis=1, keepdims=True))
