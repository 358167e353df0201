"""`hannan show`: the tables and the report of earlier runs."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from hannan.cli.output import PATH, as_json, print_json, print_rows, reading
from hannan.experiments.run import read_run
from hannan.experiments.summary import summarise


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
    """Show RESULTS: the folder that `hannan run` wrote, or its results.jsonl."""
    with reading(results):
        done, title, description = read_run(results)
        records, times = done.records, done.times
        rows = summarise(records, times)
        written: list[Path] = []
        if report is not None:
            from hannan.report import write_report

            written.append(write_report(records, times, report, title, description))
        if export is not None:
            from hannan.report import write_figures

            written += write_figures(records, times, export, formats or ("png", "svg"))
        if as_json:
            files = [str(path) for path in written]
            print_json({"rows": [row.as_dict() for row in rows], "files": files})
            return
        console = Console()
        print_rows(console, rows, records)
        for path in written:
            console.print(f"wrote {path}", soft_wrap=True)
