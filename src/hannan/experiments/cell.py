"""A cell of an experiment: one learner in one environment with one seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, repeat
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hannan._version import __version__
from hannan.core import Environment, Learner, Oracle, ParameterError, Policy, Round
from hannan.core.oracle import context_at
from hannan.core.policy import loss_of
from hannan.core.validation import FloatArray
from hannan.environments.from_log import Logged
from hannan.experiments.catalogue import Workshop
from hannan.experiments.fitted_rules import hindsight_record, put_beside, rows_of
from hannan.experiments.game import Game, world_rng
from hannan.experiments.recorder import Hindsight, Marks, RunRecorder
from hannan.experiments.search import Candidate, Sample, candidates
from hannan.oracles import FinitePolicies

_OF_ENVIRONMENTS = ("name", "title", "horizon", "policies")
_OF_LEARNERS = ("name", "title", "environments")
"""Keys that are not arguments of a constructor."""

_BLOCK = 1024  # rounds in one call of a fitted model


@dataclass(frozen=True, repr=False)
class Cell:
    """One run of an experiment: the tables of its experiment file, a seed and a horizon.

    A cell without a learner finds the best policy in hindsight, if that policy is the same for all
    learners.
    """

    environment: Mapping[str, Any]
    learner: Mapping[str, Any] | None
    policies: Mapping[str, Any] | str | None
    shared: Mapping[str, Any]
    seed: int
    horizon: int
    points: int
    data: str | None = None
    """Digest of the files that the tables of the environment name."""
    data_of_learner: str | None = None
    """Digest of the files that the table of the learner names."""
    folder: str | None = None
    """Folder of the experiment file, of its data files and of `mine.py`."""
    folds: int = 0
    """Number of folds for rules that a cell without a learner fits; 0 to fit none."""

    @cached_property
    def table(self) -> dict[str, Any]:
        """All values that determine the result."""
        names = ("environment", "learner", "policies", "seed", "horizon", "points", "data")
        table = {name: getattr(self, name) for name in names}
        if self.folds:
            table["folds"] = self.folds
        return table | {  # shared tables count only where they are used
            "shared": _used(self.shared, [self.environment, self.policies]),
            "shared_with_learner": _used(self.shared, self.learner),
            "data_of_learner": self.data_of_learner,
            "hannan": __version__,
        }

    @cached_property
    def key(self) -> str:
        """Sixteen hexadecimal digits that identify the cell."""
        text = json.dumps(self.table, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"<cell {self.key}: {self.label}>"

    @property
    def label(self) -> str:
        """Readable description."""
        who = "best policy in hindsight" if self.learner is None else self.learner["name"]
        return f"{who} on {self.environment['name']}, seed {self.seed}"

    def world(self) -> tuple[Environment, Oracle | None]:
        """Return the environment, and the policy class that regret is measured against."""
        environment, policies, _ = self._world
        return environment, policies

    def make_learner(self) -> Learner:
        """Build the learner."""
        if self.learner is None:
            raise ParameterError(
                "This cell has no learner: it computes the best policy in hindsight."
            )
        environment, policies, names = self._world
        supplied: dict[str, Any] = {"seed": self.seed, "n_actions": environment.n_actions}
        if policies is not None:
            supplied |= {"oracle": policies, "policies": policies}
            if isinstance(policies, FinitePolicies):
                supplied["actions"] = policies  # for learners with a weight for each policy
        if "n_contexts" in self.learner:  # instead of a policy class
            supplied.pop("policies", None)
        place = f"learners.{self.learner['name']}"
        table = self._located(self.learner, _OF_LEARNERS)
        workshop = Workshop(names, supplied, self.folder)
        learner = workshop.build(table, place, ("learners", "baselines"))
        for verb in ("act", "update"):
            if not callable(getattr(learner, verb, None)):
                raise ParameterError(f"{place}: a learner needs {verb}(); got {learner!r}.")
        return learner  # type: ignore[no-any-return]

    @cached_property
    def _world(self) -> tuple[Environment, Oracle | None, dict[str, Any]]:
        names: dict[str, Any] = {"seed": self.seed, "horizon": self.horizon}
        supplied: dict[str, Any] = {}
        workshop = Workshop(names, supplied, self.folder)  # both dicts grow below
        for name, table in self.shared.items():
            names[name] = workshop.build(self._located(table), f"shared.{name}", ())
        place = f"environments.{self.environment['name']}"
        policies = None
        if self.policies is not None:
            wanted = self._located(self.policies)
            policies = workshop.made(wanted, f"{place}.policies", ("oracles",))
            if not isinstance(policies, Oracle):
                raise ParameterError(f"{place}.policies: {policies!r} is not an oracle.")
            names["policies"] = supplied["oracle"] = policies
        table = self._located(self.environment, _OF_ENVIRONMENTS)
        environment = workshop.build(table, place, ("environments",))
        if not isinstance(environment, Environment):
            raise ParameterError(f"{place}: {self.environment['type']} is not an environment.")
        names |= {"contexts": environment.contexts, "n_actions": environment.n_actions}
        return environment, policies, names

    def _located(self, value: Any, apart: tuple[str, ...] = ()) -> Any:
        """Return a table without the keys `apart`; relative paths start at the folder."""
        if isinstance(value, list):
            return [self._located(inner) for inner in value]
        if not isinstance(value, Mapping):
            return value
        table = {k: self._located(inner) for k, inner in value.items() if k not in apart}
        if self.folder is not None and isinstance(path := table.get("path"), str):
            table["path"] = str(Path(self.folder, path))
        return table


def play_cell(
    cell: Cell, tick: Callable[[int], None] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a cell; return its record and the seconds it took.

    `play_cell` calls `tick` from time to time with the number of rounds played.
    """
    started = perf_counter()
    # Sums of a matrix product depend on how many threads share the work.
    with threadpool_limits(1):
        played = _look_back(cell, tick) if cell.learner is None else _play(cell, tick)
    result, learner, curve = played
    record = {"key": cell.key, "cell": cell.table, "result": result}
    seconds = perf_counter() - started
    return record, {"key": cell.key, "seconds": seconds, "learner": learner, "curve": curve}


