"""What a report of a bug should say about where it happened."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Any, TextIO

from hannan._version import __version__

NEEDED = (
    "click",
    "joblib",
    "llvmlite",
    "numba",
    "numpy",
    "rich",
    "scikit-learn",
    "scipy",
    "threadpoolctl",
)
OPTIONAL = {
    "coba": "adapters",
    "distributed": "dask",
    "highspy": "highs",
    "matplotlib": "report",
    "networkx": "networks",
    "pandas": "networks",
    "polars": "networks",
    "pyarrow": "parquet",
    "ray": "ray",
    "river": "adapters",
    "vowpalwabbit": "vw",
}
"""Packages, and the extra that brings each of them."""


def show_versions(file: TextIO | None = None) -> None:
    """Print the versions of Hannan, of Python and of all packages Hannan can use.

    Paste it into a report of a bug. Nothing private is in it: no paths, no names of people or
    machines.

    Parameters
    ----------
    file
        Where to; by default standard output.

    Examples
    --------
    >>> import hannan as hn
    >>> hn.show_versions()
    hannan ...
    python ...
    """
    told = versions()
    width = 2 + max(len(name) for facts in told.values() for name in facts)
    for title, facts in told.items():
        if title != "hannan" and facts:
            print(f"\n{title}", file=file)
        for name, fact in facts.items():
            print(f"{name:{width}}{fact}", file=file)


def versions() -> dict[str, dict[str, str]]:
    """What `show_versions` prints: facts by name, under the title they stand under."""
    return {
        "hannan": {
            "hannan": __version__,
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "platform": platform.platform(),
        },
        "needed packages": {name: _version(name) or "not installed" for name in NEEDED},
        "optional packages": {
            name: _version(name) or f"not installed (pip install 'hannan[{extra}]')"
            for name, extra in OPTIONAL.items()
        },
        "packages with classes for hannan": _plugins(),
        "computing": _computing(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _plugins() -> dict[str, str]:
    from hannan.experiments.catalogue import KINDS, registered

    return {each.package: each.version for kind in KINDS for each in registered(kind)}


def _computing() -> dict[str, str]:
    from threadpoolctl import threadpool_info

    config: Any = importlib.import_module("numba").config
    pools = {
        f"{pool['internal_api']} {pool['version'] or ''}".strip(): pool["num_threads"]
        for pool in threadpool_info()
    }
    return {
        "processors": str(os.cpu_count()),
        "threads of numba": str(config.NUMBA_NUM_THREADS),
        "other threads": ", ".join(f"{n} of {name}" for name, n in pools.items()) or "none yet",
        "compiled": "no, by NUMBA_DISABLE_JIT" if config.DISABLE_JIT else "yes",
        "compiled code is kept": _cache(str(config.CACHE_DIR or "")),
        "byte order": sys.byteorder,
    }


def _cache(chosen: str) -> str:
    """In words: where it is on a disk is nobody's business."""
    if chosen:
        return "where NUMBA_CACHE_DIR says"
    beside = Path(__file__).parent / "kernels"
    return "beside the code" if os.access(beside, os.W_OK) else "in the user's own cache"
