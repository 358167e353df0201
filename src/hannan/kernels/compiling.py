"""How all kernels are compiled."""

import gc
from functools import cache, partial
from types import FunctionType
from warnings import warn

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.sigutils import normalize_signature

# Nobody passes a kernel to a C function: without a wrapper for that it is compiled faster.
_OPTIONS = {"no_cfunc_wrapper": True}
_CALLED_FROM_PYTHON = {"no_cpython_wrapper", "no_cfunc_wrapper", "release_gil"}


def njit(function=None, **options):
    """`numba.njit` with what is on the disk used again; `options` are added.

    Where neither the package's folder nor the user's can be written, nothing is kept. A kernel that
    another one calls is a `_Part` of it, and while one is compiled no garbage is looked for, which
    would take an eighth of the time.
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
        made = {**_OPTIONS, **options, "no_cpython_wrapper": True, "pipeline_class": _MakingPart}
        return numba.njit(**made)(twin)

    def compile_undisturbed(signature):
        collects = gc.isenabled()
        gc.disable()
        try:
            entry = type(kernel).compile(kernel, signature)
        finally:
            if collects:
                gc.enable()
        _enter_environments(kernel.overloads[normalize_signature(signature)[0]])
        return entry

    kernel.compile = compile_undisturbed
    kernel.get_call_template = lambda *given: inside().get_call_template(*given)
    kernel.get_overload = lambda signature: inside().get_overload(signature)
    return kernel


class _Part(JITCodeLibrary):
    """The code of a kernel inside others, which is optimised with each of them and runs in them.

    Left to itself numba would optimise it first, turn it into machine code that nobody calls, and
    then optimise it again where it is called, which takes a third of the time of the compiler.
    """

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0  # none, as there is no wrapper for Python

    @property
    def codegen(self):
        return self  # asked only to enter an environment, for which there is no place in memory

    def set_env(self, name, environment):
        pass

    def _optimize_functions(self, module):
        pass

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


class _Flags(Flags):
    """Those of numba, which looks ten thousand times whether they are the same."""

    __slots__ = ()

    def __hash__(self):
        return hash(_Flags)

    def __eq__(self, other):
        return self is other or (type(other) is _Flags and self._values == other._values)

    def copy(self):
        """What functions of numpy that are called go by: not how Python calls their caller.

        So they are compiled once, for kernels and for parts.
        """
        twin = super().copy()
        for name, option in self.options.items():
            if name in _CALLED_FROM_PYTHON or getattr(self, name) == option.default:
                twin.discard(name)
        return twin


class _Making(Compiler):
    """Of a kernel."""

    def __init__(self, *given):
        super().__init__(*given)
        self.state.flags = _Flags(self.state.flags)


class _MakingPart(_Making):
    """Of what is called in others."""

    def __init__(self, typing_context, context, *given):
        super().__init__(typing_context, context, *given)
        self.state.library = _Part(context.codegen(), "part of a kernel")


def _enter_environments(result):
    """What parts need to print or to raise gets its place in the kernel that they are in."""
    for environment in result._find_referenced_environments():
        result.codegen.set_env(environment.env_name, environment)


def _compiled(function, options):
    options = {**_OPTIONS, **options, "pipeline_class": _Making}
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
