"""Search for a good policy in hindsight, for classes without an exact optimiser.

Several models are fitted to the rounds of a run, and the model with the least loss is used. It is
the best model *found*: a better policy may exist.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Oracle, ParameterError, Policy
from hannan.core.validation import FloatArray
from hannan.oracles import LinearPolicies
from hannan.oracles.linear_policies import LinearPolicy
from hannan.oracles.sklearn_policies import one_thread

Actions = NDArray[np.intp]

_MOST_ROWS = 40_000  # size of the sample that models are fitted to
_SEARCH_ROWS = 4000
_LEAVES = 16
_TRIALS = 1500  # single weights changed in a local search
_STEPS = (1.0, 0.2, 0.04)  # in standard deviations of the scores


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fitted model: its name, and the function from feature vectors to actions."""

    name: str
    choose: Callable[[FloatArray], Actions]


@dataclass(frozen=True, slots=True)
class TreeFit:
    """Models of scikit-learn that predict the losses: one for all actions, or one for each."""

    models: tuple[Any, ...]

    def __call__(self, rows: FloatArray) -> Actions:
        with one_thread():
            columns = [np.reshape(model.predict(rows), (len(rows), -1)) for model in self.models]
        return np.asarray(np.hstack(columns).argmin(axis=1), dtype=np.intp)


@dataclass(frozen=True, slots=True)
class LinearFit:
    """Linear model with weights [p, K]; a constant feature, if any, is the last one."""

    weights: FloatArray
    intercept: bool

    def __call__(self, rows: FloatArray) -> Actions:
        scores = _design(rows, self.intercept) @ self.weights
        return np.asarray(scores.argmin(axis=1), dtype=np.intp)


class Sample:
    """Feature vectors with the losses of all actions; a uniform sample if there are too many."""

    def __init__(self, most: int = _MOST_ROWS) -> None:
        self.most = most
        self.seen = 0
        self._kept: list[tuple[int, FloatArray, FloatArray]] = []
        self._rng = np.random.default_rng(0)

    def add(self, row: FloatArray, losses: FloatArray) -> None:
        """Add a round."""
        new = self.seen, np.array(row, dtype=np.float64), np.array(losses, dtype=np.float64)
        self.seen += 1
        if len(self._kept) < self.most:
            self._kept.append(new)
        elif (place := int(self._rng.integers(self.seen))) < self.most:
            self._kept[place] = new

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Numbers of the sampled rounds, from 0."""
        return np.array([number for number, _, _ in self._kept], dtype=np.intp)

    @property
    def rows(self) -> FloatArray:
        """Feature vectors [n, p]."""
        return np.array([row for _, row, _ in self._kept])

    @property
    def losses(self) -> FloatArray:
        """Losses [n, K]."""
        return np.array([losses for _, _, losses in self._kept])


def candidates(
    oracle: Oracle, leader: Policy, sample: Sample, *, other_models: bool = True
) -> list[Candidate]:
    """Fit candidates for the best policy: the fit of the policy class, and other models.

    For linear classes the last candidate is a local search from the best linear model.

    Examples
    --------
    Rare events, which a least-squares fit separates badly:

    >>> import hannan as hn
    >>> from hannan.experiments.search import Sample, candidates, mean_loss
    >>> rng = np.random.default_rng(0)
    >>> oracle, sample = hn.oracles.LinearPolicies(2), Sample()
    >>> total = oracle.objective()
    >>> for x in rng.normal(size=(2000, 2)):
    ...     losses = np.array([float(x.sum() > 2.5), 0.1])
    ...     total.add(x, losses)
    ...     sample.add(x, losses)
    >>> found = candidates(oracle, total.leader(), sample)
    >>> cost = {each.name: round(mean_loss(each, sample), 3) for each in found}
    >>> cost["ridge regression"], min(cost, key=cost.get)
    (0.015, 'local search from logistic regression')
    """
    name, choose = type(oracle).__name__, lambda rows: np.array([*map(leader, rows)], np.intp)
    if isinstance(leader, LinearPolicy) and len(leader.weights):
        name, choose = "ridge regression", LinearFit(leader.weights, leader.oracle.intercept)
    found = [Candidate(name, choose)]
    if not other_models:
        return found
    rows, losses = sample.rows, sample.losses
    with _no_warnings():
        found += _logistic(rows, losses, bool(getattr(oracle, "intercept", True)))
        found.append(Candidate("decision tree", _tree(rows, losses, _LEAVES)))
        found.append(Candidate("gradient boosting", _boosted(rows, losses)))
    linear = [each for each in found if isinstance(each.choose, LinearFit)]
    if linear and isinstance(oracle, LinearPolicies):
        found.append(_improved(linear, rows, losses))
    return found


def mean_loss(candidate: Candidate, sample: Sample) -> float:
    """Return the mean loss of a candidate's actions on a sample."""
    return _cost(candidate.choose(sample.rows), sample.losses)


def _cost(actions: Actions, losses: FloatArray) -> float:
    return float(losses[np.arange(len(losses)), actions].mean())


def _design(rows: FloatArray, intercept: bool) -> FloatArray:
    return np.column_stack([rows, np.ones(len(rows))]) if intercept else rows


