"""Call one function on many items: in this process, or with joblib on its cores, Dask or Ray."""

from __future__ import annotations

import importlib
import logging
import os
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from hannan._packages import package
from hannan.core.errors import HannanError, ParameterError
from hannan.core.validation import check_choice, check_integer

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """An item without a result."""

    error: str
    """The error message, in one line."""

    expected: bool
    """Whether the error was a `HannanError`, whose message is meant for the user."""


def outcomes(
    work: Callable[[T], R],
    items: Sequence[T],
    *,
    backend: str = "serial",
    jobs: int | None = None,
    address: str | None = None,
) -> Generator[tuple[int, R | Failure]]:
    """Call `work(item)` for every item; yield (index, result) as calls finish, in any order.

    If `work` raises an exception, the result is a `Failure`. If a worker process dies, all items
    without a result become failures.

    Parameters
    ----------
    work
        Function at the top level of a module, which workers can import.
    items
        Arguments that pickle can store. The results must be picklable, too.
    backend, jobs, address
        Place to work, number of simultaneous calls and address of a cluster, as in `run`.
    """
    check_choice("run", "backend", backend, ("serial", *_CLUSTERS))
    if jobs is not None:
        check_integer("run", "jobs", jobs, 1)
    if address is not None and backend not in ("dask", "ray"):
        raise ParameterError(
            f"address={address!r} needs a cluster, and backend={backend!r} does not use one. "
            "Choose backend='dask' or backend='ray', or leave out address=."
        )
    if backend == "serial" or not items:  # without items no cluster is started
        return (_attempt(work, index, item) for index, item in enumerate(items))
    return _parallel(work, items, backend, jobs, address)


def _parallel(
    work: Callable[[T], R], items: Sequence[T], backend: str, jobs: int | None, address: str | None
) -> Generator[tuple[int, R | Failure]]:
    from joblib import Parallel, delayed, parallel_config  # type: ignore[import-untyped]

    calls = [delayed(_attempt)(work, index, item) for index, item in enumerate(items)]
    waiting = set(range(len(items)))
    with ExitStack() as stack:
        options = stack.enter_context(_CLUSTERS[backend](jobs, address))
        group = options.pop("group", len(calls))
        stack.enter_context(parallel_config(backend, **options))
        try:
            for start in range(0, len(calls), group):
                streams = group == len(calls)
                # Limit the simultaneous calls to `jobs`, also on clusters with more cores.
                parallel = Parallel(
                    return_as="generator_unordered" if streams else "list",
                    batch_size=1,
                    pre_dispatch=jobs or "2*n_jobs",
                )
                for index, result in parallel(calls[start : start + group]):
                    waiting.remove(index)
                    yield index, result
        except Exception as error:
            lost = Failure(f"a worker process failed; run again: {_failure(error).error}", False)
            yield from ((index, lost) for index in sorted(waiting))


def _attempt(work: Callable[[T], R], index: int, item: T) -> tuple[int, R | Failure]:
    """Call `work` inside a worker and turn an exception into a `Failure`."""
    try:
        return index, work(item)
    except (Exception, SystemExit) as error:
        return index, _failure(error)


def _failure(error: BaseException) -> Failure:
    text, expected = " ".join(str(error).split()), isinstance(error, HannanError)
    return Failure(text if expected else f"{type(error).__name__}: {text}", expected)


@contextmanager
def _loky(jobs: int | None, address: str | None) -> Iterator[dict[str, Any]]:
    yield {"n_jobs": jobs or -1, "inner_max_num_threads": 1}


@contextmanager
def _dask(jobs: int | None, address: str | None) -> Iterator[dict[str, Any]]:
    distributed = _package("distributed", "dask")
    with ExitStack() as stack:
        cluster = address or stack.enter_context(
            distributed.LocalCluster(
                n_workers=jobs or _cores(),
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
        )
        with _reached("Dask scheduler", address):
            client = distributed.Client(cluster, timeout="15s")
        stack.enter_context(client)
        yield {"n_jobs": -1}


@contextmanager
def _ray(jobs: int | None, address: str | None) -> Iterator[dict[str, Any]]:
    # Ray reads these variables on import. Without the second one it listens to the whole network.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None:
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    ray = _package("ray", "ray")
    ours = not ray.is_initialized()
    if ours:
        own = {"num_cpus": jobs or _cores(), "include_dashboard": False}
        with _reached("Ray cluster", address):
            ray.init(
                address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **({} if address else own),
            )
    try:
        importlib.import_module("ray.util.joblib").register_ray()
        width = jobs or int(ray.cluster_resources().get("CPU", 1))
        yield {"n_jobs": width, "group": 4 * width}  # Ray's joblib back end returns only lists
    finally:
        if ours:
            ray.shutdown()


_CLUSTERS = {"loky": _loky, "dask": _dask, "ray": _ray}


def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def _package(name: str, extra: str) -> Any:
    return package(
        name,
        f"backend={extra!r} needs {name}, which is not installed. Install it with "
        f"pip install 'hannan[{extra}]', or use backend='loky', which needs no other package.",
    )


@contextmanager
def _reached(cluster: str, address: str | None) -> Iterator[None]:
    """Raise `ParameterError` if the cluster cannot be reached; Ray itself retries for minutes."""
    try:
        if address is not None:
            place = urlsplit(address if "://" in address else f"//{address}")
            if place.port is not None and place.scheme in ("", "ray", "tcp", "tls"):
                socket.create_connection((place.hostname, place.port), timeout=15).close()
        yield
    except (OSError, RuntimeError, ValueError) as error:
        where = f"answers at address={address!r}" if address else "could be started"
        raise ParameterError(f"No {cluster} {where}: {_failure(error).error}") from error
