"""How all kernels are compiled."""

import gc
from functools import cache, partial
from types import FunctionType
from warnings import warn

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.environment import lookup_environment

# Nobody passes a kernel to a C function: without a wrapper for that it is compiled faster.
_OPTIONS = {"no_cfunc_wrapper": True}
_CALLED_FROM_PYTHON = {"no_cpython_wrapper", "no_cfunc_wrapper", "release_gil"}


def njit(function=None, alone=False, **options):
    """`numba.njit` with what is on the disk used again; `options` are added.

    Where neither the package's folder nor the user's can be written, nothing is kept. A kernel that
    another one calls is a `_Part` of it, and while one is compiled no garbage is looked for, which
    would take an eighth of the time. `alone`: inside others, too, it is optimised by itself first,
    as loops need in which vector instructions are not found otherwise.
    """
    if function is None:
        return partial(njit, alone=alone, **options)
    kernel = _compiled(function, options)
    if isinstance(kernel, FunctionType):  # NUMBA_DISABLE_JIT
        return kernel

    @cache
    def inside():
        parts = function.__name__, function.__defaults__, function.__closure__
        twin = FunctionType(function.__code__, function.__globals__, *parts)
        making = _MakingLoops if alone else _MakingPart
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
    return njit(function, _nrt=False, **options)


class _Whole(JITCodeLibrary):
    """The code of a kernel, with all that it calls."""

    def _finalize_specific(self):
        super()._finalize_specific()
        # What parts need to print or to raise is known here only, where they have got a place.
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class _Part(JITCodeLibrary):
    """The code of a kernel inside others, which is optimised with each of them and runs in them.

    Left to itself numba would do that for it alone first, turn it into machine code that nobody
    calls, and then optimise it again where it is called: a fourth of the time of the compiler. It
    is simplified once, though, for loops that call nothing are then made of vector instructions.
    """

    alone = False

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0  # none, as there is no wrapper for Python

    @property
    def codegen(self):
        return self  # asked only to enter an environment

    def set_env(self, name, environment):
        pass

    def _optimize_final_module(self):
        if self.alone:
            super()._optimize_final_module()

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


class _Loops(_Part):
    """The same, but optimised by itself first."""

    alone = True


class _Flags(Flags):
    """Those of numba, which looks ten thousand times whether they are the same."""

    __slots__ = ("key",)

    def __init__(self, copied=None):
        super().__init__(copied)
        self.key = None

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return self is other or (type(other) is _Flags and self.key == other.key is not None)

    def copy(self):
        """What functions of numpy that are called go by: not how Python calls their caller.

        So they are compiled once, for kernels and for parts.
        """
        twin = super().copy()
        for name in _CALLED_FROM_PYTHON:
            twin.discard(name)
        twin.key = twin.summary()
        return twin


class _Making(Compiler):
    """Of a kernel."""

    library: type[JITCodeLibrary] = _Whole

    def compile_extra(self, function):
        state = self.state
        state.flags = _Flags(state.flags)
        state.library = self.library(state.targetctx.codegen(), function.__qualname__)
        state.library.enable_object_caching()
        made = super().compile_extra(function)
        returned = made.signature.return_type
        model = state.targetctx.data_model_manager[returned]
        if not state.flags.nrt and model.contains_nrt_meminfo():
            raise TypeError(f"A plain kernel cannot return {returned}: nobody counts who holds it.")
        return made


class _MakingPart(_Making):
    """Of what is called in others."""

    library = _Part


class _MakingLoops(_Making):
    """Of the same, as far as it is optimised by itself first."""

    library = _Loops


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
