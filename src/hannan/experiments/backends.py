"""One function on many items: in this process, on its cores, or on a Dask or Ray cluster.

Tasks are handed to workers one by one and counted here, as joblib's own `Parallel` gives up the
whole call, or waits for ever, when a worker is killed.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from hannan._packages import package
from hannan.core.errors import HannanError, ParameterError
from hannan.core.validation import check_choice, check_integer

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """An item that could not be done."""

    error: str
    """What went wrong, in one line."""

    expected: bool
    """Whether it was a `HannanError`, whose message is meant for the user."""


def outcomes(
    work: Callable[[T], R],
    items: Sequence[T],
    *,
    backend: str = "serial",
    jobs: int | None = None,
    address: str | None = None,
) -> Generator[tuple[int, R | Failure]]:
    """Do `work(item)` for every item; yield (index, result) as they finish, in any order.

    An exception inside `work` is yielded as a `Failure`. An item whose worker process died is sent
    out again once all others are done, up to three times; the last time alone. Closing the
    generator ends all workers started here; they end by themselves if this process is killed.

    Parameters
    ----------
    work
        A function at the top of a module, which workers can import.
    items
        Anything that pickle takes; results as well.
    backend, jobs, address
        As in `run`.
    """
    check_choice("run", "backend", backend, ("serial", *_POOLS))
    if jobs is not None:
        check_integer("run", "jobs", jobs, 1)
    if address is not None and backend not in ("dask", "ray"):
        raise ParameterError(
            f"address={address!r} is that of a cluster, which backend={backend!r} does not use. "
            "Choose the back end 'dask' or 'ray', or leave the address out."
        )
    if backend == "serial" or not items:  # for nothing, no cluster is started
        return ((index, _attempt(work, item)) for index, item in enumerate(items))
    return _rounds(_POOLS[backend](jobs, address), work, items)


class WorkerDied(Exception):
    """The worker process of a task is gone, and the task with it."""


class Pool(Protocol):
    """Workers somewhere; a task is whatever the back end makes of it."""

    def width(self) -> int:
        """How many tasks may be under way."""

    def submit(self, work: Callable[[Any], Any], item: Any) -> Any:
        """Start a task."""

    def finished(self, tasks: Sequence[Any]) -> Any:
        """Wait until one of these tasks has finished."""

    def result(self, task: Any) -> Any:
        """What a finished task gave, or `WorkerDied`."""


_ROUNDS = 4
"""How often an item is sent out before it counts as what kills its workers."""


def _rounds(
    opened: AbstractContextManager[Pool], work: Callable[[T], R], items: Sequence[T]
) -> Generator[tuple[int, R | Failure]]:
    """All items; then those whose workers died, again; in the last round one at a time."""
    with opened as pool:
        waiting = dict.fromkeys(range(len(items)), "")
        for turn in range(1, _ROUNDS + 1):
            queue, waiting = deque(waiting), {}
            running: dict[Any, int] = {}
            while queue or running:
                while queue and len(running) < (pool.width() if turn < _ROUNDS else 1):
                    index = queue.popleft()
                    running[pool.submit(work, items[index])] = index
                task = pool.finished(list(running))
                index = running.pop(task)
                try:
                    result = pool.result(task)
                except WorkerDied as death:
                    waiting[index] = _one_line(death)
                except Exception as error:
                    yield index, _failure(error)
                else:
                    yield index, result
    for index, reason in waiting.items():
        yield index, Failure(f"worker died, {_ROUNDS} times: {reason.partition('. ')[0]}", False)


def _attempt(work: Callable[[T], R], item: T) -> R | Failure:
    """What workers do."""
    try:
        return work(item)
    except (Exception, SystemExit) as error:
        return _failure(error)


def _failure(error: BaseException) -> Failure:
    text, expected = _one_line(error), isinstance(error, HannanError)
    return Failure(text if expected else f"{type(error).__name__}: {text}", expected)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


class _Loky:
    """A pool of one process for each task under way: if it dies, no other task is hurt."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._idle: list[Any] = []
        self._busy: dict[Any, Any] = {}

    def width(self) -> int:
        return self._jobs

    def submit(self, work: Callable[[Any], Any], item: Any) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

        if not self._idle:
            start = {"initializer": _follow, "initargs": (os.getpid(),), "env": _ONE_THREAD}
            self._idle.append(ProcessPoolExecutor(1, **start))
        executor = self._idle.pop()
        task = executor.submit(_attempt, work, item)
        self._busy[task] = executor
        return task

    def finished(self, tasks: Sequence[Any]) -> Any:
        return wait(tasks, return_when=FIRST_COMPLETED).done.pop()

    def result(self, task: Any) -> Any:
        executor = self._busy.pop(task)
        try:
            result = task.result()
        except BrokenExecutor as error:
            executor.shutdown(kill_workers=True)
            raise WorkerDied(error) from None
        self._idle.append(executor)
        return result

    def close(self) -> None:
        for executor in (*self._idle, *self._busy.values()):
            executor.shutdown(kill_workers=True)


