"""Compile kernels with numba, and cache the compiled code where a folder can be written."""

from functools import cache, partial
from warnings import warn

import numba


def njit(function=None, **options):
    """Compile `function` by ``numba.njit(cache=True, **options)``.

    If neither the package's folder nor the user's can be written, numba raises `RuntimeError`. The
    kernel is then not cached, and compiled again in each process.
    """
    if function is None:
        return partial(njit, **options)
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba finds no folder for its cache
        _warn()
        return numba.njit(**options)(function)


@cache
def _warn():
    warn(
        "Compiled code cannot be cached, because neither the folder of hannan nor the home folder "
        "can be written: each process compiles its kernels again. Set NUMBA_CACHE_DIR to a folder "
        "that can be written.",
        RuntimeWarning,
        stacklevel=4,
    )
