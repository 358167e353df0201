"""The command line: `hannan quickstart`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hannan import ContextFTPL, Learner, Trace, __version__, baselines, environments, play
from hannan.core import Environment, HannanError
from hannan.oracles import FinitePolicies


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="hannan", description="No-regret decisions against an adversary."
    )
    parser.add_argument("--version", action="version", version=f"hannan {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    quick = commands.add_parser(
        "quickstart", help="three learners against a stochastic and an adversarial world"
    )
    quick.add_argument("--horizon", type=int, default=20_000, help="rounds of each game")
    quick.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        quickstart(options.horizon, options.seed)
    except HannanError as error:
        print(f"hannan: {error}", file=sys.stderr)
        return 2
    return 0


def quickstart(horizon: int, seed: int) -> None:
    """Follow the leader, uniform play and Context-FTPL on two worlds, as a table."""
    console = Console()
    rng = np.random.default_rng(seed)
    oracle = FinitePolicies(rng.integers(0, 5, size=(1000, 50)), n_actions=5)
    worlds: list[Environment] = [
        environments.PlantedPolicy(oracle),
        environments.LeaderPunisher(oracle),
    ]
    learners: list[Callable[[], Learner]] = [
        lambda: baselines.FollowTheLeader(oracle),
        lambda: baselines.UniformRandom(5, seed=seed),
        lambda: ContextFTPL(oracle, seed=seed),
    ]
    console.print(
        f"1000 policies on 50 contexts with 5 actions, {horizon:,} rounds, full information.\n"
        "PlantedPolicy: independent losses, one policy is best. "
        "LeaderPunisher: whatever the best policy so far would do costs 1.\n"
    )
    table = Table()
    for name in ("environment", "learner"):
        table.add_column(name)
    for name in ("mean loss", "regret", "certificate", "oracle calls", "rounds/s"):
        table.add_column(name, justify="right")
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        for world in worlds:
            for make in learners:
                learner = make()
                name = f"{type(learner).__name__} on {type(world).__name__}"
                task = bar.add_task(name, total=horizon)
                started = time.perf_counter()

                def tick(t: int, task: int = task) -> None:
                    if t % 500 == 0 or t == horizon:
                        bar.update(task, completed=t)  # type: ignore[arg-type]

                trace = play(learner, world, horizon, seed=seed, oracle=oracle, progress=tick)
                rate = horizon / (time.perf_counter() - started)
                table.add_row(*_row(world, learner, trace, rate))
            table.add_section()
    console.print(table)
    console.print(
        "certificate: an upper bound on expected regret that the learner measured while it "
        "played,\nwithout knowing the horizon or the range of the losses."
    )


def _row(world: Environment, learner: Learner, trace: Trace, rate: float) -> list[str]:
    certificate = f"{float(learner.certificate()):,.0f}" if hasattr(learner, "certificate") else "-"
    return [
        type(world).__name__,
        type(learner).__name__,
        f"{trace.losses.mean():.4f}",
        f"{trace.regret():,.0f}",
        certificate,
        f"{trace.oracle_calls:,}",
        f"{rate:,.0f}",
    ]
