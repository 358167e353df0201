"""`hannan verify`: every claim of the paper, tried."""

from __future__ import annotations

import argparse
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hannan.verify import Check, Claim, Verdict, claims, verify


def add(commands: Any) -> None:
    """Tell the command line of this command."""
    parser = commands.add_parser(
        "verify",
        help="try every lemma and theorem of the paper; exit status 1 if a claim fails",
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="under a minute (the default)")
    effort.add_argument("--full", action="store_true", help="larger experiments, some minutes")
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="one claim; may be given several times"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all experiments")
    parser.add_argument("--verbose", action="store_true", help="show every check of every claim")
    parser.add_argument("--report", metavar="FILE.html", help="write a page with plots as well")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Try the claims, print a table, and say whether all of them stand."""
    console = Console()
    wanted = claims(options.only)
    bar = Progress(
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=len(wanted))
        done = iter(range(len(wanted)))

        def tick(claim: Claim) -> None:
            bar.update(task, description=claim.name, completed=next(done))

        verdicts = verify(options.only, full=options.full, seed=options.seed, progress=tick)
    console.print(as_table(verdicts, options.verbose))
    failed = [verdict.claim.name for verdict in verdicts if not verdict.passed]
    seconds = sum(verdict.seconds for verdict in verdicts)
    if options.report:
        from hannan.verify.page import write_page

        write_page(verdicts, options.report, "full" if options.full else "quick")
        console.print(f"report: {options.report}", soft_wrap=True)
    if failed:
        console.print(f"[red]{len(failed)} of {len(verdicts)} claims fail:[/] {', '.join(failed)}")
        return 1
    console.print(f"All {len(verdicts)} claims stand ({seconds:.0f} s).")
    return 0


def as_table(verdicts: list[Verdict], every: bool = False) -> Table:
    """For each claim what it says, and the check with the least room; or every check.

    Checks that fail are always shown.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("claim", ratio=1)
    table.add_column("margin", justify="right", no_wrap=True)
    for verdict in verdicts:
        claim, checks = verdict.claim, verdict.finding.checks
        table.add_row(
            _mark(verdict.passed),
            f"[bold]{claim.name}[/] [dim]{escape(claim.result)}[/]\n{escape(claim.says)}",
        )
        tightest = min(checks, key=lambda check: (check.passed, check.margin))
        shown = [c for c in checks if every or c is tightest or not c.passed]
        for check in shown:
            mark = "" if check.passed and len(shown) == 1 else _mark(check.passed)
            table.add_row(mark, f"[dim]{_sentence(check)}[/]", f"{check.margin:.0%}")
        if len(shown) < len(checks):
            more = len(checks) - len(shown)
            table.add_row("", f"[dim]and {more} more check{'s' * (more > 1)}[/]")
        table.add_section()
    return table


def _mark(passed: bool) -> str:
    return "[green]holds[/]" if passed else "[bold red]FAILS[/]"


def _sentence(check: Check) -> str:
    sign = "≤" if check.at_most else "≥"
    chance = f" ± {check.allowance:.2g}" if check.allowance else ""
    numbers = f"{check.measured:.4g} {sign} {check.limit:.4g}{chance}"
    return f"{escape(check.what)}: [not dim]{numbers}[/]"
