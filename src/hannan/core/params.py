"""Parameters from the constructor's signature, with `params`, `clone` and `repr`."""

import difflib
import functools
import inspect
from abc import ABCMeta
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hannan.core.errors import InputTypeError
from hannan.core.stored import Stored

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_signature = functools.lru_cache(maxsize=512)(inspect.signature)


class Asked(ABCMeta):
    """Metaclass whose errors suggest the intended argument for an unknown one."""

    if not TYPE_CHECKING:  # a type checker knows the constructors

        def __call__(cls, *args: Any, **given: Any) -> Any:
            try:
                return super().__call__(*args, **given)
            except TypeError as error:
                if isinstance(error, InputTypeError) or not given:
                    raise
                taken = list(_signature(cls.__init__).parameters.values())[1:]
                names = [p.name for p in taken if p.kind not in _VARIADIC]
                unknown = [name for name in given if name not in names]
                if not unknown or len(names) < len(taken):
                    raise
                raise InputTypeError(_no_argument(cls.__name__, unknown[0], given, names)) from None

        @property
        def __signature__(cls) -> inspect.Signature:
            found = _signature(cls.__init__)
            return found.replace(parameters=list(found.parameters.values())[1:])


def _no_argument(who: str, name: str, given: Mapping[str, Any], known: list[str]) -> str:
    """Return the message for an argument that a constructor does not have."""
    if name == "n_actions" and "oracle" in known:
        actions = given[name] if type(given[name]) is int else 3
        return (
            f"{who} takes a policy class, which sets the number of actions: {who}(hannan.oracles."
            f"AllPolicies(n_contexts=1, n_actions={actions})). Or use hn.bandit({actions})."
        )
    near = difflib.get_close_matches(name, known, 1)
    hint = (
        f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(known) or 'no arguments'}."
    )
    return f"{who} has no argument {name!r}. {hint}"


class Parametrised(Stored, metaclass=Asked):
    """A class whose constructor stores each argument under its own name."""

    @property
    def params(self) -> Mapping[str, Any]:
        """Mapping from the names of the constructor arguments to their values."""
        given = list(_signature(type(self).__init__).parameters.values())[1:]
        # A class that defines no constructor has the one of `object`: (*args, **kwargs).
        try:
            return {p.name: getattr(self, p.name) for p in given if p.kind not in _VARIADIC}
        except AttributeError as error:
            raise InputTypeError(
                f"The constructor of {type(self).__name__} must store each argument under its "
                f"name, self.argument = argument: {error}."
            ) from error

    def _params_to_store(self) -> dict[str, Any]:
        return dict(self.params)

    def clone(self, **changes: Any) -> Self:
        """Return a new object with the same parameters, except for `changes`, and no learned state.

        >>> import hannan as hn
        >>> hn.oracles.AllPolicies(3, 2).clone(n_actions=4)
        AllPolicies(n_contexts=3, n_actions=4)
        """
        return type(self)(**{**self.params, **changes})

    def __repr__(self) -> str:
        signature = _signature(type(self).__init__)
        shown = []
        for name, value in self.params.items():
            default = signature.parameters[name].default
            plain = np.isscalar(value) or isinstance(value, tuple)
            if value is not default and not (plain and value == default):
                shown.append(f"{name}={short(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def short(value: Any) -> str:
    """Return a value in one line; for a large value, such as a frame, only its type and size."""
    shape = getattr(value, "shape", None)
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"<{value.dtype} array {list(value.shape)}>"
    if isinstance(shape, tuple) and not isinstance(value, np.ndarray | np.generic):
        return f"<{type(value).__name__} {list(shape)}>"
    text = repr(value)
    text = " ".join(text.split()) if "\n" in text else text
    if len(text) <= 60:
        return text
    if isinstance(value, Mapping):
        return f"<{type(value).__name__} of {len(value)}>"
    return text[:57] + "..."
