"""`hannan replay`: what a learner would have cost on your own data."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from hannan.adapters.vw.files import is_vw
from hannan.cli.output import (
    COUNT,
    PATH,
    as_json,
    play_plan,
    print_failures,
    print_json,
    rounds_bar,
    stderr,
    write_report_of,
)
from hannan.cli.replay_answer import Answer, Player
from hannan.cli.replay_data import Stream, read_stream, spooled
from hannan.cli.replay_takeaways import snippet, train_decider, write_decisions
from hannan.core import ParameterError
from hannan.experiments.catalogue import at_place, find
from hannan.experiments.fitted_rules import FOLDS
from hannan.experiments.plan import Plan, make_plan

_FULL = {"type": "ContextFTPL", "predictor": {"type": "Ridge"}}
_PLAIN = {"type": "ContextFTPL", "loss_range": None}
_RESTARTING = {"type": "Restarting", "learner": _FULL}
_NAMED: dict[str, dict[str, Any]] = {
    "ContextFTPL": _FULL,
    "Restarting": _RESTARTING,
    "UniformRandom": {"type": "UniformRandom", "loss_range": None},
}
"""How learners that are asked for by name are made here."""
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
    "COLUMN|NUMBER",
    callback=_number_or_column,
)
@_option("--method", "How a log is replayed. [default: rejection]", ["rejection", "importance"])
@_option(
    "--floor",
    "Smallest propensity used by rejection; a larger floor keeps more rows but adds bias.",
    click.FloatRange(0.0, 1.0, min_open=True),
)
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
@_option("--decisions", "Write what the best choice does, a CSV.", PATH)
@as_json
def replay(
    data: Path,
    as_json: bool,
    output: Path | None,
    save: Path | None,
    decisions: Path | None,
    rounds: int | None,
    jobs: int,
    policies: str | None,
    learners: tuple[str, ...],
    feedback: str | None,
    seed: int,
    seeds: int,
    **columns: Any,
) -> int:
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
            _check_columns(data, columns)
            stream = read_stream(data, columns, rounds)
            world = {"title": data.name, **stream.table}
            plan = make_plan(
                {
                    "title": f"Replay of {data.name}",
                    "seeds": list(range(seed, seed + seeds)),
                    "horizon": stream.rounds,
                    "points": _POINTS,
                    "folds": FOLDS,
                    "learners": _learners(stream, feedback, learners),
                    "environments": {"data": {**world, "policies": _policies(policies, stream)}},
                }
            )
        folder = Path(spare) if output is None else output
        done = play_plan(plan, folder, backend="serial" if jobs == 1 else "loky", jobs=jobs)
        if status := print_failures(done):
            return status
        answer = Answer(stream, done.records, done.times)
        code = snippet(stream, answer.choice)
        report = None
        if output is not None:
            report = write_report_of(plan, done, folder, answer.page(code))
        _take_away(plan, stream, answer.choice, decisions, save, seed)
    if as_json:
        results = None if output is None else str(output / "results.jsonl")
        files = {"results": results, "report": report and str(report), "snippet": code}
        print_json({**answer.as_dict(), **files})
        return 0
    console, screen = Console(), stderr()
    answer.print(console, code, named)
    if answer.warning is not None:
        text = f"[yellow]warning:[/] {escape(answer.warning)}"
        screen.print(text, soft_wrap=not screen.is_terminal)
    for what, path in {"report": report, "decider": save, "decisions": decisions}.items():
        if path is not None:
            console.print(f"{what}: {escape(str(path))}", soft_wrap=True)
    return 0


def _take_away(
    plan: Plan,
    stream: Stream,
    choice: Player | None,
    decisions: Path | None,
    save: Path | None,
    seed: int,
) -> None:
    """Write the files that are asked for."""
    try:
        if decisions is not None and choice is not None:
            write_decisions(decisions, stream, plan, choice)
        if save is not None:
            with rounds_bar(stderr()) as bar:
                task = bar.add_task("training a Decider", total=stream.rounds)
                decider = train_decider(stream, seed, lambda t: bar.update(task, completed=t))
            decider.save(save)
    except OSError as error:
        raise ParameterError(f"{error.filename} cannot be written: {error.strerror}.") from None


def _check_columns(data: Path, asked: dict[str, Any]) -> None:
    """Refuse options that do not go together, or say too little of what the rows hold."""
    if is_vw(data):
        return
    for name in ("format", "hash"):
        if asked[name] is not None:
            raise ParameterError(f"--{name} goes with files of Vowpal Wabbit: .vw or .dsjson.")
    chosen = [f"--{name}" for name in ("label", "losses", "action") if asked[name] is not None]
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


def _learners(stream: Stream, feedback: str | None, names: tuple[str, ...]) -> dict[str, Any]:
    """The tables of those that are asked for; else the recommended learner, and some others."""
    usual = _usual_learners(stream, _feedback(stream, feedback))
    if names:
        return {name: usual.get(name, _NAMED.get(name, {"type": name})) for name in names}
    if stream.rounds > _LONG:
        usual.pop("hn.experts", None)
    return usual


def _usual_learners(stream: Stream, feedback: str) -> dict[str, dict[str, Any]]:
    """The recommended learner first, then what it is compared with."""
    leader = {"type": "FollowTheLeader"}
    if stream.described:
        return {
            "hn.bandit": {"type": "bandit", "actions": "described"},
            "ItemLinUCB": {"type": "ItemLinUCB", "model": "shared"},
        }
    if feedback == "bandit":
        plain = {} if stream.features else {"n_contexts": 1}
        others = {name: {"type": name} for name in ("LinUCB", "EpsilonGreedy")}
        return {"hn.bandit": {"type": "bandit", **plain}, **others}
    if stream.logged:
        return {"ContextFTPL": _PLAIN, "FollowTheLeader": {**leader, "loss_range": None}}
    learners: dict[str, dict[str, Any]] = {"hn.experts": {"type": "experts"}}
    if stream.features and stream.rounds <= _LONG:
        learners["Restarting"] = _RESTARTING
    elif stream.features:
        learners["ContextFTPL"] = _FULL
    return {**learners, "FollowTheLeader": leader}


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
    if not stream.features:
        if name not in (None, "AllPolicies"):
            raise ParameterError(f"--policies {name} needs contexts, and there are none.")
        return {"type": "AllPolicies", "n_contexts": 1, "n_actions": K}
    with at_place("--policies"):
        oracle = find(name or "LinearPolicies", ("oracles",))
    if "n_actions" not in inspect.signature(oracle).parameters:
        raise ParameterError(
            f"--policies {name} is no class of policies that choose one of {K} actions from "
            "features: LinearPolicies, Stumps and Trees are."
        )
    return {"type": name or "LinearPolicies", "n_actions": K}
