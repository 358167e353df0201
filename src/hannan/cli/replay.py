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
    stderr,
    write_report_of,
)
from hannan.cli.replay_answer import Answer
from hannan.cli.replay_data import LIMITS, Stream, read_stream
from hannan.core import HannanError, ParameterError
from hannan.experiments.catalogue import entries, find
from hannan.experiments.plan import Plan, make_plan

_RIDGE = {"type": "Ridge"}
_FULL = {"type": "ContextFTPL", "predictor": _RIDGE}
_PLAIN = {"type": "ContextFTPL", "loss_range": None}
_DATA = ("context", "categorical", "label", "labels", "losses", "current", "value_range")
_VW = ("format", "hash")
_LOG = ("action", "actions", "loss", "reward", "propensity", "method", "floor")


def _listed(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Any:
    """Names from one text with commas, or from several."""
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    return names or None


def _range(ctx: click.Context, option: click.Parameter, given: str | None) -> Any:
    try:
        low, high = (float(part) for part in given.split(",")) if given else (0.0, 1.0)
    except ValueError:
        raise click.BadParameter(f"must be LOW,HIGH; got {given!r}.") from None
    return (low, high) if given else None


def _number_or_column(ctx: click.Context, option: click.Parameter, given: str | None) -> Any:
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def _several(name: str, what: str) -> Callable[[Any], Any]:
    return click.option(name, multiple=True, callback=_listed, metavar="A,B,…", help=what)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@_several("--context", "Columns shown before acting. [default: all numbers not used otherwise]")
@_several("--categorical", "Columns of the context that hold categories, not numbers.")
@click.option("--label", metavar="COLUMN", help="The right class: playing another one costs 1.")
@_several("--labels", "The classes, in place of those found in the file.")
@_several("--losses", "In place of --label: a column with the loss of each action.")
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
    help="Of propensities, for rejection: a higher one keeps more rows, with a bias.",
)
@click.option(
    "--value-range",
    metavar="LOW,HIGH",
    callback=_range,
    help="Of the losses or rewards in the file. [default: found in the file; of a log 0,1]",
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
@click.option("--policies", metavar="NAME", help="A policy class. [default: LinearPolicies]")
@click.option("--learner", "learners", multiple=True, metavar="NAME", help="Only these learners.")
@click.option("--rounds", type=click.IntRange(1), help="Only so many rows, from the first on.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--seeds", type=click.IntRange(1), default=1, help="So many seeds, from --seed on.")
@click.option("--jobs", type=click.IntRange(1), default=1, help="Games at the same time.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Folder for results and the HTML report."
)
@as_json
def replay(data: Path, as_json: bool, output: Path | None, **options: Any) -> int:
    """Replay DATA (.csv, .jsonl, .vw, .dsjson, all also .gz, or .parquet) in its order.

    What would a learner have cost, against the best policy found in hindsight and against what is
    used now? DATA holds for each row the right class (--label), the loss of every action
    (--losses), or what one action cost (--action, --loss or --reward, --propensity). Files of
    Vowpal Wabbit contain the costs themselves and need none of these options.
    """
    with stderr().status(f"reading {escape(str(data))}"):
        stream = _read(data, options)
        plan = _plan(data, stream, options)
    with tempfile.TemporaryDirectory() as spare:
        folder = Path(spare) if output is None else output
        jobs = options["jobs"]
        done = play_plan(plan, folder, backend="serial" if jobs == 1 else "loky", jobs=jobs)
        report = None if output is None else write_report_of(plan, done, folder)
    if status := print_failures(done):
        return status
    answer = Answer(stream, done.records, done.times)
    if as_json:
        place = None if output is None else str(output / "results.jsonl")
        print_json({**answer.as_dict(), "results": place, "report": report and str(report)})
        return 0
    console = Console()
    answer.print(console)
    if answer.warning is not None:
        screen = stderr()
        text = f"[yellow]warning:[/] {escape(answer.warning)}"
        screen.print(text, soft_wrap=not screen.is_terminal)
    if report is not None:
        console.print(f"report: {escape(str(report))}", soft_wrap=True)
    return 0


def _read(data: Path, options: dict[str, Any]) -> Stream:
    given = {name: options[name] for name in _DATA + _LOG + _VW + LIMITS}
    if is_vw(data):
        return read_stream(data, given, options["rounds"])
    for name in _VW:
        if given[name] is not None:
            raise ParameterError(f"--{name} goes with files of Vowpal Wabbit: .vw or .dsjson.")
    ways = {"--label": "label", "--losses": "losses", "--action": "action"}
    chosen = [flag for flag, name in ways.items() if given[name] is not None]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none of them"
        raise ParameterError(
            "Say what the rows hold: --label COLUMN, --losses A,B,… or --action COLUMN with "
            f"--loss or --reward and --propensity; got {got}."
        )
    for name in ("labels", "current") if chosen == ["--action"] else _LOG:
        if given[name] is not None:
            raise ParameterError(f"--{name} does not go with {chosen[0]}.")
    if given["propensity"] is None and chosen == ["--action"]:
        raise ParameterError(
            "--action needs --propensity: the column of the probabilities with which the logged "
            "actions were taken, or a number, such as 0.25 if each of four was equally likely."
        )
    if given["context"] is not None and given["categorical"] is not None:
        # What holds categories belongs to the context, named there or not.
        given["context"] = list(dict.fromkeys([*given["context"], *given["categorical"]]))
    return read_stream(data, given, options["rounds"])


def _plan(data: Path, stream: Stream, options: dict[str, Any]) -> Plan:
    learners = _learners(stream, _feedback(stream, options["feedback"]))
    wanted = options["learners"]
    if wanted:
        learners = {name: learners.get(name, {"type": name}) for name in dict.fromkeys(wanted)}
    if stream.constant is not None:
        always = {"type": "hannan.cli.references:Always", "action": stream.constant}
        learners[f"always {stream.names[stream.constant]}"] = always
    if stream.current is not None and not stream.logged:
        taken = {"type": "hannan.cli.references:Taken", "horizon": stream.rounds}
        learners["current"] = {**taken, "environment": stream.table}
    policies = _policies(options["policies"], stream)
    first = options["seed"]
    return make_plan(
        {
            "title": f"Replay of {data.name}",
            "seeds": list(range(first, first + options["seeds"])),
            "horizon": stream.rounds,
            "environments": {"data": {"title": data.name, "policies": policies, **stream.table}},
            "learners": learners,
        }
    )


def _learners(stream: Stream, feedback: str) -> dict[str, dict[str, Any]]:
    """The recommended learner first, then what it is compared with."""
    found: dict[str, dict[str, Any]]
    if stream.described:
        found = {
            "hn.bandit": {"type": "bandit", "actions": "described"},
            "ItemLinUCB": {"type": "ItemLinUCB", "model": "shared"},
        }
    elif feedback == "bandit":
        plain = {} if _features(stream) else {"n_contexts": 1}
        found = {
            "hn.bandit": {"type": "bandit", **plain},
            **{name: {"type": name} for name in ("LinUCB", "EpsilonGreedy")},
        }
    elif stream.logged:
        found = {
            "ContextFTPL": _PLAIN,
            "FollowTheLeader": {"type": "FollowTheLeader", "loss_range": None},
        }
    elif _features(stream):
        found = {
            "hn.experts": {"type": "experts"},
            "ContextFTPL": _FULL,
            "Restarting": {"type": "Restarting", "learner": _FULL},
            "FollowTheLeader": {"type": "FollowTheLeader"},
        }
    else:
        found = {"hn.experts": {"type": "experts"}, "FollowTheLeader": {"type": "FollowTheLeader"}}
    found["UniformRandom"] = {"type": "UniformRandom", "loss_range": None}
    there = {entry.name for kind in ("learners", "baselines") for entry in entries(kind)}
    return {name: row for name, row in found.items() if row["type"] in there}


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
        made = find(name or "LinearPolicies", ("oracles",))
    except HannanError as error:
        raise ParameterError(f"--policies: {error}") from None
    if "n_actions" not in inspect.signature(made).parameters:
        raise ParameterError(
            f"--policies {name} is no class of policies that choose one of {K} actions from "
            "features: LinearPolicies, Stumps and Trees are."
        )
    return {"type": name or "LinearPolicies", "n_actions": K}
