"""`hannan completion`: the script that completes commands in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from hannan.cli.output import as_json, print_json


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@as_json
@click.pass_context
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    """Print the completion script of a shell.

    \b
    bash:  eval "$(hannan completion bash)"   in ~/.bashrc
    zsh:   eval "$(hannan completion zsh)"    in ~/.zshrc
    fish:  hannan completion fish > ~/.config/fish/completions/hannan.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "hannan", "_HANNAN_COMPLETE").source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
