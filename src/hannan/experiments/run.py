"""Running an experiment: cells that have results are kept, the others are played."""

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
    """What a run has left behind.

    Attributes
    ----------
    records
        Of the plan's cells, in its order; those that failed are missing.
    times
        Seconds of each cell, by key.
    played
        Number of cells that were played, those that look back included; the others had
        results already.
    failures
        Cells that could not be played, and why. They do not stop the others, and are tried again
        by the next run.
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
    """Play the cells of a plan that the results file in `folder` does not hold yet.

    Parameters
    ----------
    plan
        What to play, from `read_plan`.
    folder
        Where `results.jsonl` and `times.jsonl` are, or will be. A cell is written as soon as it
        is finished, so that an interrupted run loses only the cells under way.
    backend
        "serial", or one of joblib's: "loky" (processes on this machine), "dask" or "ray". With
        "ray" results are written in groups of four for each job. If a worker process dies, the
        cells without results are failures: run again.
    jobs
        How many cells at once; by default as many as there are cores.
    address
        Of a running Dask scheduler ("tcp://host:8786") or Ray cluster ("host:6379" or
        "ray://host:10001"). By default a cluster is started that only this machine reaches, and
        shut down at the end; but a Ray session that this process has open is used, and left open.
    progress
        Called with a cell and how many more of its rounds have been played: when it is finished,
        and now and then before that where it is played in this process.

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
        # With this note the results can be shown without the plan's file.
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
    """What a run left in a folder, finished or not, with its title and description."""
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
            f"{note} is damaged: it is not what was written there. Take it from a copy, or delete "
            "it: the results are shown without it as well."
        )
    return Run(results.records(cells), times, 0, []), *texts
