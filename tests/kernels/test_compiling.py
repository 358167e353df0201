"""Kernels where nothing can be written: compiled in each process, with one warning."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from hannan.kernels import compiling

SOURCE = Path(compiling.__file__).parents[1]
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
    assert tried == 2 * [(True, {"nogil": True}), (False, {"nogil": True})]
    assert len(seen) == 1


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
    assert played.stdout == "[0, 0, 0] 1 Compiled code cannot be cached, becau\n"
