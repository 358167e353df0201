"""`hannan list` and `hannan describe`: the names that an experiment file may use."""

from __future__ import annotations

import difflib
import inspect
import re
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hannan.cli.output import as_json, print_json
from hannan.core import ParameterError
from hannan.experiments.catalogue import (
    KINDS,
    entries,
    registered,
    short_name,
    summary_of,
    unknown_groups,
)

_KINDS = (*KINDS, "options")


class _Kind(click.Choice):  # type: ignore[type-arg]
    """A kind of class in the plural or the singular."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the plural."""
        plural = f"{value}s"
        return super().convert(plural if plural in self.choices else value, param, ctx)


@click.command(name="list")
@click.argument("kinds", nargs=-1, type=_Kind(_KINDS), metavar="[KIND]...")
@as_json
def listing(kinds: tuple[str, ...], as_json: bool) -> None:
    """List learners, environments, oracles and other classes.

    KIND is learner, baseline, environment, oracle, predictor, detector, network
    or option. An experiment file can use every name as a `type`. Classes that
    other packages have registered come last, with the name of the package.

    With --json, Hannan's own classes are {kind: {name: summary}}. Classes of
    other packages are separate, under "outside": {kind: {name: {"summary",
    "package", "error"}}}, where error says why a class cannot be loaded, or is
    null.
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
    """Return the classes of other packages, under the names that find them."""
    modules = {}
    for entry in registered(kind):
        try:
            summary, error = summary_of(entry.load()), None
        except ImportError as fault:
            summary, error = "", str(fault)
        package = f"{entry.package} {entry.version}".strip()
        modules[short_name(entry)] = {"summary": summary, "package": package, "error": error}
    return modules


@click.command()
@click.argument("name")
@as_json
def describe(name: str, as_json: bool) -> None:
    """Describe a class: its options, their defaults and meaning.

    NAME is a name that `hannan list` shows, or a constructor such as
    Paths.towards.
    """
    classes = _found(name.removeprefix("hn."))
    texts = [inspect.getdoc(value) or "" for _, value in classes]
    signatures = [str(inspect.signature(value)).replace("'", "") for _, value in classes]
    if as_json:
        rows = [
            {"name": name, "kind": kind, "signature": signature, "text": text}
            for (kind, _), signature, text in zip(classes, signatures, texts, strict=True)
        ]
        print_json(rows[0] if len(rows) == 1 else rows)
        return
    for (kind, value), signature, text in zip(classes, signatures, texts, strict=True):
        click.echo(f"{name}{signature}\n{'-' * 79}\n{_plain(text)}\n")
        if others := _constructors(value):
            click.echo(f"Other constructors: {', '.join(f'{name}.{other}' for other in others)}\n")
        if kind in _TABLES:
            click.echo(f'In an experiment file:\n\n    [{_TABLES[kind]}.x]\n    type = "{name}"\n')


_TABLES = {"learners": "learners", "baselines": "learners", "environments": "environments"}


def _found(name: str) -> list[tuple[str, Any]]:
    """Return the classes or constructors that a name means, each with its kind."""
    known: dict[str, list[tuple[str, Any]]] = {}
    for kind in _KINDS:
        for entry in entries(kind):
            made = entry.made
            ways = {entry.name: made}
            ways |= {f"{entry.name}.{other}": getattr(made, other) for other in _constructors(made)}
            for way, value in ways.items():
                known.setdefault(way, []).append((kind, value))
                known[f"{kind}.{way}"] = [(kind, value)]
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, 1, 0.6)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"Unknown name {name!r:.100}.{hint} `hannan list` shows all names.")


def _constructors(made: Any) -> list[str]:
    """Return the names of the public class methods of a class that construct objects."""
    if not inspect.isclass(made):
        return []
    methods = inspect.getmembers(made, inspect.ismethod)
    return [name for name, _ in methods if not name.startswith("_")]


def _plain(text: str) -> str:
    """Return a docstring without the marks of reStructuredText."""
    return re.sub(r":[\w:]+:`([^`]*)`", r"\1", text)
