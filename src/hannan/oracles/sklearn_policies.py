"""Policies fitted with a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hannan.core import Action, ContextError, InputTypeError, ParameterError, Policy
from hannan.core.oracle import Available, Draw, Noise, Plus, available_in
from hannan.core.params import short
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray, check_integer
from hannan.oracles._features import FeatureOracle
from hannan.oracles._totals import FeatureRows, Solved, solve_then_add
from hannan.perturbation import LaplaceNoise

_TIE = 1e-9  # predictions this close, relative to the largest loss, count as equal


class SklearnPolicies(FeatureOracle):
    r"""Policies that a scikit-learn classifier or regressor can learn.

    Finding the best policy is reduced to fitting the estimator to one row for each distinct
    context x, with total losses :math:`\phi(x, k)`:

    - a *classifier* is fitted to x with label k and weight
      :math:`\max_j \phi(x, j) - \phi(x, k) \ge 0`, for each k where that is positive: the weighted
      accuracy of a policy is a constant minus its total loss. Weights are scaled to mean 1.
    - a *regressor* is cloned for each action and fitted to the mean loss on x, less the average
      over actions; the weight of x is the number of its rounds, scaled to mean 1. The policy
      plays the smallest prediction. Estimators that take no `sample_weight`, such as
      `KNeighborsRegressor`, are fitted without weights: all contexts count equally.

    Fake outcomes count as rounds. If the best constant action has a smaller total than the fitted
    policy, it is the leader. It is also the leader while there is too little data to fit: one
    context, one preferred label, or fewer contexts than neighbours.

    A fit is not an argmin over policies, so the class is not `exact` and no theorem covers it.
    A round costs about two fits, and the resampling of bandit feedback costs many more. Memory
    grows only with distinct contexts.

    Parameters
    ----------
    estimator
        A classifier whose `fit` takes `sample_weight`, a regressor, a pipeline that ends in one of
        them, or a vote or search over them. It must work with few rows and with actions that no row
        prefers yet: internal cross-validation and early stopping often fail and raise an error.
        It is cloned and never changed. Every `random_state` that is not an integer is set to 0 in
        the clones, so that leaders depend only on the losses. Warnings that a fit did not converge
        are silenced. If a regressor predicts NaN, the best constant action is played.
    n_actions
        Number K of actions.

    Examples
    --------
    >>> import hannan as hn
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> oracle = hn.oracles.SklearnPolicies(DecisionTreeClassifier(max_depth=2), n_actions=2)
    >>> total = oracle.objective()
    >>> for x in range(10):
    ...     total.add(np.array([x / 10, 1.0]), np.array([x > 4, x <= 4], dtype=float))
    >>> best = total.leader()
    >>> best([0.2, 1.0]), best([0.7, 1.0])
    (0, 1)
    """

    exact = False
    counts_rounds = True
    complexity_pairs = 8
    """Number of pairs of fits for an estimate of G."""

    def __init__(self, estimator: Any, n_actions: int) -> None:
        from sklearn.base import is_classifier, is_regressor  # type: ignore[import-untyped]

        if isinstance(estimator, type) or not all(
            hasattr(estimator, name) for name in ("fit", "predict", "get_params")
        ):
            raise InputTypeError(
                "SklearnPolicies needs an instance (not a class) of a scikit-learn classifier or "
                f"regressor; got {estimator!r}."
            )
        self.classifies = bool(is_classifier(estimator))
        if not self.classifies and not is_regressor(estimator):
            raise ParameterError(
                f"SklearnPolicies needs a classifier or a regressor; {estimator!r} is neither."
            )
        self.estimator = estimator
        self.n_actions: int = check_integer(self, "n_actions", n_actions, 1)
        self._weight = weight_name(estimator)
        if self.classifies and self._weight is None:
            raise ParameterError(
                f"SklearnPolicies weighs the rows of a classifier, but {estimator!r} takes no "
                "sample_weight in fit. Use one that does, or a regressor."
            )
        self._template = seeded(estimator)
        self._least = rows_needed(estimator)

    def objective(self) -> SklearnObjective:
        return SklearnObjective(self)

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return LaplaceNoise(contexts, self.n_actions, key, stream)

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Return d log K, a bound for every class."""
        return len(contexts) * float(np.log(self.n_actions))

    def fit(self, rows: FloatArray, target: Any, weight: FloatArray) -> Any:
        """Return a fitted clone of the estimator."""
        from sklearn import config_context  # type: ignore[import-untyped]
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]

        model = clone(self._template)
        extra = {} if self._weight is None else {self._weight: weight}
        with (
            explained(self.estimator, "fit", rows),
            one_thread(),
            warnings.catch_warnings(),
            config_context(enable_metadata_routing=False, assume_finite=True),
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(rows, target, **extra)

    def __repr__(self) -> str:
        # In angle brackets, because it cannot be evaluated without importing the estimator.
        return f"SklearnPolicies(<{self.estimator!r}>, n_actions={self.n_actions})"


class SklearnPolicy(Policy):
    """Policy of fitted models or of a constant action, with a table for known contexts."""

    def __init__(
        self,
        oracle: SklearnPolicies,
        models: Sequence[Any],
        tie: float,
        constants: FloatArray,
        known: tuple[dict[bytes, int], FloatArray],
    ) -> None:
        self.oracle = oracle
        self.models = models
        """One fitted classifier, a regressor for each action, or none: a constant."""
        self.constant = int(constants.argmin())
        self._constants = constants  # the total of each constant policy
        self._tie = tie
        self._places, rows = known
        self.known = self.predict(rows)
        """Actions on the contexts that were known when the policy was made."""

    def __call__(self, context: Any = None) -> int:
        if not self.models:
            return self.constant
        row = self.oracle.check_context(context)
        place = self._places.get(self.oracle.key(row))
        if place is not None:
            return int(self.known[place])
        expected = getattr(self.models[0], "n_features_in_", len(row))
        if len(row) != expected:
            raise ContextError(f"Contexts so far had {expected} features; got {len(row)}.")
        return int(self.predict(row[None, :])[0])

    def among(self, context: FloatArray, available: NDArray[np.intp]) -> int:
        """Return the best of the available actions on a context.

        If the policy's own action is available, it is the best. Otherwise the models' scores
        decide: predicted losses, or a classifier's probabilities or decision values. Ties are
        decided by the totals of the constant actions.
        """
        own = self(context)
        if own in available:
            return own
        scores = np.zeros(self.oracle.n_actions)
        if self.models:
            row = self.oracle.check_context(context)[None, :]
            with one_thread():
                scores = action_scores(self.models, row, len(scores), self.oracle.classifies)
        few = scores[available]
        best = available[few <= few.min() + self._tie]
        return int(best[self._constants[best].argmin()])

    def predict(self, rows: FloatArray) -> NDArray[np.intp]:
        """Choose actions on several contexts in one call."""
        if not self.models:
            return np.full(len(rows), self.constant, np.intp)
        with explained(self.oracle.estimator, "predict with", rows), one_thread():
            found = [np.ravel(model.predict(rows)) for model in self.models]
        if self.oracle.classifies:
            return found[0].astype(np.intp)
        losses = np.stack(found, axis=1)
        unknown = np.isnan(losses).any(axis=1)
        if unknown.any():  # for instance without a neighbour within the radius
            losses[unknown] = self._constants
        # Rounding depends on the number of rows in a prediction, so near-equal scores count as
        # ties.
        return np.asarray((losses <= losses.min(axis=1, keepdims=True) + self._tie).argmax(axis=1))

    def __repr__(self) -> str:
        return f"<policy {self.models[0] if self.models else f'always {self.constant}'}>"


class SklearnObjective(Solved):
    """Sum of the losses of each distinct context, and the number of its rounds."""

    oracle: SklearnPolicies

    draws_in_batches = False
    scored = True

    stored = State(_rows=Part())

    def __init__(self, oracle: SklearnPolicies) -> None:
        self.oracle = oracle
        self._rows = FeatureRows(oracle.n_actions)
        self._sorted: tuple[dict[bytes, int], NDArray[np.intp], FloatArray] | None = None

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        self._rows.add(context, losses)

    def action(
        self, context: FloatArray, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if plus is not None or available is None:
            return super().action(context, draw, plus, available)
        return self._solve(draw)[0].among(context, available_in(available))

    settle = solve_then_add

    def _solve(self, draw: Draw) -> tuple[SklearnPolicy, float]:
        """Find the leader under one draw, and its value."""
        noise, number, scale = draw
        fakes = None
        if noise is not None and scale != 0.0:
            places = [self._rows.place(context) for context in noise.contexts]
            fakes = scale * noise.unit(number)
        # The order of the rows does not depend on the order of the rounds.
        lookup, order, rows = self._canonical()
        totals, counts = self._rows.totals, self._rows.counts
        if fakes is not None:
            np.add.at(totals, places, fakes)
            np.add.at(counts, places, 1.0)
        totals, counts = totals[order], counts[order]
        constants = totals.sum(axis=0)
        always = float(totals[:, constants.argmin()].sum())
        if len(rows) and (fit := self._fit(rows, totals, counts)) is not None:
            fitted = SklearnPolicy(self.oracle, *fit, constants, (lookup, rows))
            value = float(totals[np.arange(len(rows)), fitted.known].sum())
            if value <= always:
                return fitted, value
        return SklearnPolicy(self.oracle, (), 0.0, constants, (lookup, rows)), always

    def _fit(
        self, rows: FloatArray, totals: FloatArray, counts: FloatArray
    ) -> tuple[Sequence[Any], float] | None:
        """Fit models; return them and their tolerance for ties, or None for too little data."""
        oracle = self.oracle
        gaps = totals.max(axis=1, keepdims=True) - totals
        if oracle.classifies:
            which, labels = np.nonzero(gaps)
            contexts = len(np.unique(which))
            if contexts < oracle._least or (labels == labels[0]).all():
                return None
            weights = gaps[which, labels]
            return [oracle.fit(rows[which], labels, weights / weights.mean())], 0.0
        seen = counts > 0.0
        if np.count_nonzero(seen) < oracle._least or not gaps.any():
            return None
        weights = counts[seen]
        means = (totals - totals.mean(axis=1, keepdims=True))[seen] / weights[:, None]
        weights /= weights.mean()
        models = [oracle.fit(rows[seen], column, weights) for column in means.T]
        return models, _TIE * float(np.abs(means).max())

    def _canonical(self) -> tuple[dict[bytes, int], NDArray[np.intp], FloatArray]:
        """Sort the contexts by their bytes; return places in that order, the order and the rows."""
        index = self._rows.index
        if self._sorted is None or len(self._sorted[1]) != len(index):
            keys = sorted(index)
            order = np.array([index[key] for key in keys], dtype=np.intp)
            lookup = {key: i for i, key in enumerate(keys)}
            self._sorted = lookup, order, self._rows.contexts[order]
        return self._sorted


def action_scores(
    models: Sequence[Any], row: FloatArray, n_actions: int, classifies: bool
) -> FloatArray:
    """Return a score for each action on one context; small is good.

    The scores are the predicted losses of regressors, or minus the probabilities of a classifier,
    or minus its decision values. If a classifier has neither, known labels score 0 and unknown
    labels infinity.
    """
    if not classifies:
        return np.array([float(np.ravel(model.predict(row))[0]) for model in models])
    model = models[0]
    scores = np.full(n_actions, np.inf)
    scores[model.classes_] = 0.0
    if hasattr(model, "predict_proba"):
        scores[model.classes_] = -model.predict_proba(row)[0]
    elif hasattr(model, "decision_function"):
        values = np.ravel(model.decision_function(row))
        if len(values) == 1:
            values = np.array([-values[0], values[0]])
        if len(values) == len(model.classes_):  # otherwise one value for each pair of classes
            scores[model.classes_] = -values
    return scores


def one_thread() -> Any:
    """Return a context manager in which linear algebra runs in one thread.

    The fits are small and many, and rounding must not depend on the number of cores.
    """
    return _thread_pools().limit(limits=1)


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def weight_name(estimator: Any) -> str | None:
    """Return the name of the argument of `fit` for the weights of the rows, or None.

    In a pipeline it is the argument of the last step. A voting estimator passes weights to all
    members, and a search or a transformed target to the inner estimator.
    """
    from sklearn.base import MetaEstimatorMixin  # type: ignore[import-untyped]
    from sklearn.compose import TransformedTargetRegressor  # type: ignore[import-untyped]
    from sklearn.ensemble import VotingClassifier, VotingRegressor  # type: ignore[import-untyped]
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]
    from sklearn.utils.validation import has_fit_parameter  # type: ignore[import-untyped]

    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    if isinstance(estimator, MetaEstimatorMixin) and hasattr(estimator, "refit"):  # a search
        return weight_name(estimator.estimator)
    if isinstance(estimator, TransformedTargetRegressor) and estimator.regressor is not None:
        return weight_name(estimator.regressor)
    if isinstance(estimator, VotingClassifier | VotingRegressor):
        members = [member for _, member in estimator.estimators if member != "drop"]
        takes = all(weight_name(member) == "sample_weight" for member in members)
        return "sample_weight" if takes else None
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def seeded(estimator: Any) -> Any:
    """Return a clone in which every random state is fixed."""
    from sklearn.base import clone  # type: ignore[import-untyped]

    copy = clone(estimator)
    seeds = {
        name: 0
        for name, value in copy.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and not isinstance(value, int | np.integer)
    }
    return copy.set_params(**seeds)


def rows_needed(estimator: Any) -> int:
    """Return the least number of rows to fit and predict: two, or the number of neighbours."""
    params = estimator.get_params(deep=True)
    neighbours = (
        int(value)
        for name, value in params.items()
        if name.split("__")[-1] == "n_neighbors" and isinstance(value, int | np.integer)
    )
    return max([2, *neighbours])


@contextmanager
def explained(estimator: Any, verb: str, rows: Any) -> Iterator[None]:
    """Add the name of the estimator to an error that it raises."""
    try:
        yield
    except (ValueError, TypeError, IndexError) as error:
        raise ParameterError(
            f"SklearnPolicies cannot {verb} {short(estimator)} on {len(rows)} contexts of "
            f"{rows.shape[1]} features: {error}\n"
            "The estimator is fitted from the first rounds on, to arrays without column names. "
            "Leave out cross-validation and early stopping, which need many rows of every action, "
            "and transform features inside a pipeline."
        ) from error
