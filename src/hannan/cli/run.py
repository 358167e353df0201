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
from hannan.experiments.over_data import LossUnits
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
@click.option("--jobs", type=COUNT, help="Runs in parallel. [default: one for each core]")
@click.option("--address", help="Address of a running Dask scheduler or Ray cluster.")
@click.option("--no-report", is_flag=True, help="Write no HTML report.")
@click.option("--dry-run", is_flag=True, help="Only list the runs; import nothing.")
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
    """Run an experiment file: learners, environments, seeds.

    FILE is in TOML. OUTPUT/results.jsonl holds the finished runs. Repeat the command to resume an
    interrupted experiment: finished runs are not repeated. `hannan init` writes a
    commented FILE to start from.
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
    """Return a folder inside `results`; a link that leads out of it raises an error."""
    folder = results / name
    if not folder.resolve().is_relative_to(results.resolve()):
        raise ParameterError(f"{folder} leads out of {results}. Pass --output to write there.")
    return folder


def _print(plan: Plan, done: Run, folder: Path, report: Path | None, as_json: bool) -> None:
    rows = summarise(done.records, done.times)
    reused = len(done.records) - done.played
    if as_json:
        summary: dict[str, Any] = {
            "name": plan.name,
            "results": str(folder / "results.jsonl"),
            "report": report and str(report),
            "played": done.played,
            "reused": reused,
            "failures": {cell.label: failure.error for cell, failure in done.failures},
            "rows": [row.as_dict() for row in rows],
        }
        print_json(summary)
        return
    console = Console()
    print_rows(console, rows, done.records)
    runs = "1 run" if done.played == 1 else f"{done.played} runs"
    console.print(f"{runs} completed, {reused} reused from earlier results.")
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
    help="Format of the figures; may be given twice. [default: both]",
)
@as_json
def show(
    results: Path, report: Path | None, export: Path | None, formats: tuple[str, ...], as_json: bool
) -> None:
    """Show the results of an earlier run or replay.

    RESULTS is the folder that the command wrote, or results.jsonl in it.
    """
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
            shown = plain if answer is None else answer["results"]
            print_json({**shown, "files": files})
            return
        console = Console()
        if answer is None:
            print_rows(console, rows, records)
        else:
            _print_answer(console, answer)
        for path in written:
            console.print(f"wrote {path}", soft_wrap=True)


def _answer(results: Path, title: str) -> dict[str, Any] | None:
    """Return the answer that a replay with this title has stored, or None."""
    path = (results if results.is_dir() else results.parent) / "answer.json"
    if not path.is_file():
        return None
    stored = dict(json.loads(path.read_bytes()))
    return stored if stored["title"] == title else None


def _print_answer(console: Console, answer: dict[str, Any]) -> None:
    """Print the answer of a replay and its table, in the units of the file."""
    lead = Lead.from_dict(answer["page"])
    units = LossUnits(rewards=lead.rewards, unit=lead.unit or "")
    wrap = not console.is_terminal
    sentence = f"[bold]{escape(str(answer['results']['answer']))}[/]"
    console.print(sentence, "", soft_wrap=wrap, sep="\n", highlight=False)
    title = f"{answer['title']}, {lead.rows:,} rounds"
    table = replay_table(title, units, answer["table"], console.width)
    console.print(table, "", sep="\n")
    for note in lead.notes:
        console.print(escape(note), soft_wrap=wrap, highlight=False)
