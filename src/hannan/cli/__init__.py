"""The command line: `hannan COMMAND`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from hannan import __version__
from hannan.cli import quickstart, verify
from hannan.core import HannanError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="hannan", description="No-regret decisions against an adversary."
    )
    parser.add_argument("--version", action="version", version=f"hannan {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (quickstart, verify):
        command.add(commands)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except HannanError as error:
        print(f"hannan: {error}", file=sys.stderr)
        return 2
