"""`hannan replay`: options and printing around `hannan.replays.replay`."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from hannan.cli.output import COUNT, PATH, as_json, print_json, rounds_bar, stderr
from hannan.core import HannanError, ParameterError
from hannan.replays import FailedReplayError, Replay
from hannan.replays import replay as replay_data

_STARTS = {b"PK": ".csv.zip", b"\x1f\x8b": ".csv.gz", b"PAR1": ".parquet", b"{": ".jsonl"}
_QUIET = 10.0  # seconds between lines about progress, where there is no terminal
_SHORT = 3.0  # seconds after which the first of them comes


def _listed(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Any:
    """Names from one text with commas, or from several."""
    names = [name.strip() for text in values for name in text.split(",") if name.strip()]
    return names or None


def _range(ctx: click.Context, option: click.Parameter, text: str | None) -> Any:
    try:
        low, high = (float(part) for part in text.split(",")) if text else (0.0, 1.0)
    except ValueError:
        raise click.BadParameter(f"must be LOW,HIGH; got {text!r}.") from None
    return (low, high) if text else None


def _number_or_column(ctx: click.Context, option: click.Parameter, text: str | None) -> Any:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _option(flag: str, what: str, kind: Any = None, **more: Any) -> Any:
    """An option whose type is a list of choices, one of click's, or the word that stands for it."""
    if isinstance(kind, str):
        more["metavar"] = kind
    elif kind is not None:
        more["type"] = click.Choice(kind) if isinstance(kind, list) else kind
    return click.option(flag, help=what, **more)


def _several(flag: str, what: str) -> Any:
    return _option(flag, what, "A,B,…", multiple=True, callback=_listed)


@click.command()
@click.argument("data", type=PATH)
@_several("--context", "Columns known before deciding. [default: all that look useful]")
@_several("--categorical", "Columns to be read as categories, whatever they look like.")
@_several("--text", "Columns whose words are used.")
@_option("--label", "The right class: playing another one costs 1.", "COLUMN")
@_several("--labels", "The classes, in place of those found in the file.")
@_several("--losses", "In place of --label: a column with the loss of each action.")
@_several("--cost", "With --label: RIGHT:DONE=COST, such as yes:no=50, or a file with a matrix.")
@_option("--current", "What your present system did.", "COLUMN")
@_option("--action", "Of a log: the action that was taken.", "COLUMN")
@_several("--actions", "The actions there are, in place of those found in the log.")
@_option("--loss", "Of a log: what the action cost.", "COLUMN")
@_option("--reward", "In place of --loss: what the action earned.", "COLUMN")
@_option(
    "--propensity",
    "Of a log: the probability with which the action was taken.",
    "COLUMN|NUMBER|estimate",
    callback=_number_or_column,
)
@_option("--method", "How a log is replayed. [default: rejection]", ["rejection", "importance"])
@_option(
    "--floor",
    "Smallest propensity used by rejection; a larger floor keeps more rows but adds bias.",
    click.FloatRange(0.0, 1.0, min_open=True),
)
@_option("--missing", "drop: accept that more than a tenth of the rows is left out.", ["drop"])
@_option("--unit", "Of losses or rewards, such as €.", default="")
@_option(
    "--value-range",
    "Range of the losses or rewards. [default: found in the file]",
    "LOW,HIGH",
    callback=_range,
)
@_option(
    "--feedback",
    "What learners are shown: all losses, or that of their action. [default: full]",
    ["full", "bandit"],
)
@_option(
    "--format",
    "Of a file of Vowpal Wabbit. [default: as its name and first lines look]",
    ["cb", "cb_adf", "dsjson"],
)
@_option("--hash", "Of such a file: hash its features to so many.", COUNT)
@_option("--max-columns", "That the file may have. [default: 10000]", COUNT)
@_option(
    "--max-unpacked",
    "Bytes that a .gz file may have unpacked. [default: 50 times its size, 16 MiB at least]",
    COUNT,
)
@_option("--delimiter", "Between values. [default: found in the file]")
@_option("--decimal", "Decimal mark. [default: found]", [".", ","])
@_option("--encoding", "Of the text. [default: found: UTF-8 or Windows-1252]")
@_option("--header/--no-header", "Whether there is one. [default: found]", default=None)
@_option("--policies", "A policy class. [default: LinearPolicies]", "NAME")
@click.option("--learner", "learners", multiple=True, metavar="NAME", help="Only these learners.")
@_option("--rounds", "Only so many rows, from the first on.", COUNT)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@_option("--seeds", "Number of seeds, from --seed on.", COUNT, default=1)
@_option("--jobs", "Games to play in parallel.", COUNT, default=1)
@_option("--output", "Folder for results and the HTML report.", PATH)
@_option("--save", "Write a trained hn.Decider here.", PATH)
@_option("--save-rule", "Write the best fixed rule here.", PATH)
@_option("--decisions", "Write what the best choice does, a CSV.", PATH)
@as_json
def replay(
    data: Path,
    as_json: bool,
    output: Path | None,
    save: Path | None,
    save_rule: Path | None,
    decisions: Path | None,
    **options: Any,
) -> int:
    """Replay DATA (.csv, .tsv, .txt, .jsonl, .vw, .dsjson, also packed, or .parquet) in its order.

    What does your current rule cost, and what would the best choice have cost? DATA is a file, or -
    for standard input. It holds for each row the right class (--label), the loss of every action
    (--losses), or the outcome of one action (--action, --loss or --reward, --propensity). Files of
    Vowpal Wabbit contain the costs themselves and need none of these options.
    """
    files = {"decider": save, "rule": save_rule, "decisions": decisions}
    try:
        with tempfile.TemporaryDirectory() as spare, _progress(as_json) as progress, _options():
            path = _spooled(Path(spare)) if str(data) == "-" else data
            answer = replay_data(path, output=output, progress=progress, **options)
            _take_away(answer, files)
            if output is not None and save is not None:
                answer.report(output)  # again, with a row for the Decider
    except FailedReplayError as error:
        stderr().print(f"[red]failed[/] {escape(str(error))}")
        return 1
    _show(answer, data, output, files, as_json)
    return 0


