"""Online models of river as a policy class."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.adapters.river._models import (
    Names,
    as_dict,
    check_model,
    check_names,
    finite,
    takes_weight,
)
from hannan.core import ContextError, ParameterError, Policy
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.core.validation import FloatArray, check_integer
from hannan.oracles import LinearPolicies
from hannan.oracles._features import FeatureOracle
from hannan.oracles.linear_policies import LinearNoise, LinearObjective
from hannan.perturbation import LaplaceNoise


class RiverPolicies(FeatureOracle):
    r"""Policies of an online model of river, which learns each round once and is never refitted.

    The policy plays :math:`\arg\min_k s_k(x)`, the action with the smallest score:

    - a *regressor* is cloned for each action and learns its losses; :math:`s_k(x)` is its
      prediction.
    - a *classifier* learns the label k with weight
      :math:`w_k = \max_j \ell(j) - \ell(k)`, divided by the mean of all such weights so far, for
      each k with a positive weight. Its probabilities estimate the shares of these weights, so
      :math:`s_k(x) = -\bar w\, P(k \mid x)`, with :math:`\bar w` the mean of :math:`\sum_k w_k`
      over rounds, is an estimate of losses up to a constant.

    An online model cannot unlearn fake losses. Instead, B further copies of the model, the
    *echoes*, learn random signs ±1 on the same contexts. Let :math:`N_b(x)` be the prediction of
    echo b. If predictions are linear in the training targets, :math:`N_b(x)` is the effect of noise
    on a score. Under a noise draw the scores are

    .. math:: s_k(x) + \sigma \langle v(x), g_k \rangle, \qquad
              v(x) = \Big(\tfrac{N_1(x)}{\sqrt B}, …, \tfrac{N_B(x)}{\sqrt B},
              \tfrac1{\sqrt{n+1}}\Big),

    with standard normal :math:`g_k \in R^{B+1}` of this draw and :math:`\sigma = \text{scale} \cdot
    \sqrt{2 d/n}` after n rounds, d the number of perturbed contexts. This is the noise of
    `LinearPolicies`, with :math:`\|v(x)\|^2` instead of the leverage :math:`x^\top A^{-1} x`.
    Bandit feedback needs no resampling here, either.

    The class is *inexact*, and no theorem applies. Its complexity G is that of linear policies on
    the same features. Models that weight all rounds equally are best suited. A model that discounts
    the past, such as gradient descent with a constant step, does not converge: use decreasing
    steps, or a fixed ε in the learner. The class cannot be saved to a file.

    Parameters
    ----------
    model
        A regressor, a classifier with `predict_proba_one` whose `learn_one` takes a weight `w`, or
        a pipeline that ends in one of them. The model is cloned and never changed; random models
        need their `seed`. Binary classifiers support K = 2 only.
    n_actions
        Number of actions K.
    echoes
        Number of echoes B >= 1. Default 8. In each round K + B regressors, or 1 + B classifiers,
        learn.
    features
        Names of the features of a row. Default: 0, 1, ….

    Examples
    --------
    >>> import hannan as hn
    >>> from river import tree
    >>> total = hn.adapters.RiverPolicies(tree.HoeffdingTreeRegressor(), n_actions=2).objective()
    >>> for x in [0.1, 0.9, 0.3, 0.7] * 100:
    ...     total.add(np.array([x]), np.array([x > 0.5, x < 0.5], dtype=float))
    >>> best = total.leader()
    >>> best([0.2]), best([0.8])
    (0, 1)

    References
    ----------
    [syrgkanis2016]
    """

    exact = False
    counts_rounds = True

    _unstorable = "it contains models of river, which only pickle can store"

    def __init__(
        self, model: Any, n_actions: int, *, echoes: int = 8, features: Names = None
    ) -> None:
        self.classifies = check_model(self, model)
        self.model = model
        self.n_actions: int = check_integer(self, "n_actions", n_actions, 1)
        self.echoes = check_integer(self, "echoes", echoes, 1)
        self.features = features
        self.names = check_names(self, features)
        if self.classifies and not takes_weight(model):
            raise ParameterError(
                f"RiverPolicies needs a classifier with weights, but learn_one of {model} takes no "
                "weight w. Use another one, such as tree.HoeffdingTreeClassifier, or a regressor."
            )
        if self.classifies and n_actions > 2 and not model._multiclass:
            raise ParameterError(
                f"{model} supports two classes, not {n_actions}. Wrap the model: "
                "multiclass.OneVsRestClassifier(model)."
            )

    def objective(self) -> RiverObjective:
        return RiverObjective(self)

    def noise(
        self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> RiverNoise:
        """Return normal noise for the echoes."""
        return RiverNoise(self, contexts, key, stream, memory)  # type: ignore[arg-type]

    def log_size(self, contexts: Sequence[Any]) -> float:
        """Return d log K, a bound for any class."""
        return len(contexts) * math.log(self.n_actions)

    def complexity(self, contexts: Sequence[Any]) -> float:
        """Return the complexity of `LinearPolicies` on these contexts."""
        return LinearPolicies(self.n_actions).complexity(contexts)

    def __repr__(self) -> str:
        return f"RiverPolicies(<{self.model}>, n_actions={self.n_actions}, echoes={self.echoes})"


class RiverNoise(LinearNoise):
    """Standard normal noise for each entry of v and each action, by counter."""

    oracle: RiverPolicies  # type: ignore[assignment]

    def unit(self, draw: int) -> FloatArray:
        """Return the fake losses on the contexts that correspond to a noise draw, [d, K]."""
        K, stream = self.oracle.n_actions, int(self.stream)
        return LaplaceNoise(self.contexts, K, self.key, stream).unit(draw)


class RiverLeader(Policy):
    """Policy of the models in their state at creation, under one noise draw."""

    def __init__(self, total: RiverObjective, draw: Draw) -> None:
        self.total = total
        self._draw = draw

    def __call__(self, context: Any = None) -> int:
        action = self.total.action(self.total.oracle.check_context(context), self._draw)
        assert isinstance(action, int)
        return action

    def __repr__(self) -> str:
        return f"<policy {self.total.oracle.model} after {self.total.rounds} rounds>"


class RiverObjective(LinearObjective):
    """Models that have learned the rounds, and echoes that have learned random signs.

    The scores with normal noise are computed by `LinearObjective`, from the values computed here.
    """

    oracle: RiverPolicies  # type: ignore[assignment]

    def __init__(self, oracle: RiverPolicies) -> None:
        self.oracle = oracle
        self.rounds = 0
        many = 1 if oracle.classifies else oracle.n_actions
        self._models = [oracle.model.clone() for _ in range(many)]
        self._echoes = [oracle.model.clone() for _ in range(oracle.echoes)]
        self._flips = np.random.default_rng(0)
        self._gaps = (0, 0.0)  # number and total weight of the labels that a classifier has learned
        self._width: int | None = None
        self._cache = None
        self._frozen: RiverObjective | None = None

    def copy(self) -> RiverObjective:
        """Return a copy with independent models."""
        twin = copy.copy(self)
        for name in ("_models", "_echoes", "_flips"):
            setattr(twin, name, copy.deepcopy(getattr(self, name)))
        twin._cache = twin._frozen = None
        return twin

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        """Update every model and every echo on a round."""
        x = self._named(context)
        self._cache = self._frozen = None
        self._width = len(context)
        self.rounds += 1
        if self.oracle.classifies:
            self._label(x, losses)
        else:
            for model, loss in zip(self._models, losses.tolist(), strict=True):
                model.learn_one(x, loss)
        coin = (False, True) if self.oracle.classifies else (-1.0, 1.0)
        sides = self._flips.integers(2, size=len(self._echoes)).tolist()
        for echo, side in zip(self._echoes, sides, strict=True):
            echo.learn_one(x, coin[side])

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        """Return the leaders of the current models, one for each noise draw."""
        if self._frozen is None:
            self._frozen = self.copy()
        return [RiverLeader(self._frozen, draw.later(i)) for i in range(count)]

    def _label(self, x: dict[Any, Any], losses: FloatArray) -> None:
        gaps = losses.max() - losses
        labels = np.flatnonzero(gaps).tolist()
        count, total = self._gaps
        self._gaps = count + len(labels), total + float(gaps.sum())
        for label in labels:
            weight = float(gaps[label]) * self._gaps[0] / self._gaps[1]
            self._models[0].learn_one(x, label, w=weight)

    def _solved(self, context: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return scores, v and |v|² of a context; cached for the other calls in a round."""
        if self._cache is None or self._cache[0] is not context:
            x = self._named(context)
            scores = finite(self._scores(x), self.oracle.model)
            v = np.empty(len(self._echoes) + 1)
            v[:-1] = [self._echo(echo, x) for echo in self._echoes]
            v[:-1] /= math.sqrt(len(self._echoes))
            v[-1] = 1.0 / math.sqrt(self.rounds + 1)
            self._cache = (context, scores, finite(v, self.oracle.model), float(v @ v))
        return self._cache[1:]

    def _scores(self, x: dict[Any, Any]) -> FloatArray:
        if not self.oracle.classifies:
            return np.array([float(model.predict_one(x)) for model in self._models])
        if not self._gaps[0]:
            return np.zeros(self.n_actions)
        shares = self._models[0].predict_proba_one(x)
        mean = self._gaps[1] / self.rounds
        return np.array([-mean * shares.get(k, 0.0) for k in range(self.n_actions)])

    def _echo(self, echo: Any, x: dict[Any, Any]) -> float:
        """Return the prediction of an echo."""
        if not self.rounds:
            return 0.0
        if not self.oracle.classifies:
            return float(echo.predict_one(x))
        shares = echo.predict_proba_one(x)
        return float(shares.get(True, 0.0) - shares.get(False, 0.0))

    def _named(self, context: FloatArray) -> dict[Any, Any]:
        if self._width not in (None, len(context)):
            raise ContextError(
                f"RiverPolicies needs contexts with {self._width} features, like the first one; "
                f"got one with {len(context)}."
            )
        return as_dict(context, self.oracle.names)