# As Dask and Ray have it: many small matrices on as many processes as cores.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def _follow(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and end when it does, even if it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _loky(jobs: int | None, address: str | None) -> Iterator[Pool]:
    pool = _Loky(jobs or _cores())
    try:
        yield pool
    finally:
        pool.close()


class _Dask:
    def __init__(self, distributed: Any, client: Any, jobs: int | None) -> None:
        self._distributed = distributed
        self._client = client
        self._jobs = jobs

    def width(self) -> int:
        # As many as run at once: those that wait in a worker are blamed for its death as well.
        return self._jobs or max(1, sum(self._client.nthreads().values()))

    def submit(self, work: Callable[[Any], Any], item: Any) -> Any:
        return self._client.submit(_attempt, work, item, pure=False)

    def finished(self, tasks: Sequence[Any]) -> Any:
        try:
            return self._distributed.wait(tasks, return_when="FIRST_COMPLETED").done.pop()
        except CancelledError as error:
            raise HannanError(f"The Dask scheduler is gone: {error}") from error

    def result(self, task: Any) -> Any:
        try:
            return task.result()
        except self._distributed.KilledWorker as error:
            raise WorkerDied(error) from None


@contextmanager
def _dask(jobs: int | None, address: str | None) -> Iterator[Pool]:
    distributed = _package("distributed", "dask")
    with ExitStack() as stack:
        if address is None:
            jobs = jobs or _cores()
            stack.enter_context(importlib.import_module("dask.config").set(_OWN_CLUSTER))
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    # No dashboard; the bare server that is left stays away from fixed ports.
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
            )
        with _reached("Dask scheduler", address):
            client = distributed.Client(address or cluster, timeout="15s")
        yield _Dask(distributed, stack.enter_context(client), jobs)


# Deaths are counted here, and a kernel may keep the interpreter to itself for long.
_OWN_CLUSTER = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-ttl": None,
}


class _Ray:
    def __init__(self, ray: Any, jobs: int | None) -> None:
        self._ray = ray
        self._jobs = jobs
        self._task = ray.remote(max_retries=0)(_attempt)
        self._running: set[Any] = set()

    def width(self) -> int:
        return self._jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, work: Callable[[Any], Any], item: Any) -> Any:
        task = self._task.remote(work, item)
        self._running.add(task)
        return task

    def finished(self, tasks: Sequence[Any]) -> Any:
        return self._ray.wait(tasks, num_returns=1)[0][0]

    def result(self, task: Any) -> Any:
        self._running.remove(task)
        errors = self._ray.exceptions
        try:
            return self._ray.get(task)
        except errors.RayTaskError:
            raise
        except errors.RayError as error:
            raise WorkerDied(error) from None

    def close(self) -> None:
        for task in self._running:
            self._ray.cancel(task, force=True)


@contextmanager
def _ray(jobs: int | None, address: str | None) -> Iterator[Pool]:
    local = address is None
    with _environment(_QUIET | (_LOOPBACK if local else {})):
        ray = _package("ray", "ray")
        ours = not ray.is_initialized()
        if ours:
            jobs = jobs or (_cores() if local else None)
            own = {"num_cpus": jobs, "include_dashboard": False, "object_store_memory": 2**27}
            with _reached("Ray cluster", address):
                ray.init(
                    address or "local",
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    **(own if local else {}),
                )
    pool = _Ray(ray, jobs)
    try:
        yield pool
    finally:
        pool.close()
        if ours:
            ray.shutdown()


# Ray reads these when it is imported. It prints the death of workers to standard output, and
# listens to the whole network unless clusters are switched off, on Linux too.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

_POOLS = {"loky": _loky, "dask": _dask, "ray": _ray}


def _cores() -> int:
    from joblib import cpu_count  # type: ignore[import-untyped]

    return int(cpu_count())


def _package(name: str, extra: str) -> Any:
    return package(
        name,
        f"backend={extra!r} needs {name}, which is not installed. Get it with "
        f"pip install 'hannan[{extra}]', or use backend='loky', which needs nothing.",
    )


@contextmanager
def _reached(what: str, address: str | None) -> Iterator[None]:
    """Whether there is a cluster, found out at once; Ray itself asks for minutes."""
    try:
        if address is not None:
            place = urlsplit(address if "://" in address else f"//{address}")
            if place.port is not None and place.scheme in ("", "ray", "tcp", "tls"):
                socket.create_connection((place.hostname, place.port), timeout=15).close()
        yield
    except (OSError, RuntimeError, ValueError) as error:
        where = f"answers at address={address!r}" if address else "could be started"
        raise ParameterError(f"No {what} {where}: {_one_line(error)}") from error


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Environment variables for a while; those that are set already stay as they are."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
