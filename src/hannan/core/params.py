"""Parameters read off the constructor's signature: `params`, `clone` and `repr` come for free."""

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
    """Makes objects, and says what may have been meant by an argument that there is not."""

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
    """What to say of an argument that a constructor does not have."""
    if name == "n_actions" and "oracle" in known:
        actions = given[name] if type(given[name]) is int else 3
        return (
            f"{who} takes policies, and these know the actions: {who}(hannan.oracles.AllPolicies("
            f"n_contexts=1, n_actions={actions})). hn.bandit({actions}) chooses for you."
        )
    near = difflib.get_close_matches(name, known, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(known) or 'none'}."
    return f"{who} has no argument {name!r}. {hint}"


class Parametrised(Stored, metaclass=Asked):
    """A class whose constructor stores each argument under its own name."""

    @property
    def params(self) -> Mapping[str, Any]:
        """Constructor arguments by name, as given."""
        given = list(_signature(type(self).__init__).parameters.values())[1:]
        # A class without a constructor of its own has that of `object`: (*args, **kwargs).
        try:
            return {p.name: getattr(self, p.name) for p in given if p.kind not in _VARIADIC}
        except AttributeError as error:
            raise InputTypeError(
                f"The constructor of {type(self).__name__} must keep each argument under its own "
                f"name, self.argument = argument: {error}."
            ) from error

    def _params_to_store(self) -> dict[str, Any]:
        return dict(self.params)

    def clone(self, **changes: Any) -> Self:
        """A new object with the same parameters, some of them changed, and nothing learned.

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
    """A value in one line; of what holds many, such as a data frame, only its kind and size."""
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