def _show(
    answer: Replay, data: Path, output: Path | None, files: dict[str, Path | None], as_json: bool
) -> None:
    """Print what is asked for: one object, or the answer and the files that were written."""
    report = None if output is None else str(output / "report.html")
    if as_json:
        results = None if output is None else str(output / "results.jsonl")
        print_json(
            {**answer.as_dict(), "results": results, "report": report, "snippet": answer.code}
        )
        return
    console, screen = Console(), stderr()
    answer.print(console, "standard input" if str(data) == "-" else str(data))
    if answer.warning is not None:
        text = f"[yellow]warning:[/] {escape(answer.warning)}"
        screen.print(text, soft_wrap=not screen.is_terminal)
    for what, path in {"report": report, **files}.items():
        if path is not None:
            console.print(f"{what}: {escape(str(path))}", soft_wrap=True)


def _take_away(answer: Replay, files: dict[str, Path | None]) -> None:
    """Write the files that are asked for."""
    try:
        if files["decisions"] is not None:
            answer.write_decisions(files["decisions"])
        if files["rule"] is not None:
            answer.rule.save(files["rule"])
        if files["decider"] is not None:
            answer.decider.save(files["decider"])
    except OSError as error:
        raise ParameterError(f"{error.filename} cannot be written: {error.strerror}.") from None


@contextmanager
def _options() -> Iterator[None]:
    """Name options in errors as they are typed."""
    try:
        yield
    except HannanError as error:
        error.args = (_as_options(str(error)),)
        raise


def _as_options(text: str) -> str:
    """Return a text in which arguments of Python, such as value_range=, are options.

    >>> _as_options("action= needs propensity=, or propensity='estimate'.")
    '--action needs --propensity, or --propensity estimate.'
    """
    names = "|".join(option.name for option in replay.params if option.name)
    pattern = rf"\b({names})=(?:'(\w+)'|(?=[\s,.;:)]|$))"
    return re.sub(pattern, lambda m: f"--{m[1].replace('_', '-')} {m[2] or ''}".rstrip(), text)


@contextmanager
def _progress(silent: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show the stage: a bar on a terminal, else a line for each stage and every ten seconds."""
    console = stderr()
    if silent:
        yield None
    elif console.is_terminal:
        with rounds_bar(console) as bar:
            task = bar.add_task("")
            yield lambda stage, done, total: bar.update(
                task, description=escape(stage), completed=done, total=total or None
            )
    else:
        yield _Lines(console)


class _Lines:
    """Lines about progress, of a replay that takes some seconds."""

    def __init__(self, console: Console) -> None:
        self._console, self._stage, self._told = console, "", 0.0
        self._start = monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = monotonic()
        late = _QUIET if stage == self._stage else 0.0
        if now - self._told < late or now - self._start < _SHORT:
            return
        share = f", {100 * done // total} %" if total and stage == self._stage else ""
        self._console.print(escape(f"{stage}{share}"), soft_wrap=True, highlight=False)
        self._stage, self._told = stage, now


def _spooled(folder: Path) -> Path:
    """Copy standard input to a file in a folder: it is read more than once."""
    stream = sys.stdin.buffer
    start = stream.read(512)
    ending = next((e for mark, e in _STARTS.items() if start.lstrip()[:4].startswith(mark)), ".csv")
    path = folder / f"stdin{ending}"
    with path.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return path
