"""`hannan run`: an experiment file, from start to report; and `hannan show`: earlier runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from hannan.cli.output import (
    COUNT,
    PATH,
    as_json,
    play_plan,
    print_failures,
    print_json,
    print_rows,
    reading,
    write_report_of,
)
from hannan.core import ParameterError
from hannan.experiments.over_data import Units
from hannan.experiments.plan import Plan, read_outline, read_plan
from hannan.experiments.run import Run, read_run
from hannan.experiments.summary import summarise
from hannan.replays.table import replay_table
from hannan.report.lead import Lead

_BACKENDS = ("serial", "loky", "dask", "ray")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--output", type=PATH, help="Folder of results and report. [default: results/NAME]")
@click.option("--backend", type=click.Choice(_BACKENDS), default="loky", show_default=True)
@click.option("--jobs", type=COUNT, help="Cells at once. [default: one for each core]")
@click.option("--address", help="Of a Dask scheduler or Ray cluster that is running.")
@click.option("--no-report", is_flag=True, help="Write no HTML report.")
@click.option("--dry-run", is_flag=True, help="Only list the games; nothing is made or imported.")
@as_json
def run(
    file: Path,
    output: Path | None,
    backend: str,
    jobs: int | None,
    address: str | None,
    no_report: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Play the experiment in FILE (TOML): learners x environments x seeds.

    Finished cells are kept in OUTPUT/results.jsonl: an interrupted run goes on where it
    stopped, and a repeated one plays nothing again.
    """
    if dry_run:
        games = read_outline(file).games
        if as_json:
            print_json({"games": games})
        else:
            click.echo("\n".join(games))
        return 0
    plan = read_plan(file)
    if address is not None and backend not in ("dask", "ray"):
        raise click.UsageError(f"--address goes with --backend dask or ray, not {backend}.")
    folder = output or _inside(Path("results"), plan.name)
    done = play_plan(plan, folder, backend=backend, jobs=jobs, address=address)
    wanted = done.records and not no_report
    with reading(folder):
        report = write_report_of(plan, done, folder) if wanted else None
        _print(plan, done, folder, report, as_json)
    return print_failures(done)


def _inside(results: Path, name: str) -> Path:
    """A folder of results; a link that leads out of them is not followed."""
    folder = results / name
    if not folder.resolve().is_relative_to(results.resolve()):
        raise ParameterError(f"{folder} leads out of {results}. Pass --output to write there.")
    return folder


def _print(plan: Plan, done: Run, folder: Path, report: Path | None, as_json: bool) -> None:
    rows = summarise(done.records, done.times)
    kept = len(done.records) - done.played
    if as_json:
        summary: dict[str, Any] = {
            "name": plan.name,
            "results": str(folder / "results.jsonl"),
            "report": report and str(report),
            "played": done.played,
            "kept": kept,
            "failures": {cell.label: failure.error for cell, failure in done.failures},
            "rows": [row.as_dict() for row in rows],
        }
        print_json(summary)
        return
    console = Console()
    print_rows(console, rows, done.records)
    verb = "was" if kept == 1 else "were"
    cells = "1 cell" if done.played == 1 else f"{done.played} cells"
    console.print(f"{cells} played, {kept} {verb} already in the results file.")
    console.print(f"results: {folder / 'results.jsonl'}", soft_wrap=True)
    if report is not None:
        console.print(f"report:  {report}", soft_wrap=True)


@click.command()
@click.argument("results", type=PATH)
@click.option("--report", type=PATH, help="Write the HTML report here.")
@click.option(
    "--export",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write figures into this folder.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["png", "svg"]),
    help="Of the figures; may be given twice. [default: both]",
)
@as_json
def show(
    results: Path, report: Path | None, export: Path | None, formats: tuple[str, ...], as_json: bool
) -> None:
    """Show RESULTS: the folder that `hannan run` or `hannan replay` wrote, or its results.jsonl."""
    with reading(results):
        done, title, description = read_run(results)
        records, times = done.records, done.times
        rows = summarise(records, times)
        answer = _answer(results, title)
        written: list[Path] = []
        if report is not None:
            from hannan.report import write_report

            lead = None if answer is None else Lead.from_dict(answer["page"])
            about = (report, title, description)
            written.append(write_report(records, times, *about, lead=lead))
        if export is not None:
            from hannan.report import write_figures

            written += write_figures(records, times, export, formats or ("png", "svg"))
        if as_json:
            files = [str(path) for path in written]
            plain = {"rows": [row.as_dict() for row in rows]}
            told = plain if answer is None else answer["results"]
            print_json({**told, "files": files})
            return
        console = Console()
        if answer is None:
            print_rows(console, rows, records)
        else:
            _print_answer(console, answer)
        for path in written:
            console.print(f"wrote {path}", soft_wrap=True)


def _answer(results: Path, title: str) -> dict[str, Any] | None:
    """Return what a replay of this title wrote beside its results; None if there is nothing."""
    path = (results if results.is_dir() else results.parent) / "answer.json"
    if not path.is_file():
        return None
    kept = dict(json.loads(path.read_bytes()))
    return kept if kept["title"] == title else None


def _print_answer(console: Console, answer: dict[str, Any]) -> None:
    """Print the answer of a replay and its table, in the units of the file."""
    lead = Lead.from_dict(answer["page"])
    units = Units(rewards=lead.rewards, unit=lead.unit or "")
    wrap = not console.is_terminal
    told = f"[bold]{escape(str(answer['results']['answer']))}[/]"
    console.print(told, "", soft_wrap=wrap, sep="\n", highlight=False)
    title = f"{answer['title']}, {lead.rows:,} rounds"
    table = replay_table(title, units, answer["table"], console.width)
    console.print(table, "", sep="\n")
    for note in lead.notes:
        console.print(escape(note), soft_wrap=wrap, highlight=False)
