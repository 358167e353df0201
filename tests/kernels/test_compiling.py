"""Kernels where nothing can be written: compiled each time, with one warning."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import config
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import Dispatcher

from hannan.kernels import compiling

SOURCE = Path(compiling.__file__).parents[1]
OUTER = "test_compiling.test_a_kernel_is_compiled_for_those_who_call_it.locals.outer"
PLAY = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import hannan as hn
    assert hn.__file__.startswith(FOLDER), hn.__file__
    learner = hn.ContextFTPL(hn.oracles.AllPolicies(3, 2), seed=0)
    for t in range(20):
        learner.act(t % 3)
        learner.update([0.0, 1.0])
    import hannan.kernels.trees
print([learner.act(x) for x in range(3)], len(seen), str(seen[0].message)[:37])
"""


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


def test_a_function_that_cannot_be_cached_is_compiled_all_the_same(monkeypatch):
    tried = []

    def refusing(*, cache=False, **options):
        tried.append((cache, options))
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compiled(**options)

    compiled = numba.njit
    compiling._warn.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(numba, "njit", refusing)
            with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR") as seen:
                made = [compiling.njit(nogil=True)(f) for f in (double, triple)]
    finally:
        compiling._warn.cache_clear()
    assert [kernel(7) for kernel in made] == [14, 21]
    options = {"no_cfunc_wrapper": True, "nogil": True}
    told = [(cache, {name: given[name] for name in options}) for cache, given in tried]
    assert told == 2 * [(True, options), (False, options)]
    assert len(seen) == 1


def test_a_kernel_is_compiled_for_those_who_call_it(tmp_path, monkeypatch):
    """Within others without what Python needs, and for Python when Python calls it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    inner = compiling.njit(double)

    @compiling.njit
    def outer(x):
        return inner(x) + 1

    assert outer(3) == 7
    assert not inner.signatures
    assert inner(3) == 6
    assert inner.signatures == outer.signatures
    assert outer(3.5) == 8.0
    assert inner(3.5) == 7.0
    held = sorted(path.name.partition("-")[0] for path in tmp_path.rglob("*.nbi"))
    assert held == ["test_compiling.double", OUTER]


def test_what_is_inside_a_kernel_is_optimised_with_it_and_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    optimised, compiled = [], []
    finalize, generate = JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_specific

    def noted(library):
        optimised.append(library.name)
        finalize(library)

    def generated(library):
        compiled.append(library.name)
        generate(library)

    monkeypatch.setattr(JITCodeLibrary, "_optimize_final_module", noted)
    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", generated)
    first, second = compiling.njit(double), compiling.njit(triple)

    @compiling.njit
    def between(x):
        return first(x) + second(x)

    @compiling.njit
    def outer(x):
        return between(x) + first(x)

    assert outer(3) == 21
    assert len(optimised) == len(compiled) == 1
    assert optimised == compiled
    assert "outer" in optimised[0]

    apart = compiling.njit(alone=True)(double)

    @compiling.njit
    def another(x):
        return apart(x) + 1

    assert another(3) == 7
    assert optimised[1:] == ["double", *compiled[1:]]


def test_functions_of_numpy_are_compiled_once_for_kernels_and_their_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    names = []

    @compiling.njit
    def inner(n):
        return np.empty(n, np.int16).size + min(n, 7)

    @compiling.njit(nogil=True)
    def outer(n):
        return inner(n) + np.empty(n, np.int16).size + min(n, 7)

    with event.install_recorder("numba:compile") as recorder:
        assert outer(9) == 32
        assert inner(9) == 16
    for _, each in recorder.buffer:
        if each.is_start:
            names.append((each.data["dispatcher"].py_func.__qualname__, each.data["args"]))
    foreign = [name for name in names if "locals" in name[0] and "test_" not in name[0]]
    assert len(foreign) == len(set(foreign)) > 0


LOUD = """
from hannan.kernels.compiling import njit

@njit
def inner(x):
    if x > 3:
        raise ValueError("too large", x)
    print("inner", x)
    return 2 * x

@njit
def outer(x):
    return inner(x) + 1

