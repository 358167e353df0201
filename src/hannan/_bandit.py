"""The recommended learner for bandit feedback."""

from __future__ import annotations

import math
from typing import Any

from hannan._options import arguments_of, check_options, check_policies
from hannan.core import Learner, Oracle, ParameterError
from hannan.core.oracle import FullTable
from hannan.core.validation import check_loss_range
from hannan.learners import ContextSemiBanditFTPL, Restarting, SelfTuned, TsallisINF
from hannan.oracles import AllPolicies, FinitePolicies, LinearPolicies, SharedLinear
from hannan.predictors import Blend, Hybrid, Mean, Scaled

_RESTARTS = 10
# What an adversary can do to weights that all actions share is only limited by noise: enough of it
# to come close to uniform play where that is best. It costs next to nothing elsewhere, as the base
# has a small share there.
_CAUTIOUS = SelfTuned(0.25)
# What features tell of rare clicks is little beside their variance. Where it is more, a penalty
# that is too large holds back all weights alike, which hardly changes what is recommended.
_PENALTY = 30.0


def bandit(
    n_actions: int | None = None,
    n_contexts: int | None = None,
    policies: Any = None,
    seed: int | None = None,
    *,
    actions: str | None = None,
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
        context. `AllPolicies(n, K)` is the same as `n_contexts=n`.
    actions
        "described" for actions that come and go, each described by a row of features: a round is
        `learner.act(context, actions=rows)`, and there is no `n_actions`. See
        `docs/described-actions.md`.
    seed
        Fixes all randomness; None takes fresh entropy.
    options
        `max_restarts` and `detector`, as in `Restarting`, and all that the learner takes, such as
        `loss_range=(0, 5)` or `predictor=`. With contexts 0..n-1 the learner is `TsallisINF`, or
        `ContextSemiBanditFTPL` if an option is given that only this takes, such as `epsilon=`.

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
    check_options("bandit", options, ("n_actions", "n_contexts", "policies", "actions"))
    restarts = {"max_restarts": options.pop("max_restarts", _RESTARTS)}
    restarts["detector"] = options.pop("detector", None)
    if policies is not None and n_contexts is not None:
        raise ParameterError("Give either n_contexts= or policies=, not both.")
    span = _check_range(options.get("loss_range", (0.0, 1.0)))
    if actions is None:
        oracle = _oracle(n_actions, n_contexts, policies)
    else:
        oracle = _described(actions, n_actions, n_contexts, policies)
    settings: dict[str, Any] = {"seed": seed, **options}
    if oracle.described and not oracle.exact:
        settings.setdefault("epsilon", _CAUTIOUS)
    if oracle.max_chosen == 1 and "predictor" not in options and not oracle.stand_ins:
        guess: Any = Blend(seed=seed or 0) if oracle.open_world else Mean()
        if oracle.described:
            guess = Hybrid(ridge=_PENALTY, seed=seed or 0)
        settings["predictor"] = guess if span == (0.0, 1.0) else Scaled(guess, span)
    table = isinstance(oracle, FullTable) and set(options) <= set(arguments_of(TsallisINF))
    base = TsallisINF(oracle, **settings) if table else ContextSemiBanditFTPL(oracle, **settings)
    return Restarting(base, **restarts)


def _described(actions: Any, n_actions: Any, n_contexts: Any, policies: Any) -> Oracle:
    if actions != "described":
        raise ParameterError(
            f'actions= takes "described", for actions that come and go; got {actions!r:.100}. '
            "What a round offers is given to act(context, actions=rows)."
        )
    if n_actions is not None or n_contexts is not None:
        raise ParameterError(
            'actions="described" takes no n_actions and no n_contexts: what a round offers is '
            "given to act(context, actions=rows)."
        )
    if policies is None:
        return SharedLinear()
    if not isinstance(policies, Oracle) or not policies.described:
        raise ParameterError(
            'policies= for actions="described" is an oracle for them, SharedLinear(...) or '
            f"ListedRules([...]); got {policies!r:.100}."
        )
    return policies


def _oracle(n_actions: int | None, n_contexts: int | None, policies: Any) -> Oracle:
    if n_actions is None:
        raise ParameterError(
            'hn.bandit needs n_actions, how many actions there are; or actions="described", where '
            "they come and go and each is described by features."
        )
    if n_contexts is not None:
        return AllPolicies(n_contexts, n_actions)
    if policies is None:
        return LinearPolicies(n_actions)
    if not isinstance(policies, Oracle):
        check_policies("bandit", policies, n_actions)
        policies = FinitePolicies(policies, n_actions)
    found: Oracle = policies
    if found.n_actions != n_actions:
        raise ParameterError(
            f"policies= has {found.n_actions} actions, but n_actions={n_actions!r}."
        )
    return found


def _check_range(loss_range: Any) -> tuple[float, float]:
    low, high = check_loss_range("hn.bandit", loss_range)
    if low < 0.0 or not math.isfinite(high):
        raise ParameterError(
            "hn.bandit needs a finite loss_range=(low, high) with 0 <= low; got "
            f"{loss_range!r}. Give losses that are not negative, e.g. 1 - reward."
        )
    return low, high
