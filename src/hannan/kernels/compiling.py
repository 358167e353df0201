"""How all kernels are compiled."""

from functools import partial

import numba

# Nobody passes a kernel to a C function: without a wrapper for that it is compiled faster.
_OPTIONS = {"cache": True, "no_cfunc_wrapper": True}


def njit(function=None, **options):
    """`numba.njit` with what is on the disk used again; `options` are added."""
    if function is None:
        return partial(njit, **options)
    return numba.njit(**{**_OPTIONS, **options})(function)
