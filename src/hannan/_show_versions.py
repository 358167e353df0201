"""Versions of Hannan, Python and other packages, for bug reports."""

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
"""Optional packages, with the extra that installs each of them."""


def show_versions(file: TextIO | None = None) -> None:
    """Print the versions of Hannan, of Python and of all packages that Hannan can use.

    Paste the output into bug reports. It contains no private data: no paths, no names of people or
    machines.

    Parameters
    ----------
    file
        Text stream to print to. None (default) means standard output.

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
    """Return the output of `show_versions`: for each title, a dictionary of facts."""
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
        "cache of compiled code": _cache(str(config.CACHE_DIR or "")),
        "byte order": sys.byteorder,
    }


def _cache(chosen: str) -> str:
    """Describe the location of the cache without its path, which is private."""
    if chosen:
        return "in NUMBA_CACHE_DIR"
    beside = Path(__file__).parent / "kernels"
    return "next to the code" if os.access(beside, os.W_OK) else "in the user's cache"
