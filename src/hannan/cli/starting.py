"""`hannan demo` and `hannan init`: run or copy the files that come with the package."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click

from hannan.cli.output import PATH, as_json, print_json
from hannan.cli.replay import replay
from hannan.cli.run import run
from hannan.core import ParameterError

_DATA = files("hannan") / "data"
_OFFERS = ["--action", "offer", "--reward", "margin", "--propensity", "propensity", "--unit", "€"]
_OFFERS += ["--context", "age,channel,orders"]


@click.command()
@click.argument("name", type=click.Choice(["quickstart", "offers"]), default="quickstart")
@click.option("--output", type=PATH, help="Folder of results and report. [default: results/NAME]")
@as_json
@click.pass_context
def demo(context: click.Context, name: str, output: Path | None, as_json: bool) -> Any:
    """Run a demonstration that comes with the package.

    "quickstart" (the default) compares learners on handwritten digits, against an
    adversary and in a road network, and writes a report; it takes about a minute.
    "offers" compares the rule behind a log of 800 past offers with other rules.
    """
    folder = output or Path("results") / name
    shared = ["--output", str(folder), *(["--json"] if as_json else [])]
    command, ending, options = run, "toml", shared
    if name == "offers":
        command, ending, options = replay, "csv", [*_OFFERS, *shared]
    with as_file(_DATA / f"{name}.{ending}") as path:
        if not as_json:
            shown = " ".join([str(path), *options])
            click.echo(f"$ hannan {command.name} {shown}\n", err=True)
        return context.invoke(_parsed, command, [str(path), *options])


def _parsed(command: click.Command, arguments: list[str]) -> Any:
    """Run another command as if its arguments had been typed."""
    with command.make_context(command.name, arguments) as context:
        return command.invoke(context)


@click.command()
@click.argument("file", type=PATH, default=Path("experiment.toml"))
@as_json
def init(file: Path, as_json: bool) -> None:
    """Write a commented experiment file, to change and to run.

    FILE is experiment.toml unless you name another. An existing file is never
    overwritten.
    """
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write((_DATA / "experiment.toml").read_text(encoding="utf-8"))
    except FileExistsError:
        raise ParameterError(f"{file} exists already. Name another file.") from None
    except OSError as error:
        raise ParameterError(f"{file} cannot be written: {error.strerror}.") from None
    if as_json:
        print_json({"file": str(file)})
    else:
        click.echo(f"wrote {file}\nrun it: hannan run {file}")
