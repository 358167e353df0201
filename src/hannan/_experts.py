"""`hannan.experts`: the recommended learner for full information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hannan._options import check_options, check_policies
from hannan.core import Oracle, ParameterError
from hannan.core.validation import check_integer, check_loss_range
from hannan.learners import AdaptiveDiscount
from hannan.oracles import FinitePolicies
from hannan.predictors import Blend, Scaled


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
    _check_options(options)
    if isinstance(policies, Oracle):
        single = policies.max_chosen == 1 and policies.n_actions is not None
        if policies.open_world and single and not policies.takes_functions:
            options.setdefault("predictor", _blend(options.get("loss_range", (0.0, 1.0)), seed))
        return AdaptiveDiscount(policies, seed=seed, **options)
    check_policies("experts", policies, None)
    if np.ndim(policies) == 0:  # type: ignore[arg-type]
        count = check_integer("experts", "policies", policies, 1)
        return AdaptiveDiscount(FinitePolicies(np.arange(count)), seed=seed, **options)
    return AdaptiveDiscount(FinitePolicies(policies), seed=seed, **options)


def _blend(loss_range: Any, seed: int | None) -> Any:
    """A predictor for rows, if the range of the losses is known."""
    if loss_range is None:
        return None
    span, blend = check_loss_range("hn.experts", loss_range), Blend(seed=seed or 0)
    return blend if span == (0.0, 1.0) else Scaled(blend, span)


def _check_options(options: dict[str, Any]) -> None:
    for name in ("n_contexts", "n_actions"):
        if name in options:
            raise ParameterError(
                f"hn.experts has no option {name!r}: its first argument has it, as in "
                "hn.experts(hannan.oracles.AllPolicies(n_contexts, n_actions))."
            )
    check_options("experts", options, ("policies",))
