"""Output of commands: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hannan.core import HannanError
from hannan.experiments.cell import Cell
from hannan.experiments.over_data import LossUnits
from hannan.experiments.plan import Plan
from hannan.experiments.results import ResultsError
from hannan.experiments.run import Run, run
from hannan.experiments.summary import Interval, Record, Row
from hannan.replays.table import plain_table

PATH, COUNT = click.Path(path_type=Path), click.IntRange(1)
"""Types of options: a file or folder, and a whole number of something."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")


@contextmanager
def reading(results: Path) -> Iterator[None]:
    """Turn any failure to read a folder of results into a one-line `ResultsError`."""
    try:
        yield
    except (HannanError, click.ClickException, BrokenPipeError):
        raise
    except OSError as error:
        raise ResultsError(f"{error.filename} cannot be used: {error.strerror}.") from error
    except Exception as error:  # a record with missing or misplaced fields
        raise ResultsError(
            f"The results at {results} were not written by `hannan run` ({type(error).__name__}: "
            f"{str(error)[:200]}). Delete them, and run the experiment again."
        ) from error


def print_json(value: Any) -> None:
    """Print one object, and nothing else, on standard output."""
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def stderr() -> Console:
    """Return a console for progress and warnings: standard output has the results alone."""
    return Console(stderr=True)


class RoundsPerSecond(ProgressColumn):
    """Rounds per second of all runs together."""

    def render(self, task: Task) -> Text:
        """Return the speed since the start."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} rounds/s", style="dim")


def rounds_bar(console: Console) -> Progress:
    """Return a bar that counts rounds, with their speed and the remaining time."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        RoundsPerSecond(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=600.0,
    )


def play_plan(plan: Plan, folder: Path, **options: Any) -> Run:
    """Run a plan and show its progress; options as in `experiments.run`."""
    with rounds_bar(stderr()) as bar:
        task = bar.add_task(escape(plan.title), total=plan.rounds or None)

        def tick(cell: Cell, rounds: int) -> None:
            bar.update(task, advance=rounds, description=escape(cell.label))

        return run(plan, folder, progress=tick, **options)


def write_report_of(plan: Plan, done: Run, folder: Path, lead: Any = None) -> Path:
    """Write the HTML report of a run; it begins with the answer `lead`, if there is one."""
    from hannan.report import write_report

    path, about = folder / "report.html", (plan.title, plan.description)
    return write_report(done.records, done.times, path, *about, lead=lead)


def print_failures(done: Run) -> int:
    """Print the runs that failed, and return the exit status."""
    for cell, failure in done.failures:
        stderr().print(f"[red]failed[/] {escape(cell.label)}: {escape(failure.error)}")
    if not done.failures:
        return 0
    return 2 if all(failure.expected for _, failure in done.failures) else 1


def print_rows(console: Console, rows: Sequence[Row], records: Sequence[Record]) -> None:
    """Print a table for each environment: its learners, and the best policy in hindsight."""
    worlds = [record["cell"]["environment"] for record in records]
    titles = {world["name"]: world.get("title", world["name"]) for world in worlds}
    units = {world["name"]: LossUnits.of(world) for world in worlds}
    for name, group in groupby(rows, key=lambda row: row.environment):
        shown = [_in_units(row, units[name]) for row in group]
        console.print(_world_table(titles[name], shown, f"mean {units[name].name}"), "")


def _in_units(row: Row, units: LossUnits) -> Row:
    """Return a row in the units of the file, where the environment has one."""

    def scaled(interval: Interval | None, mean: Callable[[float], float]) -> Interval | None:
        if interval is None:
            return None
        return Interval(mean(interval.mean), units.difference(interval.half_width), interval.count)

    return replace(
        row,
        mean_loss=scaled(row.mean_loss, units.mean),
        best=scaled(row.best, units.mean),
        regret=scaled(row.regret, units.difference),
        certificate=scaled(row.certificate, units.difference),
    )


def _world_table(title: str, rows: list[Row], mean: str) -> Table:
    first = rows[0]
    table = plain_table(f"{escape(title)}, {first.rounds:,} rounds\n")
    logged = any(row.effective < 0.999 * row.rounds for row in rows)
    # In an environment that reacts, the best policy depends on the learner.
    common = first.best is not None and all(row.best == first.best for row in rows)
    hidden = {"best": common, "effective rounds": not logged}
    shown = [
        (name, show)
        for name, show in _COLUMNS
        if not hidden.get(name) and any(show(row) for row in rows)
    ]
    table.add_column("learner")
    for name, _ in shown:
        table.add_column(mean if name == "mean loss" else name, justify="right")
    for row in rows:
        table.add_row(escape(row.learner), *(show(row) or "-" for _, show in shown))
    if first.best is not None and common:
        best = [first.best.show(3) if name == "mean loss" else "" for name, _ in shown]
        name = "best in hindsight" if first.found is None else "best found"
        table.add_row(f"[dim]{name}[/]", *(f"[dim]{text}[/]" for text in best))
    # The models that found the best policy, and the record of the hints.
    models = dict.fromkeys(row.found for row in rows if row.found is not None)
    notes = [f"best found in hindsight by: {name}." for name in models]
    notes += [f"{row.learner}: {row.hints}." for row in rows if row.hints is not None]
    table.caption = escape("\n" + "\n".join(notes)) if notes else None
    table.caption_justify = "left"
    return table


_COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("feedback", lambda row: row.feedback),
    ("mean loss", lambda row: "" if row.mean_loss is None else row.mean_loss.show(3)),
    ("regret", lambda row: "" if row.regret is None else row.regret.show(0)),
    ("certificate", lambda row: "" if row.certificate is None else f"{row.certificate.mean:,.0f}"),
    ("rounds/s", lambda row: f"{row.rounds_per_second:,.0f}" if row.rounds_per_second else ""),
    ("best", lambda row: "" if row.best is None else f"{row.best.mean:.3f}"),
    ("effective rounds", lambda row: f"{row.effective:,.0f}"),
)
