"""The command line: `hannan COMMAND`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from hannan._version import __version__
from hannan.core import HannanError

FINE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130

_COMMANDS = {
    "demo": "starting.demo",
    "replay": "replay.replay",
    "init": "starting.init",
    "run": "run.run",
    "show": "run.show",
    "list": "listing.listing",
    "describe": "listing.describe",
    "verify": "verify.verify",
    "completion": "completion.completion",
}


class Commands(click.Group):
    """Commands whose modules are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of use."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name].split(".")
        command: click.Command = getattr(importlib.import_module(f"hannan.cli.{module}"), name)
        return command


def _show_versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from hannan._show_versions import show_versions

        show_versions()
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hannan", message="%(prog)s %(version)s")
@click.option(
    "--versions",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_versions,
    help="Show the versions that a bug report should state, and exit.",
)
def cli() -> None:
    """Hannan makes repeated decisions (which price, which offer, which route) and
    learns from their outcomes, even if the environment drifts or reacts.

    \b
    Exit codes: 0 success, 1 a run or a check failed, 2 invalid input,
    130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    try:
        status = cli.main(arguments, prog_name="hannan", standalone_mode=False)
    except HannanError as error:
        # Text quoted from a file must not control the terminal.
        line = "".join(c if c.isprintable() else "?" for c in " ".join(str(error).split()))
        print(f"hannan: {line}", file=sys.stderr)
        return WRONG_INPUT
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("hannan: interrupted.", file=sys.stderr)
        return INTERRUPTED
    return int(status or FINE)
