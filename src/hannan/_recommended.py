"""Functions that build the recommended learners: `hannan.bandit` and `hannan.experts`."""

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
from hannan.predictors import Blend, ElementMeans, ElementRidge, Hybrid, Mean, Scaled

_LEARNERS: dict[str, tuple[type[Learner], ...]] = {
    "bandit": (ContextSemiBanditFTPL, TsallisINF, Restarting),
    "experts": (AdaptiveDiscount,),
}
_MADE = {"self", "oracle", "learner"}  # arguments that `bandit` and `experts` fill in themselves
_RESTARTS = 10
# If all actions share their weights, only noise limits the damage that an adversary can do. This
# much noise comes close to uniform play where uniform play is best. In other environments it costs
# next to nothing, because the base learner has a small share of the rounds there.
_CAUTIOUS = SelfTuned(0.25)
# Features explain little of the variance of rare clicks. Where they explain more, too large a
# penalty shrinks all weights alike, which hardly changes the recommended action.
_PENALTY = 30.0
# With a table of policies, hints get nearly all rounds. With a smaller width, hints were stuck on
# a wrong action in one run of 300 (at most ten arms, gaps from 0.08). With a larger width they
# explore for longer.
_WIDTH = 1.5


def bandit(
    n_actions: int | None = None,
    n_contexts: int | None = None,
    policies: Any = None,
    seed: int | None = None,
    *,
    actions: str | None = None,
    shared: Any = False,
    features: Any = None,
    guess: Any = None,
    **options: Any,
) -> Learner:
    """Build the recommended learner for bandit feedback: only the chosen action's loss is observed.

    By default, contexts are feature vectors, and policies are linear. A predictor blends ridge
    regression on the features with ridge regression on a random Fourier expansion of the features.
    The learner follows the predictor only as often as it has measurably reduced the loss, so a
    wrong predictor costs little. If the learner detects drift, it starts over, at most ten times.

    For routes, slates and other sets of elements, pass the oracle as `policies`. After each
    decision you give the loss of each chosen element. The predictor is the mean loss of each
    element, `predictors.ElementMeans`, or a ridge regression on features of the elements.

    Parameters
    ----------
    n_actions
        Number of actions K. Required, except with `actions="items"` and for sets.
    n_contexts
        Number of contexts, if contexts are integers 0..n-1 without features and each can have a
        different best action. 1 for a bandit without contexts, `act()`.
    policies
        Your policy class: an oracle, or a table [N, d] of the action of each policy on each
        context. `AllPolicies(n, K)` is the same as `n_contexts=n`.
    actions
        "items" if each round has different actions, given as feature vectors. Then call
        `learner.act(context, actions=rows)`, and leave out `n_actions`. See
        `docs/how-to/items.md`.
    shared
        For sets: whether the loss of an element does not depend on the context, so that the
        predictor learns from all contexts. Or a function of the context: contexts with equal
        values share their losses. Default False.
    features
        For sets: features of the elements, an array [K, p] or a function of the context that
        returns one. With an array, elements cost the same in all contexts. Default None.
    guess
        For sets: a first guess of each element's loss, K numbers. Default None: the lowest loss.
    seed
        Random seed. None (default) takes fresh entropy.
    options
        `max_restarts` and `detector` of `Restarting`, and all parameters of the learner, such as
        `loss_range=(0, 5)` or `predictor=`. With contexts 0..n-1 the learner is `TsallisINF`, or
        `ContextSemiBanditFTPL` if you pass an option that only this class has, such as `epsilon=`.

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

    A bandit without contexts:

    >>> arms = hn.bandit(4, n_contexts=1, seed=0)
    >>> arms.act() in range(4)
    True

    Two of five articles for each visitor; the clicks are rewards:

    >>> slates = hn.oracles.PerContext(hn.oracles.Subsets(5, 2), ["new", "regular"])
    >>> news = hn.bandit(policies=slates, loss_range=(-1, 0), seed=0)
    >>> likes = {"new": {0, 3}, "regular": {1, 4}}
    >>> for t in range(200):
    ...     visitor = ["new", "regular"][t % 2]
    ...     shown = news.act(visitor)
    ...     news.update([-float(article in likes[visitor]) for article in shown])
    >>> news.best_policy()("new"), news.best_policy()("regular")
    (array([0, 3]), array([1, 4]))
    """
    own = ("n_actions", "n_contexts", "policies", "actions", "shared", "features", "guess")
    _check_options("bandit", options, own)
    restarts = {"max_restarts": options.pop("max_restarts", _RESTARTS)}
    restarts["detector"] = options.pop("detector", None)
    if policies is not None and n_contexts is not None:
        raise ParameterError("Give either n_contexts= or policies=, not both.")
    sets = isinstance(policies, Oracle) and policies.chooses_sets
    span = _check_range(options.get("loss_range", (0.0, 1.0)), sets)
    settings: dict[str, Any] = {"seed": seed, **options}
    if sets and not policies.takes_functions:
        base: Learner = _of_sets(policies, n_actions, span, settings, shared, features, guess)
        return Restarting(base, **restarts)
    if shared is not False or features is not None or guess is not None:
        raise ParameterError(
            "shared=, features= and guess= are for policy classes that choose sets of elements. "
            "Leave them out, or pass such a class, e.g. policies=hannan.oracles.Subsets(40, 5)."
        )
    if actions is None:
        oracle = _oracle(n_actions, n_contexts, policies)
    else:
        oracle = _described(actions, n_actions, n_contexts, policies)
    if oracle.takes_items and not oracle.exact:
        settings.setdefault("epsilon", _CAUTIOUS)
    table = isinstance(oracle, FullTable) and set(options) <= set(_arguments_of(TsallisINF))
    if oracle.max_chosen == 1 and not oracle.stand_ins:
        settings.setdefault("predictor", _scaled(_usual_predictor(oracle, table, seed), span))
    base = TsallisINF(oracle, **settings) if table else ContextSemiBanditFTPL(oracle, **settings)
    return Restarting(base, **restarts)


