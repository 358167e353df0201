"""How all kernels are compiled."""

import gc
from functools import cache, partial
from types import FunctionType
from warnings import warn

import numba

# Nobody passes a kernel to a C function: without a wrapper for that it is compiled faster.
_OPTIONS = {"no_cfunc_wrapper": True}
# `parts` was tried with these. Any other version compiles kernels in its own way, which takes
# longer and gives the same results.
_KNOWN = (0, 61) <= numba.version_info.short <= (0, 68)
if _KNOWN:
    from hannan.kernels import parts


def njit(function=None, alone=False, **options):
    """`numba.njit` with what is on the disk used again; `options` are added.

    Where neither the package's folder nor the user's can be written, nothing is kept. A kernel that
    another one calls is a part of it, and while one is compiled no garbage is looked for, which
    would take an eighth of the time. `alone`: inside others, too, it is optimised by itself first,
    as loops need in which vector instructions are not found otherwise.
    """
    if function is None:
        return partial(njit, alone=alone, **options)
    kernel = _compiled(function, options)
    if isinstance(kernel, FunctionType) or not _KNOWN:  # NUMBA_DISABLE_JIT, or another version
        return kernel

    @cache
    def inside():
        given = function.__name__, function.__defaults__, function.__closure__
        twin = FunctionType(function.__code__, function.__globals__, *given)
        making = parts.MakingLoops if alone else parts.MakingPart
        made = {**_OPTIONS, **options, "no_cpython_wrapper": True, "pipeline_class": making}
        return numba.njit(**made)(twin)

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


def plain(function=None, **options):
    """`njit` for what neither makes arrays nor returns any, but only reads and writes them.

    No references to arrays are counted, which saves a tenth of the time of the compiler, and some
    of each call from Python.
    """
    return njit(function, **({"_nrt": False} if _KNOWN else {}), **options)


def _compiled(function, options):
    options = {**_OPTIONS, **options}
    if _KNOWN:
        options["pipeline_class"] = parts.Making
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
