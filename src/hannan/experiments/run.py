"""Run the cells of an experiment that have no stored results yet."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hannan.experiments.backends import Failure, outcomes
from hannan.experiments.cell import Cell, play_cell
from hannan.experiments.plan import Plan
from hannan.experiments.results import Results, ResultsError, read_results, replace_file
from hannan.experiments.summary import Record

_NOTE = "plan.json"


@dataclass(frozen=True, slots=True)
class Run:
    """Results of running an experiment.

    Attributes
    ----------
    records
        Records of the plan's cells, in the order of the plan, without failed cells.
    times
        Seconds of each cell, by key.
    played
        Number of cells completed by this call, including cells without a learner. The other cells
        had stored results or failed.
    failures
        Failed cells with their errors. A failure does not stop the other cells, and the next call
        of `run` tries the cell again.
    """

    records: list[Record]
    times: dict[str, dict[str, Any]]
    played: int
    failures: list[tuple[Cell, Failure]]


def run(
    plan: Plan,
    folder: str | Path,
    *,
    backend: str = "serial",
    jobs: int | None = None,
    address: str | None = None,
    progress: Callable[[Cell, int], None] | None = None,
) -> Run:
    """Run the cells of a plan that have no results in `folder` yet.

    A cell is one learner in one environment with one seed.

    Parameters
    ----------
    plan
        Experiment, from `read_plan` or `make_plan`.
    folder
        Folder of `results.jsonl` and `times.jsonl`, created if it does not exist. Each finished
        cell is written immediately, so an interrupted run loses only its unfinished cells.
    backend
        Where cells run: "serial" (in this process), "loky" (processes on this machine), "dask" or
        "ray". With "ray", results are written in groups of four per job. If a worker process dies,
        the cells without results become failures; run again. Default: "serial".
    jobs
        Number of cells that run simultaneously, at least 1; "serial" ignores it. Default: the
        number of cores.
    address
        Address of a running Dask scheduler ("tcp://host:8786") or Ray cluster ("host:6379" or
        "ray://host:10001"). By default `run` starts a cluster that only this machine can reach,
        and shuts it down at the end. If this process has an open Ray session, `run` uses that
        session and leaves it open.
    progress
        Function of a cell and the number of rounds played since the last call for this cell. `run`
        calls it when a cell ends and, with "serial", from time to time before. Default: None.

    Examples
    --------
    >>> import tempfile
    >>> from hannan.experiments import make_plan, run
    >>> plan = make_plan({
    ...     "horizon": 200,
    ...     "environments": {"planted": {
    ...         "type": "PlantedPolicy",
    ...         "policies": {"type": "AllPolicies", "n_contexts": 3, "n_actions": 2}}},
    ...     "learners": {"ours": {"type": "ContextFTPL"}},
    ... })
    >>> folder = tempfile.mkdtemp()
    >>> run(plan, folder).played, run(plan, folder).played
    (2, 0)
    """
    failures: list[tuple[Cell, Failure]] = []
    order = [cell.key for cell in plan.cells]
    with Results.writing(folder) as results:
        pending = [cell for cell in plan.cells if cell.key not in results]
        # `hannan show` needs this note to show the results without the experiment file.
        note = {"title": plan.title, "description": plan.description, "cells": order}
        replace_file(results.folder / _NOTE, json.dumps(note, indent=1).encode())
        told: dict[str, int] = {}

        def tell(cell: Cell, rounds: int) -> None:
            if progress is not None:
                progress(cell, rounds - told.get(cell.key, 0))
            told[cell.key] = rounds

        def play_here(cell: Cell) -> tuple[Record, dict[str, Any]]:
            return play_cell(cell, partial(tell, cell))

        work = play_here if backend == "serial" else play_cell
        found = outcomes(work, pending, backend=backend, jobs=jobs, address=address)
        with closing(found):
            for i, outcome in found:
                if isinstance(outcome, Failure):
                    failures.append((pending[i], outcome))
                else:
                    results.append(*outcome)
                tell(pending[i], pending[i].horizon)
        results.settle(order)
        records = results.records(order)
        seconds_of = results.times()
    failures.sort(key=lambda pair: order.index(pair[0].key))
    return Run(records, seconds_of, len(pending) - len(failures), failures)


def read_run(path: str | Path) -> tuple[Run, str, str]:
    """Read the results of a finished or unfinished run, with its title and description."""
    results = read_results(path)
    times = results.times()
    note = results.folder / _NOTE
    if not note.is_file():
        return Run(results.records(), times, 0, []), results.folder.resolve().name, ""
    try:
        plan = json.loads(note.read_bytes())
        cells, texts = list(plan["cells"]), (plan["title"], plan["description"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        cells, texts = [], (None, None)
    if not all(isinstance(text, str) for text in (*cells, *texts)):
        raise ResultsError(
            f"{note} is damaged. Restore it from a backup, or delete it: the results can be shown "
            "without this file, too."
        )
    return Run(results.records(cells), times, 0, []), *texts
