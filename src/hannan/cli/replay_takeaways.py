"""What is taken away from a replay: code, decisions row by row, and a trained Decider."""

from __future__ import annotations

import csv
import pprint
from collections.abc import Iterator
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from hannan.adapters.vw.files import FromVW
from hannan.baselines import __all__ as BASELINES
from hannan.cli.replay_answer import Player
from hannan.cli.replay_data import Stream
from hannan.core import Feedback, ParameterError
from hannan.environments import FromFile, FromLog
from hannan.environments._features import column_of
from hannan.experiments.catalogue import RECOMMENDED
from hannan.experiments.cell import Cell
from hannan.experiments.fitted_rules import Fitted, rows_of, sample_of
from hannan.experiments.game import Game, world_rng
from hannan.experiments.plan import Plan
from hannan.learners import __all__ as LEARNERS

_BLOCK = 1024
_ALREADY = {"path", "scale", "categorical", "oracle", "baseline", "max_columns", "max_unpacked"}


def snippet(stream: Stream, choice: Player | None) -> str:
    """Python that builds the best choice from the file, and asks it for a decision."""
    environment = stream.environment
    kind = type(environment).__name__
    module = "adapters" if isinstance(environment, FromVW) else "environments"
    given = {
        name: dict(map(tuple, value)) if name == "context" and stream.columns else value
        for name, value in stream.table.items()
        if name not in _ALREADY | {"type"} and value not in (None, [])
    }
    path = str(Path(environment.path))
    head = f"import hannan as hn\n\nworld = hn.{module}.{kind}(\n    {path!r},\n"
    for name, value in given.items():
        text = pprint.pformat(value, sort_dicts=False, width=88, compact=True)
        head += f"    {name}={text}".replace("\n", "\n    ") + ",\n"
    head += ")\n"
    if choice is None or choice.kind == "constant" or stream.described:
        return head
    if choice.kind == "rule":
        return (
            f"import numpy as np\n{head}"
            f"rounds = list(world.rounds({stream.rounds}, np.random.default_rng(0)))\n"
            "X = np.array([r.context for r in rounds])\n"
            "losses = np.array([r.reveal(0) for r in rounds])\n"
            f"rule = hn.experiments.fit_rule({choice.name!r}, X, losses)\n"
            "print(world.actions[rule.choose(X[-1:])[0]])  # for the last row"
        )
    return (
        f"{head}learner = {_call(choice.record['cell']['learner'], environment)}\n"
        f"trace = hn.play(learner, world, {stream.rounds}, seed=0)\n"
        "print(trace.mean_loss, world.actions[trace.actions[-1]])"
    )


def _call(table: dict[str, Any], environment: FromFile | FromLog | FromVW) -> str:
    """The call that makes a learner of its table."""
    kind = str(table["type"]).removeprefix("hn.")
    K = environment.n_actions
    policies = f"hn.oracles.LinearPolicies({K})"
    if not getattr(environment, "features", True):
        policies = f"hn.oracles.AllPolicies(1, {K})"
    arguments = {name: repr(v) for name, v in table.items() if name not in ("name", "type")}
    for name, inner in table.items():
        if isinstance(inner, dict):
            predictor = f"hn.predictors.{inner['type']}()"
            arguments[name] = predictor if name == "predictor" else _call(inner, environment)
    first, seed = [], ["seed=0"]
    if kind in RECOMMENDED:
        first = [] if "actions" in arguments else [str(K) if kind == "bandit" else policies]
    elif kind in BASELINES:
        first = [policies if kind in ("FollowTheLeader", "EpochGreedy") else str(K)]
        seed, kind = [], f"baselines.{kind}"
    elif kind in LEARNERS and "learner" not in arguments:
        first = [policies]
    else:
        seed = []
    named = [f"{name}={text}" for name, text in arguments.items()]
    return f"hn.{kind}({', '.join([*first, *named, *seed])})"


def decisions(stream: Stream, cell: Cell, choice: Player) -> Iterator[int]:
    """What the best choice would have done in each row."""
    environment, policies = cell.world()
    if choice.kind == "constant":
        action = stream.names.index(choice.name.removeprefix("always "))
        yield from repeat(action, stream.rounds)
    elif choice.kind == "rule":
        assert policies is not None
        sample = sample_of(environment, policies, stream.rounds, cell.seed)
        assert sample is not None
        rule = Fitted(choice.name, sample, stream.rounds, cell.folds)
        rounds, done = environment.rounds(stream.rounds, world_rng(cell.seed)), 0
        while block := list(islice(rounds, _BLOCK)):
            yield from rule.choose(rows_of(policies, done, block), done).tolist()
            done += len(block)
    else:
        game = Game(cell.player(), environment, stream.rounds, world_rng(cell.seed))
        for this_round in game:
            yield int(this_round.action)  # type: ignore[arg-type]


def write_decisions(path: Path, stream: Stream, plan: Plan, choice: Player) -> None:
    """A CSV file: the number of each row that was played, and the action."""
    learners = (c for c in plan.cells if c.learner and c.learner["name"] == choice.name)
    cell = next(learners, plan.cells[0])
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["row", "decision"])
        for i, action in enumerate(decisions(stream, cell, choice), start=1):
            table.writerow([i, stream.names[action]])


def train_decider(stream: Stream, seed: int, tick: Any) -> Any:
    """A `Decider` that has played the file, with its features and in its units."""
    from hannan.decisions import Decider

    environment, units = stream.environment, stream.units
    if stream.columns is None or isinstance(environment, FromVW):
        raise ParameterError("--save needs a table of rows, not a log of Vowpal Wabbit.")
    kinds = {name: column_of(kind) for name, kind in stream.columns.kinds.items()}
    span: dict[str, Any] = {"rewards" if units.rewards else "losses": (units.low, units.high)}
    decider = Decider(actions=stream.names, features=kinds or None, seed=seed, **span)
    rows: Iterator[Any] = environment.rows(stream.rounds) if kinds else repeat(None)
    bare = environment.clone(context=None)
    if isinstance(bare, FromLog) and bare.method != "rejection":
        bare = bare.clone(method="rejection")
    places = {name: k for k, name in enumerate(stream.names)}
    rounds = bare.rounds(stream.rounds, world_rng(seed))
    for t, (this_round, row) in enumerate(zip(rounds, rows, strict=False), start=1):
        decision = decider.decide(row)
        loss = this_round.reveal(places[str(decision.action)], Feedback.SEMI)
        if loss is None:  # the log does not say
            decider.expire(older_than=0.0)
        else:
            decider.report(decision, **{units.name: units.mean(float(loss))})
        if t % _BLOCK == 0 or t == stream.rounds:
            tick(t)
    return decider
