"""`hannan verify`: an experiment for every claim of the paper."""

from __future__ import annotations

import io
import math
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hannan._version import __version__
from hannan.cli.output import as_json, print_json, stderr
from hannan.verify import Claim, Verdict, claims
from hannan.verify import verify as try_claims


@click.command()
@click.option("--quick", is_flag=True, help="Run small experiments, about a minute (the default).")
@click.option("--full", is_flag=True, help="Run larger experiments, which take longer.")
@click.option("--only", multiple=True, metavar="NAME", help="Name of a claim; may be repeated.")
@click.option("--seed", default=0, help="Random seed of all experiments.")
@click.option("--verbose", is_flag=True, help="Show every check of every claim.")
@click.option("--report", metavar="FILE.html", help="Write all checks to this HTML page, too.")
@as_json
def verify(
    quick: bool,
    full: bool,
    only: tuple[str, ...],
    seed: int,
    verbose: bool,
    report: str | None,
    as_json: bool,
) -> int:
    """Test every lemma and theorem of the paper by an experiment.

    Each experiment could refute its claim. The exit code is 1 if a claim fails.
    """
    if quick and full:
        raise click.UsageError("--quick and --full exclude each other.")
    verdicts = _verdicts(list(only) or None, full, seed)
    if report:  # every check as one HTML page that opens offline
        page = Console(file=io.StringIO(), record=True, width=120, highlight=False)
        page.print(f"hannan {__version__}, verify", as_table(verdicts, every=True))
        page.save_html(report)
    failed = [verdict.claim.name for verdict in verdicts if not verdict.passed]
    if as_json:
        print_json({"claims": [_plain(verdict) for verdict in verdicts], "report": report})
        return int(bool(failed))
    console = Console()
    console.print(as_table(verdicts, verbose))
    if report:
        console.print(f"report: {report}", soft_wrap=True)
    if failed:
        console.print(f"[red]{len(failed)} of {len(verdicts)} claims fail:[/] {', '.join(failed)}")
        return 1
    seconds = sum(verdict.seconds for verdict in verdicts)
    console.print(f"All {len(verdicts)} claims stand ({seconds:.0f} s).")
    return 0


def _verdicts(names: list[str] | None, full: bool, seed: int) -> list[Verdict]:
    wanted = claims(names)
    columns = TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), console=stderr(), transient=True) as bar:
        task, done = bar.add_task("", total=len(wanted)), iter(range(len(wanted)))

        def tick(claim: Claim) -> None:
            bar.update(task, description=claim.name, completed=next(done))

        return try_claims(names, full=full, seed=seed, progress=tick)


def _plain(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain values."""
    checks = [
        {
            "what": check.what,
            "measured": _number(check.measured),
            "limit": _number(check.limit),
            "at_most": check.at_most,
            "allowance": _number(check.allowance),
            "passed": bool(check.passed),
        }
        for check in verdict.finding.checks
    ]
    claim = verdict.claim
    return {
        "name": claim.name,
        "result": claim.result,
        "says": claim.says,
        "passed": bool(verdict.passed),
        "checks": checks,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def as_table(verdicts: list[Verdict], every: bool = False) -> Table:
    """Show for each claim its statement, and the check with the least room; or every check.

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
            numbers = f"{check.measured:.4g} {'≤' if check.at_most else '≥'} {check.limit:.4g}"
            chance = f" ± {check.allowance:.2g}" if check.allowance else ""
            sentence = f"{escape(check.what)}: [not dim]{numbers}{chance}[/]"
            table.add_row(mark, f"[dim]{sentence}[/]", f"{check.margin:.0%}")
        if len(shown) < len(checks):
            more = len(checks) - len(shown)
            table.add_row("", f"[dim]and {more} more check{'s' * (more > 1)}[/]")
        table.add_section()
    return table


def _mark(passed: bool) -> str:
    return "[green]holds[/]" if passed else "[bold red]FAILS[/]"
