"""One mixed bag of chores on every back end; the clusters are real, and local."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import pytest

from hannan.core.errors import LossError, MissingPackageError, ParameterError
from hannan.experiments import backends
from hannan.experiments.backends import Failure, outcomes

pytestmark = [
    # Sockets and loops that the clusters leave to the garbage collector, here or in a later test.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NAMES = ["loky", "dask", "ray"]
PARALLEL = ["loky", *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])]


@dataclass(frozen=True)
class Chore:
    kind: str
    number: int
    folder: Path


def chore(item):
    """What workers do: leave a mark, then succeed, fail or die."""
    mark = item.folder / f"{item.number}"
    with mark.open("a") as file:
        file.write("x")
    if item.kind == "kills" or (item.kind == "kills once" and mark.stat().st_size == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if item.kind == "fails":
        raise ZeroDivisionError("not\nnow")
    if item.kind == "refuses":
        raise LossError("Losses must be finite.")
    if item.kind == "exits":
        sys.exit("enough")
    if item.kind == "hides":
        return Lock()  # which nobody can send
    if item.kind == "sleeps":
        time.sleep(0.2)
    if item.kind == "waits":  # for the item after the next one
        deadline = time.monotonic() + 60
        while not (item.folder / f"{item.number + 2}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
    return item.number**2


@pytest.fixture(scope="module")
def loky_address():
    """Nothing: workers of this machine."""


@pytest.fixture(scope="module")
def dask_address():
    """That of a cluster for all tests here."""
    with backends._dask(2, None) as dask:
        yield dask._client.scheduler.address


@pytest.fixture(scope="module")
def ray_address():
    """Nothing: Ray finds the cluster that is there for all tests here."""
    with backends._ray(2, None):
        yield None


@pytest.fixture
def address(backend, request):
    """What a back end is given."""
    return request.getfixturevalue(f"{backend}_address")


def play(backend, kinds, folder, address=None, jobs=2):
    items = [Chore(kind, number, folder) for number, kind in enumerate(kinds)]
    return list(outcomes(chore, items, backend=backend, jobs=jobs, address=address))


def tries(folder, number):
    return (folder / str(number)).stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("backend", PARALLEL)
def test_results_come_as_they_finish(backend, address, tmp_path):
    found = play(backend, ["waits", "works", "works"], tmp_path, address)
    assert found == [(1, 1), (2, 4), (0, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("backend", PARALLEL)
def test_one_job_works_through_the_items_in_order(backend, address, tmp_path):
    found = play(backend, ["sleeps", "works", "works"], tmp_path, address, jobs=1)
    assert found == [(0, 0), (1, 1), (2, 4)]


# After those above: a cluster may take its time to replace the workers that die here.
KINDS = ["works", "fails", "works", "refuses", "works", "exits", "works", "works", "works"]
DEADLY = ["hides", "kills once", "kills"]


@pytest.mark.slow
@pytest.mark.parametrize("backend", NAMES)
def test_one_item_never_stops_the_others(backend, address, tmp_path):
    serial, here = tmp_path / "serial", tmp_path / "here"
    serial.mkdir()
    here.mkdir()
    found = play(backend, [*DEADLY, *KINDS], here, address)
    assert sorted(index for index, _ in found) == list(range(12))
    results = dict(found)
    assert isinstance(results[0], Failure)
    assert results[1] == 1
    assert results[2].error.startswith("worker died, 4 times: ")
    assert not results[2].expected
    assert results[4] == Failure("ZeroDivisionError: not now", False)
    assert results[6] == Failure("Losses must be finite.", True)
    assert results[8] == Failure("SystemExit: enough", False)

    alive = play("serial", ["works", "works", "works", *KINDS], serial)
    assert [index for index, _ in alive] == list(range(12))
    assert [results[n] for n in range(3, 12)] == [result for _, result in alive[3:]]

    assert tries(here, 1) == 2
    assert tries(here, 2) == 4
    if backend != "dask":  # which blames all that it had given to the worker
        assert [tries(here, n) for n in range(3, 12)] == [1] * 9


@pytest.mark.parametrize("backend", ["serial", *NAMES])
def test_no_items_give_nothing_and_start_nothing(backend, monkeypatch):
    monkeypatch.setattr(backends, "_POOLS", dict.fromkeys(NAMES))
    assert list(outcomes(chore, [], backend=backend)) == []


@pytest.mark.slow
def test_a_dask_cluster_of_our_own_ends_with_the_items(tmp_path):
    psutil = pytest.importorskip("psutil")
    me = psutil.Process()
    before = {child.pid for child in me.children(recursive=True)}
    with closing(outcomes(os.getpgid, [0] * 3, backend="dask", jobs=1)) as found:
        next(found)
        workers = {child.pid for child in me.children(recursive=True)} - before
        assert workers
    assert not {child.pid for child in me.children(recursive=True)} & workers


SLEEPERS = """
import sys, time
from contextlib import closing
from hannan.experiments.backends import outcomes

if __name__ == "__main__":
    naps = [0.0, 0.0, 60.0, 60.0]
    with closing(outcomes(time.sleep, naps, backend=sys.argv[1], jobs=2)) as found:
        for index, _ in found:
            print(index, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals and sessions")
@pytest.mark.parametrize(
    ("backend", "sign"),
    [("loky", signal.SIGINT), ("loky", signal.SIGKILL), ("dask", signal.SIGINT)],
)
def test_no_worker_outlives_the_run(backend, sign, tmp_path):
    psutil = pytest.importorskip("psutil")

    def session():
        alive = []
        for process in psutil.process_iter(["pid", "status"]):
            try:
                ours = os.getsid(process.pid) == run.pid
            except (ProcessLookupError, PermissionError):
                continue
            if ours and process.info["status"] != psutil.STATUS_ZOMBIE:
                alive.append(process.pid)
        return alive

    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    with subprocess.Popen(
        [sys.executable, script, backend],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as run:
        assert {run.stdout.readline(), run.stdout.readline()} == {"0\n", "1\n"}
        assert len(session()) >= 3
        if sign == signal.SIGINT:
            os.killpg(run.pid, sign)  # as a terminal does
        else:
            run.kill()
        run.wait(timeout=30)
        deadline = time.monotonic() + 20
        while session() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert session() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "address"),
    [("dask", "tcp://127.0.0.1:1"), ("dask", "nonsense"), ("ray", "127.0.0.1:1")],
)
def test_a_cluster_that_does_not_answer_is_an_error_of_one_line(backend, address, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(ParameterError, match="answers at address=") as caught:
        list(outcomes(chore, [1], backend=backend, address=address))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_missing_package_names_what_to_install(backend, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=rf"{package}.*'hannan\[{backend}\]'"):
        list(outcomes(chore, [1], backend=backend))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"backend": "spark"}, "'backend'"),
        ({"jobs": 0}, "'jobs'"),
        ({"jobs": 1.5}, "'jobs'"),
        ({"backend": "loky", "address": "tcp://127.0.0.1:1"}, "address="),
        ({"address": "auto"}, "address="),
    ],
)
def test_wrong_arguments_are_refused_at_once(wrong, named):
    with pytest.raises(ParameterError, match=named):
        outcomes(chore, [], **wrong)