@contextmanager
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fit_rule(name: str, rows: FloatArray, losses: FloatArray) -> Candidate:
    """Fit a rule that chooses an action for a feature vector.

    Parameters
    ----------
    name
        Class of the rule. "stump", "decision tree" and "boosted trees" predict the losses. "linear
        rule" is the best of three models on these rows: ridge regression, logistic regression
        weighted by differences of losses, and a local search.
    rows
        Feature vectors [n, p].
    losses
        Losses of all actions [n, K].

    Examples
    --------
    Passing a fraud costs 50, stopping a good payment costs 2:

    >>> import numpy as np
    >>> import hannan as hn
    >>> x = np.linspace(-3.0, 3.0, 601)[:, None]
    >>> fraud = x[:, 0] > 2.0
    >>> rule = hn.experiments.fit_rule("stump", x, np.column_stack([50 * fraud, 2 * ~fraud]))
    >>> rule.choose(np.array([[1.9], [2.1]])).tolist()
    [0, 1]
    """
    if name not in RULES:
        raise ParameterError(f"A rule is one of {', '.join(map(repr, RULES))}; got {name!r}.")
    with _no_warnings():
        if name == "boosted trees":
            return Candidate(name, _boosted(rows, losses))
        if name != "linear rule":
            return Candidate(name, _tree(rows, losses, 2 if name == "stump" else _LEAVES))
        design = _design(rows, True)
        gram = design.T @ design + 1e-3 * np.eye(design.shape[1])
        ridge = LinearFit(np.asarray(np.linalg.solve(gram, design.T @ losses), np.float64), True)
        found = [Candidate("ridge regression", ridge), *_logistic(rows, losses, True)]
        found.append(_improved(found, rows, losses))
        best = min(found, key=lambda each: _cost(each.choose(rows), losses))
        return Candidate(name, best.choose)


RULES = ("linear rule", "stump", "decision tree", "boosted trees")
"""Classes of rules that are fitted for comparison."""


def _fewest(rows: FloatArray) -> int:
    """Return the least number of rows in a leaf, so that a fit does not memorise single rounds."""
    return max(5, len(rows) // 500)


def _tree(rows: FloatArray, losses: FloatArray, leaves: int) -> TreeFit:
    from sklearn.tree import DecisionTreeRegressor  # type: ignore[import-untyped]

    tree = DecisionTreeRegressor(
        max_leaf_nodes=leaves, min_samples_leaf=_fewest(rows), random_state=0
    )
    return TreeFit((tree.fit(rows, losses),))


def _boosted(rows: FloatArray, losses: FloatArray) -> TreeFit:
    from sklearn.ensemble import HistGradientBoostingRegressor  # type: ignore[import-untyped]

    # With so few rows, several threads would be many times slower than one.
    with one_thread():
        models = [
            HistGradientBoostingRegressor(
                max_iter=40,
                max_leaf_nodes=8,
                min_samples_leaf=_fewest(rows),
                learning_rate=0.15,
                early_stopping=False,
                random_state=0,
            ).fit(rows, column)
            for column in losses.T
        ]
    return TreeFit(tuple(models))


def _logistic(rows: FloatArray, losses: FloatArray, intercept: bool) -> list[Candidate]:
    """Fit a model of the cheapest action, with rows weighted by the mean extra loss of the others.

    Return an empty list if one action is always the cheapest.
    """
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    K = losses.shape[1]
    best = losses.argmin(axis=1)
    weights = (losses.sum(axis=1) - K * losses.min(axis=1)) / max(K - 1, 1)
    used = weights > 0.0
    if len(np.unique(best[used])) < 2:
        return []
    spread = rows.std(axis=0)
    spread[spread == 0.0] = 1.0
    model = LogisticRegression(fit_intercept=intercept, max_iter=300)
    model.fit(rows[used] / spread, best[used], sample_weight=weights[used] / weights[used].mean())
    scores = np.vstack([np.zeros_like(model.coef_), model.coef_])
    constants = np.append(np.zeros_like(model.intercept_), model.intercept_)
    if len(model.classes_) > 2:
        scores, constants = model.coef_, model.intercept_
    found = np.zeros((rows.shape[1] + intercept, K))
    found[: rows.shape[1], model.classes_] = -(scores / spread).T
    if intercept:
        never = np.abs(_design(rows, True) @ found).max() + np.abs(constants).max() + 1.0
        found[-1] = 1e3 * never  # for actions that are never the cheapest
        found[-1, model.classes_] = -constants
    return [Candidate("logistic regression", LinearFit(found, intercept))]


def _improved(found: list[Candidate], rows: FloatArray, losses: FloatArray) -> Candidate:
    """Improve the best linear model by changing single weights as long as the loss falls."""
    start = min(found, key=lambda each: _cost(each.choose(rows), losses))
    linear = start.choose
    assert isinstance(linear, LinearFit)
    step = max(1, len(rows) // _SEARCH_ROWS)
    X, costs = _design(rows[::step], linear.intercept), losses[::step]
    weights = linear.weights.copy()
    scores = X @ weights
    cost = _cost(scores.argmin(axis=1), costs)
    sizes = np.sqrt((X * X).mean(axis=0))
    usual = float(np.median(scores.std(axis=0))) or 1.0
    p, K = weights.shape
    # Change the constants first.
    order = [(i, k) for i in reversed(range(p)) if sizes[i] > 0.0 for k in range(K)]
    trials = 0
    for size in _STEPS:
        better = True
        while better and trials < _TRIALS:
            better = False
            for i, k in order:
                for sign in (1.0, -1.0):
                    change = sign * size * usual / sizes[i]
                    scores[:, k] += change * X[:, i]
                    new = _cost(scores.argmin(axis=1), costs)
                    trials += 1
                    if new < cost:
                        cost, better = new, True
                        weights[i, k] += change
                        break
                    scores[:, k] -= change * X[:, i]
    return Candidate(f"local search from {start.name}", LinearFit(weights, linear.intercept))
