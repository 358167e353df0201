"""A linear cost model for each element, then a combinatorial optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hannan.core import Action, InputTypeError, Oracle, ParameterError, Policy
from hannan.core.oracle import WITHOUT_NOISE, Available, Draw, Noise, Plus
from hannan.core.params import short
from hannan.core.policy import loss_of
from hannan.core.state import Part, State
from hannan.core.validation import FloatArray
from hannan.oracles._features import FeatureOracle
from hannan.oracles.linear_policies import LinearObjective, LinearPolicies, Regressed

_COMPLEXITY_ROWS = 50
_COMPLEXITY_PAIRS = 4


class PredictThenOptimise(FeatureOracle):
    r"""Linear predictions of element losses, followed by the optimiser of a combinatorial problem.

    Policies are :math:`x \mapsto \arg\min_{a \in A} \sum_{j \in a} \langle w_j, x \rangle`. The
    losses of each of the K elements are regressed on the context's features, as in
    `LinearPolicies`. On each context the optimiser of a problem without contexts, such as `Paths`
    or `Subsets`, takes the predicted losses. Each step is exact, but together they need not give
    the policy with the smallest loss: the oracle is inexact and no theorem covers it. Noise enters
    through the regressions.

    Parameters
    ----------
    model
        `LinearPolicies` with as many actions as the base has elements. Its ridge penalty and
        intercept are used.
    base
        Inner oracle with the feasible actions, for a problem without contexts.

    Examples
    --------
    >>> import hannan as hn
    >>> slates = hn.oracles.Subsets(3, 2)
    >>> oracle = hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(3), slates)
    >>> total = oracle.objective()
    >>> for x in (0.0, 0.2, 0.8, 1.0):
    ...     total.add(np.array([x]), np.array([x, 0.5, 1.0 - x]))
    >>> total.leader()([0.1]), total.leader()([0.9])
    (array([0, 1]), array([1, 2]))
    """

    exact = False
    counts_rounds = True

    def __init__(self, model: LinearPolicies, base: Oracle) -> None:
        if not isinstance(model, LinearPolicies) or not isinstance(base, Oracle):
            raise InputTypeError(
                "PredictThenOptimise needs LinearPolicies as its model and an oracle as its base; "
                f"got {short(model)} and {short(base)}. Only ridge regression is supported here; "
                "for other regressors and single actions use SklearnPolicies."
            )
        self.model = model
        self.base = base
        if base.contexts is None or list(base.contexts) not in ([None], [0]):
            raise ParameterError(
                "PredictThenOptimise needs a base without contexts, such as Paths or Subsets; "
                f"got {base!r}."
            )
        if base.n_actions != model.n_actions:
            raise ParameterError(
                f"The model predicts {model.n_actions} losses and the base has {base.n_actions} "
                f"elements: use LinearPolicies({base.n_actions})."
            )
        self.n_actions: int = model.n_actions
        self.max_chosen = base.max_chosen
        self.antichain = base.antichain

    @property
    def fixed_size(self) -> bool:
        return self.base.fixed_size

    def objective(self) -> PredictedObjective:
        return PredictedObjective(self, self.model.objective())

    def noise(self, contexts: Sequence[Any], key: np.uint64, stream: int, memory: int) -> Noise:
        return self.model.noise(contexts, key, stream, memory)

    def complexity(self, contexts: Sequence[Any]) -> float:
        r"""Estimate G by simulation on at most 50 contexts; G grows like :math:`\sqrt d`."""
        some = list(contexts)[:_COMPLEXITY_ROWS]
        fit = self.model.smoother(some)
        rng = np.random.default_rng(0)
        value = 0.0
        for _ in range(_COMPLEXITY_PAIRS):
            zeta = rng.laplace(size=(len(some), self.n_actions))
            for sign in (1.0, -1.0):
                for scores, row in zip(fit @ (sign * zeta), sign * zeta, strict=True):
                    value -= loss_of(row, self.best(scores)) / (2 * _COMPLEXITY_PAIRS)
        return max(value, 1e-9) * float(np.sqrt(len(contexts) / len(some)))

    def best(self, losses: FloatArray) -> Action:
        """Return the base's best action for a loss vector."""
        total = self.base.objective()
        context = self.base.check_context(None)
        total.add(context, losses)
        return total.action(context, WITHOUT_NOISE)


class PredictedPolicy(Policy):
    """Policy that plays the best action for the predicted losses."""

    def __init__(self, oracle: PredictThenOptimise, weights: FloatArray) -> None:
        self.oracle = oracle
        self.weights = weights

    def __call__(self, context: Any = None) -> Action:
        row = self.oracle.model.expanded(self.oracle.check_context(context))
        if not len(self.weights):
            return self.oracle.best(np.zeros(self.oracle.n_actions))
        return self.oracle.best(row @ self.weights)


class PredictedObjective(Regressed):
    """Regressions of the model, followed by the optimiser of the base."""

    oracle: PredictThenOptimise

    stored = State(model=Part())

    def __init__(self, oracle: PredictThenOptimise, model: LinearObjective) -> None:
        self.oracle = oracle
        self.model = model

    def add(self, context: FloatArray, losses: FloatArray) -> None:
        self.model.add(context, losses)

    def action(
        self, context: FloatArray, draw: Draw, plus: Plus = None, available: Available = None
    ) -> Action:
        if available is not None:
            return super().action(context, draw, plus, available)
        return self.oracle.best(self.model.scores(context, draw, plus))

    def leaders(self, draw: Draw = WITHOUT_NOISE, count: int = 1) -> list[Policy]:
        found = self.model.leaders(draw, count)
        return [PredictedPolicy(self.oracle, policy.weights) for policy in found]  # type: ignore[attr-defined]
