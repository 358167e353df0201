"""Any online model of river as a policy class."""

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
    r"""The policies of an online model, which learns each round once and is never fitted again.

    The policy plays :math:`\arg\min_k s_k(x)`, the smallest score:

    - a *regressor* is cloned for each action and learns its losses; :math:`s_k(x)` is what it
      predicts.
    - a *classifier* learns the label k with weight
      :math:`w_k = \max_j \ell(j) - \ell(k)`, divided by the mean of all such weights so far, for
      each k where that is positive. Its probabilities estimate how these weights are shared, so
      :math:`s_k(x) = -\bar w\, P(k \mid x)`, with :math:`\bar w` the mean of
      :math:`\sum_k w_k` over rounds, is an estimate of losses up to a constant.

    An online model cannot unlearn fake losses. Instead B further copies of it, the *echoes*, learn
    random signs ±1 on the same contexts, and :math:`N_b(x)`, what echo b predicts, is what noise
    does to a score, where predictions are linear in what was taught. Under a draw the scores are

    .. math:: s_k(x) + \sigma \langle v(x), g_k \rangle, \qquad
              v(x) = \Big(\tfrac{N_1(x)}{\sqrt B}, …, \tfrac{N_B(x)}{\sqrt B},
              \tfrac1{\sqrt{n+1}}\Big),

    with standard normal :math:`g_k \in R^{B+1}` of that draw and
    :math:`\sigma = \text{scale} \cdot \sqrt{2 d/n}` after n rounds, d the number of perturbed
    contexts. This is the noise of `LinearPolicies`, with :math:`\|v(x)\|^2` in place of the
    leverage :math:`x^\top A^{-1} x`; bandit feedback needs no resampling here either.

    It is *inexact*, and no theorem covers it. G is that of linear policies on the same features.
    Models that count all rounds alike suit best. One that forgets, such as gradient descent with
    a constant step, never settles: give it decreasing steps, or the learner a number for ε. Such a
    class cannot be saved to a file.

    Parameters
    ----------
    model
        A regressor, a classifier with `predict_proba_one` whose `learn_one` takes a weight `w`,
        or a pipeline that ends in one. It is cloned and never changed; random models
        need their `seed`. Binary classifiers will do for K = 2 only.
    n_actions
        K.
    echoes
        B. A round teaches K + B regressors, or a classifier and B others.
    features
        Names of the features of a row; 0, 1, … by default.

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

    _unstorable = "it holds models of river, which only pickle can take apart"

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
                f"RiverPolicies weighs what a classifier learns, but learn_one of {model} takes no "
                "weight w. Use one that does, such as tree.HoeffdingTreeClassifier, or a regressor."
            )
        if self.classifies and n_actions > 2 and not model._multiclass:
            raise ParameterError(
                f"{model} tells two classes apart, not {n_actions}. Wrap it in "
                "multiclass.OneVsRestClassifier(model)."
            )

    def objective(self) -> RiverObjective:
        return RiverObjective(self)

    def noise(
        self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int
    ) -> RiverNoise:
        """Normal numbers for the echoes."""
        return RiverNoise(self, contexts, key, stream, memory)  # type: ignore[arg-type]

    def log_size(self, contexts: Sequence[Any]) -> float:
        """d log K, which holds for any class."""
        return len(contexts) * math.log(self.n_actions)

    def complexity(self, contexts: Sequence[Any]) -> float:
        """That of `LinearPolicies` on these contexts."""
        return LinearPolicies(self.n_actions).complexity(contexts)

    def __repr__(self) -> str:
        return f"RiverPolicies(<{self.model}>, n_actions={self.n_actions}, echoes={self.echoes})"


class RiverNoise(LinearNoise):
    """Standard normal numbers for each entry of v and each action, by counter."""

    oracle: RiverPolicies  # type: ignore[assignment]

    def unit(self, draw: int) -> FloatArray:
        """The fake losses on the contexts that the noise of a draw stands for, [d, K]."""
        K, stream = self.oracle.n_actions, int(self.stream)
        return LaplaceNoise(self.contexts, K, self.key, stream).unit(draw)


class RiverLeader(Policy):
    """What the models, as they were, make of a context under one draw."""

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
    """Models that have learned the rounds, and echoes that have learned coin flips on them.

    Scores with normal noise are those of `LinearObjective`; here is only where they come from.
    """

    oracle: RiverPolicies  # type: ignore[assignment]

    def __init__(self, oracle: RiverPolicies) -> None:
        self.oracle = oracle
        self.rounds = 0
        many = 1 if oracle.classifies else oracle.n_actions
        self._models = [oracle.model.clone() for _ in range(many)]
        self._echoes = [oracle.model.clone() for _ in range(oracle.echoes)]
        self._flips = np.random.default_rng(0)
        self._gaps = (0, 0.0)  # how many labels a classifier has learned, and their weight
        self._width: int | None = None
        self._cache = None
        self._frozen: RiverObjective | None = None

    def copy(self) -> RiverObjective:
        """Models that go on learning by themselves."""
        twin = copy.copy(self)
        for name in ("_models", "_echoes", "_flips"):
            setattr(twin, name, copy.deepcopy(getattr(self, name)))
        twin._cache = twin._frozen = None
        return twin

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        """One more lesson for every model and every echo."""
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
        """The models as they are now, under each draw."""
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
        """Scores, v and |v|² of a context; kept, as a round asks several times."""
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
        """What an echo predicts of a coin flip."""
        if not self.rounds:
            return 0.0
        if not self.oracle.classifies:
            return float(echo.predict_one(x))
        shares = echo.predict_proba_one(x)
        return float(shares.get(True, 0.0) - shares.get(False, 0.0))

    def _named(self, context: FloatArray) -> dict[Any, Any]:
        if self._width not in (None, len(context)):
            raise ContextError(
                f"RiverPolicies has seen contexts with {self._width} features; got one with "
                f"{len(context)}."
            )
        return as_dict(context, self.oracle.names)