def play_game(
    learner: Learner,
    environment: Environment,
    horizon: int,
    rng: np.random.Generator,
    points: int,
    comparator: Oracle | None = None,
    tick: Callable[[int], None] | None = None,
    confusion: bool = False,
) -> tuple[dict[str, Any], float, list[float]]:
    """Run a learner in constant memory; return the result, the learner's seconds and their curve.

    The recorder tracks the best policy of the comparator at the cost of one addition per round. If
    the environment knows the right class of each round, `confusion` counts the actions by class.
    """
    game = Game(learner, environment, horizon, rng)
    recorder = RunRecorder(learner, comparator, points, horizon, tick)
    classes = getattr(environment, "classes", None) if confusion else None
    counts = np.zeros((len(classes or ()), environment.n_actions or 0), dtype=np.int64)
    right = environment.right_classes(horizon) if classes else repeat(None)  # type: ignore[attr-defined]
    for this_round, k in zip(game, right, strict=False):
        recorder.record(this_round, game.seconds)
        if k is not None:
            counts[k, this_round.action] += 1
    result, curve = recorder.result(game.seconds)
    if classes:
        result["confusion"] = counts.tolist()
    return result, game.seconds, curve


def _play(
    cell: Cell, tick: Callable[[int], None] | None
) -> tuple[dict[str, Any], float, list[float]]:
    environment, policies = cell.world()
    # An oblivious environment has one best policy for all learners: a separate cell finds it.
    comparator = None if environment.oblivious else policies
    at = cell.horizon, world_rng(cell.seed), cell.points
    return play_game(cell.make_learner(), environment, *at, comparator, tick, cell.folds > 0)


