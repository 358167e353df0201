"""`hannan list`: what there is, with a line each."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hannan.cli.output import as_json, print_json
from hannan.experiments.catalogue import (
    KINDS,
    entries,
    registered,
    short_name,
    summary_of,
    unknown_groups,
)

_KINDS = (*KINDS, "options")


@click.command(name="list")
@click.argument("kinds", nargs=-1, type=click.Choice(_KINDS), metavar="[KIND]...")
@as_json
def listing(kinds: tuple[str, ...], as_json: bool) -> None:
    """List oracles, learners, baselines, environments and the rest.

    Every name may stand as a type in an experiment file. What other packages
    have registered comes last, with their names.

    With --json, Hannan's own classes are {kind: {name: summary}}. Those of
    other packages, if there are any, are apart from them under "outside":
    {kind: {name: {"summary", "package", "error"}}}, where error says why a
    class cannot be loaded, or is null.
    """
    for warning in unknown_groups():
        click.echo(warning, err=True)
    wanted = kinds or _KINDS
    if as_json:
        ours: dict[str, Any] = {k: {e.name: e.summary for e in entries(k)} for k in wanted}
        outside = {kind: _outside(kind) for kind in wanted if registered(kind)}
        print_json(ours | ({"outside": outside} if outside else {}))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for kind in wanted:
        table.add_row(f"[bold]{kind}[/]", "")
        for entry in entries(kind):
            table.add_row(f"  {entry.name}", f"[dim]{escape(entry.summary)}[/]")
        for name, about in _outside(kind).items():
            fault = about["error"]
            line = about["summary"] if fault is None else f"cannot be loaded: {fault}"
            line = f"{line} ({about['package']})"
            table.add_row(f"  {escape(name)}", f"[dim]{escape(line)}[/]")
    console = Console()
    with console.capture() as printed:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _outside(kind: str) -> dict[str, dict[str, str | None]]:
    """What other packages have registered, under the names that find it."""
    modules = {}
    for entry in registered(kind):
        try:
            summary, error = summary_of(entry.load()), None
        except ImportError as fault:
            summary, error = "", str(fault)
        package = f"{entry.package} {entry.version}".strip()
        modules[short_name(entry)] = {"summary": summary, "package": package, "error": error}
    return modules
