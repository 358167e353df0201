"""`hannan quickstart`: what the project is for, in half a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hannan import ContextFTPL, Learner, Trace, baselines, environments, play
from hannan.core import Environment, Oracle
from hannan.core.validation import check_integer, check_seed
from hannan.oracles import FinitePolicies

_N, _D, _K = 1000, 50, 5
_WORLDS: dict[str, Callable[[Oracle], Environment]] = {
    "PlantedPolicy: independent losses, one policy is best": environments.PlantedPolicy,
    "LeaderPunisher: what the best policy so far would do costs 1": environments.LeaderPunisher,
}


def add(commands: Any) -> None:
    """Tell the command line of this command."""
    parser = commands.add_parser(
        "quickstart", help="three learners against a stochastic and an adversarial world"
    )
    parser.add_argument("--horizon", type=int, default=20_000, help="rounds of each game")
    parser.add_argument("--seed", type=int, default=0, help="of the policies, worlds and learners")
    parser.set_defaults(run=lambda options: quickstart(options.horizon, options.seed))


def quickstart(horizon: int, seed: int) -> int:
    """Follow the leader, uniform play and Context-FTPL on two worlds, as tables."""
    check_integer("quickstart", "horizon", horizon, 1)
    check_seed("quickstart", seed)
    console = Console()
    table = np.random.default_rng(seed).integers(0, _K, size=(_N, _D))
    oracle = FinitePolicies(table, n_actions=_K)
    console.print(
        f"{_N} policies on {_D} contexts with {_K} actions, {horizon:,} rounds, full information."
    )
    with console.status("compiling, on the first run only"):
        for learner in _learners(oracle, seed):
            play(learner, environments.LeaderPunisher(oracle), 50, seed=seed, oracle=oracle)
    for title, world in _WORLDS.items():
        console.print(_games(console, title, world(oracle), oracle, horizon, seed))
    console.print(
        "certificate: an estimated upper bound on expected regret, measured in play,\n"
        "without knowing the horizon or the range of the losses."
    )
    return 0


def _learners(oracle: FinitePolicies, seed: int) -> list[Learner]:
    return [
        baselines.FollowTheLeader(oracle),
        baselines.UniformRandom(_K, seed=seed),
        ContextFTPL(oracle, seed=seed),
    ]


def _games(
    console: Console,
    title: str,
    world: Environment,
    oracle: FinitePolicies,
    horizon: int,
    seed: int,
) -> Table:
    """Let every learner play one world; a row each."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column("learner")
    for heading in ("mean loss", "regret", "certificate", "oracle calls", "rounds/s"):
        table.add_column(heading, justify="right")
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        for learner in _learners(oracle, seed):
            task = bar.add_task(type(learner).__name__, total=horizon)

            def tick(t: int, task: int = task) -> None:
                if t % 500 == 0 or t == horizon:
                    bar.update(task, completed=t)  # type: ignore[arg-type]

            started = time.perf_counter()
            trace = play(learner, world, horizon, seed=seed, oracle=oracle, progress=tick)
            table.add_row(*_row(learner, trace, horizon / (time.perf_counter() - started)))
    return table


def _row(learner: Learner, trace: Trace, rate: float) -> list[str]:
    certificate = f"{float(learner.certificate()):,.0f}" if hasattr(learner, "certificate") else "-"
    return [
        type(learner).__name__,
        f"{trace.losses.mean():.4f}",
        f"{trace.regret():,.0f}",
        certificate,
        f"{trace.oracle_calls:,}",
        f"{rate:,.0f}",
    ]
