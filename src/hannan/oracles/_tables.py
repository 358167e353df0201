"""What policy classes on the contexts 0..d-1 have in common."""

from numbers import Integral
from typing import Any

from hannan.core import ContextError


def check_table_context(owner: object, context: Any, n_contexts: int) -> int:
    """An index below n_contexts; None stands for the only context where there is one."""
    if type(context) is int and 0 <= context < n_contexts:
        return context
    if context is None and n_contexts == 1:
        return 0
    if not isinstance(context, bool) and isinstance(context, Integral):
        index = int(context)
        if 0 <= index < n_contexts:
            return index
    raise ContextError(
        f"The contexts of {type(owner).__name__} are the integers 0 to {n_contexts - 1}"
        f"{' (or None)' if n_contexts == 1 else ''}; got {context!r}."
    )
