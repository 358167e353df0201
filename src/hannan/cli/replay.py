"""`hannan replay`: what a learner would have cost on your own data."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from hannan.adapters.vw.files import is_vw
from hannan.cli.output import (
    as_json,
    play_plan,
    print_failures,
    print_json,
    rounds_bar,
    stderr,
    write_report_of,
)
from hannan.cli.replay_answer import Answer
from hannan.cli.replay_data import DIALECT, LIMITS, Stream, read_stream, spooled
from hannan.cli.replay_takeaways import snippet, train_decider, write_decisions
from hannan.core import HannanError, ParameterError
from hannan.experiments.catalogue import entries, find
from hannan.experiments.fitted_rules import FOLDS
from hannan.experiments.plan import Plan, make_plan

_RIDGE = {"type": "Ridge"}
_FULL = {"type": "ContextFTPL", "predictor": _RIDGE}
_PLAIN = {"type": "ContextFTPL", "loss_range": None}
_DATA = ("context", "categorical", "text", "label", "labels", "losses", "current", "value_range")
_VW = ("format", "hash")
_LOG = ("action", "actions", "loss", "reward", "propensity", "method", "floor")
_POINTS = 200
_LONG = 50_000  # rows, above which slow learners play only if they are asked for


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


_NAMED: dict[str, dict[str, Any]] = {
    "ContextFTPL": _FULL,
    "Restarting": {"type": "Restarting", "learner": _FULL},
    "UniformRandom": {"type": "UniformRandom", "loss_range": None},
}
"""How learners that are asked for by name are made here."""
_SLOW = ("hn.experts",)


def _several(name: str, what: str) -> Callable[[Any], Any]:
    return click.option(name, multiple=True, callback=_listed, metavar="A,B,…", help=what)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@_several("--context", "Columns known before deciding. [default: all that look useful]")
@_several("--categorical", "Columns to be read as categories, whatever they look like.")
@_several("--text", "Columns whose words are used.")
@click.option("--label", metavar="COLUMN", help="The right class: playing another one costs 1.")
@_several("--labels", "The classes, in place of those found in the file.")
@_several("--losses", "In place of --label: a column with the loss of each action.")
@_several("--cost", "With --label: RIGHT:DONE=COST, such as yes:no=50, or a file with a matrix.")
@click.option("--current", metavar="COLUMN", help="What your present system did.")
@click.option("--action", metavar="COLUMN", help="Of a log: the action that was taken.")
@_several("--actions", "The actions there are, in place of those found in the log.")
@click.option("--loss", metavar="COLUMN", help="Of a log: what the action cost.")
@click.option("--reward", metavar="COLUMN", help="In place of --loss: what the action earned.")
@click.option(
    "--propensity",
    metavar="COLUMN|NUMBER",
    callback=_number_or_column,
    help="Of a log: the probability with which the action was taken.",
)
@click.option(
    "--method",
    type=click.Choice(["rejection", "importance"]),
    help="How a log is replayed. [default: rejection]",
)
@click.option(
    "--floor",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    help="Smallest propensity used by rejection; a larger floor keeps more rows but adds bias.",
)
@click.option(
    "--value-range",
    metavar="LOW,HIGH",
    callback=_range,
    help="Range of the losses or rewards. [default: found in the file]",
)
@click.option(
    "--feedback",
    type=click.Choice(["full", "bandit"]),
    help="What learners are shown: all losses, or that of their action. [default: full]",
)
@click.option(
    "--format",
    type=click.Choice(["cb", "cb_adf", "dsjson"]),
    help="Of a file of Vowpal Wabbit. [default: as its name and first lines look]",
)
@click.option(
    "--hash", type=click.IntRange(1), help="Of such a file: hash its features to so many."
)
@click.option(
    "--max-columns", type=click.IntRange(1), help="That the file may have. [default: 10000]"
)
@click.option(
    "--max-unpacked",
    type=click.IntRange(1),
    help="Bytes that a .gz file may have unpacked. [default: 50 times its size, 16 MiB at least]",
)
@click.option("--delimiter", help="Between values. [default: found in the file]")
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark. [default: found]")
@click.option("--encoding", help="Of the text. [default: found: UTF-8 or Windows-1252]")
@click.option("--header/--no-header", default=None, help="Whether there is one. [default: found]")
@click.option("--policies", metavar="NAME", help="A policy class. [default: LinearPolicies]")
@click.option("--learner", "learners", multiple=True, metavar="NAME", help="Only these learners.")
@click.option("--rounds", type=click.IntRange(1), help="Only so many rows, from the first on.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--seeds", type=click.IntRange(1), default=1, help="Number of seeds, from --seed on.")
@click.option("--jobs", type=click.IntRange(1), default=1, help="Games to play in parallel.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Folder for results and the HTML report."
)
@click.option("--save", type=click.Path(path_type=Path), help="Write a trained hn.Decider here.")
@click.option(
    "--decisions", type=click.Path(path_type=Path), help="Write what the best choice does, a CSV."
)
@as_json
def replay(data: Path, as_json: bool, output: Path | None, **options: Any) -> int:
    """Replay DATA (.csv, .tsv, .txt, .jsonl, .vw, .dsjson, also packed, or .parquet) in its order.

    What does the present way of deciding cost, and what would the best choice have cost? DATA is a
    file, or - for standard input. It holds for each row the right class (--label), the loss of
    every action (--losses), or what one action cost (--action, --loss or --reward, --propensity).
    Files of Vowpal Wabbit contain the costs themselves and need none of these options.
    """
    with tempfile.TemporaryDirectory() as spare:
        named = data
        with stderr().status(f"reading {escape(str(data))}"):
            if str(data) == "-":
                data = spooled(Path(spare))
            stream = _read(data, options)
            plan = _plan(data, stream, options)
        folder = Path(spare) if output is None else output
        jobs = options["jobs"]
        done = play_plan(plan, folder, backend="serial" if jobs == 1 else "loky", jobs=jobs)
        if status := print_failures(done):
            return status
        answer = Answer(stream, done.records, done.times)
        code = snippet(stream, answer.choice)
        report = None
        if output is not None:
            report = write_report_of(plan, done, folder, answer.page(code))
        _take_away(plan, stream, answer, options)
    if as_json:
        place = None if output is None else str(output / "results.jsonl")
        files = {"results": place, "report": report and str(report), "snippet": code}
        print_json({**answer.as_dict(), **files})
        return 0
    console = Console()
    answer.print(console, code, named)
    if answer.warning is not None:
        screen = stderr()
        text = f"[yellow]warning:[/] {escape(answer.warning)}"
        screen.print(text, soft_wrap=not screen.is_terminal)
    for what, path in (
        ("report", report),
        ("decider", options["save"]),
        ("decisions", options["decisions"]),
    ):
        if path is not None:
            console.print(f"{what}: {escape(str(path))}", soft_wrap=True)
    return 0


def _take_away(plan: Plan, stream: Stream, answer: Answer, options: dict[str, Any]) -> None:
    """Write the files that are asked for."""
    choice = answer.choice
    try:
        if options["decisions"] is not None and choice is not None:
            learners = (c for c in plan.cells if c.learner and c.learner["name"] == choice.name)
            write_decisions(options["decisions"], stream, next(learners, plan.cells[0]), choice)
        if options["save"] is not None:
            with rounds_bar(stderr()) as bar:
                task = bar.add_task("training a Decider", total=stream.rounds)
                decider = train_decider(
                    stream, options["seed"], lambda t: bar.update(task, completed=t)
                )
            decider.save(options["save"])
    except OSError as error:
        raise ParameterError(f"{error.filename} cannot be written: {error.strerror}.") from None


def _read(data: Path, options: dict[str, Any]) -> Stream:
    asked = {name: options[name] for name in (*_DATA, "cost", *_LOG, *_VW, *LIMITS, *DIALECT)}
    if is_vw(data):
        return read_stream(data, asked, options["rounds"])
    for name in _VW:
        if asked[name] is not None:
            raise ParameterError(f"--{name} goes with files of Vowpal Wabbit: .vw or .dsjson.")
    ways = {"--label": "label", "--losses": "losses", "--action": "action"}
    chosen = [flag for flag, name in ways.items() if asked[name] is not None]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none of them"
        raise ParameterError(
            "Say what the rows hold: --label COLUMN, --losses A,B,… or --action COLUMN with "
            f"--loss or --reward and --propensity; got {got}."
        )
    strange = {"--action": ("labels", "current", "cost"), "--losses": (*_LOG, "cost")}
    for name in strange.get(chosen[0], _LOG):
        if asked[name] is not None:
            raise ParameterError(f"--{name} does not go with {chosen[0]}.")
    if asked["propensity"] is None and chosen == ["--action"]:
        raise ParameterError(
            "--action needs --propensity: the column of the probabilities with which the logged "
            "actions were taken, or a number, such as 0.25 if each of four was equally likely."
        )
    return read_stream(data, asked, options["rounds"])


def _plan(data: Path, stream: Stream, options: dict[str, Any]) -> Plan:
    learners = _learners(stream, _feedback(stream, options["feedback"]))
    wanted = options["learners"]
    if wanted:
        learners = {
            name: learners.get(name, _NAMED.get(name, {"type": name}))
            for name in dict.fromkeys(wanted)
        }
    elif stream.rounds > _LONG:
        learners = {name: row for name, row in learners.items() if name not in _SLOW}
    policies = _policies(options["policies"], stream)
    first = options["seed"]
    return make_plan(
        {
            "title": f"Replay of {data.name}",
            "seeds": list(range(first, first + options["seeds"])),
            "horizon": stream.rounds,
            "points": _POINTS,
            "folds": FOLDS,
            "environments": {"data": {"title": data.name, "policies": policies, **stream.table}},
            "learners": learners,
        }
    )


def _learners(stream: Stream, feedback: str) -> dict[str, dict[str, Any]]:
    """The recommended learner first, then what it is compared with."""
    learners: dict[str, dict[str, Any]]
    if stream.described:
        learners = {
            "hn.bandit": {"type": "bandit", "actions": "described"},
            "ItemLinUCB": {"type": "ItemLinUCB", "model": "shared"},
        }
    elif feedback == "bandit":
        plain = {} if _features(stream) else {"n_contexts": 1}
        learners = {
            "hn.bandit": {"type": "bandit", **plain},
            **{name: {"type": name} for name in ("LinUCB", "EpsilonGreedy")},
        }
    elif stream.logged:
        learners = {
            "ContextFTPL": _PLAIN,
            "FollowTheLeader": {"type": "FollowTheLeader", "loss_range": None},
        }
    elif _features(stream):
        restarting = {"type": "Restarting", "learner": _FULL}
        learners = {
            "hn.experts": {"type": "experts"},
            **({"Restarting": restarting} if stream.rounds <= _LONG else {"ContextFTPL": _FULL}),
            "FollowTheLeader": {"type": "FollowTheLeader"},
        }
    else:
        learners = {
            "hn.experts": {"type": "experts"},
            "FollowTheLeader": {"type": "FollowTheLeader"},
        }
    there = {entry.name for kind in ("learners", "baselines") for entry in entries(kind)}
    return {name: row for name, row in learners.items() if row["type"] in there}


def _features(stream: Stream) -> Any:
    """Those of a context, where contexts have some."""
    return getattr(stream.environment, "features", None)


def _feedback(stream: Stream, wanted: str | None) -> str:
    if not stream.logged:
        return wanted or "full"
    fits = "bandit" if stream.table["method"] == "rejection" else "full"
    if wanted not in (None, fits):
        raise ParameterError(
            f"--feedback {wanted} does not go with --method {stream.table['method']}: by rejection "
            "learners see the loss of one action, by importance weighting estimates of all."
        )
    return fits


def _policies(name: str | None, stream: Stream) -> dict[str, Any]:
    if stream.described:
        if name not in (None, "SharedLinear"):
            raise ParameterError(
                f"--policies {name} is for actions that are the same in every round; those of this "
                "log come and go, for which there is SharedLinear."
            )
        return {"type": "SharedLinear"}
    K = stream.environment.n_actions
    if not _features(stream):
        if name not in (None, "AllPolicies"):
            raise ParameterError(f"--policies {name} needs contexts, and there are none.")
        return {"type": "AllPolicies", "n_contexts": 1, "n_actions": K}
    try:
        oracle = find(name or "LinearPolicies", ("oracles",))
    except HannanError as error:
        raise ParameterError(f"--policies: {error}") from None
    if "n_actions" not in inspect.signature(oracle).parameters:
        raise ParameterError(
            f"--policies {name} is no class of policies that choose one of {K} actions from "
            "features: LinearPolicies, Stumps and Trees are."
        )
    return {"type": name or "LinearPolicies", "n_actions": K}
