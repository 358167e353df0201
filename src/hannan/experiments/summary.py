"""Summaries of results: regret against the best policy, and means with confidence intervals."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from hannan.experiments.fitted_rules import records_of
from hannan.experiments.hints import Hints

Record = dict[str, Any]


def compared(records: Iterable[Record], spare: bool = False) -> list[Record]:
    """Return the records of learners, each with the best policy of its environment.

    `spare` includes single actions that are not the best one.

    In an oblivious environment the best policy in hindsight has a separate record. Its curve is
    copied into the records of all learners in that environment with that seed.
    """
    played: list[Record] = []
    best: dict[str, Any] = {}
    beside: list[Record] = []
    for record in records:
        if record["cell"]["learner"] is not None:
            played.append(record)
        else:
            best[_world(record)] = record["result"]
            beside += records_of(record, spare)
    return [_beside(record, best.get(_world(record))) for record in (*played, *beside)]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over seeds, and half the width of its 95 % confidence interval (by Student's t)."""

    mean: float
    half_width: float | None
    count: int

    def __str__(self) -> str:
        return self.show()

    def show(self, digits: int = 4) -> str:
        """Format the interval for a table, with this number of decimals."""
        spread = "" if self.half_width is None else f" ± {self.half_width:,.{digits}f}"
        return f"{self.mean:,.{digits}f}{spread}"


@dataclass(frozen=True, slots=True)
class Row:
    """Summary of a learner in an environment, over all seeds; None for unknown values."""

    environment: str
    learner: str
    feedback: str
    rounds: int
    mean_loss: Interval | None
    regret: Interval | None
    best: Interval | None
    """Mean loss of the best policy in hindsight."""
    found: str | None
    """Models that found the best policy, most frequent first; None if the optimum is exact."""
    bound: Interval | None
    certificate: Interval | None
    calls_per_round: float
    effective: float
    rounds_per_second: float | None
    hints: Hints | None
    """Performance of the hints, if the learner has a predictor and bandit feedback."""

    def as_dict(self) -> dict[str, Any]:
        """Return the row as a dict of plain values."""
        return asdict(self)


def summarise(
    records: Iterable[Record], times: Mapping[str, Mapping[str, Any]], spare: bool = False
) -> list[Row]:
    """Return a row with means over seeds for each learner in each environment.

    Rows are in the order of the records.

    Parameters
    ----------
    records
        Records of finished cells, such as `Run.records`.
    times
        Times of some or all cells, by key, such as `Run.times`. If the times of a learner are
        incomplete, its row has no rounds per second.
    spare
        Whether to include single actions that are not the best one. Default: False.

    Examples
    --------
    >>> import tempfile
    >>> from hannan.experiments import make_plan, run, summarise
    >>> plan = make_plan({
    ...     "horizon": 200, "seeds": 3,
    ...     "environments": {"hostile": {
    ...         "type": "LeaderPunisher",
    ...         "policies": {"type": "AllPolicies", "n_contexts": 3, "n_actions": 2}}},
    ...     "learners": {"leader": {"type": "FollowTheLeader"}, "ours": {"type": "ContextFTPL"}},
    ... })
    >>> folder = tempfile.TemporaryDirectory()
    >>> done = run(plan, folder.name)
    >>> for row in summarise(done.records, done.times):
    ...     print(row.learner, row.mean_loss.show(2), row.bound is not None)
    leader 1.00 ± 0.00 False
    ours 0... ± 0... True
    >>> folder.cleanup()
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in compared(records, spare):
        cell = record["cell"]
        groups.setdefault((cell["environment"]["name"], cell["learner"]["name"]), []).append(record)
    return [_row(*names, group, times) for names, group in groups.items()]


def interval(values: Iterable[float | None]) -> Interval | None:
    """Return the mean of the values with its interval; None if one is missing or there are none."""
    listed = list(values)
    if not listed or any(value is None for value in listed):
        return None
    numbers, n, half = np.array(listed, dtype=np.float64), len(listed), None
    if n > 1:
        half = float(stdtrit(n - 1, 0.975) * numbers.std(ddof=1) / math.sqrt(n))
    return Interval(float(numbers.mean()), half, n)


def found_by(models: Iterable[str | None]) -> str | None:
    """Count the models that found the best policies of several seeds; None without models.

    Examples
    --------
    >>> from hannan.experiments.summary import found_by
    >>> found_by(["decision tree", "ridge regression", "ridge regression"])
    'ridge regression (2 seeds), decision tree (1 seed)'
    >>> found_by(["decision tree", "decision tree"])
    'decision tree'
    """
    counts = Counter(model for model in models if model)
    if len(counts) < 2:
        return next(iter(counts), None)
    return ", ".join(f"{m} ({n} seed{'s' * (n > 1)})" for m, n in counts.most_common())


def _row(
    environment: str, learner: str, group: list[Record], times: Mapping[str, Mapping[str, Any]]
) -> Row:
    results = [record["result"] for record in group]
    seconds = [times[r["key"]]["learner"] for r in group if r["key"] in times]
    rounds = sum(result["rounds"] for result in results)
    timed = len(seconds) == len(group) and sum(seconds) > 0.0

    def of(name: str) -> Interval | None:
        return interval(result[name] for result in results)

    best = ((result["best"], max(1, result["rounds"])) for result in results)
    return Row(
        environment,
        learner,
        results[0]["feedback"],
        results[0]["rounds"],
        of("mean_loss"),
        of("regret"),
        interval(None if loss is None else float(loss) / played for loss, played in best),
        found_by(result.get("found") for result in results),
        of("bound"),
        of("certificate"),
        sum(result["oracle_calls"] for result in results) / max(1, rounds),
        min(result["effective"] for result in results),
        rounds / sum(seconds) if timed else None,
        Hints.mean(result.get("hints") for result in results),
    )


def _world(record: Record) -> str:
    """Return a key that is equal for records with equal environment, policy class and seed."""
    own = ("learner", "shared_with_learner", "data_of_learner")
    cell = {name: value for name, value in record["cell"].items() if name not in own}
    return json.dumps(cell, sort_keys=True)


def _beside(record: Record, best: Mapping[str, Any] | None) -> Record:
    result = record["result"]
    if best is None or result["loss"] is None or best["best"] is None:
        return record
    found = {name: best.get(name) for name in ("best", "found", "leaders")}
    found["regret"] = result["loss"] - best["best"]
    found["curve"] = result["curve"] | {name: best["curve"][name] for name in ("best", "leader")}
    return record | {"result": result | found}
