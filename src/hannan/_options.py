"""What `hannan.bandit` and `hannan.experts` take, and what to say of anything else."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from typing import Any

from hannan.core import InputTypeError, Learner, ParameterError
from hannan.learners import AdaptiveDiscount, ContextSemiBanditFTPL, Restarting, TsallisINF

_LEARNERS: dict[str, tuple[type[Learner], ...]] = {
    "bandit": (ContextSemiBanditFTPL, TsallisINF, Restarting),
    "experts": (AdaptiveDiscount,),
}
_MADE = {"self", "oracle", "learner"}  # by the functions themselves


def arguments_of(*learners: type[Learner]) -> list[str]:
    """What the constructors of some learners take, policies and learners inside excepted."""
    names = [name for each in learners for name in inspect.signature(each.__init__).parameters]
    return [name for name in dict.fromkeys(names) if name not in _MADE]


def options_of(function: str) -> list[str]:
    """The options that "bandit" or "experts" passes on to the learners behind it.

    >>> options_of("experts")
    ['contexts', 'separator', 'discounts', 'predictor', 'seed', 'loss_range']
    """
    return arguments_of(*_LEARNERS[function])


def check_options(function: str, given: Iterable[str], own: Iterable[str]) -> None:
    """Refuse an option that does not exist, with the nearest one that does."""
    known = [*own, *options_of(function)]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f". There are {', '.join(known)}."
            raise ParameterError(f"hn.{function} has no option {name!r}{hint}")


def check_policies(function: str, policies: Any, n_actions: int | None) -> None:
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