def _usual_predictor(oracle: Oracle, table: bool, seed: int | None) -> Any:
    """Return the predictor of the losses of single actions."""
    if oracle.takes_items:
        return Hybrid(ridge=_PENALTY, seed=seed or 0)
    if oracle.takes_new_contexts:
        return Blend(seed=seed or 0)
    return Mean(_WIDTH if table else 1.0)


def _of_sets(
    oracle: Oracle,
    n_actions: Any,
    span: tuple[float, float],
    settings: dict[str, Any],
    shared: Any,
    features: Any,
    guess: Any,
) -> ContextSemiBanditFTPL:
    """Return the learner for sets of elements."""
    if n_actions is not None and n_actions != oracle.n_actions:
        raise _other_number(oracle, n_actions)
    if "predictor" not in settings:
        settings["predictor"] = _of_elements(oracle, span, shared, features, guess)
    elif shared is not False or features is not None or guess is not None:
        raise ParameterError(
            "shared=, features= and guess= set up the default predictor, but predictor= is given. "
            "Pass them to your predictor instead, or leave out predictor=."
        )
    return ContextSemiBanditFTPL(oracle, **settings)


def experts(
    policies: Oracle | ArrayLike | int, *, seed: int | None = None, **options: Any
) -> AdaptiveDiscount:
    """Build the recommended learner for full information: all losses are observed.

    The learner needs no tuning: it chooses its discount factor and its noise level itself. If
    contexts are feature vectors, a blend of ridge regressions also predicts the losses. The
    learner follows this predictor as long as it does better than the policies. For the guarantees,
    see `AdaptiveDiscount`.

    Parameters
    ----------
    policies
        A policy class (an oracle), a table of policies as in `FinitePolicies` (one action for each
        context 0..d-1), or a number K of experts without contexts (`act()`).
    seed
        Random seed. None (default) takes fresh entropy.
    options
        Parameters of `AdaptiveDiscount`, such as `loss_range=(low, high)`.

    Examples
    --------
    Three forecasters; the second becomes the best after 200 rounds:

    >>> import hannan as hn
    >>> learner = hn.experts(3, seed=0)
    >>> for t in range(300):
    ...     forecaster = learner.act()
    ...     learner.update([0.2, 0.5, 0.6] if t < 200 else [0.7, 0.1, 0.6])
    >>> learner.act(), learner.best_policy()()
    (1, 1)

    Policies that map two contexts to actions, and a policy class with its optimiser:

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
                f"hn.experts has no option {name!r}: the policy class determines it. Pass "
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
            f'actions= must be "items" or left out; got {actions!r:.100}. With actions="items", '
            "pass the feature vectors of a round's actions to act(context, actions=rows)."
        )
    if n_actions is not None or n_contexts is not None:
        raise ParameterError(
            'actions="items" cannot be combined with n_actions or n_contexts. Leave them out, and '
            "pass the feature vectors of a round's actions to act(context, actions=rows)."
        )
    if policies is None:
        return SharedLinear()
    if not isinstance(policies, Oracle) or not policies.takes_items:
        raise ParameterError(
            'With actions="items", policies= must be an oracle for items, SharedLinear(...) or '
            f"ListedRules([...]); got {policies!r:.100}."
        )
    return policies


def _oracle(n_actions: int | None, n_contexts: int | None, policies: Any) -> Oracle:
    if n_actions is None:
        raise ParameterError(
            "hn.bandit needs n_actions, the number of actions. If each round has different actions "
            'with features, pass actions="items" instead.'
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
        raise _other_number(found, n_actions)
    return found


def _of_elements(
    oracle: Oracle, span: tuple[float, float], shared: Any, features: Any, guess: Any
) -> Any:
    """Return the predictor of the losses of elements."""
    if features is not None:
        if shared is not False:
            raise ParameterError(
                "Pass shared= or features=, not both: one regression learns from all contexts. "
                "For other predictors, pass predictor=."
            )
        return ElementRidge(features, guess=guess, loss_range=span)
    shared = shared or getattr(oracle, "shared", False)
    by_context = shared if callable(shared) else not shared
    return ElementMeans(by_context=by_context, guess=guess, loss_range=span)


def _other_number(oracle: Oracle, n_actions: Any) -> ParameterError:
    return ParameterError(
        f"policies= has {oracle.n_actions} actions, but n_actions={n_actions!r}. Leave out "
        "n_actions=, or pass the same number."
    )


def _check_range(loss_range: Any, sets: bool) -> tuple[float, float]:
    low, high = check_loss_range("hn.bandit", loss_range)
    if sets and math.isfinite(high - low):
        return low, high
    if low < 0.0 or not math.isfinite(high):
        raise ParameterError(
            "hn.bandit needs a finite loss_range=(low, high) with 0 <= low; got "
            f"{loss_range!r}. Pass losses that are not negative, e.g. 1 - reward."
        )
    return low, high


def _scaled(guess: Any, span: tuple[float, float]) -> Any:
    """Adapt a predictor of losses in [0, 1] to losses in another range."""
    return guess if span == (0.0, 1.0) else Scaled(guess, span)


def _arguments_of(*learners: type[Learner]) -> list[str]:
    """Return the parameters of some learner classes, except policies and inner learners."""
    names = [name for each in learners for name in inspect.signature(each.__init__).parameters]
    return [name for name in dict.fromkeys(names) if name not in _MADE]


def options_of(function: str) -> list[str]:
    """Return the options that `bandit` or `experts` passes on to the learners that it builds.

    >>> options_of("experts")
    ['contexts', 'separator', 'discounts', 'predictor', 'seed', 'loss_range']
    """
    return _arguments_of(*_LEARNERS[function])


def _check_options(function: str, given: Iterable[str], own: Iterable[str]) -> None:
    """Raise `ParameterError` for an unknown option, and suggest the nearest known one."""
    known = [*own, *options_of(function)]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f". Options: {', '.join(known)}."
            raise ParameterError(f"hn.{function} has no option {name!r}{hint}")


def _check_policies(function: str, policies: Any, n_actions: int | None) -> None:
    """Raise `InputTypeError` for a class, an estimator or functions, and name the fix."""
    K = "..." if n_actions is None else n_actions
    if isinstance(policies, type):
        raise InputTypeError(
            f"policies= got the class {policies.__name__}. Pass an instance, "
            f"{policies.__name__}(...)."
        )
    if hasattr(policies, "fit") and hasattr(policies, "predict"):
        raise InputTypeError(
            f"{type(policies).__name__} is an estimator, and hn.{function} needs a policy class. "
            f"Wrap the estimator: hannan.oracles.SklearnPolicies(estimator, n_actions={K})."
        )
    some = policies if isinstance(policies, list | tuple) else [policies]
    if any(callable(each) for each in some):
        raise InputTypeError(
            f"hn.{function} does not take functions as policies. Pass a table of their actions on "
            "the contexts 0..d-1, [[f(0), f(1), ...], ...], or an optimiser over them, "
            f"hannan.oracles.FunctionOracle(solve, n_actions={K})."
        )
