"""The same chores on every back end; the clusters are real, and local."""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from hannan.core.errors import LossError, MissingPackageError, ParameterError
from hannan.experiments import backends
from hannan.experiments.backends import Failure, outcomes
from tests.thinning import one_in

pytestmark = [
    # Sockets and loops that the clusters leave to the garbage collector, here or in a later test.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NAMES = ["loky", "dask", "ray"]
KINDS = ["works", "fails", "works", "refuses", "works", "exits", *["works"] * 6]
RESULTS = {number: number**2 for number, kind in enumerate(KINDS) if kind == "works"} | {
    1: Failure("ZeroDivisionError: not now", False),
    3: Failure("Losses must be finite.", True),
    5: Failure("SystemExit: enough", False),
}


@dataclass(frozen=True)
class Chore:
    kind: str
    number: int
    mark: Path | None = None


def chore(item):
    """Succeed, fail or die in a worker."""
    if item.kind == "kills" and not item.mark.exists():
        item.mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if item.kind == "fails":
        raise ZeroDivisionError("not\nnow")
    if item.kind == "refuses":
        raise LossError("Losses must be finite.")
    if item.kind == "exits":
        sys.exit("enough")
    return item.number**2


@pytest.mark.parametrize(
    "backend",
    ["serial", "loky", *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])],
)
def test_every_item_has_its_result_or_its_failure(backend):
    items = [Chore(kind, number) for number, kind in enumerate(KINDS)]
    pairs = list(outcomes(chore, items, backend=backend, jobs=2))
    assert len(pairs) == len(items)
    assert dict(pairs) == RESULTS


@pytest.mark.slow
@pytest.mark.parametrize("backend", one_in(3, NAMES))
def test_another_run_completes_the_items_of_a_worker_that_died(backend, tmp_path):
    items = [Chore("works", 0), Chore("kills", 1, tmp_path / "mark"), Chore("works", 2)]
    results = dict(outcomes(chore, items, backend=backend, jobs=2))
    assert set(results) == {0, 1, 2}
    lost = [items[i] for i, result in results.items() if isinstance(result, Failure)]
    assert all(
        "a worker process failed; run again: " in results[item.number].error for item in lost
    )
    assert (tmp_path / "mark").exists()
    again = [result for _, result in outcomes(chore, lost, backend=backend, jobs=2)]
    assert sorted(again) == [item.number**2 for item in lost]


@pytest.mark.parametrize("backend", ["serial", *NAMES])
def test_no_items_give_nothing_and_start_nothing(backend, monkeypatch):
    monkeypatch.setattr(backends, "_CLUSTERS", dict.fromkeys(NAMES))
    assert list(outcomes(chore, [], backend=backend)) == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("backend", "address"),
    [("dask", "tcp://127.0.0.1:1"), ("dask", "nonsense"), ("ray", "127.0.0.1:1")],
)
def test_a_cluster_that_does_not_answer_is_an_error_of_one_line(backend, address):
    pytest.importorskip(backend)
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
