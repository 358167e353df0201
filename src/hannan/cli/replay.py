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
    """Return names from one text with commas, or from several texts."""
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
    """Make an option whose type is a list of choices, a type of click, or a placeholder."""
    if isinstance(kind, str):
        more["metavar"] = kind
    elif kind is not None:
        more["type"] = click.Choice(kind) if isinstance(kind, list) else kind
    return click.option(flag, help=what, **more)


def _several(flag: str, what: str) -> Any:
    return _option(flag, what, "A,B,…", multiple=True, callback=_listed)


@click.command()
@click.argument("data", type=PATH)
@_several("--context", "Feature columns. [default: all columns that look like features]")
@_several("--categorical", "Columns to read as categories, even if they hold numbers.")
@_several("--text", "Columns with free text, of which each word is a feature.")
@_option("--label", "Column with the right class; any other class costs 1.", "COLUMN")
@_several("--labels", "Classes. [default: detected in the file]")
@_several("--losses", "Columns with the loss of each action, in place of --label.")
@_several(
    "--cost", "Costs with --label: RIGHT:DONE=COST, such as yes:no=50, or a file with a matrix."
)
@_option("--current", "Column with the choice of your current rule.", "COLUMN")
@_option("--action", "Logged action (for logs of another system).", "COLUMN")
@_several("--actions", "Actions. [default: detected in the log]")
@_option("--loss", "Loss of the logged action.", "COLUMN")
@_option("--reward", "Reward of the logged action, in place of --loss.", "COLUMN")
@_option(
    "--propensity",
    "Probability of the logged action: a column, one number, or an estimate.",
    "COLUMN|NUMBER|estimate",
    callback=_number_or_column,
)
@_option(
    "--method", "Method for replaying a log. [default: rejection]", ["rejection", "importance"]
)
@_option(
    "--floor",
    "Smallest propensity used by rejection; a larger floor keeps more rows but adds bias.",
    click.FloatRange(0.0, 1.0, min_open=True),
)
@_option("--missing", "drop: accept that more than a tenth of the rows are left out.", ["drop"])
@_option("--unit", "Unit of losses or rewards, such as €.", default="")
@_option(
    "--value-range",
    "Range of the losses or rewards. [default: detected in the file]",
    "LOW,HIGH",
    callback=_range,
)
@_option(
    "--feedback",
    "Losses that learners observe: all (full), or only that of their action. [default: full]",
    ["full", "bandit"],
)
@_option(
    "--format",
    "Format of a Vowpal Wabbit file. [default: detected]",
    ["cb", "cb_adf", "dsjson"],
)
@_option("--hash", "Number of hash buckets for the features of a Vowpal Wabbit file.", COUNT)
@_option("--max-columns", "Maximum number of columns in the file. [default: 10000]", COUNT)
@_option(
    "--max-unpacked",
    "Maximum size of an unpacked .gz file in bytes. [default: 50 times its size, at least 16 MiB]",
    COUNT,
)
@_option("--delimiter", "Separator between values. [default: detected]")
@_option("--decimal", "Decimal mark. [default: detected]", [".", ","])
@_option("--encoding", "Text encoding. [default: detected: UTF-8 or Windows-1252]")
@_option(
    "--header/--no-header", "Whether the file has a header row. [default: detected]", default=None
)
@_option("--policies", "Policy class to learn. [default: LinearPolicies]", "NAME")
@click.option(
    "--learner",
    "learners",
    multiple=True,
    metavar="NAME",
    help="Only this learner; may be repeated.",
)
@_option("--rounds", "Use only the first N rows.", COUNT)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@_option("--seeds", "Number of seeds, from --seed on.", COUNT, default=1)
@_option("--jobs", "Runs in parallel.", COUNT, default=1)
@_option("--output", "Folder for results and the HTML report.", PATH)
@_option("--save", "Write a trained hn.Decider to this file.", PATH)
@_option("--save-rule", "Write the best fixed rule to this file.", PATH)
@_option(
    "--decisions", "Write the best alternative's decision for each row to this CSV file.", PATH
)
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
    """Compare your current rule with learners on past data.

    Prints the cost of your current rule and of the best alternative (a learner,
    a fitted rule or a constant action), with confidence intervals. DATA is a
    file (.csv, .tsv, .txt, .jsonl, .vw, .dsjson, also compressed, or .parquet),
    or - for standard input. Each row states the right class (--label), the loss
    of every action (--losses), or the outcome of one action (--action, --loss or
    --reward, --propensity). Files of Vowpal Wabbit contain the costs and need
    none of these options.
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
    """Print one JSON object, or the answer and the names of the written files."""
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
    """Write the requested files."""
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
    """Name options in errors as the user typed them."""
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
    """Lines that report the progress of a replay of more than a few seconds."""

    def __init__(self, console: Console) -> None:
        self._console, self._stage, self._last = console, "", 0.0
        self._start = monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = monotonic()
        late = _QUIET if stage == self._stage else 0.0
        if now - self._last < late or now - self._start < _SHORT:
            return
        share = f", {100 * done // total} %" if total and stage == self._stage else ""
        self._console.print(escape(f"{stage}{share}"), soft_wrap=True, highlight=False)
        self._stage, self._last = stage, now


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
