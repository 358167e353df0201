"""The recommended learner for bandit feedback."""

from __future__ import annotations

from typing import Any

from hannan.core import Learner, Oracle, ParameterError
from hannan.learners import ContextSemiBanditFTPL, Restarting, TsallisINF
from hannan.oracles import AllPolicies, FinitePolicies, LinearPolicies
from hannan.predictors import Blend, Mean

_RESTARTS = 10


def bandit(
    n_actions: int,
    n_contexts: int | None = None,
    policies: Any = None,
    seed: int | None = None,
    **options: Any,
) -> Learner:
    """The learner to start with where only the loss of the chosen action is seen.

    Rows of features by default: linear policies, and a predictor that blends ridge regression on
    the features with one on a random Fourier expansion of them. What it recommends is played as
    often as it has earned, so it costs little where it is wrong. When the world changes the
    learner starts over, ten times at most.

    Parameters
    ----------
    n_actions
        K.
    n_contexts
        For contexts 0..n-1 without features, each with a best action of its own; 1 for plain arms,
        `act()`.
    policies
        A policy class of your own: an oracle, or a table [N, d] of what each policy plays on each
        context.
    seed
        Fixes all randomness; None takes fresh entropy.
    options
        `max_restarts`, and all that the learner takes, such as `loss_range=(0, 5)` or `predictor=`.

    Examples
    --------
    >>> import hannan as hn
    >>> learner = hn.bandit(n_actions=3, seed=0)
    >>> for t in range(200):
    ...     x = [t % 2, 1.0]
    ...     action = learner.act(x)
    ...     learner.update(0.1 if action == t % 2 else 0.9)
    >>> learner.act([0, 1.0]), learner.act([1, 1.0])
    (0, 1)

    Plain arms:

    >>> arms = hn.bandit(4, n_contexts=1, seed=0)
    >>> arms.act() in range(4)
    True
    """
    restarts = options.pop("max_restarts", _RESTARTS)
    if policies is not None and n_contexts is not None:
        raise ParameterError("Give either n_contexts= or policies=, not both.")
    settings: dict[str, Any] = {"seed": seed, **options}
    base: Learner
    if n_contexts is not None:
        settings.setdefault("predictor", Mean())
        base = TsallisINF(AllPolicies(n_contexts, n_actions), **settings)
        return Restarting(base, max_restarts=restarts)
    oracle = LinearPolicies(n_actions) if policies is None else policies
    if not isinstance(oracle, Oracle):
        oracle = FinitePolicies(policies, n_actions)
    if oracle.n_actions != n_actions:
        raise ParameterError(
            f"policies= has {oracle.n_actions} actions, but n_actions={n_actions!r}."
        )
    if oracle.max_chosen == 1:
        rows = oracle.open_world
        settings.setdefault("predictor", Blend(seed=seed or 0) if rows else Mean())
    base = ContextSemiBanditFTPL(oracle, **settings)
    return Restarting(base, max_restarts=restarts)
