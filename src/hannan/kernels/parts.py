"""Compilers and code libraries of numba, changed so that kernels inside kernels compile faster.

These classes are internal to numba and may differ between versions: `compiling` uses this module
only with the versions it has been tried with.
"""

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.environment import lookup_environment

_CALLED_FROM_PYTHON = {"no_cpython_wrapper", "no_cfunc_wrapper", "release_gil"}


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
    """A part that is also optimised by itself before its caller is."""

    alone = True


class _Flags(Flags):
    """Compiler flags that are quick to compare: numba compares them thousands of times a kernel."""

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


class Making(Compiler):
    """Compiles a kernel that Python calls."""

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


class MakingPart(Making):
    """Compiles a part: a kernel that other kernels call."""

    library = _Part


class MakingLoops(Making):
    """Compiles a part that is optimised by itself first."""

    library = _Loops