def _look_back(
    cell: Cell, tick: Callable[[int], None] | None
) -> tuple[dict[str, Any], float, list[float]]:
    environment, policies = cell.world()
    assert policies is not None
    started = perf_counter()
    beside = result = None
    if cell.folds:
        of = cell.horizon, cell.points, cell.seed, cell.folds
        beside, result = put_beside(environment, policies, *of, tick=tick)
    if result is None:
        result = look_back(environment, policies, cell.horizon, cell.points, cell.seed)
    if beside is not None:
        result["beside"] = beside
    return result, perf_counter() - started, []


def look_back(
    environment: Environment, policies: Oracle, horizon: int, points: int, seed: int
) -> dict[str, Any]:
    """Compute the loss curve of the best policy in hindsight in an oblivious environment.

    Each point is the least loss of any policy up to that round. If the oracle only approximates
    the best policy, `search.candidates` fits several policies to all rounds. A second pass
    over the rounds measures them. The curve is then that of the cheapest policy, and "found" is
    its name.
    """
    best, marks = Hindsight(policies), Marks(points, horizon)
    fitted = not policies.exact and policies.takes_new_contexts and policies.max_chosen == 1
    fitted = fitted and not policies.takes_items  # other models are for rows
    sample, curve, rounds = Sample(), list[tuple[int, Any, Policy]](), 0

    def world() -> Iterator[Round]:
        return environment.rounds(horizon, world_rng(seed))

    for this_round in world():
        if this_round.available is not None:
            raise ParameterError(
                f"{type(environment).__name__} has unavailable actions, so the loss of a policy "
                "depends on the learner's actions. Set `oblivious = False` in the environment."
            )
        this_round.reveal(0)
        best.add(this_round)
        if fitted:
            sample.add(context_at(policies, rounds, this_round.context), this_round.losses)
        rounds += 1
        if marks.due(rounds):
            curve.append((rounds, best.loss(), best.policy()))
    if not curve or curve[-1][0] != rounds:
        curve.append((rounds, best.loss(), best.policy()))
    at, losses, leaders = (list(column) for column in zip(*curve, strict=True))
    found: str | None = None
    led: tuple[Any, ...] = best.numbered(leaders)
    if fitted and rounds:
        # Estimates from a log are too noisy to choose among many models.
        several = not isinstance(environment, Logged)
        choices = candidates(policies, leaders[-1], sample, other_models=several)
        curves = _losses_of(choices, world(), policies, at)
        cheapest = int(curves[:, -1].argmin())
        found, losses = choices[cheapest].name, curves[cheapest].tolist()
        led = ()
    elif not policies.exact:
        found = type(policies).__name__
        losses = _loss_of(leaders[-1], world(), policies, at)
    return hindsight_record(rounds, at, losses, found, *led)


def _losses_of(
    choices: list[Candidate], rounds: Iterator[Round], oracle: Oracle, at: list[int]
) -> FloatArray:
    """Return the total losses of each candidate at each point of the curve, [candidate, point]."""
    curves, totals = np.empty((len(choices), len(at))), np.zeros(len(choices))
    done = point = 0
    while point < len(at):
        block = list(islice(rounds, min(_BLOCK, at[point] - done)))
        for this_round in block:
            this_round.reveal(0)
        X, costs = rows_of(oracle, done, block), np.array([each.losses for each in block])
        done += len(block)
        for i, each in enumerate(choices):
            totals[i] += costs[np.arange(len(costs)), each.choose(X)].sum()
        if done == at[point]:
            curves[:, point] = totals
            point += 1
    return curves


def _loss_of(policy: Policy, rounds: Iterator[Round], oracle: Oracle, at: list[int]) -> list[float]:
    wanted, found, total = set(at), [], 0.0
    for t, this_round in enumerate(rounds):
        action = policy(context_at(oracle, t, this_round.context))
        this_round.reveal(action)
        total += loss_of(this_round.losses, action)
        if t + 1 in wanted:
            found.append(total)
    return found


def _used(shared: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return the shared tables that a value refers to, directly or through other shared tables."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return {name: table for v in value for name, table in _used(shared, v).items()}
    if isinstance(value, str) and value.startswith("$") and value[1:] in shared:
        table = shared[value[1:]]
        return {value[1:]: table, **_used(shared, table)}
    return {}
