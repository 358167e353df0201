"""How all kernels are compiled."""

import gc
from functools import cache, partial
from types import FunctionType
from warnings import warn

import numba

# Nobody passes a kernel to a C function: without a wrapper for that it is compiled faster.
_OPTIONS = {"no_cfunc_wrapper": True}


def njit(function=None, **options):
    """`numba.njit` with what is on the disk used again; `options` are added.

    Where neither the package's folder nor the user's can be written, nothing is kept. A kernel that
    another one calls is compiled without the wrapper that is for calls from Python, and while one
    is compiled no garbage is looked for, which would take an eighth of the time.
    """
    if function is None:
        return partial(njit, **options)
    kernel = _compiled(function, options)
    if isinstance(kernel, FunctionType):  # NUMBA_DISABLE_JIT
        return kernel

    @cache
    def inside():
        parts = function.__name__, function.__defaults__, function.__closure__
        twin = FunctionType(function.__code__, function.__globals__, *parts)
        twin.__qualname__ = f"{function.__qualname__}, inside"  # a place of its own on the disk
        return _compiled(twin, {**options, "no_cpython_wrapper": True})

    def compile_undisturbed(signature):
        collects = gc.isenabled()
        gc.disable()
        try:
            return type(kernel).compile(kernel, signature)
        finally:
            if collects:
                gc.enable()

    kernel.compile = compile_undisturbed
    kernel.get_call_template = lambda *given: inside().get_call_template(*given)
    kernel.get_overload = lambda signature: inside().get_overload(signature)
    return kernel


def _compiled(function, options):
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
        stacklevel=5,
    )