print(outer(2))
try:
    outer(5)
except ValueError as error:
    print(error.args)
"""


@pytest.mark.slow
def test_a_part_prints_and_raises_in_the_kernel_that_it_is_in(tmp_path):
    """When it has just been compiled, and from the disk."""
    (tmp_path / "loud.py").write_text(LOUD)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "loud.py"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        assert done.stdout.splitlines() == ["inner 2", "5", "('too large', 5)"]


OTHER_VERSION = """
import sys
import numba, numpy as np
if sys.argv[1] == "another":
    numba.version_info = numba.version_info._replace(short=(0, 1000))
import hannan as hn
table = np.random.default_rng(0).integers(3, size=(40, 2))
learner = hn.ContextSemiBanditFTPL(hn.oracles.FinitePolicies(table), seed=0)
for t in range(60):
    learner.update(float(learner.act(t % 2) != t % 3))
print("hannan.kernels.parts" in sys.modules, learner.certificate())
"""


@pytest.mark.slow
def test_another_version_of_numba_compiles_in_its_own_way_and_plays_the_same(tmp_path):
    said = []
    elsewhere = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for version, where in (("this", None), ("another", elsewhere)):  # other tests compile this one
        run = [sys.executable, "-c", OTHER_VERSION, version]
        done = subprocess.run(run, env=where, capture_output=True, text=True, check=True)
        said.append(done.stdout.split(maxsplit=1))
    (parts, first), (none, second) = said
    assert (parts, none) == ("True", "False")
    assert first == second


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_compiling_as_before(collects, monkeypatch):
    seen = []
    compiled = Dispatcher.compile

    def watched(kernel, signature):
        seen.append(gc.isenabled())
        return compiled(kernel, signature)

    monkeypatch.setattr(Dispatcher, "compile", watched)
    kernel = compiling.njit(triple)
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        assert kernel(2) == 6
        assert gc.isenabled() is collects
        with pytest.raises(numba.TypingError):
            kernel(None)
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
    assert seen == [False, False]


@pytest.mark.slow
def test_it_plays_from_a_folder_that_cannot_be_written_without_a_home(tmp_path):
    """Files stand where folders of caches would be made, which stops root as well."""
    shutil.copytree(SOURCE, tmp_path / "hannan", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [path for path in (tmp_path / "hannan").rglob("*") if path.is_dir()]:
        (folder / "__pycache__").touch()
    (tmp_path / "hannan" / "__pycache__").touch()
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "USERPROFILE"), os.devnull)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    played = subprocess.run(
        [sys.executable, "-c", f"FOLDER = {str(tmp_path)!r}\n{PLAY}"],
        env={**kept, **nowhere, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.stderr == ""
    assert played.stdout == "[0, 0, 0] 1 Compiled code cannot be kept, as neit\n"


def test_a_plain_kernel_returns_no_arrays(tmp_path, monkeypatch):
    """Nobody would count who holds them; inside another one neither."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    @compiling.plain
    def rest(x):
        return x[1:]

    @compiling.plain
    def same(x):
        return x

    @compiling.plain
    def both(x):
        return x.size, (x[0], x[1:])

    @compiling.njit
    def outer(x):
        return same(x).size

    for kernel in (rest, same, both, outer):
        with pytest.raises(Exception, match=r"plain kernel cannot return|Only accept returning"):
            kernel(np.ones(3))


def test_a_plain_kernel_takes_arrays_of_every_kind_and_holds_none(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    @compiling.plain
    def total(x):
        found = 0.0
        for row in x:
            for number in row[::2]:
                found += number
        return found

    @compiling.njit
    def outer(n):
        made = np.ones((n, n))
        return total(made) + made[0, 0]

    numbers = np.arange(12.0).reshape(3, 4)
    fixed = numbers.copy()
    fixed.flags.writeable = False
    for each in (numbers, fixed, numbers[::-1, ::-1], np.asfortranarray(numbers), numbers[:, 1:]):
        held = sys.getrefcount(each)
        assert total(each) == each[:, ::2].sum()
        assert sys.getrefcount(each) == held
    assert outer(4) == 9.0
