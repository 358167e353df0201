"""`hannan list`: what there is, with a line each."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hannan.cli.output import as_json, print_json
from hannan.experiments.catalogue import KINDS, entries


@click.command(name="list")
@click.argument("kinds", nargs=-1, type=click.Choice(KINDS), metavar="[KIND]...")
@as_json
def listing(kinds: tuple[str, ...], as_json: bool) -> None:
    """List oracles, learners, baselines, environments and the rest.

    Every name may stand as a type in an experiment file.
    """
    wanted = kinds or KINDS
    if as_json:
        print_json({kind: {e.name: e.summary for e in entries(kind)} for kind in wanted})
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for kind in wanted:
        table.add_row(f"[bold]{kind}[/]", "")
        for entry in entries(kind):
            table.add_row(f"  {entry.name}", f"[dim]{escape(entry.summary)}[/]")
    Console().print(table)
