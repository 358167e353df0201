"""A no-regret learner as a scikit-learn classifier."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from hannan.core import Feedback, InputTypeError, Learner, LossError, Oracle, ParameterError, Policy
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.validation import FloatArray, check_choice, check_integer, refuse
from hannan.experiments.game import at_work
from hannan.learners import ContextFTPL, ContextSemiBanditFTPL
from hannan.oracles import LinearPolicies, SklearnPolicies

_KINDS = {"full": ContextFTPL, "bandit": ContextSemiBanditFTPL}
_PLAYS = ("leader", "perturbed")
_KEY = np.uint64(0x6C6177)  # key of the noise of estimates, so that they are reproducible
_PREDICTIONS = 0x706C6179  # separate random stream for `predict`


def _has_scores(classifier: OnlinePolicyClassifier) -> bool:
    oracle = classifier.oracle
    linear = oracle is None or oracle is LinearPolicies or isinstance(oracle, LinearPolicies)
    hinted = classifier.learner == "bandit" and classifier.predictor is not None
    return linear and isinstance(classifier.learner, str) and not hinted


class OnlinePolicyClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A no-regret learner as a classifier for scikit-learn pipelines.

    Each row is a round: the learner plays a class :math:`a_t` for the row :math:`x_t`, then
    observes the label :math:`y_t`, and suffers the loss :math:`c(y_t, a_t)`. `predict` neither
    plays nor learns. It uses the leader :math:`\arg\min_{\pi \in \Pi} \sum_t w_t\, c(y_t,
    \pi(x_t))`. With a predictor, the leader also includes the prediction for the row, or `predict`
    returns the hint if the learner mostly follows it.

    Parameters
    ----------
    oracle
        Policy class Π on feature vectors. None (default) means `LinearPolicies`. Otherwise an
        oracle with one action per class, a function that makes an oracle from the number of
        classes, or a scikit-learn estimator, for `SklearnPolicies`. Grid searches can set its
        parameters, such as `oracle__max_depth`.
    learner
        "full" (default): `ContextFTPL`, which learns from the loss of each class. "bandit":
        `ContextSemiBanditFTPL`, which learns only from the loss of its choice. Or a function that
        makes a learner, `learner(oracle, seed=…, loss_range=…)`.
    epsilon, predictor
        As in `ContextFTPL`, unless a function makes the learner. With bandit feedback a predictor
        is needed in practice: `hn.predictors.Ridge()`.
    costs
        Costs c as a square array: entry [i, j] is the cost of class j if class i is right, in the
        order of `classes_`. Default: 1 for a wrong class.
    play
        Choice that `predict` returns: "leader" (default), the choice without noise, or "perturbed",
        the choice with fresh noise for every row and call.
    draws
        Number of noise draws for `predict_proba` if probabilities cannot be computed, >= 2. Default
        200.
    random_state
        An integer (the learner's seed), a `RandomState`, or None for NumPy's global one.

    Attributes
    ----------
    classes_
        Labels, sorted.
    learner_
        The fitted learner.
    costs_
        The costs c in use.
    mean_loss_
        Mean loss of the rounds played, weighted by `sample_weight`.
    n_rounds_
        Number of rounds played; rows with weight zero do not count.
    n_features_in_, feature_names_in_
        Number of features, and their names if rows came as a frame with names.

    Guarantee
    ---------
    The guarantee of the learner, as reported by `certificate_()`. There is none for
    `LinearPolicies` and scikit-learn estimators, which are not exact. With an exact class and
    declared rows, `learner=functools.partial(hn.ContextFTPL, contexts=rows)`, Theorem 2 covers the
    rounds, in any order that an adversary may choose. [syrgkanis2016]

    Examples
    --------
    >>> import hannan as hn
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> order = np.random.default_rng(0).permutation(len(y))
    >>> classifier = hn.adapters.OnlinePolicyClassifier(random_state=0)
    >>> for batch in np.split(order, 5):
    ...     classifier = classifier.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    >>> classifier.n_rounds_, round(classifier.mean_loss_, 2), round(classifier.score(X, y), 2)
    (150, 0.21, 0.85)
    """

    def __init__(
        self,
        oracle: Oracle | Callable[[int], Oracle] | Any = None,
        *,
        learner: str | Callable[..., Learner] = "full",
        epsilon: float | str = "adaptive",
        predictor: Any = None,
        costs: ArrayLike | None = None,
        play: str = "leader",
        draws: int = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.oracle = oracle
        self.learner = learner
        self.epsilon = epsilon
        self.predictor = predictor
        self.costs = costs
        self.play = play
        self.draws = draws
        self.random_state = random_state

    # Learning ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Reset the learner, then play one round for each row, in order, as `partial_fit` does."""
        with self._unless_refused():
            X, y = validate_data(self, X, y, dtype=np.float64, order="C")
            weights = self._weights(X, sample_weight)
            self._begin(unique_labels(y), weights)
            return self._learn(X, self._truth(y), weights)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Play one more round for each row, in order.

        Parameters
        ----------
        X, y
            Feature vectors of finite numbers (a sparse matrix raises an error), and their labels.
        classes
            All labels that may ever occur; required in the first call.
        sample_weight
            Weights that multiply the losses of each round, not negative. A row with weight zero is
            not played. The first call may fix the range of the losses: with bandit feedback,
            `epsilon="anytime"` or a learner that you pass. Later weights must then not exceed the
            largest weight of the first call.
        """
        first = not hasattr(self, "learner_")
        with self._unless_refused():
            if first and classes is None:
                raise ParameterError(
                    "The first call of partial_fit needs classes=, all labels that may ever occur."
                )
            X, y = validate_data(self, X, y, reset=first, dtype=np.float64, order="C")
            weights = self._weights(X, sample_weight)
            if first:
                self._begin(unique_labels(classes), weights)
            elif classes is not None and not np.array_equal(self.classes_, unique_labels(classes)):
                raise refuse(
                    self, "classes", f"the classes of the first call, {self.classes_}", classes
                )
            truth = self._truth(y)
            self._check_range(weights)
        return self._learn(X, truth, weights)

    def _begin(self, classes: NDArray[Any], weights: FloatArray) -> None:
        """Create a new learner for these classes."""
        check_choice(self, "play", self.play, _PLAYS)
        check_integer(self, "draws", self.draws, 2)
        self.classes_ = classes
        self.costs_ = _make_costs(self, self.costs, len(classes))
        seed = self.random_state
        if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            seed = check_integer(self, "random_state", seed, 0)
        else:
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        oracle = _make_oracle(self.oracle, len(classes))
        self.learner_: Any = self._make_learner(oracle, seed, self._loss_range(weights))
        self._rng = np.random.default_rng([_PREDICTIONS, seed])
        self._loss = self._weight = 0.0

    def _learn(self, X: FloatArray, truth: NDArray[np.intp], weights: FloatArray) -> Self:
        learner = self.learner_
        told_all = learner.feedback is Feedback.FULL
        for row, label, weight in zip(X, truth.tolist(), weights.tolist(), strict=True):
            if weight > 0.0:
                losses = weight * self.costs_[label]
                action = learner.act(row)
                learner.update(losses if told_all else losses[action])
                self._loss += float(losses[action])
                self._weight += weight
        return self

    # Predicting -------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return a class for each row; see `play`."""
        rows = self._rows(X)
        if check_choice(self, "play", self.play, _PLAYS) == "leader":
            return np.asarray(self.classes_[_chosen(self.learner_, rows)])
        seeds = self._rng.integers(2**63, size=len(rows)).tolist()
        asked = zip(rows, seeds, strict=True)
        played = [self.learner_.would_play(row, 1, seed)[0] for row, seed in asked]
        return np.asarray(self.classes_[played])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability with which the learner would play each class on each row now.

        The probabilities measure how certain the learner's choice is, not how often it is right.
        They are exact for `LinearPolicies`; otherwise they are frequencies among `draws` leaders
        under fresh noise.
        """
        rows = self._rows(X)
        return _action_distribution(
            self.learner_, rows, check_integer(self, "draws", self.draws, 2)
        )

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        r"""Return margins in units of the noise, for linear policies without hints.

        The margin is :math:`-\langle w_k, x \rangle / \sqrt{x^\top A^{-1} x}`, minus its mean over
        the classes k. With two classes, it is the margin of the second class over the first.
        """
        rows = self._rows(X)
        margins = np.empty((len(rows), len(self.classes_)))
        learner = at_work(self.learner_)
        for margin, row in zip(margins, rows, strict=True):
            context, past, *_ = learner.outlook(row)
            margin[:] = past.total.scores(context, WITHOUT_NOISE, past.plus)
            margin /= -math.sqrt(past.total.leverage(context))
        if len(self.classes_) == 2:
            return np.asarray(margins[:, 1] - margins[:, 0])
        return np.asarray(margins - margins.mean(axis=1, keepdims=True))

    # Results ----------------------------------------------------------------------------

    def certificate_(self) -> Any:
        """Return the certificate of the rounds played so far."""
        check_is_fitted(self)
        return self.learner_.certificate()

    @property
    def mean_loss_(self) -> float:
        """Mean loss of the rounds played, each class chosen before its label was known."""
        check_is_fitted(self)
        return self._loss / self._weight

    @property
    def n_rounds_(self) -> int:
        """Number of rounds played."""
        check_is_fitted(self)
        return int(self.learner_.rounds)

    # Checks -----------------------------------------------------------------------------

    @contextmanager
    def _unless_refused(self) -> Iterator[None]:
        """Restore all attributes if there is an error."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return rows

    def _truth(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of each label in `classes_`."""
        check_classification_targets(y)
        truth = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        strange = self.classes_[truth] != y
        if strange.any():
            raise ParameterError(
                f"y holds the label {y[strange].tolist()[0]!r}, which is not among the classes "
                f"{self.classes_.tolist()}. Pass all labels that may ever occur as classes=."
            )
        return truth

    def _weights(self, X: FloatArray, sample_weight: Any) -> FloatArray:
        name = "sample_weight"
        if sample_weight is None or isinstance(sample_weight, int | float):
            sample_weight = np.full(len(X), 1.0 if sample_weight is None else sample_weight)
        weights: FloatArray = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name=name
        )
        if weights.shape != (len(X),):
            raise refuse(self, name, f"{len(X)} numbers, one per row", sample_weight)
        if (weights < 0.0).any():
            raise refuse(self, name, "numbers >= 0", sample_weight)
        if not weights.any():
            raise ParameterError("sample_weight must be positive for at least one row; got zeros.")
        return weights

    def _loss_range(self, weights: FloatArray) -> tuple[float, float]:
        """Return the range of the costs, times weights like these unless all are 1."""
        low, high = float(self.costs_.min()), float(self.costs_.max())
        if (weights != 1.0).any():
            most = max(1.0, float(weights.max()))
            low, high = most * min(low, 0.0), most * max(high, 0.0)
        return low, high if high > low else low + 1.0

    def _check_range(self, weights: FloatArray) -> None:
        bounds = getattr(self.learner_, "loss_range", None)
        if bounds is None or (weights == 1.0).all():
            return
        low, high = self._loss_range(weights)
        if low < bounds[0] or high > bounds[1]:
            raise LossError(
                f"Losses multiplied by sample_weight must lie in {tuple(bounds)}, which was fixed "
                f"in the first call; the largest weight is {weights.max():g}. Pass the largest "
                "weight in the first call, or divide all weights by the largest."
            )

    def _make_learner(self, oracle: Oracle, seed: int, loss_range: tuple[float, float]) -> Learner:
        if callable(self.learner):
            made = self.learner(oracle, seed=seed, loss_range=loss_range)
            if not isinstance(made, Learner) or not hasattr(made, "best_policy"):
                accepted = "a function that returns a learner with a best_policy()"
                raise refuse(self, "learner", accepted, made)
            return made
        kind: Any = _KINDS[check_choice(self, "learner", self.learner, _KINDS)]
        # Weighted losses have no known range, and self-tuning needs none.
        unbounded = kind is ContextFTPL and self.epsilon != "anytime"
        given = {"epsilon": self.epsilon, "predictor": self.predictor, "seed": seed}
        learner: Learner = kind(oracle, **given, loss_range=None if unbounded else loss_range)
        return learner


def _make_oracle(given: Any, n_classes: int) -> Oracle:
    """Return a policy class with one action per class."""
    oracle = given
    if given is None:
        oracle = LinearPolicies(n_classes)
    elif isinstance(given, BaseEstimator):
        oracle = SklearnPolicies(given, n_classes)
    elif callable(given) and not hasattr(given, "fit"):
        oracle = given(n_classes)
    if not isinstance(oracle, Oracle):
        raise InputTypeError(
            "oracle= must be an oracle, a function of the number of classes that returns an "
            f"oracle, or an instance of a scikit-learn estimator; got {given!r}."
        )
    if oracle.n_actions not in (None, n_classes) or oracle.max_chosen != 1:
        raise ParameterError(
            f"oracle= must choose one of {n_classes} actions, one per class; got {oracle!r}."
        )
    return oracle


def _make_costs(owner: object, given: Any, n_classes: int) -> FloatArray:
    """Return the cost of each class (columns) for each right class (rows)."""
    if given is None:
        return 1.0 - np.eye(n_classes)
    try:
        costs = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse(owner, "costs", "a square array of numbers", given) from None
    if costs.shape != (n_classes, n_classes) or not np.isfinite(costs).all():
        accepted = f"{n_classes} rows of {n_classes} finite numbers, one per class"
        raise refuse(owner, "costs", accepted, given)
    return costs


def _chosen(learner: Learner, rows: FloatArray) -> NDArray[np.intp]:
    """Return the choice for each row without noise, or the hint if the learner follows it."""
    player = at_work(learner)
    if getattr(player, "predictor_", None) is None or not hasattr(player, "outlook"):
        return _choices(player.best_policy(), rows)
    played = np.empty(len(rows), dtype=np.intp)
    for i, row in enumerate(rows):
        context, past, _, advice, share = player.outlook(row)
        played[i] = advice if share > 0.5 else past.action(context, WITHOUT_NOISE)
    return played


def _action_distribution(learner: Learner, rows: FloatArray, draws: int) -> FloatArray:
    """Return the probability of each action for each row as the context of the next round.

    Without a predictor, leaders do not depend on the row: the leaders of slow classes are computed
    once.
    """
    player = at_work(learner)
    if getattr(player, "predictor_", None) is None and hasattr(player, "outlook"):
        context, past, (noise, _, scale), *_ = player.outlook(rows[0])
        if scale > 0.0 and past.distribution(context, Draw(noise, 0, scale)) is None:
            noise = player.leader.reseeded(_KEY).noise
            found = np.zeros((len(rows), past.total.n_actions))
            for policy in past.total.leaders(Draw(noise, 0, scale), draws):
                found[np.arange(len(rows)), _choices(policy, rows)] += 1.0
            return found / draws
    return np.array([player.propensities(row, draws).probabilities for row in rows])


def _choices(policy: Policy, rows: FloatArray) -> NDArray[np.intp]:
    """Return the actions of a policy for the rows of an array."""
    many = getattr(policy, "predict", None)
    if many is not None:
        return np.asarray(many(rows), dtype=np.intp)
    return np.array([policy(row) for row in rows], dtype=np.intp)
