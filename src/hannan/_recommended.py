"""`hannan.bandit` and `hannan.experts`: the recommended learners, and what they take."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan.core import InputTypeError, Learner, Oracle, ParameterError
from hannan.core.oracle import FullTable
from hannan.core.validation import check_integer, check_loss_range
from hannan.learners import (
    AdaptiveDiscount,
    ContextSemiBanditFTPL,
    Restarting,
    SelfTuned,
    TsallisINF,
)
from hannan.oracles import AllPolicies, FinitePolicies, LinearPolicies, SharedLinear
from hannan.predictors import Blend, Hybrid, Mean, Scaled

_LEARNERS: dict[str, tuple[type[Learner], ...]] = {
    "bandit": (ContextSemiBanditFTPL, TsallisINF, Restarting),
    "experts": (AdaptiveDiscount,),
}
_MADE = {"self", "oracle", "learner"}  # by the functions themselves
_RESTARTS = 10
# What an adversary can do to weights that all actions share is only limited by noise: enough of it
# to come close to uniform play where that is best. It costs next to nothing elsewhere, as the base
# has a small share there.
_CAUTIOUS = SelfTuned(0.25)
# What features tell of rare clicks is little beside their variance. Where it is more, a penalty
# that is too large holds back all weights alike, which hardly changes what is recommended.
_PENALTY = 30.0
# Hints on tables get nearly all rounds. With a smaller width they were stuck on a wrong action in
# one game of 300 (ten arms at most, gaps from 0.08); with a larger one they explore for longer.
_WIDTH = 1.5


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
        "items" for actions that come and go, each described by a row of features: a round is
        `learner.act(context, actions=rows)`, and there is no `n_actions`. See
        `docs/how-to/items.md`.
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
    _check_options("bandit", options, ("n_actions", "n_contexts", "policies", "actions"))
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
    if oracle.takes_items and not oracle.exact:
        settings.setdefault("epsilon", _CAUTIOUS)
    table = isinstance(oracle, FullTable) and set(options) <= set(_arguments_of(TsallisINF))
    if oracle.max_chosen == 1 and "predictor" not in options and not oracle.stand_ins:
        guess: Any = Mean(_WIDTH if table else 1.0)
        if oracle.takes_new_contexts:
            guess = Blend(seed=seed or 0)
        if oracle.takes_items:
            guess = Hybrid(ridge=_PENALTY, seed=seed or 0)
        settings["predictor"] = _scaled(guess, span)
    base = TsallisINF(oracle, **settings) if table else ContextSemiBanditFTPL(oracle, **settings)
    return Restarting(base, **restarts)


def experts(
    policies: Oracle | ArrayLike | int, *, seed: int | None = None, **options: Any
) -> AdaptiveDiscount:
    """The recommended learner where all losses are shown; nothing has to be tuned.

    It finds out by itself how fast the past goes out of date and how much noise is needed. Where
    contexts are rows of features, a blend of ridge regressions predicts losses beside the policies
    and is followed as long as it does better. See `AdaptiveDiscount` for what is guaranteed.

    Parameters
    ----------
    policies
        A policy class; or policies listed one by one as `FinitePolicies` takes them, an action for
        each context 0..d-1; or a number K of plain experts: `act()` then needs no context.
    seed
        Fixes all randomness; None takes fresh entropy.
    options
        Passed on to `AdaptiveDiscount`, such as `loss_range=(low, high)`.

    Examples
    --------
    Three forecasters, of which the second becomes the best after a while:

    >>> import hannan as hn
    >>> learner = hn.experts(3, seed=0)
    >>> for t in range(300):
    ...     forecaster = learner.act()
    ...     learner.update([0.2, 0.5, 0.6] if t < 200 else [0.7, 0.1, 0.6])
    >>> learner.act(), learner.best_policy()()
    (1, 1)

    Policies that map two contexts to actions, and a class with an optimiser of its own:

    >>> by_context = hn.experts([[0, 1], [1, 0], [1, 1]], seed=0)
    >>> by_context.act(1) in (0, 1)
    True
    >>> routes = hn.oracles.Paths([("s", "a"), ("a", "t"), ("s", "t")], "s", "t")
    >>> hn.experts(routes, seed=0).act()
    array([0, 1])
    """
    for name in ("n_contexts", "n_actions"):
        if name in options:
            raise ParameterError(
                f"hn.experts has no option {name!r}: its first argument has it, as in "
                "hn.experts(hannan.oracles.AllPolicies(n_contexts, n_actions))."
            )
    _check_options("experts", options, ("policies",))
    if isinstance(policies, Oracle):
        single = policies.max_chosen == 1 and policies.n_actions is not None
        span = options.get("loss_range", (0.0, 1.0))
        if (
            policies.takes_new_contexts
            and single
            and not policies.takes_functions
            and span is not None
        ):
            blend = _scaled(Blend(seed=seed or 0), check_loss_range("hn.experts", span))
            options.setdefault("predictor", blend)
        return AdaptiveDiscount(policies, seed=seed, **options)
    _check_policies("experts", policies, None)
    if np.ndim(policies) == 0:  # type: ignore[arg-type]
        policies = np.arange(check_integer("experts", "policies", policies, 1))
    return AdaptiveDiscount(FinitePolicies(policies), seed=seed, **options)


def _described(actions: Any, n_actions: Any, n_contexts: Any, policies: Any) -> Oracle:
    if actions != "items":
        raise ParameterError(
            f'actions= takes "items", for actions that come and go; got {actions!r:.100}. '
            "What a round offers is given to act(context, actions=rows)."
        )
    if n_actions is not None or n_contexts is not None:
        raise ParameterError(
            'actions="items" takes no n_actions and no n_contexts: what a round offers is '
            "given to act(context, actions=rows)."
        )
    if policies is None:
        return SharedLinear()
    if not isinstance(policies, Oracle) or not policies.takes_items:
        raise ParameterError(
            'policies= for actions="items" is an oracle for them, SharedLinear(...) or '
            f"ListedRules([...]); got {policies!r:.100}."
        )
    return policies


def _oracle(n_actions: int | None, n_contexts: int | None, policies: Any) -> Oracle:
    if n_actions is None:
        raise ParameterError(
            'hn.bandit needs n_actions, how many actions there are; or actions="items", where '
            "they come and go and each is described by features."
        )
    if n_contexts is not None:
        return AllPolicies(n_contexts, n_actions)
    if policies is None:
        return LinearPolicies(n_actions)
    if not isinstance(policies, Oracle):
        _check_policies("bandit", policies, n_actions)
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


def _scaled(guess: Any, span: tuple[float, float]) -> Any:
    """A predictor for losses in this range, of one for losses in [0, 1]."""
    return guess if span == (0.0, 1.0) else Scaled(guess, span)


def _arguments_of(*learners: type[Learner]) -> list[str]:
    """What the constructors of some learners take, policies and learners inside excepted."""
    names = [name for each in learners for name in inspect.signature(each.__init__).parameters]
    return [name for name in dict.fromkeys(names) if name not in _MADE]


def options_of(function: str) -> list[str]:
    """The options that "bandit" or "experts" passes on to the learners behind it.

    >>> options_of("experts")
    ['contexts', 'separator', 'discounts', 'predictor', 'seed', 'loss_range']
    """
    return _arguments_of(*_LEARNERS[function])


def _check_options(function: str, given: Iterable[str], own: Iterable[str]) -> None:
    """Refuse an option that does not exist, with the nearest one that does."""
    known = [*own, *options_of(function)]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f". There are {', '.join(known)}."
            raise ParameterError(f"hn.{function} has no option {name!r}{hint}")


def _check_policies(function: str, policies: Any, n_actions: int | None) -> None:
    """Refuse what is neither a policy class nor a table, with what would be one."""
    K = "..." if n_actions is None else n_actions
    if isinstance(policies, type):
        raise InputTypeError(
            f"policies= needs an instance, {policies.__name__}(...); got the class itself."
        )
    if hasattr(policies, "fit") and hasattr(policies, "predict"):
        raise InputTypeError(
            f"hn.{function} needs a policy class, and {type(policies).__name__} is an estimator: "
            f"wrap it, hannan.oracles.SklearnPolicies(estimator, n_actions={K})."
        )
    some = policies if isinstance(policies, list | tuple) else [policies]
    if any(callable(each) for each in some):
        raise InputTypeError(
            f"hn.{function} cannot list functions as policies: give a table with what each plays "
            "on the contexts 0..d-1, [[f(0), f(1), ...], ...], or an optimiser over them, "
            f"hannan.oracles.FunctionOracle(solve, n_actions={K})."
        )
