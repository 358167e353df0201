"""How all kernels are compiled."""

from functools import cache, partial
from warnings import warn

import numba

# Nobody passes a kernel to a C function: without a wrapper for that it is compiled faster.
_OPTIONS = {"no_cfunc_wrapper": True}


def njit(function=None, **options):
    """`numba.njit` with what is on the disk used again; `options` are added.

    Where neither the package's folder nor the user's can be written, nothing is kept.
    """
    if function is None:
        return partial(njit, **options)
    options = {**_OPTIONS, **options}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no place for its cache
        _warn()
        return numba.njit(**options)(function)


@cache
def _warn():
    warn(
        "Compiled code cannot be kept, as neither the folder of hannan nor the home folder can be "
        "written: kernels are compiled again in every process. Set NUMBA_CACHE_DIR to a folder "
        "that can be.",
        RuntimeWarning,
        stacklevel=4,
    )
